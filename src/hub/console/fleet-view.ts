/** What the live page shows: rows of clusters, bundles and rollouts, kept up to date by informers. */
import type { Client } from '../../client/client.ts'
import { createInformers } from '../../client/informers.ts'
import type { Informer } from '../../client/informer.ts'
import { findCondition } from '../../core/conditions.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import { humanAge, parseTime } from '../../core/time/time.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import { keyOf } from '../../kinds/meta.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { apartBadge, countFleet, stateOfCluster } from '../../plan/fleet/cluster-badges.ts'
import { stateOnCluster } from '../../plan/fleet/state.ts'
import type { FleetMetricsInput } from '../metrics/fleet-metrics.ts'

/** One cluster on the page. */
export interface ClusterRow {
  readonly name: string
  /** The state; the badge of a cluster that left or was turned away. */
  readonly state: string
  /** The cluster left or was turned away: it has no state and is counted apart. */
  readonly isApart: boolean
  readonly message: string
  readonly labels: string
  /** The label `ring`; empty without one. */
  readonly ring: string
  readonly version: string
  readonly seen: string
  readonly bundles: readonly BundleState[]
}

/** How one bundle does on one cluster. */
export interface BundleState {
  readonly bundle: string
  readonly generation: number
  readonly state: string
  readonly message: string
}

/** One bundle on the page. */
export interface BundleRow {
  readonly name: string
  readonly generation: number
  readonly placement: string
  /** In the words of the one vocabulary, or of rollouts where a person stopped it. */
  readonly state: string
  readonly message: string
}

/** One rollout on the page. */
export interface RolloutRow {
  readonly name: string
  readonly phase: string
  readonly ring: string
  readonly counts: Readonly<Record<string, number>>
  /** Bundles on clusters that are offline now, whether they have the content or not. */
  readonly offlineNow: number
  /** Bundles on clusters that the rings do not wait for, by reason. */
  readonly excused: Readonly<Record<string, number>>
  readonly message: string
}

/** Everything the page shows at one moment. */
export interface FleetSnapshot {
  /** How many clusters have a state; `clusters` may be fewer. */
  readonly total: number
  /** Clusters by state. */
  readonly counts: Readonly<Record<string, number>>
  /** Clusters that left or were turned away, by badge. */
  readonly apart: Readonly<Record<string, number>>
  readonly clusters: readonly ClusterRow[]
  readonly bundles: readonly BundleRow[]
  readonly rollouts: readonly RolloutRow[]
}

/** A live picture of the fleet. */
export interface FleetView {
  snapshot(): FleetSnapshot
  /** The objects themselves, for counting. */
  facts(): FleetMetricsInput
  /** Calls back after something changed; returns what stops it. */
  onChange(changed: () => void): () => void
  /** Follows the API until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>
}

/** What a view is made of. */
export interface FleetViewOptions {
  readonly client: Client
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
}

// A browser is not a report: what needs attention comes first, and the rest is counted.
const MAX_CLUSTERS = 300
const MAX_OTHERS = 50

const STATE_ORDER = ['Failed', 'Drifted', 'Offline', 'Progressing', 'Pending', 'Ready', 'NotSelected']

/** Makes the view; nothing is read before `run`. */
export function createFleetView({ client, clock, ids, log }: FleetViewOptions): FleetView {
  const informers = createInformers({ client, clock, ids, log })
  const clusters = informers.of(Cluster)
  const reports = informers.of(ClusterReport)
  const bundles = informers.of(Bundle)
  const rollouts = informers.of(Rollout)
  const assignments = informers.of(Assignment)
  const placements = informers.of(Placement)
  const all: readonly Pick<Informer<KubeObject>, 'onChange'>[] = [clusters, reports, bundles, rollouts]

  return {
    snapshot: () => {
      const known = clusters.lister.list()
      const rows = known
        .map((cluster) => {
          const { name } = cluster.metadata
          return clusterRow(
            cluster,
            { report: reports.lister.get(name), assignment: assignments.lister.get(name) },
            clock.now(),
          )
        })
        .sort((a, b) => rank(a.state) - rank(b.state) || (a.name < b.name ? -1 : 1))
      const { total, states, apart } = countFleet(known)
      return {
        total,
        counts: states,
        apart,
        clusters: rows.slice(0, MAX_CLUSTERS),
        bundles: bundles.lister.list().map(bundleRow).sort(byName).slice(0, MAX_OTHERS),
        rollouts: [...rollouts.lister.list()].sort(newestFirst).map(rolloutRow).slice(0, MAX_OTHERS),
      }
    },
    facts: () => ({
      clusters: clusters.lister.list(),
      reports: reports.lister.list(),
      assignments: assignments.lister.list(),
      bundles: bundles.lister.list(),
      placements: placements.lister.list(),
      rollouts: rollouts.lister.list(),
    }),
    onChange: (changed) => {
      const stops = all.map((informer) => informer.onChange(changed))
      return () => {
        for (const stop of stops) stop()
      }
    },
    run: (signal) => informers.run(signal),
  }
}

interface AboutCluster {
  readonly report: ClusterReport | undefined
  readonly assignment: Assignment | undefined
}

function clusterRow(cluster: Cluster, { report, assignment }: AboutCluster, nowMs: number): ClusterRow {
  const { metadata, spec, status } = cluster
  // lastSeen is written rarely; while its agent is heard, "now" is the truth.
  const isHeard = status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True')
  const seenMs = status?.lastSeen === undefined ? undefined : parseTime(status.lastSeen)
  const age = seenMs === undefined ? 'never' : `${humanAge(Math.max(0, nowMs - seenMs))} ago`
  return {
    name: metadata.name,
    state: stateOfCluster(cluster) ?? apartBadge(cluster) ?? 'Pending',
    isApart: apartBadge(cluster) !== undefined,
    message: status?.message ?? (spec.accepted ? '' : 'waits to be accepted'),
    ring: metadata.labels?.['ring'] ?? '',
    labels: Object.entries(metadata.labels ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(' '),
    version: status?.kubernetesVersion ?? '',
    seen: isHeard ? 'now' : age,
    bundles: (report?.spec.bundles ?? []).map((reported) => bundleState(cluster, reported, assignment)),
  }
}

/** The state of a bundle on a cluster by the one function for it, with the document's revision as the target. */
function bundleState(
  cluster: Cluster,
  reported: ClusterReport['spec']['bundles'][number],
  assignment: Assignment | undefined,
): BundleState {
  const { bundle, generation } = reported
  const badge = apartBadge(cluster)
  if (badge !== undefined) return { bundle, generation, state: badge, message: '' }
  const available = findCondition(cluster.status?.conditions, 'Available')
  const isOffline = available?.status === 'False'
  const assigned = assignment?.spec.entries.find((entry) => entry.bundle === bundle)
  const { state, message, lastKnown } = stateOnCluster({
    selection: { selected: true, message: '' },
    admitted: false,
    target: assigned ?? reported,
    reported,
    availability: {
      state: isOffline ? 'Offline' : 'Available',
      reason: isOffline ? 'Silent' : 'Seen',
      message: available?.message ?? '',
    },
    ...(assigned ? { assigned } : {}),
  })
  const words = state === 'Offline' ? `last known: ${lastKnown}` : reported.message === undefined ? '' : message
  return { bundle, generation, state, message: words }
}

function bundleRow(bundle: Bundle): BundleRow {
  const ready = findCondition(bundle.status?.conditions, 'Ready')
  const unplaced = findCondition(bundle.status?.conditions, 'Unplaced')
  return {
    name: keyOf(bundle),
    generation: bundle.metadata.generation ?? 0,
    placement: bundle.spec.placement,
    state: stateOf(bundle),
    message: (unplaced?.status === 'True' ? unplaced : ready)?.message ?? '',
  }
}

/** A Bundle that is on its way has not failed; only one that stands still until a person looks at it has. */
function stateOf({ status }: Bundle): string {
  const of = (wanted: string) => findCondition(status?.conditions, wanted)
  const ready = of('Ready')
  if (of('Unplaced')?.status === 'True') return 'NotSelected'
  if (ready?.status === 'True') return 'Ready'
  if (of('Stalled')?.status === 'True') return 'Failed'
  if (ready?.reason === 'RolloutPaused') return 'Paused'
  if (ready?.reason === 'RolloutAborted') return 'Aborted'
  if (ready?.reason === 'HeldBack') return 'Held back'
  return ready?.status === 'False' ? 'Progressing' : 'Pending'
}

function rolloutRow(rollout: Rollout): RolloutRow {
  const { status } = rollout
  const { states, ...counts } = status?.counts ?? {}
  const excused: Record<string, number> = {}
  for (const { excusedFor = {} } of status?.rings ?? []) {
    for (const [reason, count = 0] of Object.entries(excusedFor)) excused[reason] = (excused[reason] ?? 0) + count
  }
  return {
    name: keyOf(rollout),
    phase: status?.phase ?? 'Pending',
    ring: status?.ring ?? '',
    counts,
    offlineNow: states?.['Offline'] ?? 0,
    excused,
    message: findCondition(status?.conditions, 'Ready')?.message ?? '',
  }
}

function rank(state: string): number {
  const at = STATE_ORDER.indexOf(state)
  return at < 0 ? STATE_ORDER.length : at
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1
}

function newestFirst(a: KubeObject, b: KubeObject): number {
  return (a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1
}
