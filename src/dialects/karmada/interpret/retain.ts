// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Retain: fields that the cluster owns and that an update of the object leaves as they are there. */
import { isObject } from '../../../core/json.ts'
import { kindOf, listIn, mapIn, textIn, withField } from './shape.ts'
import type { InterpretedObject } from './shape.ts'

type Retain = (desired: InterpretedObject, observed: InterpretedObject) => InterpretedObject

/** The label of a workload whose replicas an autoscaler of the cluster sets. */
const RETAIN_REPLICAS = 'resourcetemplate.karmada.io/retain-replicas'
const TOKEN_TYPE = 'kubernetes.io/service-account-token'

const RETAIN: Readonly<Record<string, Retain>> = {
  'apps/v1 Deployment': (desired, observed) =>
    desired.metadata.labels?.[RETAIN_REPLICAS] === 'true' ? copied(desired, observed, ['spec', 'replicas']) : desired,
  'v1 Pod': (desired, observed) => {
    const fields = ['nodeName', 'serviceAccountName', 'volumes']
    const kept = fields.reduce((object, field) => copied(object, observed, ['spec', field]), desired)
    return withField(kept, ['spec', 'containers'], containersWithMounts(desired, observed))
  },
  'v1 Service': (desired, observed) =>
    ['clusterIP', 'healthCheckNodePort'].reduce(
      (object, field) => (mapIn(observed['spec'])[field] ? copied(object, observed, ['spec', field]) : object),
      desired,
    ),
  'v1 ServiceAccount': (desired, observed) =>
    ['secrets', 'imagePullSecrets'].reduce((object, field) => withMore(object, observed, field), desired),
  'v1 PersistentVolumeClaim': (desired, observed) =>
    textIn(observed, 'spec', 'volumeName') === '' ? desired : copied(desired, observed, ['spec', 'volumeName']),
  'v1 PersistentVolume': (desired, observed) => copied(desired, observed, ['spec', 'claimRef']),
  'batch/v1 Job': (desired, observed) =>
    copied(copied(desired, observed, ['spec', 'selector']), observed, ['spec', 'template', 'metadata', 'labels']),
  'v1 Secret': (desired, observed) =>
    textIn(desired, 'type') === TOKEN_TYPE ? copied(desired, observed, ['data']) : desired,
}

/** The desired object with what the cluster owns; undefined for a kind of which nothing is retained. */
export function retain(desired: InterpretedObject, observed: InterpretedObject): InterpretedObject | undefined {
  return RETAIN[kindOf(desired)]?.(desired, observed)
}

/** A field of the observed object; one that is absent there changes nothing. */
function copied(desired: InterpretedObject, observed: InterpretedObject, path: readonly string[]): InterpretedObject {
  const value = mapIn(observed, ...path.slice(0, -1))[path.at(-1)!]
  return value === undefined ? desired : withField(desired, path, value)
}

function containersWithMounts(desired: InterpretedObject, observed: InterpretedObject): readonly unknown[] {
  const present = new Map(
    listIn(observed, 'spec', 'containers').map((container) => [textIn(container, 'name'), mapIn(container)]),
  )
  return listIn(desired, 'spec', 'containers').map((container) => {
    const volumeMounts = present.get(textIn(container, 'name'))?.['volumeMounts']
    return isObject(container) && volumeMounts !== undefined ? { ...container, volumeMounts } : container
  })
}

/** References of the observed object that the desired one lacks are appended: controllers of the cluster add them. */
function withMore(desired: InterpretedObject, observed: InterpretedObject, field: string): InterpretedObject {
  const own = listIn(desired, field)
  const names = new Set(own.map((reference) => textIn(reference, 'name')))
  const more = listIn(observed, field).filter((reference) => !names.has(textIn(reference, 'name')))
  return more.length === 0 ? desired : { ...desired, [field]: [...own, ...more] }
}
