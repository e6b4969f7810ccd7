/**
 * Maps rollout strategies of other systems to rings: Rancher Fleet's rolloutStrategy, Open Cluster Management's
 * strategies, Argo CD's RollingSync and KubeFleet's staged runs. `notes` name each field without an exact equivalent.
 */
import { compact } from '../core/compact.ts'
import type { LabelRequirement, LabelSelector } from '../core/text/label-selector.ts'
import type { RingSpec } from '../plan/rollout/rings.ts'

/** Rings, and a note for each difference. */
export interface MappedRollout {
  readonly rings: readonly RingSpec[]
  readonly progressDeadlineMs?: number
  readonly notes: readonly string[]
}

type Limit = number | string

/** Rancher Fleet's rolloutStrategy. */
export interface FleetStrategy {
  readonly maxUnavailable?: Limit
  readonly maxUnavailablePartitions?: Limit
  readonly autoPartitionSize?: Limit
  /** Defaults to 200. */
  readonly autoPartitionThreshold?: number
  readonly partitions?: readonly {
    readonly name?: string
    readonly maxUnavailable?: Limit
    readonly clusterSelector?: LabelSelector
  }[]
}

// Below this number of clusters Fleet creates no automatic partitions.
const FLEET_AUTO_THRESHOLD = 200

/** Rings for a Fleet bundle on a number of clusters. `maxUnavailable: 0` means that no failure is tolerated. */
export function fromFleet(strategy: FleetStrategy, clusters: number): MappedRollout {
  const notes: string[] = []
  const all = strategy.maxUnavailable ?? '100%'
  if (!isZero(strategy.maxUnavailablePartitions ?? 0)) {
    notes.push('maxUnavailablePartitions: a ring starts only when all rings before it have passed')
  }
  if (strategy.partitions && strategy.partitions.length > 0) {
    const rings = strategy.partitions.map(({ name, maxUnavailable, clusterSelector }, i): RingSpec => {
      if (!clusterSelector) {
        notes.push(
          `partition ${i}: without criteria, Fleet's partition has no cluster; the ring has all clusters that are in no other ring`,
        )
      }
      const budget = fleetBudget(maxUnavailable ?? all)
      return {
        name: ringName(name ?? `partition-${i}`),
        ...compact({ selector: clusterSelector }),
        ...budget,
      }
    })
    return { rings, notes }
  }
  const size = fleetLimit(strategy.autoPartitionSize ?? '25%')
  const share = typeof size === 'string' ? percentOf(size) : Math.ceil((100 * size) / Math.max(1, clusters))
  const threshold = strategy.autoPartitionThreshold ?? FLEET_AUTO_THRESHOLD
  if (threshold <= 0 || clusters < threshold || share <= 0 || share >= 100) {
    return { rings: [{ name: 'all', ...fleetBudget(all) }], notes }
  }
  const full = Math.ceil(100 / share) - 1
  const rings = Array.from({ length: full }, (_, i): RingSpec => ({
    name: `partition-${i}`,
    share: `${share}%`,
    ...fleetBudget(all),
  }))
  return { rings: [...rings, { name: `partition-${full}`, ...fleetBudget(all) }], notes }
}

/** Fleet lets a partition pass while at most `maxUnavailable` of its clusters are unavailable. */
function fleetBudget(limit: Limit): Pick<RingSpec, 'concurrency' | 'maxUnavailable' | 'maxFailed' | 'readyShare'> {
  const maxUnavailable = fleetLimit(limit)
  if (maxUnavailable === 0) return { concurrency: 1, maxFailed: 0 }
  const all = { concurrency: maxUnavailable, maxUnavailable, maxFailed: maxUnavailable }
  return typeof maxUnavailable === 'number' ? all : { ...all, readyShare: `${100 - percentOf(maxUnavailable)}%` }
}

/** Fleet's limits: a percentage allows at least one cluster and at most all, and a negative number is 0. */
function fleetLimit(limit: Limit): Limit {
  if (typeof limit === 'number') return Math.max(0, limit)
  if (!limit.endsWith('%')) return Math.max(0, Number(limit))
  const percent = Math.floor(percentOf(limit))
  return percent < 1 ? 1 : `${Math.min(100, percent)}%`
}

function percentOf(limit: string): number {
  return Number(limit.replace('%', ''))
}

/** Open Cluster Management's rollout strategy. */
export interface OcmStrategy {
  readonly type: 'All' | 'Progressive' | 'ProgressivePerGroup'
  readonly mandatoryGroups?: readonly { readonly groupName?: string; readonly groupIndex?: number }[]
  readonly maxConcurrency?: Limit
  readonly maxFailures?: Limit
  readonly minSuccessTimeMs?: number
  /** Defaults to no deadline. */
  readonly progressDeadlineMs?: number
}

/**
 * Rings for Open Cluster Management's strategy; `groups` are the names of the Placement's decision groups, in order.
 */
export function fromOcm(strategy: OcmStrategy, groups: readonly string[]): MappedRollout {
  const notes: string[] = []
  const deadline = strategy.progressDeadlineMs === undefined ? {} : { progressDeadlineMs: strategy.progressDeadlineMs }
  if (strategy.type === 'All')
    return { rings: [{ name: 'all', concurrency: '100%', maxFailed: '100%' }], notes, ...deadline }
  const soak = strategy.minSuccessTimeMs === undefined ? {} : { soakMs: strategy.minSuccessTimeMs }
  const mandatory = (strategy.mandatoryGroups ?? []).flatMap(({ groupName, groupIndex }) => {
    if (groupName) return [groupName]
    notes.push(`mandatory group ${groupIndex}: a ring selects a group by its name; give the group a name`)
    return []
  })
  const ring = (group: string, maxFailed: Limit): RingSpec => ({
    name: ringName(group),
    group,
    concurrency: '100%',
    maxFailed,
    ...soak,
  })
  const failures = strategy.maxFailures ?? 0
  const first = [...new Set(mandatory)].map((group) => ring(group, 0))
  const isPerGroup = strategy.type === 'ProgressivePerGroup'
  const distinct = [...new Set(groups)]
  const later = isPerGroup
    ? distinct.filter((group) => group !== '' && !mandatory.includes(group)).map((group) => ring(group, failures))
    : []
  if (isPerGroup && distinct.length < groups.length) {
    notes.push('groups with the same name are one ring: clustersPerDecisionGroup does not split it')
  }
  if (!isPerGroup && strategy.minSuccessTimeMs !== undefined) {
    notes.push('minSuccessTime: a ring soaks as a whole; a Ready cluster releases its slot at once')
  }
  if (!isPerGroup && typeof failures === 'string' && mandatory.length > 0) {
    notes.push('maxFailures: the percentage is of the clusters outside of the mandatory groups, not of all clusters')
  }
  const concurrency = strategy.type === 'Progressive' ? (strategy.maxConcurrency ?? '100%') : '100%'
  return {
    rings: [...first, ...later, { name: 'rest', concurrency, maxFailed: failures, ...soak }],
    notes,
    ...deadline,
  }
}

/** A step of Argo CD's RollingSync. */
export interface RollingSyncStep {
  readonly matchExpressions?: readonly LabelRequirement[]
  readonly maxUpdate?: Limit
}

/** Rings for RollingSync; a cluster that matches no step is in no ring, as in Argo CD. */
export function fromRollingSync(steps: readonly RollingSyncStep[]): MappedRollout {
  const notes: string[] = []
  const rings = steps.map(({ matchExpressions = [], maxUpdate = '100%' }, i): RingSpec => {
    // A step without expressions selects all remaining clusters. As a selector it comes before later steps.
    const selector = { matchExpressions }
    if (!isZero(maxUpdate)) return { name: `step-${i + 1}`, selector, concurrency: maxUpdate }
    notes.push(`step ${i + 1}: maxUpdate 0 requires one approval for the ring, not one for each application`)
    return { name: `step-${i + 1}`, selector, concurrency: 1, approvals: { count: 1 } }
  })
  return { rings, notes }
}

/** A stage of KubeFleet's staged update. */
export interface KubeFleetStage {
  readonly name: string
  readonly labelSelector?: LabelSelector
  readonly maxConcurrency?: Limit
  /** The label whose number orders the clusters. */
  readonly sortingLabelKey?: string
  readonly waitMs?: number
  /** An Approval among beforeStageTasks. */
  readonly approvalBefore?: boolean
  /** An Approval among afterStageTasks. */
  readonly approvalAfter?: boolean
}

/** Rings for KubeFleet's stages; any failure stops the rollout, as in KubeFleet. */
export function fromKubeFleet(stages: readonly KubeFleetStage[]): MappedRollout {
  const notes: string[] = []
  const rings = stages.map(({ name, labelSelector, maxConcurrency = 1, waitMs, approvalBefore }, i): RingSpec => {
    const needsApproval = approvalBefore || stages[i - 1]?.approvalAfter
    return compact({
      name: ringName(name),
      selector: labelSelector,
      concurrency: maxConcurrency,
      maxFailed: 0,
      soakMs: waitMs,
      approvals: needsApproval ? { count: 1 } : undefined,
    })
  })
  for (const { name, sortingLabelKey } of stages) {
    if (sortingLabelKey) notes.push(`stage ${name}: clusters are ordered by name, not by ${sortingLabelKey}`)
  }
  const last = stages.at(-1)
  if (last?.approvalAfter) notes.push(`stage ${last.name}: the approval after the last stage has no effect`)
  return { rings, notes }
}

function isZero(limit: Limit): boolean {
  return limit === 0 || limit === '0' || limit === '0%'
}

function ringName(text: string): string {
  return (
    text
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 63) || 'ring'
  )
}
