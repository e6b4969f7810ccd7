import type { Kind } from '../kinds/define-kind.ts'

/** Which kinds are served, by group and version. Later the custom ones come and go here at run time. */
export interface Registry {
  find(group: string, version: string, plural: string): Kind | undefined
  /** All served kinds, in the order they were given. */
  all(): readonly Kind[]
  /** Groups with their versions, the preferred version first; the core group is ''. */
  groups(): ReadonlyMap<string, readonly string[]>
}

/** A registry of a fixed list of kinds. */
export function createRegistry(kinds: readonly Kind[]): Registry {
  const byAddress = new Map(kinds.map((kind) => [addressOf(kind.group, kind.version, kind.plural), kind]))
  const groups = new Map<string, string[]>()
  for (const { group, version } of kinds) {
    const versions = groups.get(group) ?? []
    if (!versions.includes(version)) versions.push(version)
    groups.set(group, versions)
  }
  return {
    find: (group, version, plural) => byAddress.get(addressOf(group, version, plural)),
    all: () => kinds,
    groups: () => groups,
  }
}

function addressOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`
}

/** Whether a kind is served as Kubernetes serves a custom resource; some rules differ from those of built-in ones. */
export function isCustom(kind: Pick<Kind, 'group'>): boolean {
  return kind.group.includes('.') && !kind.group.endsWith('.k8s.io')
}

/** The verbs a resource has, sorted as discovery lists them. */
export const RESOURCE_VERBS = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
] as const

/** Built-in kinds whose objects count generations, as seen on a kube-apiserver. */
const WITH_GENERATION: ReadonlySet<string> = new Set([
  '/Pod',
  '/PodTemplate',
  '/ReplicationController',
  'admissionregistration.k8s.io/MutatingAdmissionPolicy',
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding',
  'admissionregistration.k8s.io/MutatingWebhookConfiguration',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding',
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration',
  'apps/DaemonSet',
  'apps/Deployment',
  'apps/ReplicaSet',
  'apps/StatefulSet',
  'batch/CronJob',
  'batch/Job',
  'discovery.k8s.io/EndpointSlice',
  'flowcontrol.apiserver.k8s.io/FlowSchema',
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration',
  'networking.k8s.io/Ingress',
  'networking.k8s.io/IngressClass',
  'networking.k8s.io/NetworkPolicy',
  'policy/PodDisruptionBudget',
  'resource.k8s.io/DeviceClass',
  'resource.k8s.io/ResourceSlice',
  'scheduling.k8s.io/PriorityClass',
])

/** Whether objects of a kind count generations. */
export function hasGeneration(kind: Kind): boolean {
  return isCustom(kind) || WITH_GENERATION.has(`${kind.group}/${kind.kind}`)
}
