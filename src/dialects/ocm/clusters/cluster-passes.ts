// Tested by src/dialects/ocm/recorded.contract.test.ts: recorded answers of Open Cluster Management.
/**
 * What the controllers of Open Cluster Management's hub do to a cluster, a set or a binding in one pass: acceptance,
 * availability by lease, the clock, taints, members of sets. Pure: objects in, the changed object and its writes out.
 */
import { findCondition } from '../../../core/conditions.ts'
import { parseTime } from '../../../core/time/time.ts'
import type { Condition } from '../../../kinds/meta.ts'
import type { ManagedCluster, ManagedClusterSet, ManagedClusterSetBinding } from '../kinds.ts'
import { setMembership } from './set-selector.ts'

/** A condition without its time. */
export type OcmCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>

/** A taint without its time. */
export interface OcmTaint {
  readonly key: string
  readonly value?: string
  readonly effect: string
}

/** A Lease of `coordination.k8s.io` as these passes read it. */
export interface ClusterLease {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec?: { readonly renewTime?: string }
}

/** The object after a pass. */
export interface PassResult {
  readonly conditions?: readonly OcmCondition[]
  readonly taints?: readonly OcmTaint[]
  readonly hubAcceptsClient?: boolean
  readonly finalizers?: readonly string[]
  readonly clusterSelector?: unknown
  /** Clusters of a set. */
  readonly members?: readonly string[]
  /** Sets of a cluster. */
  readonly sets?: readonly string[]
  /** `VERB RESOURCE[/status] NAME`, sorted. */
  readonly writes: readonly string[]
  readonly requeueAfterSeconds?: number
  readonly error?: string
}

const CLEANUP_FINALIZER = 'cluster.open-cluster-management.io/api-resource-cleanup'
const LEASE_NAME = 'managed-cluster-lease'
const ACCEPTED = 'HubAcceptedManagedCluster'
const AVAILABLE = 'ManagedClusterConditionAvailable'
const CLOCK_SYNCED = 'ManagedClusterConditionClockSynced'
const SKIP_CLOCK = 'registration.open-cluster-management.io/skip-clock-sync-check'

/** The role names of a cluster. */
const roleOf = (name: string) => `open-cluster-management:managedcluster:${name}`

/** Accepts, denies or cleans up a cluster. */
export function acceptancePass(cluster: ManagedCluster): PassResult {
  const { name } = cluster.metadata
  const finalizers = cluster.metadata.finalizers ?? []
  const agentRoles = (verb: string) => [
    `${verb} rolebindings ${name}/${roleOf(name)}:registration`,
    `${verb} rolebindings ${name}/${roleOf(name)}:work`,
  ]
  const clusterRoles = (verb: string) => [
    `${verb} clusterrolebindings ${roleOf(name)}`,
    `${verb} clusterroles ${roleOf(name)}`,
  ]
  if (cluster.metadata.deletionTimestamp !== undefined) {
    if (!finalizers.includes(CLEANUP_FINALIZER)) return clusterResult(cluster, [])
    return {
      ...clusterResult(cluster, [...clusterRoles('delete'), ...agentRoles('delete'), `patch managedclusters ${name}`]),
      finalizers: finalizers.filter((one) => one !== CLEANUP_FINALIZER),
    }
  }
  if (!cluster.spec.hubAcceptsClient) {
    if (conditionOf(cluster, ACCEPTED)?.status !== 'True') return clusterResult(cluster, [])
    const conditions = withCondition(cluster, {
      type: ACCEPTED,
      status: 'False',
      reason: 'HubClusterAdminDenied',
      message: 'Denied by hub cluster admin',
    })
    const writes = [...clusterRoles('create'), ...agentRoles('delete'), `patch managedclusters/status ${name}`]
    return { ...clusterResult(cluster, writes), conditions }
  }
  const accepted: OcmCondition = {
    type: ACCEPTED,
    status: 'True',
    reason: 'HubClusterAdminAccepted',
    message: 'Accepted by hub cluster admin',
  }
  const hasFinalizer = finalizers.includes(CLEANUP_FINALIZER)
  const writes = [
    ...clusterRoles('create'),
    `create namespaces ${name}`,
    ...agentRoles('create'),
    ...(hasFinalizer ? [] : [`patch managedclusters ${name}`]),
    ...(isSame(conditionOf(cluster, ACCEPTED), accepted) ? [] : [`patch managedclusters/status ${name}`]),
  ]
  return {
    ...clusterResult(cluster, writes),
    conditions: withCondition(cluster, accepted),
    finalizers: hasFinalizer ? finalizers : [...finalizers, CLEANUP_FINALIZER],
  }
}

/** A cluster is late after five lease durations. */
const GRACE_PERIODS = 5
const DEFAULT_LEASE_SECONDS = 60

function graceMs({ spec }: ManagedCluster): number {
  return GRACE_PERIODS * (spec.leaseDurationSeconds || DEFAULT_LEASE_SECONDS) * 1000
}

function leaseOf(cluster: ManagedCluster, leases: readonly ClusterLease[]): ClusterLease | undefined {
  return leases.find(({ metadata }) => metadata.name === LEASE_NAME && metadata.namespace === cluster.metadata.name)
}

/** Sets condition Available to Unknown when the cluster stops renewing its lease. */
export function leasePass(cluster: ManagedCluster, leases: readonly ClusterLease[], now: number): PassResult {
  const { name } = cluster.metadata
  if (!conditionOf(cluster, ACCEPTED)) return clusterResult(cluster, [])
  const lease = leaseOf(cluster, leases)
  if (!lease) {
    const isLeaving = cluster.metadata.deletionTimestamp !== undefined
    return isLeaving ? stoppedRenewing(cluster) : clusterResult(cluster, [`create leases ${name}/${LEASE_NAME}`])
  }
  const grace = graceMs(cluster)
  const left = (parseTime(lease.spec?.renewTime ?? '') ?? 0) + grace - now
  if (left > 0) return { ...clusterResult(cluster, []), requeueAfterSeconds: left / 1000 }
  return { ...stoppedRenewing(cluster), requeueAfterSeconds: grace / 1000 }
}

function stoppedRenewing(cluster: ManagedCluster): PassResult {
  if (conditionOf(cluster, AVAILABLE)?.status === 'Unknown') return clusterResult(cluster, [])
  return {
    ...clusterResult(cluster, [`patch managedclusters/status ${cluster.metadata.name}`]),
    conditions: withCondition(cluster, {
      type: AVAILABLE,
      status: 'Unknown',
      reason: 'ManagedClusterLeaseUpdateStopped',
      message: 'Registration agent stopped updating its lease.',
    }),
  }
}

/** Compares the clock of the cluster with the hub's by the time of the lease. */
export function clockPass(cluster: ManagedCluster, leases: readonly ClusterLease[], now: number): PassResult {
  const { name, annotations } = cluster.metadata
  const lease = leaseOf(cluster, leases)
  if (!lease) {
    return { ...clusterResult(cluster, []), error: `lease.coordination.k8s.io "${LEASE_NAME}" not found` }
  }
  const isSynced =
    annotations?.[SKIP_CLOCK] === 'true' ||
    Math.abs(now - (parseTime(lease.spec?.renewTime ?? '') ?? 0)) < graceMs(cluster)
  const status = isSynced ? 'True' : 'False'
  if (conditionOf(cluster, CLOCK_SYNCED)?.status === status) return clusterResult(cluster, [])
  const condition: OcmCondition = isSynced
    ? {
        type: CLOCK_SYNCED,
        status,
        reason: 'ManagedClusterClockSynced',
        message: 'The clock of the managed cluster is synced with the hub.',
      }
    : {
        type: CLOCK_SYNCED,
        status,
        reason: 'ManagedClusterClockOutOfSync',
        message:
          'The clock of hub and agent is out of sync. This may cause the Unknown status and affect agent functionalities.',
      }
  return {
    ...clusterResult(cluster, [`patch managedclusters/status ${name}`]),
    conditions: withCondition(cluster, condition),
  }
}

const UNAVAILABLE: OcmTaint = { key: 'cluster.open-cluster-management.io/unavailable', effect: 'NoSelect' }
const UNREACHABLE: OcmTaint = { key: 'cluster.open-cluster-management.io/unreachable', effect: 'NoSelect' }

/** Keeps the taints unavailable and unreachable equal to condition Available. */
export function taintPass(cluster: ManagedCluster): PassResult {
  if (cluster.metadata.deletionTimestamp !== undefined) return clusterResult(cluster, [])
  const before: readonly OcmTaint[] = cluster.spec.taints ?? []
  const status = conditionOf(cluster, AVAILABLE)?.status ?? 'Unknown'
  const wanted = status === 'True' ? undefined : status === 'False' ? UNAVAILABLE : UNREACHABLE
  const kept = before.filter(
    (taint) => isTaint(taint, wanted) || (!isTaint(taint, UNAVAILABLE) && !isTaint(taint, UNREACHABLE)),
  )
  const taints = wanted && !kept.some((taint) => isTaint(taint, wanted)) ? [...kept, wanted] : kept
  const isChanged = taints.length !== before.length || taints.some((taint, i) => taint !== before[i])
  return { ...clusterResult(cluster, isChanged ? [`patch managedclusters ${cluster.metadata.name}`] : []), taints }
}

function isTaint(taint: OcmTaint, other: OcmTaint | undefined): boolean {
  return taint.key === other?.key && (taint.value ?? '') === (other.value ?? '') && taint.effect === other.effect
}

/** Counts the members of a set. */
export function setPass(set: ManagedClusterSet, clusters: readonly ManagedCluster[]): PassResult {
  const { name } = set.metadata
  const unchanged = setResult(set, [])
  const isMember = setMembership(set)
  if (typeof isMember !== 'function') {
    return { ...unchanged, error: `failed to sync ManagedClusterSet ${JSON.stringify(name)}: ${isMember.error}` }
  }
  const members = clusters
    .filter(({ metadata }) => isMember(metadata.labels ?? {}))
    .map(({ metadata }) => metadata.name)
    .sort()
  if (set.metadata.deletionTimestamp !== undefined) return { ...unchanged, members }
  const condition: OcmCondition =
    members.length === 0
      ? {
          type: 'ClusterSetEmpty',
          status: 'True',
          reason: 'NoClusterMatched',
          message: 'No ManagedCluster selected',
        }
      : {
          type: 'ClusterSetEmpty',
          status: 'False',
          reason: 'ClustersSelected',
          message: `${members.length} ManagedClusters selected`,
        }
  const isSaid = isSame(conditionOf(set, condition.type), condition)
  return {
    ...setResult(set, isSaid ? [] : [`patch managedclustersets/status ${name}`]),
    conditions: withCondition(set, condition),
    members,
  }
}

/** The sets of a cluster; one set with an invalid selector fails all of them. */
export function setsOfClusterPass(cluster: ManagedCluster, sets: readonly ManagedClusterSet[]): PassResult {
  const found: string[] = []
  for (const set of sets.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))) {
    const isMember = setMembership(set)
    if (typeof isMember !== 'function') return { writes: [], error: isMember.error }
    if (isMember(cluster.metadata.labels ?? {})) found.push(set.metadata.name)
  }
  return { writes: [], sets: found }
}

/** Whether the set of a binding exists. */
export function bindingPass(binding: ManagedClusterSetBinding, sets: readonly ManagedClusterSet[]): PassResult {
  const { name, namespace } = binding.metadata
  if (binding.metadata.deletionTimestamp !== undefined) return { conditions: conditionsOf(binding), writes: [] }
  const isBound = sets.some(({ metadata }) => metadata.name === binding.spec?.clusterSet)
  const condition: OcmCondition = {
    type: 'Bound',
    status: isBound ? 'True' : 'False',
    reason: isBound ? 'ClusterSetBound' : 'ClusterSetNotFound',
    message: '',
  }
  const isSaid = isSame(conditionOf(binding, 'Bound'), condition)
  return {
    conditions: withCondition(binding, condition),
    writes: isSaid ? [] : [`patch managedclustersetbindings/status ${namespace}/${name}`],
  }
}

const AUTO_UPDATE = 'cluster.open-cluster-management.io/autoupdate'
const BUILT_IN_SETS = {
  default: { selectorType: 'ExclusiveClusterSetLabel' },
  global: { selectorType: 'LabelSelector', labelSelector: {} },
} as const

/** Creates the set `default` or `global`, or restores its selector. */
export function builtInSetPass(name: keyof typeof BUILT_IN_SETS, sets: readonly ManagedClusterSet[]): PassResult {
  const clusterSelector = BUILT_IN_SETS[name]
  const set = sets.find(({ metadata }) => metadata.name === name)
  if (!set) return { clusterSelector, writes: [`create managedclustersets ${name}`] }
  const isKept = name === 'global' && set.metadata.annotations?.[AUTO_UPDATE] === 'false'
  const selector = set.spec?.clusterSelector as
    | { readonly selectorType?: string; readonly labelSelector?: object }
    | undefined
  const isRight =
    selector?.selectorType === clusterSelector.selectorType &&
    (name === 'default'
      ? selector.labelSelector === undefined
      : selector.labelSelector !== undefined && Object.keys(selector.labelSelector).length === 0)
  if (isKept || isRight || set.metadata.deletionTimestamp !== undefined) return setResult(set, [])
  return { ...setResult(set, [`update managedclustersets ${name}`]), clusterSelector }
}

interface WithConditions {
  readonly status?: { readonly conditions?: readonly Condition[] }
}

function conditionsOf(object: object): readonly OcmCondition[] {
  return (object as WithConditions).status?.conditions ?? []
}

function conditionOf(object: object, type: string): OcmCondition | undefined {
  return findCondition(conditionsOf(object), type)
}

function withCondition(object: object, condition: OcmCondition): readonly OcmCondition[] {
  return [...conditionsOf(object).filter(({ type }) => type !== condition.type), condition]
}

function isSame(a: OcmCondition | undefined, b: OcmCondition): boolean {
  return a?.status === b.status && a.reason === b.reason && a.message === b.message
}

function clusterResult(cluster: ManagedCluster, writes: readonly string[]): PassResult {
  return {
    conditions: conditionsOf(cluster),
    taints: cluster.spec.taints ?? [],
    hubAcceptsClient: cluster.spec.hubAcceptsClient,
    finalizers: cluster.metadata.finalizers ?? [],
    writes: writes.toSorted(),
  }
}

function setResult(set: ManagedClusterSet, writes: readonly string[]): PassResult {
  return { conditions: conditionsOf(set), clusterSelector: set.spec?.clusterSelector ?? {}, writes }
}
