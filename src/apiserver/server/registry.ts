import { jsonEqual } from '../../core/json.ts'
import { compareVersions } from '../../kinds/crd/custom-kind.ts'
import type { Kind } from '../../kinds/define-kind.ts'

/** Which kinds are served, by group and version. */
export interface Registry {
  find(group: string, version: string, plural: string): Kind | undefined
  /** All served kinds, in the order they were given. */
  all(): readonly Kind[]
  /** Groups with their versions, the preferred version first; the core group is ''. */
  groups(): ReadonlyMap<string, readonly string[]>
  /** Rises with every change of what is served. */
  revision(): number
  /** Is aborted when a kind is no longer served as it was: its watches end. */
  lifeOf(kind: Kind): AbortSignal | undefined
}

/** A registry whose custom kinds come and go. */
export interface CustomRegistry extends Registry {
  /** The kinds it was made with. */
  fixed(): readonly Kind[]
  /** The kind it was made with at an address, if any. */
  fixedAt(kind: Kind): Kind | undefined
  /** Serves these custom kinds from now on; returns what ends the watches of kinds that are gone or changed. */
  setCustom(kinds: readonly Kind[]): () => void
}

/** A registry of a fixed list of kinds, to which custom kinds may be added; a fixed kind wins. */
export function createRegistry(fixed: readonly Kind[]): CustomRegistry {
  const fixedAt = new Map(fixed.map((kind) => [addressOf(kind.group, kind.version, kind.plural), kind]))
  let lives = new Map<string, { readonly kind: Kind; readonly life: AbortController }>()
  let kinds: readonly Kind[] = fixed
  let byAddress: ReadonlyMap<string, Kind> = fixedAt
  let groups = groupsOf(fixed)
  let revision = 0
  return {
    find: (group, version, plural) => byAddress.get(addressOf(group, version, plural)),
    all: () => kinds,
    groups: () => groups,
    revision: () => revision,
    lifeOf: (kind) => lives.get(addressOf(kind.group, kind.version, kind.plural))?.life.signal,
    fixed: () => fixed,
    fixedAt: (kind) => fixedAt.get(addressOf(kind.group, kind.version, kind.plural)),
    setCustom(wanted) {
      const next = wanted.filter((kind) => !fixedAt.has(addressOf(kind.group, kind.version, kind.plural)))
      const before = lives
      lives = new Map()
      for (const kind of next) {
        const address = addressOf(kind.group, kind.version, kind.plural)
        const known = before.get(address)
        // A kind that is served as before keeps its watches.
        const isSame = known !== undefined && jsonEqual(lasting(known.kind), lasting(kind))
        lives.set(address, { kind, life: isSame ? known.life : new AbortController() })
      }
      const kept = new Set([...lives.values()].map(({ life }) => life))
      const ended = [...before.values()].filter(({ life }) => !kept.has(life))
      kinds = [...fixed, ...next]
      byAddress = new Map(kinds.map((kind) => [addressOf(kind.group, kind.version, kind.plural), kind]))
      groups = groupsOf(kinds)
      revision++
      return () => {
        for (const { life } of ended) life.abort()
      }
    },
  }
}

// That a definition is being deleted changes nothing for who watches.
function lasting(kind: Kind): unknown {
  return { ...kind, custom: { ...kind.custom, isTerminating: false } }
}

function groupsOf(kinds: readonly Kind[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>()
  for (const { group, version, custom } of kinds) {
    const versions = groups.get(group) ?? []
    if (!versions.includes(version)) versions.push(version)
    if (custom) versions.sort(compareVersions)
    groups.set(group, versions)
  }
  return groups
}

function addressOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`
}

/**
 * Whether a kind is served as Kubernetes serves a custom resource; some rules differ from the rules of built-in kinds.
 */
export function isCustom(kind: Pick<Kind, 'group' | 'custom'>): boolean {
  return kind.custom !== undefined || (kind.group.includes('.') && !kind.group.endsWith('.k8s.io'))
}

/** The verbs a resource has, sorted as discovery lists them. */
const RESOURCE_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const

/** What may be asked of a kind. Namespaces go in turn. */
export function verbsOf(kind: Kind): readonly string[] {
  if (kind.group === '' && kind.kind === 'Namespace')
    return RESOURCE_VERBS.filter((verb) => verb !== 'deletecollection')
  return kind.verbs ?? RESOURCE_VERBS
}

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
  'apiextensions.k8s.io/CustomResourceDefinition',
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

/** Groups whose kinds, like custom kinds, keep their metadata when their status is written. */
const METADATA_KEPT: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'resource.k8s.io',
  'ServiceCIDR',
  'VolumeAttachment',
])

/**
 * What of the metadata is written together with the status; compared with a kube-apiserver for Deployments and
 * Services.
 */
export function metadataOfStatus(kind: Kind): readonly ('annotations' | 'finalizers' | 'labels' | 'ownerReferences')[] {
  if (isCustom(kind) || METADATA_KEPT.has(kind.group) || METADATA_KEPT.has(kind.kind)) return []
  const most = ['annotations', 'finalizers', 'ownerReferences'] as const
  return kind.group === 'apps' && kind.kind === 'Deployment' ? most : [...most, 'labels']
}
