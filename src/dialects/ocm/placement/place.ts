// Tested by src/dialects/ocm/recorded.contract.test.ts: recorded answers of Open Cluster Management.
/**
 * Open Cluster Management's scheduling of Placements without a hub: objects in, decisions out, including the results
 * where the hub's own scheduler differs on purpose (see `OCM_DEVIATIONS`).
 */
import { compact } from '../../../core/compact.ts'
import { compareText } from '../../../core/text/compare-text.ts'
import { groupUntilProblem } from '../../../plan/placement/decisions/decision-groups.ts'
import { ocmPages, rankAsOcm } from '../../../plan/placement/ocm-scheduler.ts'
import type { OcmRanking } from '../../../plan/placement/ocm-scheduler.ts'
import { chooseSpread } from '../../../plan/placement/spread.ts'
import type { CompileCel } from '../../../plan/placement/types.ts'
import type { OcmPlacement, OcmPlacementDecision } from '../kinds.ts'
import type { PlacementObjects } from './object-store.ts'
import {
  isPageOf,
  loadOfPages,
  PLACEMENT_LABEL,
  readManagedCluster,
  readManagedClusterSet,
  readPlacement,
  readSpread,
} from './read-objects.ts'

/** A condition of a Placement; the time of the transition is the caller's. */
export interface PlacementCondition {
  readonly type: 'PlacementMisconfigured' | 'PlacementSatisfied'
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

/** Scores of a weighted prioritizer. */
export interface PrioritizerScores {
  readonly name: string
  readonly weight: number
  readonly scores: Readonly<Record<string, number>>
}

export interface WrittenPage {
  readonly name: string
  readonly groupIndexLabel: string
  readonly groupNameLabel: string
  readonly clusters: readonly string[]
}

/** The result of a scheduling pass. */
export interface PassAnswer {
  /** Selected clusters, best first. */
  readonly selected: readonly string[]
  readonly unscheduled: number
  readonly numberOfSelectedClusters: number
  readonly conditions?: readonly PlacementCondition[]
  readonly decisionGroups?: readonly {
    readonly index: number
    readonly name: string
    readonly clusterCount: number
    readonly decisions: readonly string[]
    readonly clusters: readonly string[]
  }[]
  readonly placementDecisions?: readonly WrittenPage[]
  readonly totals?: Readonly<Record<string, number>>
  readonly prioritizers?: readonly PrioritizerScores[]
  /** Why the Placement was left alone. */
  readonly skipped?: 'deleting' | 'disabled'
  /** Why the pass stopped before a decision. */
  readonly syncError?: string
}

const DISABLED = 'cluster.open-cluster-management.io/experimental-scheduling-disable'
const NO_DECISION = { selected: [], unscheduled: 0, numberOfSelectedClusters: 0 } as const

/** The time and the differences of a pass. */
export interface PassOptions {
  readonly now: number
  readonly compileCel: CompileCel
  /** Keeps spread constraints, which Open Cluster Management ignores. Defaults to false. */
  readonly keepsSpread?: boolean
  /** Called with the time at which the result can change. */
  readonly noteUntil?: (time: number) => void
}

/** Schedules one Placement and replaces its pages in the store. */
export function placeOnce(objects: PlacementObjects, placement: OcmPlacement, at: PassOptions): PassAnswer {
  if (placement.metadata.deletionTimestamp !== undefined) return { ...NO_DECISION, skipped: 'deleting' }
  if (placement.metadata.annotations?.[DISABLED] === 'true') return { ...NO_DECISION, skipped: 'disabled' }
  const question = readPlacement(placement)
  const own = objects.pages().filter((page) => isPageOf(page, placement))
  const incumbents = new Map(
    own.flatMap(({ status }) => (status?.decisions ?? []).map(({ clusterName }) => [clusterName, undefined] as const)),
  )
  const scores = objects.scoresByCluster()
  const ranking = rankAsOcm(
    question,
    objects.clusters().map((cluster) => readManagedCluster(cluster, scores.get(cluster.metadata.name) ?? [])),
    {
      sets: objects.sets().map(readManagedClusterSet),
      bound: objects.bindingsIn(placement.metadata.namespace ?? '').map(({ metadata }) => metadata.name),
      incumbents,
      load: loadOfPages(objects.pages().filter((page) => !own.includes(page))),
      ...at,
    },
  )
  if (ranking.brokenSet !== undefined) {
    return { ...NO_DECISION, syncError: ranking.brokenSet, placementDecisions: own.map(asWritten) }
  }
  if (ranking.until !== undefined) at.noteUntil?.(ranking.until)
  const count = question.numberOfClusters ?? ranking.ranked.length
  const ranked = ranking.ranked.map(({ cluster }) => cluster)
  const { chosen } = chooseSpread(ranked, at.keepsSpread ? readSpread(placement) : [], count)
  const unscheduled =
    question.numberOfClusters === undefined || ranking.misconfigured !== undefined ? 0 : count - chosen.length
  const { groups, misconfigured = ranking.misconfigured } = groupUntilProblem(question, chosen)
  const pages = ocmPages(placement.metadata.name, groups)
  objects.replacePages(
    own,
    pages.map((page) => asObject(page, placement)),
  )
  return {
    selected: chosen.map(({ name }) => name),
    unscheduled,
    numberOfSelectedClusters: chosen.length,
    conditions: conditionsOf(ranking, { selected: chosen.length, unscheduled, misconfigured }),
    decisionGroups: groups.map(({ name, clusters }, index) => ({
      index,
      name,
      clusterCount: clusters.length,
      decisions: pages.flatMap((page) => (page.groupIndex === index ? [page.name] : [])),
      clusters,
    })),
    placementDecisions: pages.map(({ name, groupIndex, groupName, clusters }) => ({
      name,
      groupIndexLabel: String(groupIndex),
      groupNameLabel: groupName,
      clusters,
    })),
    ...(ranking.misconfigured === undefined ? scoresOf(ranking) : {}),
  }
}

function scoresOf({ ranked, prioritizers }: OcmRanking): Pick<PassAnswer, 'totals' | 'prioritizers'> {
  const lists = prioritizers
    .map(({ name, weight }, i): PrioritizerScores => ({
      name: name.replace(/^Score\//, 'AddOn/'),
      weight,
      scores: Object.fromEntries(ranked.map(({ cluster, parts }) => [cluster.name, parts[i]!.score])),
    }))
    .toSorted((a, b) => compareText(a.name, b.name) || a.weight - b.weight)
  return {
    totals: Object.fromEntries(ranked.map(({ cluster, score }) => [cluster.name, score])),
    prioritizers: lists,
  }
}

const SATISFIED = {
  NoManagedClusterSetBindings: 'No valid ManagedClusterSetBindings found in placement namespace',
  NoIntersection: 'None of ManagedClusterSets in spec.clusterSets is bound to placement namespace',
  AllManagedClusterSetsEmpty: 'All ManagedClusterSets have no member ManagedCluster',
  NoManagedClusterMatched: 'No ManagedCluster matches any of the cluster predicate',
  AllDecisionsScheduled: 'All cluster decisions scheduled',
} as const

function conditionsOf(
  ranking: OcmRanking,
  result: { readonly selected: number; readonly unscheduled: number; readonly misconfigured: string | undefined },
): readonly PlacementCondition[] {
  const { selected, unscheduled, misconfigured } = result
  const reason = ranking.satisfied(selected, unscheduled)
  return [
    misconfigured === undefined
      ? {
          type: 'PlacementMisconfigured',
          status: 'False',
          reason: 'Succeedconfigured',
          message: 'Placement configurations check pass',
        }
      : { type: 'PlacementMisconfigured', status: 'True', reason: 'Misconfigured', message: misconfigured },
    {
      type: 'PlacementSatisfied',
      status: reason === 'AllDecisionsScheduled' ? 'True' : 'False',
      reason,
      message:
        reason === 'NotAllDecisionsScheduled' ? `${unscheduled} cluster decisions unscheduled` : SATISFIED[reason],
    },
  ]
}

const GROUP_INDEX_LABEL = 'cluster.open-cluster-management.io/decision-group-index'
const GROUP_NAME_LABEL = 'cluster.open-cluster-management.io/decision-group-name'

function asWritten({ metadata, status }: OcmPlacementDecision): WrittenPage {
  return {
    name: metadata.name,
    groupIndexLabel: metadata.labels?.[GROUP_INDEX_LABEL] ?? '',
    groupNameLabel: metadata.labels?.[GROUP_NAME_LABEL] ?? '',
    clusters: (status?.decisions ?? []).map(({ clusterName }) => clusterName),
  }
}

function asObject(page: ReturnType<typeof ocmPages>[number], { metadata }: OcmPlacement): OcmPlacementDecision {
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'PlacementDecision',
    metadata: compact({
      name: page.name,
      namespace: metadata.namespace,
      labels: {
        [PLACEMENT_LABEL]: metadata.name,
        [GROUP_INDEX_LABEL]: String(page.groupIndex),
        [GROUP_NAME_LABEL]: page.groupName,
      },
    }),
    status: { decisions: page.clusters.map((clusterName) => ({ clusterName, reason: '' })) },
  }
}
