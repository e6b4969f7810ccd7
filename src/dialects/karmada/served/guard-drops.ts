// Tested by src/dialects/karmada/served/guard-drops.test.ts
/**
 * The guard against dropping too many clusters at once, as Placements have it: a change of labels or of a policy that
 * drops more than a tenth of the clusters of an object, or all of them, waits until a person releases it. Pure.
 */
import { compact } from '../../../core/compact.ts'
import { compareText } from '../../../core/text/compare-text.ts'
import { ALLOW_DROP_ANNOTATION } from '../../../kinds/native/placement.ts'
import { findCondition } from '../../../core/conditions.ts'
import { judgeShrink, shrinkTokenIn } from '../../../plan/placement/shrink-guard.ts'
import { snapshotOf } from '../schedule/cluster-snapshot.ts'
import type { ClusterSnapshot } from '../schedule/cluster-snapshot.ts'
import { filterClusters } from '../schedule/filter-clusters.ts'
import { placementChanged } from '../schedule/placement-change.ts'
import { scheduleBinding, staticWeightOf } from '../schedule/schedule-binding.ts'
import type { Template } from '../templates/template-kinds.ts'
import type { KarmadaCluster, KarmadaPlacement, TargetCluster } from '../types.ts'
import { APPLIED_PLACEMENT, RELEASED_DROP } from './decide-claim.ts'
import type { ServedBinding } from './kinds.ts'
import { scheduleServed } from './schedule-served.ts'
import type { ServedSchedule } from './schedule-served.ts'

/** What the guard reads, besides the binding. */
export interface GuardFacts {
  /** The clusters that the decision is about. */
  readonly clusters: readonly KarmadaCluster[]
  /** Whether a cluster has the object, or has been told to. */
  holds(cluster: string): boolean
  /** The object, which has the token of a change that a person released. */
  readonly template: Pick<Template, 'metadata'>
  /** A move of replicas divides from zero: only a cluster that the placement refuses is dropped by a change. */
  readonly isMove?: boolean
}

/** Decides like `scheduleServed`, and keeps the targets in force while the guard stops the decision. */
export function scheduleGuarded(binding: ServedBinding, facts: GuardFacts): ServedSchedule {
  const decided = scheduleServed(binding, facts.clusters)
  const stays = new Set(decided.clusters.map(({ name }) => name))
  const before = presentTargets(binding, facts.clusters)
  const left = before.filter(({ name }) => !stays.has(name))
  if (left.length === 0) return decided
  const reasons = dropReasons(binding, facts, left)
  const dropped = [...reasons.keys()].sort(compareText)
  if (!dropped.some((name) => facts.holds(name))) return decided
  const shown = findCondition(binding.status?.conditions, 'Scheduled')
  const isAll = !before.some(({ name }) => !reasons.has(name) && stays.has(name) && facts.holds(name))
  const verdict = judgeShrink(
    compact({
      noun: 'clusters' as const,
      dropped,
      of: before.length,
      always: isAll ? `No cluster that has the ${binding.spec.resource.kind} would keep it.` : undefined,
      generation: binding.metadata.generation ?? 1,
      release: facts.template.metadata.annotations?.[ALLOW_DROP_ANNOTATION],
      held: shown?.reason === DROP_HELD ? shrinkTokenIn(shown.message) : undefined,
      after: binding.metadata.annotations?.[RELEASED_DROP],
    }),
  )
  if (verdict.kind === 'Free') return decided
  if (verdict.kind === 'Released') return { ...decided, released: verdict.token }
  const more = dropped.length > 1 ? `; and ${dropped.length - 1} more` : ''
  const why = `${dropped[0]}: ${reasons.get(dropped[0]!)}${more}.`
  const { name, namespace } = binding.metadata
  const command = `flotilla guard release ${binding.kind.toLowerCase()} ${name}${namespace ? ` -n ${namespace}` : ''}`
  const message = `${verdict.message} ${why} The targets before it stay in force. Let it through with: ${command} (token ${verdict.token})`
  return {
    clusters: targetsInForce(binding, before, facts.clusters),
    scheduled: { status: 'False', reason: DROP_HELD, message: message.slice(0, 4096) },
  }
}

/** The reason of the condition Scheduled while the guard stops a decision. */
export const DROP_HELD = 'DropHeld'

/** The targets on clusters that are in the fleet and stay there. */
function presentTargets({ spec }: ServedBinding, clusters: readonly KarmadaCluster[]): readonly TargetCluster[] {
  const staying = clusters.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const names = new Set(staying.map(({ metadata }) => metadata.name))
  return (spec.clusters ?? []).filter(({ name }) => names.has(name))
}

/**
 * Why each target is dropped, for targets that a change of labels or of the placement drops. A target that is dropped
 * because the object has fewer replicas, or because replicas move, is not among them.
 */
function dropReasons(
  binding: ServedBinding,
  { clusters, isMove = false }: GuardFacts,
  left: readonly TargetCluster[],
): ReadonlyMap<string, string> {
  const { placement = {}, replicas = 0 } = binding.spec
  const { affinity, applied } = lastDecision(binding)
  const isChanged = placementChanged(placement, applied, affinity)
  const sum = (binding.spec.clusters ?? []).reduce((total, one) => total + (one.replicas ?? 0), 0)
  const isDivided = placement.replicaScheduling?.replicaSchedulingType === 'Divided'
  const isFree = isMove || (isDivided && replicas < sum && !isChanged)
  const snapshots = new Map(clusters.map((cluster) => [cluster.metadata.name, snapshotOf(cluster)]))
  const { refusals } = filterClusters({
    binding,
    clusters: [...snapshots.values()],
    affinityName: affinity,
    others: [],
    respectsWorkloadAffinity: false,
  })
  const reasons = left.map(({ name }): readonly [string, string | undefined] => {
    const refusal = refusals.get(name) ?? whyNoShare(placement, snapshots.get(name))
    return [name, refusal ?? (isFree ? undefined : isChanged ? CHANGED : NOT_CHOSEN)]
  })
  return new Map(reasons.flatMap(([name, reason]) => (reason === undefined ? [] : [[name, reason]])))
}

const CHANGED = 'the changed placement does not choose it'
const NOT_CHOSEN = 'the placement does not choose it any more'

function lastDecision({ metadata, status }: ServedBinding): { readonly applied: string; readonly affinity: string } {
  return {
    applied: metadata.annotations?.[APPLIED_PLACEMENT] ?? '',
    affinity: status?.schedulerObservingAffinityName ?? '',
  }
}

/** A cluster to which no static weight belongs receives no replicas. */
function whyNoShare(placement: KarmadaPlacement, cluster: ClusterSnapshot | undefined): string | undefined {
  const { staticWeightList = [], dynamicWeight } = placement.replicaScheduling?.weightPreference ?? {}
  const isStatic =
    placement.replicaScheduling?.replicaSchedulingType === 'Divided' &&
    placement.replicaScheduling.replicaDivisionPreference === 'Weighted' &&
    !dynamicWeight &&
    staticWeightList.length > 0
  return isStatic && cluster && staticWeightOf(placement, cluster) === 0 ? 'no weight belongs to it' : undefined
}

/**
 * The targets while the guard stops a change: those before it. Their replicas follow the object, by the division that
 * was applied last, as long as each of them keeps some.
 */
function targetsInForce(
  binding: ServedBinding,
  before: readonly TargetCluster[],
  clusters: readonly KarmadaCluster[],
): readonly TargetCluster[] {
  const { replicas = 0 } = binding.spec
  const replicaScheduling = divisionBefore(binding)
  const isDivided = replicaScheduling?.replicaSchedulingType === 'Divided'
  const sum = before.reduce((total, one) => total + (one.replicas ?? 0), 0)
  const isCurrent = isDivided ? sum === replicas : before.every((one) => (one.replicas ?? 0) === replicas)
  if (isCurrent) return before
  const names = before.map(({ name }) => name)
  const placement = compact({ clusterAffinity: { clusterNames: names }, replicaScheduling })
  const result = scheduleBinding({
    binding: {
      ...binding,
      metadata: { ...binding.metadata, annotations: {} },
      spec: { ...binding.spec, placement, clusters: [...before], gracefulEvictionTasks: [] },
      status: {},
    },
    clusters: clusters.filter(({ metadata }) => names.includes(metadata.name)).map(snapshotOf),
    options: { keepsEmptyTargets: true },
  })
  const given = new Map(result.clusters.map((one) => [one.name, one.replicas ?? 0]))
  const keepsAll = before.every((one) => given.has(one.name) && (given.get(one.name)! > 0 || (one.replicas ?? 0) === 0))
  if (result.action !== 'scheduled' || !keepsAll) return before
  return before.map((one) => ({ ...one, replicas: given.get(one.name)! }))
}

/** The division that was applied last. */
function divisionBefore(binding: ServedBinding): KarmadaPlacement['replicaScheduling'] {
  try {
    const applied = JSON.parse(lastDecision(binding).applied) as KarmadaPlacement | null
    return applied?.replicaScheduling
  } catch {
    return binding.spec.placement?.replicaScheduling
  }
}
