/** Decision groups: selected clusters in groups that rollouts can move in turn. */
import { compareText } from '../../../core/text/compare-text.ts'
import { meetsRequirement, requirementsOf } from '../../../core/text/label-selector.ts'
import type { GroupPlace, Misconfigured, NamedGroup, PlacementCluster, PlacementQuestion } from '../types.ts'
import { selectorProblem } from '../selectors.ts'

/** A group: its name (empty for clusters without a named group) and its clusters in order of name. */
export interface DecisionGroup {
  readonly name: string
  readonly clusters: readonly string[]
}

/** Maximum number of clusters in one group; 0 and more than the total mean all. */
function groupLength(clustersPerGroup: number | string | undefined, total: number): number | Misconfigured {
  if (clustersPerGroup === undefined) return total
  let length = clustersPerGroup
  if (typeof length === 'string') {
    const percent = /^(\d+(?:\.\d*)?|\.\d+)%$/.exec(length)
    if (!percent) {
      return {
        misconfigured: `decisionGroups.clustersPerGroup ${JSON.stringify(length)} is neither a number nor a percentage such as 25%.`,
      }
    }
    length = Math.ceil((Number(percent[1]) / 100) * total)
  }
  return length <= 0 || length > total ? total : length
}

/** The problem of a named group, or undefined. */
function groupProblem({ name, labelSelector = {}, claimSelector = {} }: NamedGroup): string | undefined {
  const problem = selectorProblem(labelSelector) ?? selectorProblem(claimSelector)
  return problem === undefined ? undefined : `decisionGroups.groups ${JSON.stringify(name)}: ${problem}.`
}

/**
 * Groups the selected clusters anew: each named group takes its matching clusters in order, and the rest follows. Each
 * is split by name into chunks. Without selected clusters there is one empty group.
 */
export function groupByName(
  question: PlacementQuestion,
  selected: readonly PlacementCluster[],
): readonly DecisionGroup[] | Misconfigured {
  const { groups, misconfigured } = groupUntilProblem(question, selected)
  return misconfigured === undefined ? groups : { misconfigured }
}

/**
 * The groups up to the first that is misconfigured, with its problem. Open Cluster Management writes these groups
 * and loses the clusters of the rest.
 */
export function groupUntilProblem(
  question: PlacementQuestion,
  selected: readonly PlacementCluster[],
): { readonly groups: readonly DecisionGroup[]; readonly misconfigured?: string } {
  const length = groupLength(question.decisionGroups?.clustersPerGroup, selected.length)
  if (typeof length !== 'number') return { groups: [], misconfigured: length.misconfigured }
  const named = question.decisionGroups?.groups ?? []
  const bad = named.findIndex((group) => groupProblem(group) !== undefined)
  const good = bad < 0 ? named : named.slice(0, bad)
  const taken = takenBy(good, selected)
  const groups = (bad < 0 ? taken : taken.slice(0, bad)).flatMap(({ name, clusters }) =>
    chunks([...clusters].sort(compareText), length).map((chunk): DecisionGroup => ({ name, clusters: chunk })),
  )
  if (bad >= 0) return { groups, misconfigured: groupProblem(named[bad]!)! }
  return { groups: groups.length > 0 ? groups : [{ name: '', clusters: [] }] }
}

/**
 * Groups the selected clusters with as few moves as possible: a cluster stays in its group while it matches and the
 * group is not too long; new clusters fill the first groups with room.
 */
export function groupStably(
  question: PlacementQuestion,
  selected: readonly PlacementCluster[],
  before: ReadonlyMap<string, GroupPlace | undefined>,
): ReadonlyMap<string, GroupPlace> | Misconfigured {
  const length = groupLength(question.decisionGroups?.clustersPerGroup, selected.length)
  if (typeof length !== 'number') return length
  const named = question.decisionGroups?.groups ?? []
  for (const group of named) {
    const problem = groupProblem(group)
    if (problem) return { misconfigured: problem }
  }
  const places = new Map<string, GroupPlace>()
  for (const { name, clusters } of takenBy(named, selected)) {
    const sizes: number[] = []
    const newcomers: string[] = []
    for (const cluster of [...clusters].sort(compareText)) {
      const place = before.get(cluster)
      const size = place ? (sizes[place.index] ?? 0) : 0
      if (place?.name !== name || size >= length) newcomers.push(cluster)
      else {
        sizes[place.index] = size + 1
        places.set(cluster, place)
      }
    }
    let index = 0
    for (const cluster of newcomers) {
      while ((sizes[index] ?? 0) >= length) index++
      sizes[index] = (sizes[index] ?? 0) + 1
      places.set(cluster, { name, index })
    }
  }
  return places
}

function takenBy(
  groups: readonly NamedGroup[],
  selected: readonly PlacementCluster[],
): readonly { readonly name: string; readonly clusters: readonly string[] }[] {
  const named = groups.map((group) => ({
    ...group,
    names: group.clusters && new Set(group.clusters),
    clusters: [] as string[],
  }))
  const rest: string[] = []
  for (const cluster of selected) {
    const group = named.find((one) => belongs(cluster, one))
    if (group) group.clusters.push(cluster.name)
    else rest.push(cluster.name)
  }
  return [...named, { name: '', clusters: rest }]
}

function belongs(
  cluster: PlacementCluster,
  { labelSelector = {}, claimSelector = {}, names }: NamedGroup & { readonly names: ReadonlySet<string> | undefined },
): boolean {
  return (
    names?.has(cluster.name) !== false &&
    requirementsOf(labelSelector).every((requirement) => meetsRequirement(cluster.labels, requirement)) &&
    requirementsOf(claimSelector).every((requirement) => meetsRequirement(cluster.claims ?? {}, requirement))
  )
}

function chunks(names: readonly string[], length: number): readonly (readonly string[])[] {
  const count = Math.ceil(names.length / Math.max(1, length))
  return Array.from({ length: count }, (_, i) => names.slice(i * length, (i + 1) * length))
}
