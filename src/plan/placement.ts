/**
 * Where: which clusters a Placement selects, and why, for every cluster, chosen or not.
 *
 * Pages are stable: a cluster stays on the page it was on, a new one takes the first free place, so that one relabelled
 * cluster changes one page however large the fleet is.
 */
import { meetsRequirement, requirementsOf } from '../core/selector.ts'
import type { LabelRequirement, LabelSelector, Labels } from '../core/selector.ts'

/** The most decisions one page holds. */
export const PAGE_SIZE = 500

/** What a Placement asks for. */
export interface PlacementQuestion {
  readonly clusterSelector: LabelSelector
}

/** What placement looks at in a cluster. */
export interface PlacementCluster {
  readonly name: string
  readonly labels: Labels
  readonly accepted: boolean
  /** The Cluster object is being deleted. */
  readonly leaving?: boolean
}

/** Why a cluster is selected or not: a permanent word for programs. */
export type VerdictReason = 'SelectorMatches' | 'SelectsEverything' | 'SelectorDiffers' | 'NotAccepted' | 'Leaving'

/** The answer for one cluster, with the sentence a person reads. */
export interface ClusterVerdict {
  readonly cluster: string
  readonly selected: boolean
  readonly reason: VerdictReason
  readonly message: string
}

/** One selected cluster, as a PlacementDecision holds it. */
export interface ClusterDecision {
  readonly cluster: string
  readonly reason: string
  readonly state: 'Selected'
}

/** The whole answer: decisions in order of name, and the same decisions on pages. */
export interface PlacementAnswer {
  readonly decisions: readonly ClusterDecision[]
  /** Never empty: nobody selected is one empty page, so that "none" can be told from "not decided yet". */
  readonly pages: readonly (readonly ClusterDecision[])[]
  /** One sentence about the whole; for zero clusters it says why. */
  readonly message: string
}

/** Says whether one cluster is selected and why; the observed value and what the selector wants are both named. */
export function explainPlacement(placement: PlacementQuestion, cluster: PlacementCluster): ClusterVerdict {
  const verdict = (selected: boolean, reason: VerdictReason, message: string): ClusterVerdict => ({
    cluster: cluster.name,
    selected,
    reason,
    message,
  })
  if (cluster.leaving) return verdict(false, 'Leaving', 'the Cluster is being deleted')
  if (!cluster.accepted) {
    return verdict(false, 'NotAccepted', `not accepted yet; accept it with: flotilla cluster accept ${cluster.name}`)
  }
  const requirements = requirementsOf(placement.clusterSelector)
  const unmet = requirements.find((requirement) => !meetsRequirement(cluster.labels, requirement))
  if (unmet) {
    return verdict(
      false,
      'SelectorDiffers',
      `the selector wants ${describe(unmet)}, but ${observed(cluster.labels, unmet.key)}`,
    )
  }
  if (requirements.length === 0) {
    return verdict(true, 'SelectsEverything', 'the selector is empty and selects every accepted cluster')
  }
  return verdict(true, 'SelectorMatches', clip(`labels match: ${requirements.map(describe).join(', ')}`))
}

/**
 * Decides for all clusters. `previous` is which cluster stood on which page in the last answer to the same question;
 * without it pages are filled in order of name.
 */
export function decidePlacement(
  placement: PlacementQuestion,
  clusters: readonly PlacementCluster[],
  previous: readonly (readonly string[])[] = [],
): PlacementAnswer {
  const verdicts = clusters.map((cluster) => explainPlacement(placement, cluster))
  const decisions = verdicts
    .filter((verdict) => verdict.selected)
    .map(({ cluster, message }): ClusterDecision => ({ cluster, reason: message, state: 'Selected' }))
    .sort((a, b) => compareText(a.cluster, b.cluster))
  return { decisions, pages: paginate(decisions, previous), message: summarize(verdicts) }
}

/** Order by code unit: the same on every machine and in every locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function paginate(
  decisions: readonly ClusterDecision[],
  previous: readonly (readonly string[])[],
): readonly (readonly ClusterDecision[])[] {
  const pages: ClusterDecision[][] = previous.map(() => [])
  const pageOf = new Map(previous.flatMap((names, page) => names.map((name): [string, number] => [name, page])))
  const newcomers: ClusterDecision[] = []
  for (const decision of decisions) {
    const page = pages[pageOf.get(decision.cluster) ?? -1]
    if (page && page.length < PAGE_SIZE) page.push(decision)
    else newcomers.push(decision)
  }
  let free = 0
  for (const decision of newcomers) {
    while ((pages[free]?.length ?? 0) >= PAGE_SIZE) free++
    const page = (pages[free] ??= [])
    page.push(decision)
  }
  for (const page of pages) page.sort((a, b) => compareText(a.cluster, b.cluster))
  return pages.length === 0 ? [[]] : pages
}

function summarize(verdicts: readonly ClusterVerdict[]): string {
  const count = (...reasons: VerdictReason[]) => verdicts.filter((verdict) => reasons.includes(verdict.reason)).length
  const selected = verdicts.filter((verdict) => verdict.selected).length
  const others = [
    [count('SelectorDiffers'), 'with labels the selector does not want'],
    [count('NotAccepted'), 'not accepted yet'],
    [count('Leaving'), 'being deleted'],
  ] as const
  const why = others.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`)
  // Totals of the fleet stay out of the sentence: a cluster that joins elsewhere must not change every Placement.
  if (selected > 0) return `${selected} ${selected === 1 ? 'cluster' : 'clusters'} selected.`
  if (verdicts.length === 0) return 'No cluster is registered yet; add one with: flotilla cluster add NAME'
  return `No cluster is selected: ${why.join(', ')}.`
}

function describe(requirement: LabelRequirement): string {
  const values = requirement.values ?? []
  switch (requirement.operator) {
    case 'In':
      return values.length === 1 ? `${requirement.key}=${values[0]}` : `${requirement.key} in (${values.join(', ')})`
    case 'NotIn':
      return values.length === 1
        ? `${requirement.key}!=${values[0]}`
        : `${requirement.key} notin (${values.join(', ')})`
    case 'Exists':
      return `the label ${requirement.key}`
    case 'DoesNotExist':
      return `no label ${requirement.key}`
  }
}

function observed(labels: Labels, key: string): string {
  return Object.hasOwn(labels, key) ? `${key} is "${labels[key]}"` : `the cluster has no label ${key}`
}

// A decision's reason is a bounded field; a selector with many values would not fit.
function clip(text: string): string {
  return text.length <= 1000 ? text : `${text.slice(0, 999)}…`
}
