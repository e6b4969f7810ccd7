import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { isCustom } from '../registry.ts'

/**
 * What a new object is compared with. Custom kinds start from nothing. Built-in ones are Go structs in a kube-apiserver,
 * whose struct fields are always there, so that nobody comes to own `spec` itself.
 */
export function emptyObject(kind: Kind): UnknownObject {
  const object: UnknownObject = {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: {} as UnknownObject['metadata'],
  }
  if (isCustom(kind)) {
    const { metadata: _metadata, ...bare } = object
    return bare as UnknownObject
  }
  for (const field of ['spec', 'status']) {
    const type = kind.schema.properties?.[field]?.type
    if (type === 'object') object[field] = {}
  }
  return { ...object, ...STRUCTS[`${kind.group}/${kind.kind}`] }
}

const POD_TEMPLATE = { metadata: {}, spec: { containers: null } }

/** The struct fields below spec that Go always writes. */
const STRUCTS: Readonly<Record<string, object>> = {
  'apps/Deployment': { spec: { selector: null, strategy: {}, template: POD_TEMPLATE } },
  'apps/DaemonSet': { spec: { selector: null, updateStrategy: {}, template: POD_TEMPLATE } },
  'apps/StatefulSet': { spec: { selector: null, serviceName: '', updateStrategy: {}, template: POD_TEMPLATE } },
  'apps/ReplicaSet': { spec: { selector: null, template: { metadata: {}, spec: { containers: null } } } },
  'batch/Job': { spec: { template: POD_TEMPLATE } },
  'batch/CronJob': { spec: { jobTemplate: { metadata: {}, spec: { template: POD_TEMPLATE } }, schedule: '' } },
  '/Service': { spec: {}, status: { loadBalancer: {} } },
}
