// Tested by src/cli/commands/compliance/compliance.test.ts and compliance-history.test.ts beside it
/** One row for each Policy and cluster, now or at an earlier time, and their counts. */
import { compact } from '../../core/compact.ts'
import { findCondition } from '../../core/conditions.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import { checksAt } from '../../kinds/fields/compliance-record.ts'
import type { ComplianceRecord, RecordedCheck } from '../../kinds/fields/compliance-record.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { dutyState } from './duties.ts'
import type { Duty, DutyState } from './duties.ts'
import { clusterResults, engineStates } from './engine-results.ts'

/** States of a Policy on a cluster. Only `Compliant` counts as compliant. */
export const COMPLIANCE_STATES = ['Compliant', 'NonCompliant', 'Pending', 'Unknown', 'Offline', 'NotSelected'] as const
export type ComplianceState = (typeof COMPLIANCE_STATES)[number]

/** A Policy on a cluster, or a policy of an engine in the cluster. */
export interface ComplianceRow {
  /** The policy engine in the cluster; absent for a Policy of the hub. */
  readonly engine?: string
  /** Namespace of the Policy; empty for a policy of an engine. */
  readonly namespace: string
  readonly policy: string
  readonly cluster: string
  readonly state: ComplianceState
  /** The state that an offline cluster reported last. */
  readonly last?: ComplianceState
  readonly since?: string
  /** Time of the last contact with an offline cluster. */
  readonly lastHeard?: string
  readonly message?: string
  /** By when the cluster has to comply. */
  readonly duty?: Duty
  readonly sets: readonly string[]
  readonly standards: readonly string[]
  readonly categories: readonly string[]
  readonly controls: readonly string[]
}

/** A Policy, as far as its compliance is shown. */
export interface ShownPolicy extends KubeObject {
  readonly spec?: { readonly disabled?: boolean }
  readonly status?: {
    readonly status?: readonly { readonly clustername: string; readonly compliant?: string | undefined }[] | undefined
    readonly duties?: readonly Duty[] | undefined
    readonly placement?: readonly { readonly policySet?: string | undefined }[] | undefined
  }
}

/** A cluster, as far as compliance follows from it. */
export interface ShownCluster {
  readonly name: string
  /** Without an identity, the report of the cluster is not read. */
  readonly id?: string | undefined
  readonly isAccepted: boolean
  readonly isOffline: boolean
  /** Time of the last contact. */
  readonly lastSeen?: string | undefined
}

/** A Cluster of the API as compliance reads it. */
export function shownCluster({ metadata, spec, status }: Cluster): ShownCluster {
  return {
    name: metadata.name,
    id: spec.id,
    isAccepted: spec.accepted,
    isOffline: findCondition(status?.conditions, 'Available')?.status === 'False',
    lastSeen: status?.lastSeen,
  }
}

/** What the hub says. Clusters and reports are absent where the caller may not read them. */
export interface ComplianceFacts {
  readonly policies: readonly ShownPolicy[]
  readonly clusters?: readonly ShownCluster[] | undefined
  readonly reports?: readonly ClusterReport[] | undefined
}

type Check = NonNullable<ClusterReport['spec']['checks']>[number]

/** The rows of all Policies; a cluster that no binding selects has the state NotSelected. */
export function complianceRows({ policies, clusters, reports }: ComplianceFacts): ComplianceRow[] {
  const clusterOf = new Map(clusters?.map((one) => [one.name, one]))
  const reportOf = new Map(reports?.map((one) => [one.metadata.name, one]))
  return policies
    .filter(({ spec }) => spec?.disabled !== true)
    .flatMap((policy) => {
      const about = aboutOf(policy)
      const bound = policy.status?.status ?? []
      const dutyOf = new Map(policy.status?.duties?.map((duty) => [duty.clustername, duty]))
      const names = new Set(bound.map(({ clustername }) => clustername))
      const rows = bound.map(({ clustername, compliant }): ComplianceRow => {
        const cluster = clusterOf.get(clustername)
        const report = reportOf.get(clustername)
        const checks = report && report.spec.clusterId === cluster?.id ? checksOf(policy, report.spec.checks ?? []) : []
        const state = readState(compliant) ?? 'Unknown'
        const telling = checks.find((one) => one.state === state) ?? checks[0]
        const isOffline = cluster?.isOffline === true
        return {
          ...about,
          cluster: clustername,
          state: isOffline ? 'Offline' : state,
          ...compact({
            last: isOffline ? stateOf(checks) : undefined,
            since: telling?.since,
            lastHeard: isOffline ? cluster?.lastSeen : undefined,
            message: telling?.message,
            duty: dutyOf.get(clustername),
          }),
        }
      })
      const others = (clusters ?? [])
        .filter(({ name, isAccepted }) => isAccepted && !names.has(name))
        .map(({ name }): ComplianceRow => ({ ...about, cluster: name, state: 'NotSelected' }))
      return [...rows, ...others]
    })
}

/** The name of the policy of a row. */
export function policyName({
  engine,
  namespace,
  policy,
}: {
  readonly engine?: string | undefined
  readonly namespace: string
  readonly policy: string
}): string {
  return engine === undefined ? `${namespace}/${policy}` : `${engine}:${policy}`
}

const NO_WORDS = { sets: [], standards: [], controls: [] }

/**
 * The rows of the policies of engines in clusters. A cluster whose engine has no results of a policy that other
 * clusters have results of is NotSelected, or Unknown if its results are not complete.
 */
export function engineRows(clusters: readonly ShownCluster[], reports: readonly ClusterReport[]): ComplianceRow[] {
  const found = clusterResults(clusters, reports)
  const accepted = clusters.filter(({ isAccepted }) => isAccepted)
  const seen = new Map<string, Pick<ComplianceRow, 'engine' | 'policy' | 'categories'>>()
  const rows: ComplianceRow[] = []
  const has = new Set<string>()
  const lastSeen = new Map(clusters.map((one) => [one.name, one.lastSeen]))
  const incomplete = new Set<string>()
  for (const { cluster, isOffline, results } of found) {
    if (results.denied || results.unread || results.omitted) incomplete.add(cluster)
    for (const { engine, policy, category, state, message } of engineStates(results)) {
      const about = { engine, policy, categories: category }
      seen.set(`${engine}:${policy}`, about)
      has.add(`${engine}:${policy} ${cluster}`)
      const offline = isOffline ? { last: state, lastHeard: lastSeen.get(cluster) } : {}
      rows.push({ ...NO_WORDS, ...about, namespace: '', cluster, state: isOffline ? 'Offline' : state, message, ...compact(offline) }) // prettier-ignore
    }
  }
  for (const [key, about] of seen) {
    for (const { name, isOffline, lastSeen: at } of accepted) {
      if (has.has(`${key} ${name}`)) continue
      const state = isOffline ? 'Offline' : incomplete.has(name) ? 'Unknown' : 'NotSelected'
      rows.push({ ...NO_WORDS, ...about, categories: [], namespace: '', cluster: name, state, ...compact({ lastHeard: isOffline ? at : undefined }) }) // prettier-ignore
    }
  }
  return rows
}

/** What a Policy says about itself. */
function aboutOf({ metadata, status }: ShownPolicy) {
  const { namespace = '', name, annotations = {} } = metadata
  const words = (key: string): string[] =>
    (annotations[`policy.open-cluster-management.io/${key}`] ?? '')
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== '')
  const sets = [...new Set((status?.placement ?? []).flatMap(({ policySet }) => policySet ?? []))]
  return {
    namespace,
    policy: name,
    sets,
    standards: words('standards'),
    categories: words('categories'),
    controls: words('controls'),
  }
}

/** Bundles of a Policy on a cluster: with its own action, and enforced by a binding. */
function checksOf({ metadata }: ShownPolicy, checks: readonly Check[]): readonly Check[] {
  const bundle = `${metadata.namespace ?? ''}/policy-${metadata.name}`
  return checks.filter((one) => one.bundle === bundle || one.bundle === `${bundle}.enforced`)
}

/** The state of the checks of a Policy together. */
function stateOf(checks: readonly Pick<Check, 'state'>[]): ComplianceState | undefined {
  if (checks.length === 0) return undefined
  const states = checks.map(({ state }) => state)
  return (['NonCompliant', 'Pending', 'Unknown'] as const).find((state) => states.includes(state)) ?? 'Compliant'
}

function readState(text: string | undefined): ComplianceState | undefined {
  return COMPLIANCE_STATES.find((state) => state === text)
}

/** What rows are chosen. */
export interface ComplianceFilter {
  readonly policy?: string | undefined
  readonly set?: string | undefined
  readonly cluster?: string | undefined
  readonly standard?: string | undefined
  readonly control?: string | undefined
  readonly state?: ComplianceState | undefined
  /** Rows with a duty in this state, at a time in milliseconds. */
  readonly duty?: { readonly state: DutyState | 'Any'; readonly nowMs: number } | undefined
  /** Time in milliseconds: rows that are not compliant since then or longer. */
  readonly notSince?: number | undefined
}

/** The chosen rows. */
export function chooseRows(rows: readonly ComplianceRow[], filter: ComplianceFilter): ComplianceRow[] {
  const has = (words: readonly string[], wanted: string | undefined): boolean =>
    wanted === undefined || words.some((word) => word.toLowerCase() === wanted.toLowerCase())
  // A control is often written with its title: `CM-2 Baseline Configuration`.
  const hasControl = (words: readonly string[], wanted: string | undefined): boolean =>
    wanted === undefined ||
    has(words, wanted) ||
    has(
      words.map((word) => word.split(' ')[0]!),
      wanted,
    )
  return rows.filter(
    (row) =>
      (filter.policy === undefined || row.policy === filter.policy || policyName(row) === filter.policy) &&
      (filter.cluster === undefined || row.cluster === filter.cluster) &&
      has(row.sets, filter.set) &&
      has(row.standards, filter.standard) &&
      hasControl(row.controls, filter.control) &&
      (filter.state === undefined || row.state === filter.state) &&
      (filter.duty === undefined || isInDuty(row, filter.duty)) &&
      (filter.notSince === undefined || isNotSince(row, filter.notSince)),
  )
}

function isInDuty({ duty }: ComplianceRow, { state, nowMs }: NonNullable<ComplianceFilter['duty']>): boolean {
  return duty !== undefined && (state === 'Any' || dutyState(duty, nowMs) === state)
}

function isNotSince({ state, since }: ComplianceRow, ms: number): boolean {
  const at = since === undefined ? undefined : parseTime(since)
  return state === 'NonCompliant' && at !== undefined && at <= ms
}

/** What summaries count by. */
export const COMPLIANCE_GROUPS = ['policy', 'set', 'cluster', 'standard', 'control'] as const
export type ComplianceGroup = (typeof COMPLIANCE_GROUPS)[number]

/** The number of rows of a group by state. */
export interface ComplianceCount {
  readonly group: string
  readonly counts: Readonly<Record<ComplianceState, number>>
  /** Time of the oldest last contact with an offline cluster. */
  readonly lastHeard?: string
}

/** Counts rows by group; a row without a standard, control or set counts under `-`. */
export function countRows(rows: readonly ComplianceRow[], by: ComplianceGroup): ComplianceCount[] {
  const found = new Map<string, ComplianceRow[]>()
  for (const row of rows) {
    for (const group of groupsOf(row, by)) {
      const known = found.get(group)
      if (known) known.push(row)
      else found.set(group, [row])
    }
  }
  return [...found]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, own]) => {
      const heard = own.flatMap(({ lastHeard }) => lastHeard ?? []).toSorted()[0]
      const counts = Object.fromEntries(
        COMPLIANCE_STATES.map((state) => [state, own.filter((row) => row.state === state).length]),
      ) as ComplianceCount['counts']
      return { group, counts, ...compact({ lastHeard: heard }) }
    })
}

function groupsOf(row: ComplianceRow, by: ComplianceGroup): readonly string[] {
  if (by === 'policy') return [policyName(row)]
  if (by === 'cluster') return [row.cluster]
  const words = by === 'set' ? row.sets : by === 'standard' ? row.standards : row.controls
  return words.length === 0 ? ['-'] : words
}

/** In place of the bundle of a check: the policy engine. */
const ENGINE_BUNDLE = /^engine:(?<engine>.+)$/
const POLICY_BUNDLE = /^(?<namespace>[^/]+)\/policy-(?<name>[^.]+)(?:\.enforced)?$/

/** The rows as the clusters had reported them by a time. */
export function rowsAtTime(
  records: readonly ComplianceRecord[],
  {
    cluster,
    timeMs,
    policies,
  }: { readonly cluster?: string | undefined; readonly timeMs: number; readonly policies: readonly ShownPolicy[] },
): ComplianceRow[] {
  const known = new Map(
    policies.map((policy) => [`${policy.metadata.namespace ?? ''}/${policy.metadata.name}`, policy]),
  )
  const rows: ComplianceRow[] = []
  for (const [name, { checks }] of checksAt(records, formatTime(timeMs))) {
    if (cluster !== undefined && name !== cluster) continue
    for (const { bundle, name: policyOf, state, since } of checks.values()) {
      const engine = ENGINE_BUNDLE.exec(bundle)?.groups?.['engine']
      if (engine === undefined) continue
      const shown = readState(state) ?? 'Unknown'
      rows.push({ ...NO_WORDS, engine, namespace: '', policy: policyOf, categories: [], cluster: name, state: shown, ...compact({ since: since === '' ? undefined : since }) }) // prettier-ignore
    }
    for (const [key, own] of byPolicy([...checks.values()])) {
      const policy = known.get(key)
      // A Policy that the caller may not see, or that was deleted since, has no standards and controls here.
      const [namespace = '', policyName = ''] = key.split('/')
      const about = policy ? aboutOf(policy) : { namespace, policy: policyName, sets: [], standards: [], categories: [], controls: [] } // prettier-ignore
      const state = stateOf(own.map((one) => ({ state: one.state as never }))) ?? 'Unknown'
      const telling = own.find((one) => one.state === state)
      rows.push({ ...about, cluster: name, state, ...compact({ since: telling?.since }) })
    }
  }
  return rows
}

function byPolicy(checks: readonly RecordedCheck[]): Map<string, RecordedCheck[]> {
  const found = new Map<string, RecordedCheck[]>()
  for (const check of checks) {
    const { namespace, name } = POLICY_BUNDLE.exec(check.bundle)?.groups ?? {}
    if (namespace === undefined) continue
    const key = `${namespace}/${name}`
    found.set(key, [...(found.get(key) ?? []), check])
  }
  return found
}
