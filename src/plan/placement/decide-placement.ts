/**
 * Decides which clusters a Placement selects, and explains the result for each cluster.
 *
 *   filters (sets, labels, predicates, taints) → ranking → spread and cut → groups → guard → pages
 *
 * The last good decisions stay in force when the Placement is misconfigured (for example an invalid selector) and when
 * the result would drop more clusters than the guard allows. A cluster that a change of intent removes (the spec, the
 * cluster's labels, a set or binding) is Evicting until its bundles are removed. A cluster that circumstances remove
 * (taints, claims, scores) leaves the decisions and keeps its bundles.
 */
import { compact } from '../../core/compact.ts'
import { jsonEqual } from '../../core/json.ts'
import { compareText } from '../../core/text/compare-text.ts'
import { nameSome, plural } from '../../core/text/name-some.ts'
import { describeVerdict, selectedReason } from './explain.ts'
import type { PlacementCluster, PlacementQuestion, PlacementWorld, VerdictReason } from './types.ts'
import { compileFilter, firstRejection } from './filter.ts'
import { paginate } from './decisions/paginate.ts'
import type { ClusterDecision } from './decisions/paginate.ts'
import { isSimple, selectClusters } from './select-clusters.ts'
import type { Selection } from './select-clusters.ts'
import { judgeGrowth } from './growth-guard.ts'
import type { GrowthVerdict } from './growth-guard.ts'
import { judgeShrink } from './shrink-guard.ts'
import type { ShrinkVerdict } from './shrink-guard.ts'

/** The present decisions, and what limits their change. */
export interface PlacementBefore {
  /** Present decisions per page. */
  readonly pages: readonly (readonly ClusterDecision[])[]
  /** The spec that they were decided for; absent: unknown, and no removal counts as a change of the spec. */
  readonly question?: PlacementQuestion
  readonly generation: number
  readonly maxDropped?: number | string
  /** Number of bundles on clusters that a change may add. */
  readonly maxAdded?: number | undefined
  /** Number of Bundles of the Placement. Defaults to 0. */
  readonly bundles?: number
  /** Clusters that changes of labels and ClusterSets added within the last hour, and the number before them. */
  readonly growing?: { readonly of: number; readonly added: number } | undefined
  /** Whether the cluster joined the fleet a short time ago; such a cluster is never counted. Defaults to always. */
  readonly isJoining?: (cluster: string) => boolean
  /** The token of the drop a person released. */
  readonly release?: string | undefined
  /** The token of the drop that the guard stopped before. */
  readonly held?: string | undefined
  /** The token of the last drop that went through by a release. */
  readonly released?: string | undefined
  /** Whether the cluster still has bundles because of this Placement. */
  readonly holds: (cluster: string) => boolean
  /** Whether the cluster would have no bundle left without the bundles of this Placement. Defaults to never. */
  readonly empties?: (cluster: string) => boolean
}

/** The result of a Placement. */
export interface PlacementAnswer {
  /** In order of name. */
  readonly decisions: readonly ClusterDecision[]
  /** Never empty: no selected cluster is one empty page, which differs from "not decided yet". */
  readonly pages: readonly (readonly ClusterDecision[])[]
  readonly selection: Selection
  /** `Held`: the decisions are the last good decisions. */
  readonly guard: ShrinkVerdict | GrowthVerdict
  /** Number of selected clusters that a change of labels or ClusterSets added; 0 while the guard stops the change. */
  readonly relabelled: number
  /** One sentence; for zero clusters it says why. */
  readonly message: string
}

const NOTHING_BEFORE: PlacementBefore = { pages: [], generation: 1, holds: () => false }

/** Decides for all clusters. */
export function decidePlacement(
  question: PlacementQuestion,
  clusters: readonly PlacementCluster[],
  around: { readonly world: PlacementWorld; readonly before?: PlacementBefore },
): PlacementAnswer {
  const { world, before = NOTHING_BEFORE } = around
  const selection = selectClusters(question, clusters, world)
  const previous = new Map(before.pages.flat().map((decision) => [decision.cluster, decision]))
  // The clusters of the decisions before. A fleet without any is not gone through again.
  const byName =
    previous.size === 0
      ? new Map<string, PlacementCluster>()
      : new Map(clusters.flatMap((cluster) => (previous.has(cluster.name) ? [[cluster.name, cluster]] : [])))
  if (selection.misconfigured !== undefined) {
    const kept = [...previous.values()].filter(({ cluster }) => byName.has(cluster))
    return answerOf(kept, before, { selection, guard: { kind: 'Free' }, message: selection.misconfigured })
  }

  const leavers = leaversOf({ question, selection, world, before }, previous, byName)
  const guard = judgeLeavers(leavers, { before, previous, byName, why: (name) => whyOf(name) })
  if (guard.kind === 'Held') {
    const inForce = decisionsInForce({ question, clusters, selection, world, before, leavers }, previous)
    return answerOf(inForce, before, { selection, guard, message: guard.message })
  }
  const { growth, relabelled } = judgeNewcomers({ question, clusters, selection, world, before }, previous)
  if (growth.kind === 'Held') {
    const inForce = before.question
      ? decisionsInForce({ question, clusters, selection, world, before, leavers, relabelled }, previous)
      : []
    return answerOf(inForce, before, { selection, guard: growth, message: growth.message })
  }
  const reason = selectedReason(selection.filter)
  const decisions = [...selection.selected].map(([cluster, { score, group }]): ClusterDecision => {
    const was = previous.get(cluster)
    // The score at the time of the choice: a new score alone is no reason to write a page.
    const kept = was?.state === 'Selected' && was.score !== undefined ? was.score : score
    return {
      cluster,
      reason,
      state: 'Selected',
      ...compact({ score: kept }),
      ...(group ? { group: group.name, groupIndex: group.index } : {}),
    }
  })
  for (const leaver of leavers) {
    const { cluster, isIntent } = leaver
    if (!isIntent || !before.holds(cluster)) continue
    const at = { now: world.now, incumbent: leaver.wasSelected }
    const why = isOutdone(leaver)
      ? 'the Placement asks for fewer clusters'
      : describeVerdict(selection, byName.get(cluster)!, at)
    const reason = `no longer selected (${why}); its bundles are marked for removal`
    decisions.push({ cluster, reason, state: 'Evicting' })
  }
  return answerOf(decisions, before, {
    selection,
    guard: guard.kind === 'Free' ? growth : guard,
    relabelled: relabelled.size,
    message: summarize({ ...selection, selected: selection.selected.size }, clusters.length),
  })

  function whyOf(name: string): string {
    return describeVerdict(selection, byName.get(name)!, { now: world.now, incumbent: true })
  }
}

/** Judges the clusters that a change would take out of the decisions. */
function judgeLeavers(
  leavers: readonly Leaver[],
  about: {
    readonly before: PlacementBefore
    readonly previous: ReadonlyMap<string, ClusterDecision>
    readonly byName: ReadonlyMap<string, PlacementCluster>
    readonly why: (cluster: string) => string
  },
): ShrinkVerdict {
  const { before, previous, byName } = about
  const { maxDropped, holds } = before
  const gone = new Set(leavers.filter(({ reason }) => GONE.has(reason)).map(({ cluster }) => cluster))
  const present = [...previous.values()]
    .filter(({ cluster, state }) => state === 'Selected' && byName.has(cluster) && !gone.has(cluster))
    .map(({ cluster }) => cluster)
  // A limit that the author wrote counts all clusters that leave; the default only clusters that would lose something.
  const intended = leavers.filter(({ wasSelected, isIntent }) => wasSelected && isIntent).map(({ cluster }) => cluster)
  const losing = intended.filter(holds)
  const dropped =
    maxDropped === undefined
      ? losing.length === 0
        ? []
        : intended
      : leavers.filter(({ cluster, wasSelected }) => wasSelected && !gone.has(cluster)).map(({ cluster }) => cluster)
  if (dropped.length === 0) return { kind: 'Free' }
  const verdict = judgeShrink({
    noun: 'clusters',
    dropped,
    of: present.length,
    always: alwaysAsked(losing, present, before),
    generation: before.generation,
    release: before.release,
    held: before.held,
    after: before.released,
    ...compact({ limit: maxDropped }),
  })
  if (verdict.kind !== 'Held') return verdict
  const first = [...dropped].sort(compareText)[0]!
  const more = dropped.length > 1 ? `; and ${dropped.length - 1} more` : ''
  return { ...verdict, message: `${verdict.message} ${first}: ${about.why(first)}${more}.` }
}

/**
 * Judges the clusters that a new spec adds, and those that changes of labels or ClusterSets add, each with all Bundles
 * of the Placement. A cluster that joined is not counted, nor is a cluster that has the Bundles already. Labels change
 * cluster by cluster, so these clusters are counted together with those of the last hour.
 */
function judgeNewcomers(
  now: Pick<DecisionInput, 'question' | 'clusters' | 'selection' | 'world' | 'before'>,
  previous: ReadonlyMap<string, ClusterDecision>,
): { readonly growth: GrowthVerdict; readonly relabelled: ReadonlySet<string> } {
  const { question, clusters, selection, world, before } = now
  const { bundles = 0, holds, isJoining = () => true, growing } = before
  const isNew = before.question === undefined && previous.size === 0
  const isChanged = before.question !== undefined && !jsonEqual(before.question, question)
  if (bundles === 0) return { growth: { kind: 'Free' }, relabelled: new Set() }
  const newcomers = [...selection.selected.keys()].filter((name) => !previous.has(name) && !holds(name))
  const old = isChanged ? selectClusters(before.question, clusters, world).selected : selection.selected
  const present = [...previous.values()].filter(({ state }) => state === 'Selected').length
  // A Placement that ranks clusters exchanges them without growth.
  const canGrow = !isNew && (isSimple(question) || selection.selected.size > present)
  const relabelled = new Set(canGrow ? newcomers.filter((name) => old.has(name) && !isJoining(name)) : [])
  const bySpec = isNew ? newcomers : newcomers.filter((name) => !old.has(name))
  if (bySpec.length + relabelled.size === 0) return { growth: { kind: 'Free' }, relabelled }
  const growth = judgeGrowth({
    added: (bySpec.length + relabelled.size) * bundles,
    recent: (growing?.added ?? 0) * bundles,
    of: (growing?.of ?? present) * bundles,
    limit: before.maxAdded,
    generation: before.generation,
    // A change of labels has no generation: its clusters identify it.
    change: bySpec.length > 0 ? question : { question, clusters: [...relabelled].sort(compareText) },
    release: before.release,
  })
  return { growth, relabelled }
}

/** Why a change asks whatever the limit is: the bundles lose all their clusters, or a cluster its last bundle. */
function alwaysAsked(
  losing: readonly string[],
  present: readonly string[],
  { holds, empties }: Pick<PlacementBefore, 'holds' | 'empties'>,
): string | undefined {
  if (losing.length === 0) return undefined
  const leaving = new Set(losing)
  if (!present.some((cluster) => !leaving.has(cluster) && holds(cluster))) {
    return 'No cluster would keep the Bundles of the Placement.'
  }
  const emptied = losing.filter((cluster) => empties?.(cluster) ?? false).sort(compareText)
  return emptied.length === 0 ? undefined : `No Bundle would be left on ${nameSome(emptied)}.`
}

/**
 * The decisions while the guard stops a change: those before it, without clusters that are gone, and with clusters that
 * joined since. A Placement that ranks or groups clusters gets no new ones meanwhile.
 */
function decisionsInForce(
  now: DecisionInput,
  previous: ReadonlyMap<string, ClusterDecision>,
): readonly ClusterDecision[] {
  const { question, clusters, world, before } = now
  const asked = before.question ?? question
  const selection = jsonEqual(asked, question) ? now.selection : selectClusters(asked, clusters, world)
  const joins = (name: string) =>
    isSimple(asked) &&
    selection.misconfigured === undefined &&
    selection.selected.has(name) &&
    now.relabelled?.has(name) !== true
  const leavers = new Map(now.leavers.map((leaver) => [leaver.cluster, leaver]))
  return clusters.flatMap((cluster): readonly ClusterDecision[] => {
    const { name } = cluster
    const was = previous.get(name)
    const leaver = leavers.get(name)
    if (was?.state === 'Selected') return leaver && GONE.has(leaver.reason) ? [] : [was]
    if (joins(name)) return [{ cluster: name, reason: describeVerdict(selection, cluster), state: 'Selected' }]
    return was && before.holds(name) && (leaver?.isIntent ?? true) ? [was] : []
  })
}

/** The question, the present selection, and the decisions before it. */
interface DecisionInput {
  readonly question: PlacementQuestion
  readonly clusters: readonly PlacementCluster[]
  readonly selection: Selection
  readonly world: PlacementWorld
  readonly before: PlacementBefore
  readonly leavers: readonly Leaver[]
  /** Clusters that the growth guard keeps out although they match. */
  readonly relabelled?: ReadonlySet<string>
}

/** A cluster that was decided on and is not selected now. */
interface Leaver {
  readonly cluster: string
  readonly reason: VerdictReason
  readonly wasSelected: boolean
  readonly isIntent: boolean
}

const GONE: ReadonlySet<VerdictReason> = new Set(['Leaving', 'NotAccepted'])

function leaversOf(
  now: {
    readonly question: PlacementQuestion
    readonly selection: Selection
    readonly world: PlacementWorld
    readonly before: PlacementBefore
  },
  previous: ReadonlyMap<string, ClusterDecision>,
  byName: ReadonlyMap<string, PlacementCluster>,
): readonly Leaver[] {
  const { question, selection, world, before } = now
  const asked = before.question && !jsonEqual(before.question, question) ? before.question : undefined
  const oldFilter = asked && compileFilter(asked, world)
  const leavers: Leaver[] = []
  for (const { cluster: name, state } of previous.values()) {
    const cluster = byName.get(name)
    if (!cluster || selection.selected.has(name)) continue
    const wasSelected = state === 'Selected'
    const at = { now: world.now, incumbent: wasSelected }
    const reason =
      firstRejection(selection.filter, cluster, at) ?? (selection.full.has(name) ? 'SpreadFull' : 'Outranked')
    // A cluster that was evicted is selected again when only a taint rejects it, until its removal has started.
    const isLetGo = reason !== 'Tainted' || !world.evicting?.has(name)
    leavers.push({ cluster: name, reason, wasSelected, isIntent: wasSelected ? isIntended(reason, cluster) : isLetGo })
  }
  return leavers

  function isIntended(reason: VerdictReason, cluster: PlacementCluster): boolean {
    switch (reason) {
      case 'SelectorDiffers':
      case 'SetDiffers':
        return true
      case 'PredicatesDiffer':
        // The change of the spec removed the cluster only if the old spec would still select it now.
        return (
          oldFilter !== undefined &&
          firstRejection(oldFilter, cluster, { now: world.now, incumbent: true }) === undefined
        )
      case 'Outranked':
      case 'SpreadFull':
        return asked !== undefined && !jsonEqual(rankingPart(asked), rankingPart(question))
      default:
        return false
    }
  }
}

function rankingPart({ numberOfClusters, spread, prioritizers }: PlacementQuestion): unknown {
  return { numberOfClusters: numberOfClusters ?? null, spread: spread ?? [], prioritizers: prioritizers ?? {} }
}

function answerOf(
  decisions: readonly ClusterDecision[],
  before: PlacementBefore,
  rest: Pick<PlacementAnswer, 'selection' | 'guard' | 'message'> & Partial<Pick<PlacementAnswer, 'relabelled'>>,
): PlacementAnswer {
  const sorted = [...decisions].sort((a, b) => compareText(a.cluster, b.cluster))
  const places = before.pages.map((page) => page.map(({ cluster }) => cluster))
  return { decisions: sorted, pages: paginate(sorted, places), relabelled: 0, ...rest }
}

function isOutdone({ reason }: Leaver): boolean {
  return reason === 'Outranked' || reason === 'SpreadFull'
}

/** Counts of a selection. */
export interface SelectionCounts {
  readonly selected: number
  /** Number of clusters that pass the filters. */
  readonly feasible: number
  readonly stopped: Selection['stopped']
  readonly unscheduled: number
}

/** One sentence about the selection; for no cluster it says why. */
export function summarize({ selected, stopped, unscheduled, feasible }: SelectionCounts, clusters: number): string {
  if (selected > 0) {
    // The size of the fleet is left out: a cluster that joins must not change the message of every Placement.
    const missing = unscheduled > 0 ? ` ${unscheduled} more requested, but no further cluster matches.` : ''
    return `${plural(selected, 'cluster')} selected.${missing}`
  }
  if (clusters === 0) return 'No cluster is registered yet; add a cluster with "flotilla cluster add NAME".'
  if (feasible > 0)
    return `No cluster is selected: ${plural(feasible, 'cluster')} would pass, but numberOfClusters or spread takes none.`
  const words = [
    [stopped.SelectorDiffers, 'with labels that do not match the selector'],
    [stopped.SetDiffers, 'in no ClusterSet that this namespace may use'],
    [stopped.PredicatesDiffer, 'that match no predicate'],
    [stopped.Tainted, 'with a taint that is not tolerated'],
    [stopped.NotAccepted, 'not accepted yet'],
    [stopped.Leaving, 'being deleted'],
  ] as const
  const why = words.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`)
  return `No cluster is selected: ${why.join(', ')}.`
}
