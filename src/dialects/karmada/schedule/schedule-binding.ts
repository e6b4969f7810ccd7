// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** The decision of Karmada's scheduler for a binding: target clusters with replicas, or why there are none. */
import { parseTime } from '../../../core/time/time.ts'
import { TooManyGroups } from '../../../plan/division/choose-groups.ts'
import { divideReplicas, sumInt32, TooFewReplicas } from '../../../plan/division/divide-replicas.ts'
import type { ClusterReplicas, DivisionStrategy } from '../../../plan/division/divide-replicas.ts'
import type { KarmadaBinding, KarmadaPlacement, TargetCluster } from '../types.ts'
import { capacityEstimate } from './capacity.ts'
import { affinityPredicate } from './cluster-affinity.ts'
import type { ClusterSnapshot } from './cluster-snapshot.ts'
import { filterClusters, isWorkload, refusalMessage } from './filter-clusters.ts'
import { placementChanged } from './placement-change.ts'
import { byRank, ignoresSpread, selectClusters, SelectionError } from './select-clusters.ts'
import type { Candidate, SpreadByAny } from './select-clusters.ts'

/** Options of the scheduler, by the names of Karmada's feature gates and flags. */
export interface ScheduleOptions {
  /** Respects `workloadAffinity`. Defaults to false. */
  readonly workloadAffinity?: boolean
  /** Schedules the components of a workload as one set. Defaults to false. */
  readonly multiplePodTemplates?: boolean
  /** Spreads by zone, provider and label as well, and without `maxGroups`. If omitted, as Karmada. */
  readonly spreadsByAny?: SpreadByAny
  /** Keeps selected clusters that receive no replicas as targets. Defaults to false. */
  readonly keepsEmptyTargets?: boolean
}

/** What the scheduler reads. */
export interface ScheduleInput {
  readonly binding: KarmadaBinding
  readonly clusters: readonly ClusterSnapshot[]
  /** Other ResourceBindings, for affinity among workloads. */
  readonly others?: readonly KarmadaBinding[]
  readonly options?: ScheduleOptions
}

/** The decision. */
export interface ScheduleResult {
  readonly action: 'scheduled' | 'failed' | 'unchanged'
  /** Targets of the binding after the decision. */
  readonly clusters: readonly TargetCluster[]
  readonly reason?: 'Success' | 'NoClusterFit' | 'Unschedulable' | 'SchedulerError'
  readonly message?: string
  /** The affinity term in use after the decision. */
  readonly affinity?: string
  /** When the binding is tried again: after a growing delay, or when clusters change. Absent: not by itself. */
  readonly retry?: 'backoff' | 'unschedulable'
}

/** Annotation with the placement that was applied last. */
const APPLIED_PLACEMENT = 'policy.karmada.io/applied-placement'
const TIER_OF_STRANGERS = 1000

/** Thrown when no cluster passes the filters. */
class NoClusterFit extends Error {}
/** Thrown when a division cannot be done for another reason than capacity. */
class AssignmentError extends Error {}

/** Decides for a binding. A binding that needs no decision is `unchanged`. */
export function scheduleBinding(input: ScheduleInput): ScheduleResult {
  const { spec, status = {} } = input.binding
  const before = spec.clusters ?? []
  const affinityBefore = status.schedulerObservingAffinityName ?? ''
  const { placement } = spec
  if (!placement) {
    return { action: 'unchanged', clusters: before, retry: 'backoff', message: 'the binding has no placement' }
  }
  if (!needsSchedule(input, placement)) return withAffinity({ action: 'unchanged', clusters: before }, affinityBefore)
  let firstError: Error | undefined
  for (const affinityName of affinitiesToTry(input.binding, placement)) {
    try {
      const clusters = place({ ...input, placement, affinityName: affinityName ?? affinityBefore })
      const success = { reason: 'Success', message: 'Binding has been scheduled successfully.' } as const
      return withAffinity({ action: 'scheduled', clusters, ...success }, affinityName ?? affinityBefore)
    } catch (error) {
      if (!isDecisionError(error)) throw error
      firstError ??= error
    }
  }
  return withAffinity(failure(firstError, before), affinityBefore)
}

function withAffinity(result: ScheduleResult, affinity: string): ScheduleResult {
  return affinity === '' ? result : { ...result, affinity }
}

function isDecisionError(error: unknown): error is Error {
  return [NoClusterFit, SelectionError, TooManyGroups, TooFewReplicas, AssignmentError].some(
    (type) => error instanceof type,
  )
}

/** Without a cluster that fits, the binding loses its targets; every other failure keeps them. */
function failure(error: Error | undefined, before: readonly TargetCluster[]): ScheduleResult {
  if (!error) {
    return { action: 'scheduled', clusters: [], reason: 'Success', message: 'Binding has been scheduled successfully.' }
  }
  if (error instanceof NoClusterFit) {
    return { action: 'failed', clusters: [], reason: 'NoClusterFit', message: error.message }
  }
  if (error instanceof TooFewReplicas) {
    const message = `failed to assign replicas: ${error.message}`
    return { action: 'failed', clusters: before, reason: 'Unschedulable', message, retry: 'unschedulable' }
  }
  const step = error instanceof SelectionError || error instanceof TooManyGroups ? 'select clusters' : 'assign replicas'
  const message = `failed to ${step}: ${error.message}`
  return { action: 'failed', clusters: before, reason: 'SchedulerError', message, retry: 'backoff' }
}

/** Whether something that the decision depends on has changed since the last one. */
function needsSchedule({ binding, clusters, options = {} }: ScheduleInput, placement: KarmadaPlacement): boolean {
  const { metadata, spec, status = {} } = binding
  const applied = metadata.annotations?.[APPLIED_PLACEMENT] ?? ''
  if (placementChanged(placement, applied, status.schedulerObservingAffinityName ?? '')) return true
  if (replicasChanged(binding, options)) return true
  if (isRescheduleAsked(binding)) return true
  if (!isWorkload(binding) || schedulingType(placement) === 'Duplicated') return true
  const targets = new Set((spec.clusters ?? []).map(({ name }) => name))
  return clusters.some(({ name, isDeleting }) => isDeleting && targets.has(name))
}

function replicasChanged({ spec }: KarmadaBinding, { multiplePodTemplates = false }: ScheduleOptions): boolean {
  const { placement, clusters = [], components = [], replicas = 0 } = spec
  if (!placement?.replicaScheduling) return false
  if (multiplePodTemplates && components.length > 0 && clusters.length === 0) return true
  switch (placement.replicaScheduling.replicaSchedulingType) {
    case 'Duplicated':
      return clusters.some((cluster) => (cluster.replicas ?? 0) !== replicas)
    case 'Divided':
      return sumInt32(withReplicas(clusters)) !== replicas
    default:
      return false
  }
}

function withReplicas(clusters: readonly TargetCluster[]): readonly ClusterReplicas[] {
  return clusters.map(({ name, replicas = 0 }) => ({ name, replicas }))
}

/** Whether a user asked for a new division after the last one. */
export function isRescheduleAsked({ spec, status = {} }: KarmadaBinding): boolean {
  const asked = parseTime(spec.rescheduleTriggeredAt ?? '')
  const last = parseTime(status.lastScheduledTime ?? '')
  return asked !== undefined && last !== undefined && asked > last
}

function schedulingType({ replicaScheduling }: KarmadaPlacement): string {
  return replicaScheduling ? (replicaScheduling.replicaSchedulingType ?? '') : 'Duplicated'
}

/**
 * The names of the affinity terms to try, the one in use first; earlier terms are tried only when a reschedule was
 * asked for. A placement without terms is tried once, without a name.
 */
function affinitiesToTry(
  binding: KarmadaBinding,
  { clusterAffinities }: KarmadaPlacement,
): readonly (string | undefined)[] {
  if (!clusterAffinities) return [undefined]
  const names = clusterAffinities.map(({ affinityName }) => affinityName)
  const inUse = binding.status?.schedulerObservingAffinityName ?? ''
  const first = isRescheduleAsked(binding) || inUse === '' ? 0 : Math.max(0, names.indexOf(inUse))
  return names.slice(first)
}

interface PlaceInput extends ScheduleInput {
  readonly placement: KarmadaPlacement
  readonly affinityName: string
}

function place(input: PlaceInput): readonly TargetCluster[] {
  const { binding, clusters, others = [], options = {}, affinityName } = input
  const { feasible, refusals } = filterClusters({
    binding,
    clusters,
    affinityName,
    others,
    respectsWorkloadAffinity: options.workloadAffinity ?? false,
  })
  if (feasible.length === 0) throw new NoClusterFit(refusalMessage(clusters.length, refusals))
  const isSet = (options.multiplePodTemplates ?? false) && isComponentSet(binding)
  const candidates = rankCandidates(input, feasible, isSet)
  const selected = selectClusters(
    input.placement,
    candidates,
    isSet ? 1 : (binding.spec.replicas ?? 0),
    options.spreadsByAny,
  )
  const assigned = assign(input, selected, isSet)
  if (!options.keepsEmptyTargets) return assigned
  const names = new Set(assigned.map(({ name }) => name))
  return [...assigned, ...selected.filter(({ name }) => !names.has(name)).map(({ name }) => ({ name, replicas: 0 }))]
}

/** Components are a set when they go to exactly one cluster. */
function isComponentSet({ spec }: KarmadaBinding): boolean {
  if ((spec.components ?? []).length === 0) return false
  return (spec.placement?.spreadConstraints ?? []).some(
    ({ spreadByField, minGroups, maxGroups }) => spreadByField === 'cluster' && minGroups === 1 && maxGroups === 1,
  )
}

function rankCandidates(input: PlaceInput, feasible: readonly ClusterSnapshot[], isSet: boolean): readonly Candidate[] {
  const { binding, placement } = input
  const before = new Map((binding.spec.clusters ?? []).map(({ name, replicas = 0 }) => [name, replicas]))
  const tierOf = overflowTiers(input)
  const allocatableOf = readsCapacity(placement) ? capacityEstimate(binding, isSet) : () => 0
  const candidates = feasible.map((cluster): Candidate => {
    const allocatable = allocatableOf(cluster)
    const own = before.get(cluster.name)
    return {
      name: cluster.name,
      cluster,
      score: own === undefined ? 0 : 100,
      tier: tierOf(cluster),
      allocatable,
      available: allocatable + (own ?? 0),
    }
  })
  return candidates.sort(byRank)
}

/** Capacity decides only where clusters are limited in number, replicas are divided by capacity, or tiers overflow. */
export function readsCapacity(placement: KarmadaPlacement): boolean {
  if ((placement.spreadConstraints ?? []).length > 0 && !ignoresSpread(placement)) return true
  if (placement.clusterAffinities?.some(({ overflowAffinities }) => overflowAffinities)) return true
  const strategy = strategyOf(placement)
  return strategy === 'DynamicWeight' || strategy === 'Aggregated'
}

function overflowTiers({ placement, affinityName }: PlaceInput): (cluster: ClusterSnapshot) => number {
  const { clusterAffinity, clusterAffinities = [] } = placement
  if (clusterAffinity || clusterAffinities.length === 0) return () => 0
  const term = clusterAffinities.find((one) => one.affinityName === affinityName)
  const tiers = term ? [term, ...(term.overflowAffinities ?? [])].map(affinityPredicate) : []
  return (cluster) => {
    const tier = tiers.findIndex((predicate) => predicate(cluster))
    return tier < 0 ? TIER_OF_STRANGERS : tier
  }
}

function assign(input: PlaceInput, selected: readonly Candidate[], isSet: boolean): readonly TargetCluster[] {
  const { spec } = input.binding
  if (selected.length === 0) throw new AssignmentError('no clusters available to schedule')
  const { components = [], replicas = 0 } = spec
  if ((replicas > 0 || spec.replicaRequirements !== undefined) && components.length <= 1) {
    return assignReplicas(input, selected)
  }
  const own =
    isSet && components.length > 1 && components.map((one) => ({ name: one.name, replicas: one.replicas ?? 0 }))
  return selected.map(({ name }) => ({ name, replicas: 0, ...(own && { components: own }) }))
}

function assignReplicas(input: PlaceInput, selected: readonly Candidate[]): readonly ClusterReplicas[] {
  const { replicas = 0 } = input.binding.spec
  if (!hasOverflow(input)) return divide(input, selected, replicas)
  const tiers = new Map<number, Candidate[]>()
  for (const candidate of selected) {
    const members = tiers.get(candidate.tier)
    if (members) members.push(candidate)
    else tiers.set(candidate.tier, [candidate])
  }
  const results: ClusterReplicas[] = []
  let remaining = replicas
  for (const [, members] of [...tiers].sort(([a], [b]) => a - b)) {
    const room = members.reduce((sum, { available }) => sum + available, 0)
    const share = Math.min(remaining, room)
    results.push(...divide(input, members, share))
    remaining -= share
    if (remaining <= 0) break
  }
  if (remaining > 0) throw new TooFewReplicas('Clusters available replicas are not enough to schedule.')
  return results
}

function hasOverflow({ placement, affinityName }: PlaceInput): boolean {
  if (placement.clusterAffinity || !placement.clusterAffinities || affinityName === '') return false
  return placement.clusterAffinities.some(
    (term) => term.affinityName === affinityName && term.overflowAffinities !== undefined,
  )
}

function divide(input: PlaceInput, candidates: readonly Candidate[], replicas: number): readonly ClusterReplicas[] {
  const { binding, placement } = input
  const strategy = strategyOf(placement)
  if (!strategy) {
    const { replicaDivisionPreference = '' } = placement.replicaScheduling ?? {}
    throw new AssignmentError(
      `unsupported replica scheduling strategy, replicaSchedulingType: ${schedulingType(placement)}, ` +
        `replicaDivisionPreference: ${replicaDivisionPreference}, please try another scheduling strategy`,
    )
  }
  const divided = divideReplicas({
    strategy,
    candidates,
    replicas,
    previous: withReplicas(binding.spec.clusters ?? []),
    fresh: isRescheduleAsked(binding),
    uid: binding.spec.resource.uid ?? '',
    weightOf: ({ cluster }) => staticWeightOf(placement, cluster),
  })
  return divided.filter((one) => one.replicas > 0)
}

/** The highest static weight that the placement has for a cluster. */
export function staticWeightOf({ replicaScheduling }: KarmadaPlacement, cluster: ClusterSnapshot): number {
  return (replicaScheduling?.weightPreference?.staticWeightList ?? []).reduce(
    (most, { targetCluster = {}, weight = 0 }) =>
      weight > most && affinityPredicate(targetCluster)(cluster) ? weight : most,
    0,
  )
}

function strategyOf(placement: KarmadaPlacement): DivisionStrategy | undefined {
  const type = schedulingType(placement)
  if (type === 'Duplicated') return 'Duplicated'
  if (type !== 'Divided') return undefined
  const { replicaDivisionPreference, weightPreference } = placement.replicaScheduling ?? {}
  if (replicaDivisionPreference === 'Aggregated') return 'Aggregated'
  if (replicaDivisionPreference !== 'Weighted') return undefined
  return weightPreference?.dynamicWeight ? 'DynamicWeight' : 'StaticWeight'
}
