// Tested by src/dialects/karmada/schedule/spread-any.test.ts
/**
 * Spread constraints as the hub serves them. Karmada declares constraints by zone, provider and label, and schedules by
 * region and cluster alone; here each of them chooses groups. A constraint without `maxGroups` has no maximum.
 */
import { compareText } from '../../../core/text/compare-text.ts'
import { chooseGroups } from '../../../plan/division/choose-groups.ts'
import type { ClusterGroup, GroupLimits } from '../../../plan/division/choose-groups.ts'
import type { SpreadConstraint } from '../types.ts'
import type { ClusterSnapshot } from './cluster-snapshot.ts'
import { byRank, SelectionError } from './select-clusters.ts'
import type { Candidate, SpreadByAny } from './select-clusters.ts'

/** Combinations of more groups than this are not compared; the groups are taken by score. */
const MOST_COMPARED = 16

/** Coarse groups are chosen before fine ones; labels come last, in their order. */
const FIELDS: readonly (string | undefined)[] = ['provider', 'region', 'zone', undefined]

/** The clusters of the chosen groups: the best one of each group of the last constraint, then others by rank. */
export function spreadByAny({ constraints, ranked, scoreOf }: Parameters<SpreadByAny>[0]): readonly Candidate[] {
  const cluster = constraints.find(({ spreadByField }) => spreadByField === 'cluster') ?? {}
  const grouping = constraints
    .filter((one) => one !== cluster)
    .toSorted((a, b) => FIELDS.indexOf(a.spreadByField || undefined) - FIELDS.indexOf(b.spreadByField || undefined))
  const { minGroups = 0 } = cluster
  let left = ranked
  let chosen: (readonly Candidate[])[] = []
  for (const constraint of grouping) {
    const byName = groupsOf(left, constraint)
    const groups = [...byName].map(([name, members]) => ({
      name,
      value: members.length,
      weight: scoreOf(members, constraint, cluster),
    }))
    const limits = { min: constraint.minGroups ?? 0, max: maximum(constraint), target: minGroups }
    const found = choose(groups, limits)
    if (found.length === 0) throw new SelectionError(tooFew(groups.length, constraint, minGroups))
    chosen = found.map(({ name }) => byName.get(name)!)
    left = chosen.flat().sort(byRank)
  }
  const firsts = chosen.map((members) => members[0]!)
  const rest = left.filter((one) => !firsts.includes(one))
  const selected = [...firsts, ...rest.slice(0, Math.max(0, maximum(cluster) - firsts.length))]
  if (selected.length < minGroups) {
    throw new SelectionError('the number of feasible clusters is less than spreadConstraint.MinGroups')
  }
  if (selected.length > maximum(cluster)) {
    throw new SelectionError(`${selected.length} groups are needed, more than the ${maximum(cluster)} clusters allowed`)
  }
  for (const constraint of grouping) {
    const { size } = groupsOf(selected, constraint)
    if (size < (constraint.minGroups ?? 0)) throw new SelectionError(tooFew(size, constraint, minGroups))
  }
  return selected
}

function choose(groups: readonly ClusterGroup[], limits: GroupLimits): readonly ClusterGroup[] {
  if (groups.length <= MOST_COMPARED) return chooseGroups(groups, limits)
  const best = groups.toSorted((a, b) => b.weight - a.weight || b.value - a.value || compareText(a.name, b.name))
  const taken: ClusterGroup[] = []
  let sum = 0
  for (const group of best) {
    if (taken.length >= limits.max || (sum >= limits.target && taken.length >= limits.min)) break
    taken.push(group)
    sum += group.value
  }
  return sum >= limits.target && taken.length >= limits.min ? taken : []
}

function maximum({ maxGroups = 0 }: SpreadConstraint): number {
  return maxGroups > 0 ? maxGroups : Number.POSITIVE_INFINITY
}

function groupsOf(candidates: readonly Candidate[], constraint: SpreadConstraint): ReadonlyMap<string, Candidate[]> {
  const groups = new Map<string, Candidate[]>()
  for (const candidate of candidates) {
    const name = groupName(candidate.cluster, constraint)
    if (name === undefined) continue
    const members = groups.get(name)
    if (members) members.push(candidate)
    else groups.set(name, [candidate])
  }
  return groups
}

/** The group of a cluster; undefined for a cluster without the field or label, which is not chosen. */
function groupName(
  cluster: ClusterSnapshot,
  { spreadByField, spreadByLabel = '' }: SpreadConstraint,
): string | undefined {
  switch (spreadByField) {
    case 'provider':
      return cluster.provider
    case 'region':
      return cluster.region
    case 'zone':
      return cluster.zones.length > 0 ? cluster.zones.toSorted().join(',') : undefined
    default:
      return cluster.labels.get(spreadByLabel)
  }
}

function tooFew(count: number, { spreadByField, spreadByLabel = '', ...limits }: SpreadConstraint, clusters: number) {
  const by = spreadByField || `label ${spreadByLabel}`
  return `${count} groups by ${by} are feasible, which is not enough for minGroups ${limits.minGroups ?? 0} and ${clusters} clusters`
}
