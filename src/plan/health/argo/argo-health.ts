/** The health profile `Argo`: objects are judged as Argo CD judges them without own rules. */
import type { UnknownObject } from '../../../kinds/meta.ts'
import { BUILT_IN_KINDS } from './built-in-kinds.ts'
import { CUSTOM_KINDS } from './custom-kinds.ts'
import type { ArgoVerdict } from './verdict.ts'
import { partsOf } from './verdict.ts'

/** Groups of Kubernetes. Kinds of other groups that are in no table have no health in Argo CD. */
const BUILT_IN_GROUPS = new Set([
  '',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'apps',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'discovery.k8s.io',
  'events.k8s.io',
  'extensions',
  'flowcontrol.apiserver.k8s.io',
  'networking.k8s.io',
  'node.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'resource.k8s.io',
  'scheduling.k8s.io',
  'storage.k8s.io',
])

/**
 * The health of an object of a kind by this profile: a verdict, or `native` for kinds that both judge alike, such as
 * Deployment and Service.
 */
export function argoHealthFor(group: string, kind: string): ((object: UnknownObject) => ArgoVerdict) | 'native' {
  const name = `${group}/${kind}`
  const known = BUILT_IN_KINDS[name] ?? CUSTOM_KINDS[name]
  if (known) return (object) => known(partsOf(object))
  return BUILT_IN_GROUPS.has(group) ? 'native' : () => ({ status: 'Healthy', message: '' })
}
