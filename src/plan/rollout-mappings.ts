/**
 * How other systems' rollouts are said with rings: Rancher Fleet's rolloutStrategy, Open Cluster Management's strategies, Argo
 * CD's RollingSync and KubeFleet's staged runs. What has no exact form is named in `notes`; nothing is dropped silently.
 */
import type { LabelRequirement, LabelSelector } from '../core/selector.ts'
import type { RingSpec } from './rollout-rings.ts'

/** Rings, and what is not exactly the same. */
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
  /** 200 unless said. */
  readonly autoPartitionThreshold?: number
  readonly partitions?: readonly {
    readonly name?: string
    readonly maxUnavailable?: Limit
    readonly clusterSelector?: LabelSelector
  }[]
}

// Below this number of clusters Fleet makes no partitions of its own.
const FLEET_AUTO_THRESHOLD = 200

/** Rings for a Fleet bundle of so many clusters. `maxUnavailable: 0` means that no failure is tolerated. */
export function fromFleet(strategy: FleetStrategy, clusters: number): MappedRollout {
  const notes: string[] = []
  const all = strategy.maxUnavailable ?? '100%'
  if (!isZero(strategy.maxUnavailablePartitions ?? 0)) {
    notes.push('maxUnavailablePartitions: a ring begins only when all rings before it are through')
  }
  if (strategy.partitions && strategy.partitions.length > 0) {
    const rings = strategy.partitions.map(({ name, maxUnavailable, clusterSelector }, i): RingSpec => {
      if (!clusterSelector)
        notes.push(`partition ${i}: only clusterSelector can be said; the ring takes all that is left`)
      const budget = fleetBudget(maxUnavailable ?? all)
      return {
        name: ringName(name ?? `partition-${i}`),
        ...(clusterSelector ? { selector: clusterSelector } : {}),
        ...budget,
      }
    })
    return { rings, notes }
  }
  const size = strategy.autoPartitionSize ?? '25%'
  const share =
    typeof size === 'string' ? Number(size.replace('%', '')) : Math.ceil((100 * size) / Math.max(1, clusters))
  const threshold = strategy.autoPartitionThreshold ?? FLEET_AUTO_THRESHOLD
  if (threshold <= 0 || clusters < threshold || share >= 100) {
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

/** Fleet lets a partition pass while at most `maxUnavailable` of it are unavailable. */
function fleetBudget(
  maxUnavailable: Limit,
): Pick<RingSpec, 'concurrency' | 'maxUnavailable' | 'maxFailed' | 'readyShare'> {
  if (isZero(maxUnavailable)) return { concurrency: 1, maxFailed: 0 }
  const both = { concurrency: maxUnavailable, maxUnavailable }
  if (typeof maxUnavailable === 'number') return { ...both, maxFailed: maxUnavailable }
  return {
    ...both,
    maxFailed: maxUnavailable,
    readyShare: `${100 - Number(maxUnavailable.replace('%', ''))}%`,
  }
}

/** Open Cluster Management's rollout strategy. */
export interface OcmStrategy {
  readonly type: 'All' | 'Progressive' | 'ProgressivePerGroup'
  readonly mandatoryGroups?: readonly { readonly groupName?: string; readonly groupIndex?: number }[]
  readonly maxConcurrency?: Limit
  readonly maxFailures?: Limit
  readonly minSuccessTimeMs?: number
  /** Absent: `None`. */
  readonly progressDeadlineMs?: number
}

/** Rings for Open Cluster Management's strategy; `groups` are the names of the Placement's decision groups, in order. */
export function fromOcm(strategy: OcmStrategy, groups: readonly string[]): MappedRollout {
  const notes: string[] = []
  const deadline = strategy.progressDeadlineMs === undefined ? {} : { progressDeadlineMs: strategy.progressDeadlineMs }
  if (strategy.type === 'All')
    return { rings: [{ name: 'all', concurrency: '100%', maxFailed: '100%' }], notes, ...deadline }
  const soak = strategy.minSuccessTimeMs === undefined ? {} : { soakMs: strategy.minSuccessTimeMs }
  const mandatory = (strategy.mandatoryGroups ?? []).flatMap(({ groupName, groupIndex }) => {
    if (groupName) return [groupName]
    notes.push(`mandatory group ${groupIndex}: a ring takes a group by its name; give it one`)
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
  const first = mandatory.map((group) => ring(group, 0))
  const later =
    strategy.type === 'ProgressivePerGroup'
      ? groups.filter((group) => group !== '' && !mandatory.includes(group)).map((group) => ring(group, failures))
      : []
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

/** Rings for RollingSync; who matches no step is in no ring, as there. */
export function fromRollingSync(steps: readonly RollingSyncStep[]): MappedRollout {
  const notes: string[] = []
  const rings = steps.map(({ matchExpressions = [], maxUpdate = '100%' }, i): RingSpec => {
    const selector = matchExpressions.length === 0 ? {} : { selector: { matchExpressions } }
    if (!isZero(maxUpdate)) return { name: `step-${i + 1}`, ...selector, concurrency: maxUpdate }
    notes.push(`step ${i + 1}: maxUpdate 0 waits for a person; one approval opens the ring, not each application`)
    return { name: `step-${i + 1}`, ...selector, concurrency: 1, approvals: { count: 1 } }
  })
  return { rings, notes }
}

/** A stage of KubeFleet's staged update. */
export interface KubeFleetStage {
  readonly name: string
  readonly labelSelector?: LabelSelector
  readonly maxConcurrency?: Limit
  readonly waitMs?: number
  /** An Approval among beforeStageTasks. */
  readonly approvalBefore?: boolean
  /** An Approval among afterStageTasks. */
  readonly approvalAfter?: boolean
}

/** Rings for KubeFleet's stages; any failure stops them, as there. */
export function fromKubeFleet(stages: readonly KubeFleetStage[]): MappedRollout {
  const notes: string[] = []
  const rings = stages.map(({ name, labelSelector, maxConcurrency = 1, waitMs, approvalBefore }, i): RingSpec => {
    const needsApproval = approvalBefore || stages[i - 1]?.approvalAfter
    return {
      name: ringName(name),
      ...(labelSelector ? { selector: labelSelector } : {}),
      concurrency: maxConcurrency,
      maxFailed: 0,
      ...(waitMs === undefined ? {} : { soakMs: waitMs }),
      ...(needsApproval ? { approvals: { count: 1 } } : {}),
    }
  })
  const last = stages.at(-1)
  if (last?.approvalAfter) notes.push(`stage ${last.name}: approval after the last stage; nothing waits for it`)
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
