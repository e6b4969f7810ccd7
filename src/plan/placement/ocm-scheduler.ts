/**
 * Open Cluster Management's scheduler: the same decisions for the same inputs, including its quirks, except for the
 * differences in `OCM_DEVIATIONS`.
 *
 * Bound sets → members → predicates → taints → weights → scores → order → cut → groups. See docs/placement.md.
 */
import { compact } from '../../core/compact.ts'
import type { PlacementCluster, PlacementQuestion, PlacementWorld } from './types.ts'
import { compileFilter, mayPlaceOn, meetsPredicates, judgeClusterTaints } from './filter.ts'
import { groupByName } from './decisions/decision-groups.ts'
import type { DecisionGroup } from './decisions/decision-groups.ts'
import { rank } from './rank.ts'
import type { RankedCluster } from './rank.ts'
import { prioritizersOf } from './prioritizers.ts'
import type { Prioritizer } from './prioritizers.ts'
import { selectorProblem, unmetBy } from './selectors.ts'
import { chooseSpread } from './spread.ts'

/** Where `scheduler: ocm` differs from Open Cluster Management on purpose. */
export const OCM_DEVIATIONS = [
  {
    name: 'MisconfiguredKeepsDecisions',
    theirs:
      'A bad selector, expression, toleration, prioritizer or group empties the decisions, or loses some of them.',
    ours: 'The last good decisions stay, and condition Ready says what is wrong.',
  },
  {
    name: 'SpreadWorks',
    theirs: 'spreadPolicy is accepted and ignored.',
    ours: 'It is kept, over any label or claim.',
  },
  {
    name: 'TaintsKeepDeliveredWork',
    theirs: 'A cluster that a taint takes out of the decisions loses what it runs.',
    ours: 'It leaves the decisions and keeps what it runs: only a change of intent removes.',
  },
] as const

/** Open Cluster Management's reasons of the condition PlacementSatisfied. */
export type OcmSatisfied =
  | 'NoManagedClusterSetBindings'
  | 'NoIntersection'
  | 'AllManagedClusterSetsEmpty'
  | 'NoManagedClusterMatched'
  | 'AllDecisionsScheduled'
  | 'NotAllDecisionsScheduled'

/** The result of Open Cluster Management's scheduler. */
export interface OcmAnswer {
  /** Number of clusters in the bound sets. */
  readonly available: number
  /** Clusters that pass the filters, best first. */
  readonly ranked: readonly RankedCluster[]
  /** The selected clusters, in order of choice. */
  readonly selected: readonly PlacementCluster[]
  readonly groups: readonly DecisionGroup[]
  /** Number of requested clusters that could not be selected. */
  readonly unscheduled: number
  readonly satisfied: OcmSatisfied
  /** The problem of a misconfigured Placement; the last good decisions stay. */
  readonly misconfigured?: string
  /** Clusters whose custom scores have expired. */
  readonly expired: readonly string[]
  /** Time in milliseconds since 1970 at which the result can change. */
  readonly until?: number
}

/** Candidates of a Placement and their ranking, as Open Cluster Management works them out. */
export interface OcmRanking {
  /** Clusters of the eligible sets. */
  readonly available: readonly PlacementCluster[]
  /** Clusters that pass the filters, best first. Absent if the Placement is misconfigured. */
  readonly ranked: readonly RankedCluster[]
  /** The weighted prioritizers. */
  readonly prioritizers: readonly Prioritizer[]
  /** The problem of a predicate, toleration or prioritizer. */
  readonly misconfigured?: string
  /** The problem of a bound set. Open Cluster Management then decides nothing at all. */
  readonly brokenSet?: string
  readonly expired: readonly string[]
  /** Time in milliseconds since 1970 at which the ranking can change. */
  readonly until?: number
  satisfied(selected: number, unscheduled: number): OcmSatisfied
}

/** Bound sets → members → predicates → taints → weights → scores → order. */
export function rankAsOcm(
  question: PlacementQuestion,
  clusters: readonly PlacementCluster[],
  world: PlacementWorld,
): OcmRanking {
  const filter = compileFilter({ ...question, scheduler: 'ocm' }, world)
  const broken = [...filter.eligible.values()].find(({ selector }) => selector && selectorProblem(selector))
  const available = broken ? [] : clusters.filter((cluster) => !cluster.leaving && mayPlaceOn(filter, cluster))
  const satisfied = (selected: number, unscheduled: number): OcmSatisfied => {
    const known = new Set(world.sets.map(({ name }) => name))
    if (!world.bound.some((name) => known.has(name))) return 'NoManagedClusterSetBindings'
    if (filter.eligible.size === 0) return 'NoIntersection'
    if (available.length === 0) return 'AllManagedClusterSetsEmpty'
    if (selected === 0) return 'NoManagedClusterMatched'
    return unscheduled === 0 ? 'AllDecisionsScheduled' : 'NotAllDecisionsScheduled'
  }
  const stopped = (why: Pick<OcmRanking, 'misconfigured' | 'brokenSet'>): OcmRanking => ({
    available,
    ranked: [],
    prioritizers: [],
    expired: [],
    satisfied,
    ...why,
  })
  if (broken) return stopped({ brokenSet: `ClusterSet ${broken.name}: ${selectorProblem(broken.selector!)}.` })
  if (filter.predicateProblem && available.length > 0) return stopped({ misconfigured: filter.predicateProblem })
  const matching = available.filter(
    (cluster) => !unmetBy(cluster.labels, filter.labels) && meetsPredicates(filter, cluster),
  )
  if (filter.tolerationProblem && matching.length > 0) return stopped({ misconfigured: filter.tolerationProblem })
  const at = (cluster: PlacementCluster) => ({ now: world.now, incumbent: world.incumbents.has(cluster.name) })
  const feasible = matching.filter((cluster) => judgeClusterTaints(filter, cluster, at(cluster)).tolerated)
  const prioritizers = prioritizersOf({ ...question, scheduler: 'ocm' })
  if ('misconfigured' in prioritizers) return stopped(prioritizers)
  const { ranked, until: scoresUntil, expired } = rank(feasible, prioritizers, world)
  const ends = clusters
    .filter(({ name }) => world.incumbents.has(name))
    .flatMap((cluster) => judgeClusterTaints(filter, cluster, at(cluster)).until ?? [])
  const until = Math.min(...ends, scoresUntil ?? Infinity)
  return compact({ available, ranked, prioritizers, expired, satisfied, until: until === Infinity ? undefined : until })
}

/** Decides as Open Cluster Management would. */
export function scheduleAsOcm(
  question: PlacementQuestion,
  clusters: readonly PlacementCluster[],
  world: PlacementWorld,
): OcmAnswer {
  const ranking = rankAsOcm(question, clusters, world)
  const { ranked, expired, satisfied, until } = ranking
  const available = ranking.available.length
  const stuck = (misconfigured: string): OcmAnswer => ({
    available,
    ranked: [],
    selected: [],
    groups: [],
    unscheduled: 0,
    satisfied: satisfied(0, 0),
    misconfigured,
    expired: [],
  })
  const problem = ranking.brokenSet ?? ranking.misconfigured
  if (problem !== undefined) return stuck(problem)
  const count = question.numberOfClusters ?? ranked.length
  const { chosen } = chooseSpread(
    ranked.map(({ cluster }) => cluster),
    question.spread ?? [],
    count,
  )
  const groups = groupByName(question, chosen)
  if ('misconfigured' in groups) return stuck(groups.misconfigured)
  const unscheduled = question.numberOfClusters === undefined ? 0 : count - chosen.length
  return compact({
    available,
    ranked,
    selected: chosen,
    groups,
    unscheduled,
    satisfied: satisfied(chosen.length, unscheduled),
    expired,
    until,
  })
}

/** One PlacementDecision page, as Open Cluster Management writes it. */
export interface OcmPage {
  /** `<placement>-decision-<n>`, from 1 through all groups. */
  readonly name: string
  readonly groupName: string
  readonly groupIndex: number
  readonly clusters: readonly string[]
}

const OCM_PAGE_SIZE = 100

/** Groups on pages of 100, named and numbered as Open Cluster Management does. */
export function ocmPages(placement: string, groups: readonly DecisionGroup[]): readonly OcmPage[] {
  const pages: OcmPage[] = []
  for (const [groupIndex, { name, clusters }] of groups.entries()) {
    for (let start = 0; start === 0 || start < clusters.length; start += OCM_PAGE_SIZE) {
      pages.push({
        name: `${placement}-decision-${pages.length + 1}`,
        groupName: name,
        groupIndex,
        clusters: clusters.slice(start, start + OCM_PAGE_SIZE),
      })
    }
  }
  return pages
}
