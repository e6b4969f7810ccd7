/** Division of a workload's replicas among clusters: the same number for each, by weights, or by free capacity. */
import { divideSeats, tieOrder } from './seats.ts'

/** A cluster and its replicas. */
export interface ClusterReplicas {
  readonly name: string
  readonly replicas: number
}

/** How replicas are divided. */
export type DivisionStrategy = 'Duplicated' | 'StaticWeight' | 'DynamicWeight' | 'Aggregated'

/** A cluster that may receive replicas. */
export interface DivisionCandidate {
  readonly name: string
  /** Number of further replicas for which the cluster has capacity. */
  readonly allocatable: number
}

export interface DivisionInput<C extends DivisionCandidate = DivisionCandidate> {
  readonly strategy: DivisionStrategy
  readonly candidates: readonly C[]
  readonly replicas: number
  /** The division before this one. */
  readonly previous: readonly ClusterReplicas[]
  /** True: divide anew, without regard to where replicas run now. */
  readonly fresh: boolean
  readonly uid: string
  /** Weight of a candidate, for `StaticWeight`. Clusters with weight 0 receive nothing, unless all have 0. */
  readonly weightOf: (candidate: C) => number
}

/** Thrown when the clusters together lack capacity. */
export class TooFewReplicas extends Error {}

/** Clusters with their replicas; a cluster that receives none may be left out. */
export function divideReplicas<C extends DivisionCandidate>(input: DivisionInput<C>): readonly ClusterReplicas[] {
  switch (input.strategy) {
    case 'Duplicated':
      return input.candidates.map(({ name }) => ({ name, replicas: input.replicas }))
    case 'StaticWeight':
      return divideByWeight(input)
    case 'DynamicWeight':
    case 'Aggregated':
      return divideByCapacity(input)
  }
}

function divideByWeight<C extends DivisionCandidate>(input: DivisionInput<C>): readonly ClusterReplicas[] {
  const { candidates, replicas, uid, weightOf } = input
  const weights = new Map<string, number>()
  for (const candidate of candidates) {
    const weight = weightOf(candidate)
    if (weight > 0) weights.set(candidate.name, weight)
  }
  if (weights.size === 0) for (const { name } of candidates) weights.set(name, 1)
  return listOf(divideSeats({ seats: replicas, weights, ties: tieOrder(uid) }))
}

function divideByCapacity<C extends DivisionCandidate>(input: DivisionInput<C>): readonly ClusterReplicas[] {
  const { candidates, replicas, previous, fresh } = input
  const names = new Set(candidates.map(({ name }) => name))
  const kept = previous.filter(({ name }) => names.has(name))
  const assigned = sumInt32(kept)
  if (fresh) {
    const own = new Map(kept.map(({ name, replicas: count }) => [name, count]))
    const weights = capacities(candidates, (name, allocatable) => toInt32(allocatable + (own.get(name) ?? 0)))
    return during('do fresh scale', () => spread(input, { weights, target: replicas, kept: [] }))
  }
  if (assigned > replicas) {
    const weights = [...kept].sort(byReplicas)
    return during('scale down', () => spread(input, { weights, target: replicas, kept: [] }))
  }
  if (assigned === replicas) return kept
  const weights = capacities(candidates, (_, allocatable) => allocatable)
  return during('scale up', () => spread(input, { weights, target: replicas - assigned, kept }))
}

interface Spread {
  /** Capacities, the largest first. */
  readonly weights: readonly ClusterReplicas[]
  readonly target: number
  /** Replicas that stay where they are; the spread adds to them. */
  readonly kept: readonly ClusterReplicas[]
}

function spread(
  { strategy, uid }: Pick<DivisionInput, 'strategy' | 'uid'>,
  { weights, target, kept }: Spread,
): readonly ClusterReplicas[] {
  const available = sumInt32(weights)
  if (available < target) {
    throw new TooFewReplicas(`Clusters available replicas ${available} are not enough to schedule.`)
  }
  const used = strategy === 'Aggregated' ? fewestClusters(weights, target, kept) : weights
  const seats = divideSeats({
    seats: target,
    weights: new Map(used.map(({ name, replicas }) => [name, replicas])),
    ties: tieOrder(uid),
  })
  return merge(kept, listOf(seats))
}

/** The first clusters that suffice: those with replicas now come first. */
function fewestClusters(
  weights: readonly ClusterReplicas[],
  target: number,
  kept: readonly ClusterReplicas[],
): readonly ClusterReplicas[] {
  const prior = new Set(kept.filter(({ replicas }) => replicas > 0).map(({ name }) => name))
  const ordered = [...weights.filter(({ name }) => prior.has(name)), ...weights.filter(({ name }) => !prior.has(name))]
  let sum = 0
  const end = ordered.findIndex(({ replicas }) => (sum = toInt32(sum + replicas)) >= target)
  return end < 0 ? ordered : ordered.slice(0, end + 1)
}

function capacities(
  candidates: readonly DivisionCandidate[],
  capacityOf: (name: string, allocatable: number) => number,
): readonly ClusterReplicas[] {
  return candidates.map(({ name, allocatable }) => ({ name, replicas: capacityOf(name, allocatable) })).sort(byReplicas)
}

function merge(kept: readonly ClusterReplicas[], added: readonly ClusterReplicas[]): readonly ClusterReplicas[] {
  if (kept.length === 0) return added
  if (added.length === 0) return kept
  const sums = new Map(added.map(({ name, replicas }) => [name, replicas]))
  for (const { name, replicas } of kept) sums.set(name, (sums.get(name) ?? 0) + replicas)
  return listOf(sums)
}

function during<T>(step: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof TooFewReplicas)) throw error
    throw new TooFewReplicas(`failed to ${step}: ${error.message}`, { cause: error })
  }
}

function listOf(seats: ReadonlyMap<string, number>): readonly ClusterReplicas[] {
  return [...seats].map(([name, replicas]) => ({ name, replicas }))
}

function byReplicas(a: ClusterReplicas, b: ClusterReplicas): number {
  return b.replicas - a.replicas
}

/** Replicas are 32-bit integers in Kubernetes, and sums of them wrap around as 32-bit integers do. */
export function toInt32(value: number): number {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value | 0 : Number(BigInt.asIntN(32, BigInt(value)))
}

/** Sum of replicas as a 32-bit integer. */
export function sumInt32(clusters: readonly ClusterReplicas[]): number {
  return clusters.reduce((sum, { replicas }) => toInt32(sum + replicas), 0)
}
