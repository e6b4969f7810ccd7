/** Slots: which stay taken, which come back, and who takes the next ones. */
import { formatTime, parseTime } from '../core/time.ts'
import type { FreedSlot, Predecessor, RolloutInput } from './rollout-facts.ts'
import { pairKey } from './rollout-pairs.ts'
import type { Pair, ReleaseBundle, RolloutAdmission, RolloutCluster } from './rollout-pairs.ts'
import type { RingSpec } from './rollout-rings.ts'
import { sameRevision } from './state.ts'

/**
 * How long after start-by an agent that did begin may take to say so; also how old the reports may be that the hub
 * decides on where start-by is used.
 */
export const START_BY_MARGIN_MS = 60_000

/** Which slots stay taken and which come back. */
export function settleSlots({ rollout, release, clusterOf, now }: RolloutInput): {
  kept: RolloutAdmission[]
  freed: FreedSlot[]
} {
  const kept: RolloutAdmission[] = []
  const freed: FreedSlot[] = []
  for (const admission of rollout.admissions) {
    const target = release?.bundles.find((bundle) => bundle.name === admission.bundle)
    const by = target && freedBy(admission, target, clusterOf(admission.cluster), { namespace: rollout.namespace, now })
    if (by) freed.push({ admission, by })
    else kept.push(admission)
  }
  return { kept, freed }
}

function freedBy(
  admission: RolloutAdmission,
  target: ReleaseBundle,
  cluster: RolloutCluster | undefined,
  at: { readonly namespace: string; readonly now: number },
): FreedSlot['by'] | undefined {
  if (!cluster) return 'ClusterGone'
  const key = `${at.namespace}/${admission.bundle}`
  const assigned = cluster.assigned.get(key)
  const reported = cluster.reported.get(key)
  // A newer rollout records its own admission before a document names its generation, so the pair stays counted there.
  if ((assigned?.generation ?? 0) > target.generation || (reported?.generation ?? 0) > target.generation)
    return 'Overtaken'
  // Where clusters differ, the document says which content of this generation was handed out, and nobody hands out two.
  const isReported = target.contentOf ? reported?.generation === target.generation : sameRevision(reported, target)
  if (isReported) {
    return reported?.state === 'Ready' || reported?.state === 'Drifted' ? 'Report' : undefined
  }
  const startBy = admission.startBy === undefined ? undefined : parseTime(admission.startBy)
  const expired = startBy !== undefined && at.now > startBy + START_BY_MARGIN_MS
  // An offline cluster may have begun before it fell silent: it stays unavailable.
  return expired && cluster.availability.state === 'Available' ? 'StartByPassed' : undefined
}

/** Pairs that are, or may be, unwell because of a rollout of their bundle. */
export function pairsInUse(
  input: RolloutInput,
  pairs: readonly Pair[],
  kept: readonly RolloutAdmission[],
): Set<string> {
  const bundles = new Set(input.release?.bundles.map((bundle) => bundle.name))
  const wellNow = new Set(pairs.filter((pair) => pair.well).map(pairKey))
  const inFlight = input.predecessors
    .flatMap((predecessor) => predecessor.admissions)
    .filter((admission) => bundles.has(admission.bundle) && !wellNow.has(pairKey(admission)))
  const unwell = pairs.filter((pair) => pair.handed && !pair.well)
  return new Set([...kept, ...inFlight, ...unwell].map(pairKey))
}

/** Who is admitted now; see the head of rollout.ts for the rule. */
export function nextAdmissions(members: {
  readonly input: RolloutInput
  readonly pairs: readonly Pair[]
  readonly kept: readonly RolloutAdmission[]
  readonly inUse: ReadonlySet<string>
  readonly limit: number
  readonly ringOf: (pair: Pair) => RingSpec
}): RolloutAdmission[] {
  const { input, pairs, kept, inUse, limit, ringOf } = members
  const holding = new Set(kept.map(pairKey))
  const inUseMayMove = inUse.size <= limit || olderDrained(input.predecessors)
  let slots = limit - kept.length
  let room = limit - inUse.size
  const candidates = pairs
    .filter((pair) => pair.free && !pair.well && !pair.failed && !pair.blocked && !holding.has(pairKey(pair)))
    .map((pair) => ({ pair, rank: inUse.has(pairKey(pair)) ? 0 : pair.ailing ? 1 : 2 }))
    .sort((a, b) => a.rank - b.rank)
  const admitted: RolloutAdmission[] = []
  for (const { pair, rank } of candidates) {
    if (slots <= 0) break
    if (rank > 0 && room <= 0) break
    if (rank === 0 && !inUseMayMove) continue
    if (rank > 0) room--
    slots--
    const { name: ring, startByMs } = ringOf(pair)
    admitted.push({
      bundle: pair.bundle,
      cluster: pair.cluster,
      ring,
      admittedAt: formatTime(input.now),
      ...(startByMs === undefined ? {} : { startBy: formatTime(input.now + startByMs) }),
    })
  }
  return admitted
}

function olderDrained(predecessors: readonly Predecessor[]): boolean {
  const newest = Math.max(...predecessors.map(({ generation }) => generation))
  return predecessors.every(({ generation, admissions }) => generation === newest || admissions.length === 0)
}
