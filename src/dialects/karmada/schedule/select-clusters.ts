// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Which of the feasible clusters a binding uses: all, the best ones, or the best ones of the best regions. */
import { compareText } from '../../../core/text/compare-text.ts'
import { chooseGroups } from '../../../plan/division/choose-groups.ts'
import type { KarmadaPlacement, SpreadConstraint } from '../types.ts'
import type { ClusterSnapshot } from './cluster-snapshot.ts'

/** A feasible cluster with what the choice depends on. */
export interface Candidate {
  readonly name: string
  readonly cluster: ClusterSnapshot
  /** 100 when the binding runs on the cluster already, 0 otherwise. */
  readonly score: number
  /** Tier of the cluster: 0 for the selection itself, then the overflow tiers. */
  readonly tier: number
  /** Number of further replicas that fit. */
  readonly allocatable: number
  /** `allocatable` and the replicas that the cluster has already. */
  readonly available: number
}

/** Thrown when the spread constraints cannot be met. */
export class SelectionError extends Error {}

/** The choice of groups by any field or label, for spread constraints that Karmada does not schedule. */
export type SpreadByAny = (input: {
  readonly constraints: readonly SpreadConstraint[]
  readonly ranked: readonly Candidate[]
  readonly scoreOf: (members: readonly Candidate[], group: SpreadConstraint, cluster: SpreadConstraint) => number
}) => readonly Candidate[]

/** Score points of a replica in the score of a region; scores of clusters count only between equal regions. */
const WEIGHT_UNIT = 1000

/** Orders candidates: tier, score, available replicas, name. */
export function byRank(a: Candidate, b: Candidate): number {
  return a.tier - b.tier || b.score - a.score || b.available - a.available || compareText(a.name, b.name)
}

/** The clusters to use, out of ranked candidates. `replicas`: how many must fit on them together. */
export function selectClusters(
  placement: KarmadaPlacement,
  ranked: readonly Candidate[],
  replicas: number,
  spreadsByAny: SpreadByAny | undefined,
): readonly Candidate[] {
  const constraints = placement.spreadConstraints ?? []
  if (constraints.length === 0 || ignoresSpread(placement)) return ranked
  if (spreadsByAny && constraints.some(({ spreadByField }) => spreadByField !== 'cluster')) {
    const scoreOf = (members: readonly Candidate[], region: SpreadConstraint, cluster: SpreadConstraint) =>
      regionScore(members, { placement, ranked, region, cluster, replicas })
    return spreadsByAny({ constraints, ranked, scoreOf })
  }
  const byField = new Map(constraints.map((constraint) => [constraint.spreadByField ?? '', constraint]))
  const region = byField.get('region')
  const cluster = byField.get('cluster')
  if (region) return selectByRegion({ placement, ranked, region, cluster: cluster ?? {}, replicas })
  if (cluster) {
    const limits = spreadsByAny && !cluster.maxGroups ? { ...cluster, maxGroups: ranked.length } : cluster
    return selectByCluster(ranked, limits, isDuplicated(placement) ? undefined : replicas)
  }
  throw new SelectionError('just support cluster and region spread constraint')
}

/** Karmada ignores spread constraints where weights are static, or where the division is by weight without any. */
export function ignoresSpread({ replicaScheduling }: KarmadaPlacement): boolean {
  if (replicaScheduling?.replicaSchedulingType !== 'Divided') return false
  if (replicaScheduling.replicaDivisionPreference !== 'Weighted') return false
  const { weightPreference } = replicaScheduling
  if (!weightPreference) return true
  return (weightPreference.staticWeightList ?? []).length > 0 && !weightPreference.dynamicWeight
}

function isDuplicated({ replicaScheduling }: KarmadaPlacement): boolean {
  return !replicaScheduling || replicaScheduling.replicaSchedulingType === 'Duplicated'
}

function selectByCluster(
  ranked: readonly Candidate[],
  { minGroups = 0, maxGroups = 0 }: SpreadConstraint,
  replicas: number | undefined,
): readonly Candidate[] {
  if (ranked.length < minGroups) {
    throw new SelectionError('the number of feasible clusters is less than spreadConstraint.MinGroups')
  }
  const count = Math.min(ranked.length, maxGroups)
  if (replicas === undefined) return ranked.slice(0, count)
  const selected = withRoom(ranked, count, replicas)
  if (selected.length === 0) throw new SelectionError(`no enough resource when selecting ${count} clusters`)
  return selected
}

/**
 * The first `count` clusters; while they lack room, the last of them gives way to the roomiest of the others. Empty
 * when no exchange makes enough room.
 */
function withRoom(ranked: readonly Candidate[], count: number, replicas: number): readonly Candidate[] {
  const selected = ranked.slice(0, count)
  const rest = ranked.slice(count)
  const hasRoom = (): boolean => selected.reduce((sum, { available }) => sum + available, 0) >= replicas
  for (let i = selected.length - 1; i >= 0 && !hasRoom(); i--) {
    let roomiest = -1
    let most = selected[i]!.available
    for (const [at, { available }] of rest.entries()) {
      if (available <= most) continue
      roomiest = at
      most = available
    }
    if (roomiest < 0) continue
    const given = selected[i]!
    selected[i] = rest[roomiest]!
    rest[roomiest] = given
  }
  return hasRoom() ? selected : []
}

interface RegionInput {
  readonly placement: KarmadaPlacement
  readonly ranked: readonly Candidate[]
  readonly region: SpreadConstraint
  readonly cluster: SpreadConstraint
  readonly replicas: number
}

function selectByRegion(input: RegionInput): readonly Candidate[] {
  const { region, cluster } = input
  const byRegion = new Map<string, Candidate[]>()
  for (const candidate of input.ranked) {
    const name = candidate.cluster.region
    if (name === undefined) continue
    const members = byRegion.get(name)
    if (members) members.push(candidate)
    else byRegion.set(name, [candidate])
  }
  const { minGroups = 0, maxGroups = 0 } = region
  if (byRegion.size < minGroups) {
    throw new SelectionError('the number of feasible region is less than spreadConstraint.MinGroups')
  }
  const groups = [...byRegion].map(([name, members]) => ({
    name,
    value: members.length,
    weight: regionScore(members, input),
  }))
  const chosen = chooseGroups(groups, { min: minGroups, max: maxGroups, target: cluster.minGroups ?? 0 })
  if (chosen.length === 0) {
    throw new SelectionError('the number of clusters is less than the cluster spreadConstraint.MinGroups')
  }
  const members = chosen.map(({ name }) => byRegion.get(name)!)
  const firsts = members.map((own) => own[0]!)
  const rest = members.flatMap((own) => own.slice(1)).sort(byRank)
  const count = Math.min(firsts.length + rest.length, cluster.maxGroups ?? 0)
  return [...firsts, ...rest.slice(0, Math.max(0, count - firsts.length))]
}

function regionScore(members: readonly Candidate[], { placement, region, cluster, replicas }: RegionInput): number {
  if (isDuplicated(placement)) {
    const fitting = members.filter(({ available }) => available >= replicas)
    return fitting.length === 0 ? 0 : fitting.length * WEIGHT_UNIT + averageScore(fitting, fitting.length)
  }
  const minGroups = region.minGroups ?? 0
  const wanted = Math.ceil(replicas / Math.max(1, minGroups))
  const leastClusters = Math.max(cluster.minGroups ?? 0, minGroups)
  let available = 0
  let used = 0
  for (const member of members) {
    available += member.available
    used++
    if (used >= leastClusters && available >= wanted) break
  }
  return available < wanted
    ? available * WEIGHT_UNIT + averageScore(members.slice(0, used), members.length)
    : wanted * WEIGHT_UNIT + averageScore(members.slice(0, used), used)
}

function averageScore(members: readonly Candidate[], count: number): number {
  return Math.trunc(members.reduce((sum, { score }) => sum + score, 0) / count)
}
