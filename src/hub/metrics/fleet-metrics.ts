/**
 * The fleet in numbers, in the one vocabulary of states. Labels come from closed sets: a fleet of 10,000 has no more
 * series than one of 5.
 */
import { findCondition } from '../../core/conditions.ts'
import type { Metrics, Observe } from '../../core/metrics.ts'
import { parseTime } from '../../core/time/time.ts'
import type { Assignment } from '../../kinds/native/assignment.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import { ROLLOUT_PHASES } from '../../kinds/native/rollout.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { RESULT_SEVERITIES } from '../../kinds/fields/report.ts'
import { BUNDLE_STATES } from '../../kinds/fields/states.ts'
import { APART_BADGES, apartBadge, CERTIFICATE_WARNING_DAYS, stateOfCluster } from '../../plan/fleet/cluster-badges.ts'
import { countStates } from '../../plan/fleet/state.ts'
import type { StateCounts } from '../../plan/fleet/state.ts'
import { countsByState } from '../../plan/fleet/view-rows.ts'
import { RESULT_WORDS } from '../../plan/policy/results/read-results.ts'

/** The objects the numbers are made of. */
export interface FleetMetricsInput {
  readonly clusters: readonly Cluster[]
  readonly reports: readonly ClusterReport[]
  readonly assignments: readonly Assignment[]
  readonly bundles: readonly Bundle[]
  readonly placements: readonly Placement[]
  readonly rollouts: readonly Rollout[]
}

const CONDITION_STATUSES = ['True', 'False', 'Unknown'] as const
/** How a distribution over the fleet is told without a series per cluster. */
const STATS = { min: 0, p50: 0.5, p90: 0.9, p99: 0.99, max: 1 } as const
const DAY_SECONDS = 86_400
const EXPIRY_DAYS = [1, CERTIFICATE_WARNING_DAYS] as const

/** Declares the metrics of the fleet; the answer brings them up to date. */
export function declareFleetMetrics(metrics: Metrics): (facts: FleetMetricsInput, nowMs: number) => void {
  const fleet = declareFleet(metrics)
  const checks = declareChecks(metrics)
  const results = declareResults(metrics)
  return (facts, nowMs) => {
    fleet(facts, nowMs)
    checks(facts)
    results(facts)
  }
}

function declareFleet(metrics: Metrics): (facts: FleetMetricsInput, nowMs: number) => void {
  const clusters = metrics.gauge({
    name: 'flotilla_clusters',
    help: 'Clusters of the fleet by state.',
    labels: ['state'],
  })
  const apart = metrics.gauge({
    name: 'flotilla_clusters_apart',
    help: 'Clusters that left the fleet or were turned away, by badge. They have no state.',
    labels: ['badge'],
  })
  const available = metrics.gauge({
    name: 'flotilla_clusters_available',
    help: 'Accepted clusters by the status of their Available condition.',
    labels: ['status'],
  })
  const lastSeen = metrics.gauge({
    name: 'flotilla_cluster_last_seen_age_seconds',
    help: 'Seconds since clusters that are not Available were last heard, over those clusters; NaN when there are none.',
    labels: ['stat'],
  })
  const deployments = metrics.gauge({
    name: 'flotilla_bundle_deployments',
    help: 'Pairs of bundle and selected cluster by state, as in the BundleCounts.',
    labels: ['state'],
  })
  const bundles = metrics.gauge({
    name: 'flotilla_bundles',
    help: 'Bundles by the status of their Ready condition.',
    labels: ['status'],
  })
  const unplaced = metrics.gauge({
    name: 'flotilla_bundles_unplaced',
    help: 'Bundles that reach no cluster: those with the condition Unplaced.',
  })
  const empty = metrics.gauge({
    name: 'flotilla_placements_empty',
    help: 'Placements that select no cluster: those with the condition Empty.',
  })
  const rollouts = metrics.gauge({ name: 'flotilla_rollouts', help: 'Rollouts by phase.', labels: ['phase'] })
  const behind = metrics.gauge({
    name: 'flotilla_clusters_behind',
    help: 'Clusters that have not yet observed their newest document.',
  })
  const appliedAge = metrics.gauge({
    name: 'flotilla_applied_revision_age_seconds',
    help: 'Seconds since clusters last observed a new revision, over the clusters that are behind; NaN when there are none.',
    labels: ['stat'],
  })
  const expiry = metrics.gauge({
    name: 'flotilla_certificate_expiry_seconds',
    help: 'Seconds until agents’ certificates expire, over the accepted clusters; negative when expired, NaN when there are none.',
    labels: ['stat'],
  })
  const expiring = metrics.gauge({
    name: 'flotilla_certificates_expiring',
    help: 'Agents’ certificates that expire within this number of days. A certificate that is renewed in time is never counted.',
    labels: ['days'],
  })
  return (facts, nowMs) => {
    const ageOf = (time: string | undefined): number | undefined => {
      const ms = time === undefined ? undefined : parseTime(time)
      return ms === undefined ? undefined : (nowMs - ms) / 1000
    }
    const accepted = facts.clusters.filter((cluster) => cluster.spec.accepted && apartBadge(cluster) === undefined)
    const isHeard = (cluster: Cluster): boolean => conditionOf(cluster, 'Available') === 'True'
    set(
      clusters,
      'state',
      BUNDLE_STATES,
      facts.clusters.flatMap((cluster) => stateOfCluster(cluster) ?? []),
    )
    set(
      apart,
      'badge',
      APART_BADGES,
      facts.clusters.flatMap((cluster) => apartBadge(cluster) ?? []),
    )
    set(
      available,
      'status',
      CONDITION_STATUSES,
      accepted.map((cluster) => conditionOf(cluster, 'Available')),
    )
    spread(
      lastSeen,
      accepted.filter((cluster) => !isHeard(cluster)).map(({ status }) => ageOf(status?.lastSeen)),
    )
    const pairs = deploymentCounts(facts)
    for (const state of BUNDLE_STATES) deployments({ state }, pairs[state])
    const count = (objects: readonly ConditionedObject[], type: string): number =>
      objects.filter((object) => conditionOf(object, type) === 'True').length
    unplaced({}, count(facts.bundles, 'Unplaced'))
    empty({}, count(facts.placements, 'Empty'))
    set(
      bundles,
      'status',
      CONDITION_STATUSES,
      facts.bundles.map((bundle) => conditionOf(bundle, 'Ready')),
    )
    set(
      rollouts,
      'phase',
      ROLLOUT_PHASES,
      facts.rollouts.map(({ status }) => status?.phase ?? 'Pending'),
    )
    const late = clustersBehind(facts)
    behind({}, late.length)
    spread(
      appliedAge,
      late.map((report) => ageOf(report?.spec.receivedAt)),
    )
    const left = numbers(accepted.map(({ status }) => ageOf(status?.certificate?.notAfter))).map((age) => -age)
    spread(expiry, left)
    for (const days of EXPIRY_DAYS) {
      expiring({ days: String(days) }, left.filter((seconds) => seconds <= days * DAY_SECONDS).length)
    }
  }
}

const CHECK_STATES = ['Compliant', 'NonCompliant', 'Pending', 'Unknown', 'Offline'] as const

function declareChecks(metrics: Metrics): (facts: FleetMetricsInput) => void {
  const checks = metrics.gauge({
    name: 'flotilla_checks',
    help: 'Checks of policies by state. Checks of a cluster that is not Available count as Offline, whatever it reported last.',
    labels: ['state'],
  })
  return (facts) => set(checks, 'state', CHECK_STATES, checkStates(facts))
}

const SEVERITIES = [...RESULT_SEVERITIES, 'none'] as const

function declareResults(metrics: Metrics): (facts: FleetMetricsInput) => void {
  const results = metrics.gauge({
    name: 'flotilla_policy_results',
    help: 'Results of the policy engines in clusters that are Available, such as Kyverno and Gatekeeper, by severity and result.',
    labels: ['severity', 'result'],
  })
  return ({ clusters, reports }) => {
    const heard = new Set(clusters.filter((one) => conditionOf(one, 'Available') === 'True').map(({ spec }) => spec.id))
    const policies = reports
      .filter(({ spec }) => heard.has(spec.clusterId))
      .flatMap(({ spec }) => spec.results?.policies ?? [])
    for (const severity of SEVERITIES) {
      const own = policies.filter((one) => (one.severity ?? 'none') === severity)
      for (const result of RESULT_WORDS) {
        results(
          { severity, result },
          own.reduce((sum, one) => sum + one[result], 0),
        )
      }
    }
  }
}

function checkStates({ clusters, reports }: FleetMetricsInput): (typeof CHECK_STATES)[number][] {
  const heard = new Map(clusters.map((one) => [one.spec.id, conditionOf(one, 'Available') === 'True']))
  return reports.flatMap(({ spec }) => {
    const isHeard = heard.get(spec.clusterId)
    // A report of a cluster that is gone is no news about the fleet.
    if (isHeard === undefined) return []
    return (spec.checks ?? []).map(({ state }) => (isHeard ? state : 'Offline'))
  })
}

/** Pairs of bundle and cluster by state: the counts that the newest Rollout of each Bundle has. */
function deploymentCounts({ bundles, rollouts }: FleetMetricsInput): StateCounts {
  const byName = new Map(
    rollouts
      .filter(({ spec }) => !spec.removal)
      .map((rollout) => [`${rollout.metadata.namespace}/${rollout.spec.release}`, rollout]),
  )
  const sums = { ...countStates([]) }
  for (const { metadata, status } of bundles) {
    const rollout = byName.get(`${metadata.namespace}/${status?.release}`)
    const counts = rollout?.status?.bundles?.find(({ name }) => name === metadata.name) ?? rollout?.status?.counts
    const counted = countsByState(counts)
    for (const state of BUNDLE_STATES) sums[state] += counted[state]
  }
  return sums
}

/**
 * Clusters whose last report is of an older document than the newest, with that report; undefined where there was
 * none.
 */
function clustersBehind({ assignments, reports }: FleetMetricsInput): (ClusterReport | undefined)[] {
  const reportOf = new Map(reports.map((report) => [report.metadata.name, report]))
  return assignments.flatMap(({ metadata, spec }) => {
    const report = reportOf.get(metadata.name)
    const seen = report?.spec.clusterId === spec.clusterId ? report : undefined
    const isCurrent = seen && seen.spec.epoch === spec.epoch && seen.spec.revision >= spec.revision
    return isCurrent ? [] : [seen]
  })
}

type ConditionedObject = KubeObject & { readonly status?: { readonly conditions?: readonly ConditionLike[] } }

function conditionOf({ status }: ConditionedObject, type: string): (typeof CONDITION_STATUSES)[number] {
  return findCondition(status?.conditions, type)?.status ?? 'Unknown'
}

interface ConditionLike {
  readonly type: string
  readonly status: (typeof CONDITION_STATUSES)[number]
}

/** Counts values of a closed set. Absent values count 0, so that no series keeps an old number. */
function set(gauge: Observe, label: string, all: readonly string[], values: readonly string[]): void {
  const counts = new Map(all.map((value) => [value, 0]))
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  for (const [value, count] of counts) gauge({ [label]: value }, count)
}

function spread(gauge: Observe, values: readonly (number | undefined)[]): void {
  const sorted = numbers(values).sort((a, b) => a - b)
  for (const [stat, at] of Object.entries(STATS)) {
    gauge({ stat }, sorted[Math.ceil(at * (sorted.length - 1))] ?? Number.NaN)
  }
}

function numbers(values: readonly (number | undefined)[]): number[] {
  return values.filter((value) => value !== undefined)
}
