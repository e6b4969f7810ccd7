/**
 * Explains a Placement for a cluster: each check with the required and the observed value, the score and the rank.
 */
import { compact } from '../../core/compact.ts'
import type { PlacementCluster, PlacementWorld, VerdictReason } from './types.ts'
import {
  CLUSTER_SET_LABEL,
  isMember,
  mayPlaceOn,
  meetsPredicates,
  incumbencyAt,
  firstRejection,
  judgeClusterTaints,
} from './filter.ts'
import type { CompiledFilter, CompiledPredicate } from './filter.ts'
import type { Selection } from './select-clusters.ts'
import { describeObserved, describeRequirement, unmetBy } from './selectors.ts'
import { plural } from '../../core/text/name-some.ts'
import { domainOf } from './spread.ts'
import { describeTaint } from './taints.ts'
import { formatTime } from '../../core/time/time.ts'

/** A check of a cluster. */
export interface PlacementCheck {
  readonly name: 'project' | 'cluster' | 'sets' | 'selector' | 'predicates' | 'taints' | 'rank' | 'spread'
  readonly outcome: 'Pass' | 'Stop' | 'NotAsked'
  readonly wanted: string
  readonly observed: string
}

/** The result for a cluster. */
export interface ClusterVerdict {
  readonly cluster: string
  readonly selected: boolean
  readonly reason: VerdictReason
  readonly message: string
  /** In order of evaluation; the first check with `Stop` decides. */
  readonly checks: readonly PlacementCheck[]
  /** Present when clusters are ranked and this cluster passes the filters. */
  readonly rank?: {
    readonly rank: number
    readonly of: number
    /** The last rank that is selected. */
    readonly cut: number
    readonly score: number
    readonly parts: readonly { readonly name: string; readonly weight: number; readonly score: number }[]
  }
  /** Changes that would reverse the result. */
  readonly wouldChange: readonly string[]
}

export function explainCluster(selection: Selection, cluster: PlacementCluster, world: PlacementWorld): ClusterVerdict {
  const { filter } = selection
  const at = incumbencyAt(filter, cluster, world)
  const selected = selection.selected.has(cluster.name)
  const checks: PlacementCheck[] = []
  const wouldChange: string[] = []
  let isStopped = false
  for (const one of [checkCluster, checkSets, checkSelector, checkPredicates, checkTaints]) {
    const check = one(filter, cluster, at)
    if (isStopped) checks.push({ ...check, outcome: 'NotAsked', observed: 'not asked' })
    else checks.push(check)
    if (!isStopped && check.outcome === 'Stop') {
      isStopped = true
      wouldChange.push(...check.fixes)
    }
  }
  const place = isStopped ? undefined : rankOf(selection, cluster)
  if (place) {
    const { rank, of, cut, score } = place
    const full = selection.full.get(cluster.name)
    const isCut = !selected && !full
    checks.push({
      name: 'rank',
      outcome: isCut ? 'Stop' : 'Pass',
      wanted: `rank ${cut} or better of ${of}`,
      observed: `score ${score}, rank ${rank}`,
    })
    for (const term of filter.question.spread ?? []) {
      checks.push({
        name: 'spread',
        outcome: full === term ? 'Stop' : 'Pass',
        wanted: `at most ${term.maxSkew} apart over ${term.topologyKey}`,
        observed:
          domainOf(cluster, term) === undefined
            ? `no ${term.topologyKey}`
            : `${term.topologyKey} is "${domainOf(cluster, term)}"`,
      })
    }
    const last = selection.ranked[cut - 1]
    if (isCut && last) wouldChange.push(`a score of more than ${last.score}, or numberOfClusters of at least ${rank}`)
    if (full) wouldChange.push(`another ${full.topologyKey}, or a maxSkew above ${full.maxSkew}`)
  }
  const reason = reasonOf(selection, cluster, at)
  if (selected) wouldChange.push(...waysOut(filter, place))
  return compact({
    cluster: cluster.name,
    selected,
    reason,
    message: describeVerdict(selection, cluster, at),
    checks: checks.map(({ name, outcome, wanted, observed }) => ({ name, outcome, wanted, observed })),
    rank: place,
    wouldChange,
  })
}

/** Why a cluster is selected or not, as a clause. */
export function describeVerdict(
  selection: Selection,
  cluster: PlacementCluster,
  at: { readonly now: number; readonly incumbent: boolean } = { now: 0, incumbent: true },
): string {
  const { filter } = selection
  if (selection.selected.has(cluster.name)) return selectedReason(filter)
  const reason = reasonOf(selection, cluster, at)
  switch (reason) {
    case 'Outranked': {
      const place = rankOf(selection, cluster)
      return place ? `rank ${place.rank} of ${place.of} is below the cut at ${place.cut}` : 'not chosen'
    }
    case 'SpreadFull': {
      const term = selection.full.get(cluster.name)!
      const domain = domainOf(cluster, term)
      return domain === undefined
        ? `the cluster has no ${term.topologyKey}, which the placement spreads over`
        : `${term.topologyKey} "${domain}" already has its share of clusters (maxSkew ${term.maxSkew})`
    }
    case 'Leaving':
    case 'NotAccepted':
      return checkCluster(filter, cluster).observed
    case 'SetDiffers': {
      const { wanted, observed } = checkSets(filter, cluster)
      return `the placement wants ${wanted}, but ${observed}`
    }
    case 'SelectorDiffers': {
      const { wanted, observed } = checkSelector(filter, cluster)
      return `the selector wants ${wanted}, but ${observed}`
    }
    case 'PredicatesDiffer':
      return clip(`no predicate holds: ${checkPredicates(filter, cluster).observed}`)
    case 'Tainted':
      return checkTaints(filter, cluster, at).observed
    default:
      return selectedReason(filter)
  }
}

function reasonOf(
  selection: Selection,
  cluster: PlacementCluster,
  at: { readonly now: number; readonly incumbent: boolean },
): VerdictReason {
  const { filter } = selection
  if (selection.selected.has(cluster.name)) return isEmpty(filter) ? 'SelectsEverything' : 'SelectorMatches'
  return firstRejection(filter, cluster, at) ?? (selection.full.has(cluster.name) ? 'SpreadFull' : 'Outranked')
}

/** Why the selected clusters of this Placement are selected. */
export function selectedReason(filter: CompiledFilter): string {
  if (isEmpty(filter)) return 'the selector is empty and selects every accepted cluster'
  if (filter.names && filter.labels.length === 0 && filter.predicates.length === 0)
    return 'spec.clusters names the cluster'
  const wants = [
    ...(filter.names ? [describeNames(filter.names)] : []),
    ...filter.labels.map((requirement) => describeRequirement(requirement)),
    ...(filter.predicates.length > 0 ? ['a predicate holds'] : []),
    ...((filter.question.clusterSets ?? []).length > 0 ? [`in ${filter.question.clusterSets!.join(' or ')}`] : []),
  ]
  return clip(`labels match: ${wants.join(', ')}`)
}

function describeNames({ size }: ReadonlySet<string>): string {
  return `one of ${plural(size, 'named cluster')}`
}

function isEmpty({ labels, names, predicates, question }: CompiledFilter): boolean {
  return labels.length === 0 && !names && predicates.length === 0 && (question.clusterSets ?? []).length === 0
}

interface Judged extends PlacementCheck {
  readonly fixes: readonly string[]
}

function checkCluster({ scheduler }: CompiledFilter, cluster: PlacementCluster): Judged {
  const wanted = 'an accepted cluster that is not being deleted'
  const base = { name: 'cluster', wanted } as const
  if (cluster.leaving) return { ...base, outcome: 'Stop', observed: 'the Cluster is being deleted', fixes: [] }
  if (!cluster.accepted && scheduler === 'native') {
    const accept = `flotilla cluster accept ${cluster.name}`
    return {
      ...base,
      outcome: 'Stop',
      observed: `not accepted yet; accept the cluster with: ${accept}`,
      fixes: [accept],
    }
  }
  return { ...base, outcome: 'Pass', observed: cluster.accepted ? 'accepted' : 'not accepted', fixes: [] }
}

function checkSets(filter: CompiledFilter, cluster: PlacementCluster): Judged {
  const { eligible, guarded, question, scheduler } = filter
  const asked = question.clusterSets ?? []
  const names = [...eligible.keys()]
  const member = guarded.filter((set) => isMember(cluster, set)).map(({ name }) => name)
  const wanted =
    asked.length > 0
      ? `a member of ${asked.join(' or ')}`
      : scheduler === 'ocm'
        ? 'a member of a set bound to this namespace'
        : 'no ClusterSet that is reserved for other namespaces'
  const observed =
    member.length > 0 ? `the cluster is in ${member.join(', ')}` : 'the cluster is in no ClusterSet with bindings'
  if (mayPlaceOn(filter, cluster)) return { name: 'sets', outcome: 'Pass', wanted, observed, fixes: [] }
  const unbound = (asked.length > 0 ? asked : member).filter((name) => !eligible.has(name))
  const fixes = [
    ...names.map((name) => `label ${CLUSTER_SET_LABEL}=${name} on the cluster, or the selector of ClusterSet ${name}`),
    ...unbound.map((name) => `a ClusterSetBinding to ${name} in this namespace`),
  ]
  const bindings =
    unbound.length > 0 ? `; ${unbound.join(', ')} ${unbound.length > 1 ? 'are' : 'is'} not bound to this namespace` : ''
  return { name: 'sets', outcome: 'Stop', wanted, observed: `${observed}${bindings}`, fixes }
}

function checkSelector({ labels, names }: CompiledFilter, cluster: PlacementCluster): Judged {
  if (names?.has(cluster.name) === false) {
    const observed = `${cluster.name} is not among them`
    const fixes = [`${cluster.name} in spec.clusters`]
    return { name: 'selector', outcome: 'Stop', wanted: describeNames(names), observed, fixes }
  }
  const unmet = unmetBy(cluster.labels, labels)
  if (!unmet) {
    const wanted = labels.length === 0 ? 'any labels' : labels.map((one) => describeRequirement(one)).join(', ')
    const observed = labels.map(({ key }) =>
      Object.hasOwn(cluster.labels, key) ? `${key}=${cluster.labels[key]}` : `no ${key}`,
    )
    return { name: 'selector', outcome: 'Pass', wanted, observed: observed.join(', ') || 'any', fixes: [] }
  }
  const wanted = describeRequirement(unmet)
  const observed = describeObserved(cluster.labels, unmet.key)
  return { name: 'selector', outcome: 'Stop', wanted, observed, fixes: [`${wanted} on the cluster`] }
}

function checkPredicates(filter: CompiledFilter, cluster: PlacementCluster): Judged {
  const { predicates } = filter
  const wanted = predicates.length === 0 ? 'no predicates' : `one of ${predicates.length} predicates`
  if (meetsPredicates(filter, cluster)) {
    const at = predicates.findIndex((predicate) => missing(predicate, cluster) === undefined)
    return {
      name: 'predicates',
      outcome: 'Pass',
      wanted,
      observed: at < 0 ? 'no predicates' : `predicate ${at} holds`,
      fixes: [],
    }
  }
  const misses = predicates.map((predicate) => missing(predicate, cluster)!)
  return {
    name: 'predicates',
    outcome: 'Stop',
    wanted,
    observed: misses.map(({ wanted: want, observed }, i) => `[${i}] wants ${want}, but ${observed}`).join('; '),
    fixes: misses.map(({ wanted: want }) => want),
  }
}

function missing(
  { labels, claims, cel }: CompiledPredicate,
  cluster: PlacementCluster,
): { readonly wanted: string; readonly observed: string } | undefined {
  const label = unmetBy(cluster.labels, labels)
  if (label) return { wanted: describeRequirement(label), observed: describeObserved(cluster.labels, label.key) }
  const claim = unmetBy(cluster.claims ?? {}, claims)
  if (claim) {
    const wanted = describeRequirement(claim, 'claim')
    return {
      wanted: `claim ${wanted.replace(/ claim /, ' ')}`,
      observed: describeObserved(cluster.claims ?? {}, claim.key, 'claim'),
    }
  }
  for (const { expression, program } of cel) {
    const result = program(cluster)
    if (result === true) continue
    return {
      wanted: `CEL ${expression}`,
      observed: result === false ? 'the result is false' : `the evaluation failed: ${result.error}`,
    }
  }
  return undefined
}

function checkTaints(
  filter: CompiledFilter,
  cluster: PlacementCluster,
  at: { readonly now: number; readonly incumbent: boolean },
): Judged {
  const { tolerated, by, until } = judgeClusterTaints(filter, cluster, at)
  const wanted = 'no taint that is not tolerated'
  const taints = cluster.taints ?? []
  if (tolerated || !by) {
    const end = until === undefined ? '' : `; tolerated until ${formatTime(until)}`
    const observed = taints.length === 0 ? 'no taints' : `${taints.map(describeTaint).join(', ')}${end}`
    return { name: 'taints', outcome: 'Pass', wanted, observed, fixes: [] }
  }
  const observed = `taint ${describeTaint(by)} is not tolerated`
  return {
    name: 'taints',
    outcome: 'Stop',
    wanted,
    observed,
    fixes: [`a toleration for ${describeTaint(by)}, or no such taint on the cluster`],
  }
}

function rankOf(selection: Selection, cluster: PlacementCluster): ClusterVerdict['rank'] {
  const index = selection.ranked.findIndex((one) => one.cluster.name === cluster.name)
  const found = selection.ranked[index]
  if (!found) return undefined
  let cut = 0
  for (const [i, one] of selection.ranked.entries()) if (selection.selected.has(one.cluster.name)) cut = i + 1
  return { rank: index + 1, of: selection.ranked.length, cut, score: found.score, parts: found.parts }
}

function waysOut(filter: CompiledFilter, place: ClusterVerdict['rank']): string[] {
  const ways = filter.labels.slice(0, 3).map((requirement) => `not ${describeRequirement(requirement)}`)
  ways.push('a NoSelect taint that is not tolerated')
  if (place && filter.question.numberOfClusters !== undefined) ways.push(`numberOfClusters below ${place.rank}`)
  return ways
}

// The length of a decision's reason is limited; a selector with many values would not fit.
function clip(text: string): string {
  return text.length <= 1000 ? text : `${text.slice(0, 999)}…`
}
