// Tested by src/plan/fleet/engine-results.test.ts
/** Results of the policy engines in clusters, summed over the fleet. Clusters that are offline are counted apart. */
import { compact } from '../../core/compact.ts'
import { compareText } from '../../core/text/compare-text.ts'
import { RESULT_SEVERITIES } from '../../kinds/fields/report.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { ShownCluster } from './compliance-rows.ts'

type Results = NonNullable<ClusterReport['spec']['results']>
type EnginePolicy = Results['policies'][number]

/** What results are summed by. */
export const RESULT_GROUPS = ['policy', 'severity', 'namespace', 'cluster', 'category', 'engine'] as const
export type ResultGroup = (typeof RESULT_GROUPS)[number]

/** Sums of a group. */
export interface ResultCount {
  readonly group: string
  readonly fail: number
  readonly warn: number
  readonly error: number
  /** Absent for namespaces, because agents count what complies by policy only. */
  readonly pass?: number
  readonly skip?: number
  /** Clusters that are heard and have results of the group. */
  readonly clusters: number
  /** Clusters that are offline and had results of the group; their results are not in the sums. */
  readonly offline: number
}

/** A cluster with its results. */
export interface ClusterResults {
  readonly cluster: string
  readonly isOffline: boolean
  readonly results: Results
}

/** Results that are summed. */
export interface ResultFilter {
  readonly policy?: string | undefined
  readonly cluster?: string | undefined
  readonly engine?: string | undefined
  readonly severity?: string | undefined
  readonly namespace?: string | undefined
}

/** The name of a policy of an engine. */
function enginePolicyName({ engine, policy }: Pick<EnginePolicy, 'engine' | 'policy'>): string {
  return `${engine}:${policy}`
}

/** The results of clusters that belong to the fleet. A report of an earlier cluster with the same name is left out. */
export function clusterResults(
  clusters: readonly ShownCluster[],
  reports: readonly ClusterReport[],
): readonly ClusterResults[] {
  const reportOf = new Map(reports.map((one) => [one.metadata.name, one]))
  return clusters.flatMap(({ name, id, isAccepted, isOffline }) => {
    const report = reportOf.get(name)
    const results = isAccepted && report?.spec.clusterId === id ? report?.spec.results : undefined
    return results ? [{ cluster: name, isOffline, results }] : []
  })
}

/** Sums results by group, the worst groups first; severities in their order. */
export function countResults(all: readonly ClusterResults[], by: ResultGroup, filter: ResultFilter): ResultCount[] {
  const sums = new Map<string, { fail: number; warn: number; error: number; pass: number; skip: number; heard: Set<string>; offline: Set<string> }>() // prettier-ignore
  for (const { cluster, isOffline, results } of all) {
    if (filter.cluster !== undefined && filter.cluster !== cluster) continue
    for (const policy of results.policies) {
      if (!isChosen(policy, filter)) continue
      for (const part of partsOf(policy, by, cluster, filter.namespace)) {
        const empty = { fail: 0, warn: 0, error: 0, pass: 0, skip: 0, heard: new Set<string>(), offline: new Set<string>() } // prettier-ignore
        const sum = sums.get(part.group) ?? empty
        sums.set(part.group, sum)
        ;(isOffline ? sum.offline : sum.heard).add(cluster)
        if (isOffline) continue
        sum.fail += part.fail
        sum.warn += part.warn
        sum.error += part.error
        sum.pass += part.pass
        sum.skip += part.skip
      }
    }
  }
  const hasPasses = by !== 'namespace' && filter.namespace === undefined
  const counts = [...sums].map(([group, { pass, skip, heard, offline, ...bad }]): ResultCount => ({
    group,
    ...bad,
    ...(hasPasses && { pass, skip }),
    clusters: heard.size,
    offline: offline.size,
  }))
  const order = (group: string): number => (by === 'severity' ? [...RESULT_SEVERITIES, '-'].indexOf(group) : 0)
  return counts.toSorted(
    (a, b) =>
      order(a.group) - order(b.group) ||
      b.fail - a.fail ||
      b.error - a.error ||
      b.warn - a.warn ||
      compareText(a.group, b.group),
  )
}

/** Clusters whose results are not complete, with the reason. */
export function incompleteResults(all: readonly ClusterResults[]): string[] {
  return all.flatMap(({ cluster, results: { denied = [], unread = 0, omitted = 0 } }) => {
    const reasons = [
      ...(denied.length > 0 ? [`its agent may not list ${denied.join(', ')}`] : []),
      ...(unread > 0 ? [`it has ${unread} more objects with results than an agent counts`] : []),
      ...(omitted > 0 ? [`${omitted} more policies do not fit in its report`] : []),
    ]
    return reasons.length > 0 ? [`${cluster}: ${reasons.join('; ')}`] : []
  })
}

/** An object that does not meet a policy. */
export interface ResultObject {
  readonly policy: string
  readonly cluster: string
  readonly severity: string
  readonly result: string
  readonly object: string
  readonly message: string
}

/** Some of the objects that do not meet the chosen policies. */
function resultObjects(all: readonly ClusterResults[], filter: ResultFilter): ResultObject[] {
  return all
    .filter(({ cluster, isOffline }) => !isOffline && (filter.cluster === undefined || filter.cluster === cluster))
    .flatMap(({ cluster, results }) =>
      results.policies
        .filter((policy) => isChosen(policy, filter))
        .flatMap((policy) =>
          (policy.objects ?? []).map(({ object, result, message = '' }) => ({
            policy: enginePolicyName(policy),
            cluster,
            severity: policy.severity ?? '-',
            result,
            object,
            message,
          })),
        ),
    )
}

function isChosen({ engine, policy, severity }: EnginePolicy, filter: ResultFilter): boolean {
  return (
    (filter.policy === undefined || filter.policy === policy || filter.policy === `${engine}:${policy}`) &&
    (filter.engine === undefined || filter.engine.toLowerCase() === engine.toLowerCase()) &&
    (filter.severity === undefined || filter.severity === (severity ?? '-'))
  )
}

interface Part {
  readonly group: string
  readonly fail: number
  readonly warn: number
  readonly error: number
  readonly pass: number
  readonly skip: number
}

/** Results in namespaces that the report does not name. */
const OTHER = '(other namespaces)'
const CLUSTER_SCOPED = '(cluster-scoped)'

function partsOf(policy: EnginePolicy, by: ResultGroup, cluster: string, namespace: string | undefined): Part[] {
  const inNamespaces = by === 'namespace' || namespace !== undefined
  if (!inNamespaces) return [{ ...policy, group: groupOf(policy, by, cluster) }]
  const named = (policy.namespaces ?? []).map((one) => ({
    ...one,
    pass: 0,
    skip: 0,
    at: one.namespace ?? CLUSTER_SCOPED,
  }))
  const rest = named.reduce(
    (left, one) => ({ fail: left.fail - one.fail, warn: left.warn - one.warn, error: left.error - one.error }),
    { fail: policy.fail, warn: policy.warn, error: policy.error },
  )
  const hasRest = rest.fail + rest.warn + rest.error > 0
  return [...named, ...(hasRest ? [{ ...rest, pass: 0, skip: 0, at: OTHER }] : [])]
    .filter(({ at }) => namespace === undefined || at === namespace)
    .map(({ fail, warn, error, at }) => {
      const group = by === 'namespace' ? at : groupOf(policy, by, cluster)
      return { group, fail, warn, error, pass: 0, skip: 0 }
    })
}

function groupOf(policy: EnginePolicy, by: Exclude<ResultGroup, 'namespace'> | 'namespace', cluster: string): string {
  if (by === 'policy') return enginePolicyName(policy)
  if (by === 'cluster') return cluster
  if (by === 'engine') return policy.engine
  return (by === 'severity' ? policy.severity : policy.category) ?? '-'
}

/** The state of a policy of an engine on a cluster, with what says so. */
export interface EngineState {
  readonly engine: string
  readonly policy: string
  readonly category: readonly string[]
  readonly state: 'Compliant' | 'NonCompliant' | 'Unknown'
  readonly message: string
}

/** The states of the policies of a cluster. A warning does not violate a policy; an error says nothing about it. */
export function engineStates({ policies, unread = 0 }: Results): EngineState[] {
  const byName = new Map<string, EnginePolicy[]>()
  for (const one of policies) byName.set(enginePolicyName(one), [...(byName.get(enginePolicyName(one)) ?? []), one])
  return [...byName.values()].map((own): EngineState => {
    const sum = (word: 'fail' | 'warn' | 'error'): number => own.reduce((total, one) => total + one[word], 0)
    const counts = (['fail', 'error', 'warn'] as const).flatMap((word) =>
      sum(word) > 0 ? [`${sum(word)} ${word}`] : [],
    )
    const first = own.flatMap(({ objects = [] }) => objects)[0]
    const example = first ? `; ${first.object}${first.message === undefined ? '' : `: ${first.message}`}` : ''
    const isUnsure = sum('error') > 0 || unread > 0
    const unsure = unread > 0 ? `; ${unread} objects with results are not read` : ''
    return {
      engine: own[0]!.engine,
      policy: own[0]!.policy,
      category: [...new Set(own.flatMap(({ category }) => category ?? []))],
      state: sum('fail') > 0 ? 'NonCompliant' : isUnsure ? 'Unknown' : 'Compliant',
      message: `${counts.join(', ') || 'no violations'}${example}${unsure}`,
    }
  })
}

/** What `--results` shows as JSON. */
export interface ResultsShown {
  readonly by: ResultGroup
  readonly groups: readonly ResultCount[]
  readonly objects?: readonly ResultObject[]
}

/** The sums, and objects where one policy is chosen. */
export function showResults(all: readonly ClusterResults[], by: ResultGroup, filter: ResultFilter): ResultsShown {
  const objects = filter.policy === undefined ? undefined : resultObjects(all, filter)
  return { by, groups: countResults(all, by, filter), ...compact({ objects }) }
}
