/**
 * Chooses clusters from a ranking with spread: the chosen clusters are distributed evenly over values of labels or
 * claims.
 *
 * Each step takes the best ranked cluster that keeps each domain within `maxSkew` of the domain with the fewest
 * clusters. Where no cluster does, `ScheduleAnyway` terms are violated, the smallest excess first, and `DoNotSchedule`
 * terms end the choice. A cluster without the label or claim never meets a `DoNotSchedule` term, and always a
 * `ScheduleAnyway` term.
 */
import type { PlacementCluster, SpreadTerm } from './types.ts'

/** The chosen clusters in order, and the clusters that a term excludes. */
export interface SpreadChoice {
  readonly chosen: readonly PlacementCluster[]
  readonly full: ReadonlyMap<string, SpreadTerm>
}

/** Chooses at most `count` clusters of a ranking. */
export function chooseSpread(
  ranked: readonly PlacementCluster[],
  terms: readonly SpreadTerm[],
  count: number,
): SpreadChoice {
  const full = new Map<string, SpreadTerm>()
  if (terms.length === 0) return { chosen: ranked.slice(0, Math.max(0, count)), full }
  const tallies = terms.map(createTally)
  const lanes = lanesOf(ranked, tallies, full)
  const chosen: PlacementCluster[] = []
  while (chosen.length < count) {
    const best = bestLane(lanes, tallies)
    if (!best) break
    chosen.push(best.waiting[best.next++]!.cluster)
    best.domains.forEach((domain, i) => domain !== undefined && tallies[i]!.raise(domain))
  }
  if (chosen.length < count) {
    for (const lane of lanes) {
      const by = tallies.find((tally, i) => isHard(tally.term) && tally.excess(lane.domains[i]) > 0)
      if (by) for (const { cluster } of lane.waiting.slice(lane.next)) full.set(cluster.name, by.term)
    }
  }
  return { chosen, full }
}

/** The domain of a cluster for a term, or undefined. */
export function domainOf(cluster: PlacementCluster, term: SpreadTerm): string | undefined {
  const values = term.topologyKeyType === 'Claim' ? (cluster.claims ?? {}) : cluster.labels
  return Object.hasOwn(values, term.topologyKey) ? values[term.topologyKey] : undefined
}

/** Clusters with the same domains, best ranked first. */
interface Lane {
  readonly domains: readonly (string | undefined)[]
  readonly waiting: { readonly cluster: PlacementCluster; readonly rank: number }[]
  next: number
}

/** Number of chosen clusters per domain of a term. */
interface Tally {
  readonly term: SpreadTerm
  know(domain: string): void
  raise(domain: string): void
  /** Excess over the skew if one more cluster of the domain is chosen. */
  excess(domain: string | undefined): number
}

function createTally(term: SpreadTerm): Tally {
  const counts = new Map<string, number>()
  const domainsAt: number[] = [] // number of domains per count
  let floor = 0
  return {
    term,
    know: (domain) => {
      if (counts.has(domain)) return
      counts.set(domain, 0)
      domainsAt[0] = (domainsAt[0] ?? 0) + 1
    },
    raise: (domain) => {
      const count = counts.get(domain)!
      counts.set(domain, count + 1)
      domainsAt[count]!--
      domainsAt[count + 1] = (domainsAt[count + 1] ?? 0) + 1
      while (domainsAt[floor] === 0) floor++
    },
    excess: (domain) => {
      if (domain === undefined) return 0
      const after = counts.get(domain)! + 1
      // The only domain with the lowest count raises that count itself.
      const lifted = after - 1 === floor && domainsAt[floor] === 1 ? after : floor
      return Math.max(0, after - lifted - term.maxSkew)
    },
  }
}

function isHard(term: SpreadTerm): boolean {
  return term.whenUnsatisfiable === 'DoNotSchedule'
}

function lanesOf(
  ranked: readonly PlacementCluster[],
  tallies: readonly Tally[],
  full: Map<string, SpreadTerm>,
): readonly Lane[] {
  const lanes = new Map<string, Lane>()
  for (const [rank, cluster] of ranked.entries()) {
    const domains = tallies.map(({ term }) => domainOf(cluster, term))
    const lacking = tallies.find(({ term }, i) => isHard(term) && domains[i] === undefined)
    if (lacking) {
      full.set(cluster.name, lacking.term)
      continue
    }
    domains.forEach((domain, i) => domain !== undefined && tallies[i]!.know(domain))
    const key = JSON.stringify(domains)
    const lane = lanes.get(key) ?? { domains, waiting: [], next: 0 }
    lanes.set(key, lane)
    lane.waiting.push({ cluster, rank })
  }
  return [...lanes.values()]
}

function bestLane(lanes: readonly Lane[], tallies: readonly Tally[]): Lane | undefined {
  let best: Lane | undefined
  let least = Infinity
  let bestRank = Infinity
  for (const lane of lanes) {
    const head = lane.waiting[lane.next]
    if (!head) continue
    let sum = 0
    for (const [i, tally] of tallies.entries()) {
      const over = tally.excess(lane.domains[i])
      sum += over > 0 && isHard(tally.term) ? Infinity : over
    }
    if (sum === Infinity || sum > least || (sum === least && head.rank > bestRank)) continue
    best = lane
    least = sum
    bestRank = head.rank
  }
  return best
}
