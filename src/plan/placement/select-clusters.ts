/** Selects clusters by filters, ranking, number and groups, with the Placement's scheduler. */
import { compact } from '../../core/compact.ts'
import type { GroupPlace, PlacementCluster, PlacementQuestion, PlacementWorld, SpreadTerm } from './types.ts'
import { compileFilter, incumbencyAt, firstRejection, judgeClusterTaints } from './filter.ts'
import type { CompiledFilter, FilterReason } from './filter.ts'
import { groupStably } from './decisions/decision-groups.ts'
import { scheduleAsOcm } from './ocm-scheduler.ts'
import { rank } from './rank.ts'
import type { RankedCluster } from './rank.ts'
import { MAX_SCORE, prioritizersOf } from './prioritizers.ts'
import type { Prioritizer } from './prioritizers.ts'
import { chooseSpread } from './spread.ts'

/** Score and group of a selected cluster. */
export interface Chosen {
  readonly score?: number
  readonly group?: GroupPlace
}

/** The selected clusters, and the facts that explain the result for each cluster. */
export interface Selection {
  readonly filter: CompiledFilter
  readonly selected: ReadonlyMap<string, Chosen>
  /** Clusters that pass the filters, best first; empty when all of them are selected. */
  readonly ranked: readonly RankedCluster[]
  /** Number of clusters that pass the filters. */
  readonly feasible: number
  /** Number of clusters that each filter rejects. */
  readonly stopped: Readonly<Record<FilterReason, number>>
  /** Clusters that a spread term excludes. */
  readonly full: ReadonlyMap<string, SpreadTerm>
  /** Number of requested clusters that could not be selected. */
  readonly unscheduled: number
  /** The problem of a misconfigured Placement; the last good decisions stay. */
  readonly misconfigured?: string
  readonly expired: readonly string[]
  /** Time in milliseconds since 1970 at which the result can change. */
  readonly until?: number
}

/** Whether the result for a cluster depends on other clusters. */
export function isRanked(question: PlacementQuestion): boolean {
  return question.numberOfClusters !== undefined || (question.spread ?? []).length > 0
}

/** Whether the result for a cluster depends on that cluster alone: no ranking and no groups. */
export function isSimple(question: PlacementQuestion): boolean {
  return question.scheduler !== 'ocm' && !isRanked(question) && question.decisionGroups === undefined
}

/**
 * Whether new clusters never replace selected clusters while all selected clusters score above `NEWCOMER_MOST`: the
 * Placement has `numberOfClusters`, and only Balance and Steady count, with their default weights.
 */
export function keepsIncumbents(question: PlacementQuestion): boolean {
  const { scheduler, numberOfClusters, spread = [], decisionGroups, prioritizers } = question
  const isDefault =
    prioritizers === undefined || (prioritizers.mode !== 'Exact' && !prioritizers.configurations?.length)
  return scheduler !== 'ocm' && numberOfClusters !== undefined && spread.length === 0 && !decisionGroups && isDefault
}

/** Maximum score of a cluster that is not selected yet: Balance alone, because Steady gives it 0. */
export const NEWCOMER_MOST = MAX_SCORE

export function selectClusters(
  question: PlacementQuestion,
  clusters: readonly PlacementCluster[],
  world: PlacementWorld,
): Selection {
  const filter = compileFilter(question, world)
  const stopped = { Leaving: 0, NotAccepted: 0, SetDiffers: 0, SelectorDiffers: 0, PredicatesDiffer: 0, Tainted: 0 }
  const feasible: PlacementCluster[] = []
  let until = Infinity
  for (const cluster of clusters) {
    const at = incumbencyAt(filter, cluster, world)
    const reason = firstRejection(filter, cluster, at)
    if (reason) stopped[reason]++
    else {
      feasible.push(cluster)
      until = Math.min(until, judgeClusterTaints(filter, cluster, at).until ?? Infinity)
    }
  }
  const base = { filter, stopped, feasible: feasible.length }
  if (filter.scheduler === 'ocm') return { ...base, ...asOcm(question, clusters, world) }
  return { ...base, ...natively(question, feasible, { world, filter, until }) }
}

type Choice = Omit<Selection, 'filter' | 'stopped' | 'feasible'>

const NO_CLUSTER = { selected: new Map(), ranked: [], full: new Map(), unscheduled: 0, expired: [] } as const

function asOcm(question: PlacementQuestion, clusters: readonly PlacementCluster[], world: PlacementWorld): Choice {
  const answer = scheduleAsOcm(question, clusters, world)
  if (answer.misconfigured) return { ...NO_CLUSTER, misconfigured: answer.misconfigured }
  const scores = new Map(answer.ranked.map(({ cluster, score }) => [cluster.name, score]))
  const groups = new Map(
    answer.groups.flatMap(({ name, clusters: members }, index) =>
      members.map((cluster): [string, GroupPlace] => [cluster, { name, index }]),
    ),
  )
  const isGrouped = question.decisionGroups !== undefined
  return compact({
    selected: new Map(
      answer.selected.map(({ name }) => [
        name,
        compact({ score: scores.get(name)!, group: isGrouped ? groups.get(name)! : undefined }),
      ]),
    ),
    ranked: answer.ranked,
    full: new Map(),
    unscheduled: answer.unscheduled,
    expired: answer.expired,
    until: answer.until,
  })
}

function natively(
  question: PlacementQuestion,
  feasible: readonly PlacementCluster[],
  context: { readonly world: PlacementWorld; readonly filter: CompiledFilter; readonly until: number },
): Choice {
  const { world, filter } = context
  const prioritizers = prioritizersOf(question)
  const problem =
    filter.predicateProblem ??
    filter.tolerationProblem ??
    ('misconfigured' in prioritizers ? prioritizers.misconfigured : undefined)
  if (problem !== undefined || 'misconfigured' in prioritizers) return { ...NO_CLUSTER, misconfigured: problem! }

  let chosen = feasible
  let ranking: ReturnType<typeof rank> = { ranked: [], expired: [] }
  let full: ReadonlyMap<string, SpreadTerm> = new Map()
  if (isRanked(question)) {
    ranking = rank(feasible, [...prioritizers, dislike(filter)], world)
    const ordered = ranking.ranked.map(({ cluster }) => cluster)
    const choice = chooseSpread(ordered, question.spread ?? [], question.numberOfClusters ?? ordered.length)
    chosen = choice.chosen
    full = choice.full
  }
  const groups = question.decisionGroups && groupStably(question, chosen, world.incumbents)
  if (groups && 'misconfigured' in groups) return { ...NO_CLUSTER, misconfigured: groups.misconfigured }
  const scores = new Map(ranking.ranked.map(({ cluster, score }) => [cluster.name, score]))
  const until = Math.min(context.until, ranking.until ?? Infinity)
  return compact({
    selected: new Map(
      chosen.map(({ name }) => {
        const score = scores.get(name)
        const group = groups?.get(name)
        return [name, compact({ score, group })]
      }),
    ),
    ranked: ranking.ranked,
    full,
    unscheduled: question.numberOfClusters === undefined ? 0 : question.numberOfClusters - chosen.length,
    expired: ranking.expired,
    until: until === Infinity ? undefined : until,
  })
}

/** Clusters with a PreferNoSelect taint that is not tolerated come last. */
function dislike(filter: CompiledFilter): Prioritizer {
  return {
    name: 'PreferNoSelect',
    weight: 1,
    score: (clusters, world) => {
      const disliked = new Set(
        clusters
          .filter((cluster) => judgeClusterTaints(filter, cluster, incumbencyAt(filter, cluster, world)).disliked > 0)
          .map(({ name }) => name),
      )
      return { of: (cluster) => (disliked.has(cluster) ? -MAX_SCORE : 0) }
    },
  }
}
