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
import { Rollout } from '../../kinds/native/rollout.ts'
import type { FleetMetricsInput } from '../metrics/fleet-metrics.ts'

/** One cluster on the page. */
export interface ClusterRow {
  readonly name: string
  readonly state: string
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
  readonly message: string
}

/** Everything the page shows at one moment. */
export interface FleetSnapshot {
  /** How many clusters there are; `clusters` may be fewer. */
  readonly total: number
  /** Clusters by state. */
  readonly counts: Readonly<Record<string, number>>
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
  const all: readonly Pick<Informer<KubeObject>, 'onChange'>[] = [clusters, reports, bundles, rollouts]

  return {
    snapshot: () => {
      const rows = clusters.lister
        .list()
        .map((cluster) => clusterRow(cluster, reports.lister.get(cluster.metadata.name), clock.now()))
        .sort((a, b) => rank(a.state) - rank(b.state) || (a.name < b.name ? -1 : 1))
      return {
        total: rows.length,
        counts: countBy(rows.map(({ state }) => state)),
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

function clusterRow(cluster: Cluster, report: ClusterReport | undefined, nowMs: number): ClusterRow {
  const { metadata, spec, status } = cluster
  // lastSeen is written rarely; while its agent is heard, "now" is the truth.
  const isHeard = status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True')
  const seenMs = status?.lastSeen === undefined ? undefined : parseTime(status.lastSeen)
  const age = seenMs === undefined ? 'never' : `${humanAge(Math.max(0, nowMs - seenMs))} ago`
  return {
    name: metadata.name,
    state: status?.state ?? 'Pending',
    message: status?.message ?? (spec.accepted ? '' : 'waits to be accepted'),
    ring: metadata.labels?.['ring'] ?? '',
    labels: Object.entries(metadata.labels ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(' '),
    version: status?.kubernetesVersion ?? '',
    seen: isHeard ? 'now' : age,
    bundles: (report?.spec.bundles ?? []).map(({ bundle, generation, state, message }) => ({
      bundle,
      generation,
      state,
      message: message ?? '',
    })),
  }
}

function bundleRow(bundle: Bundle): BundleRow {
  const ready = findCondition(bundle.status?.conditions, 'Ready')
  return {
    name: keyOf(bundle),
    generation: bundle.metadata.generation ?? 0,
    placement: bundle.spec.placement,
    state: stateOf(bundle),
    message: ready?.message ?? '',
  }
}

/** A Bundle that is on its way has not failed; only one that stands still until a person looks at it has. */
function stateOf({ status }: Bundle): string {
  const of = (wanted: string) => findCondition(status?.conditions, wanted)
  const ready = of('Ready')
  if (ready?.status === 'True') return 'Ready'
  if (of('Stalled')?.status === 'True') return 'Failed'
  if (ready?.reason === 'RolloutPaused') return 'Paused'
  if (ready?.reason === 'RolloutAborted') return 'Aborted'
  return ready?.status === 'False' ? 'Progressing' : 'Pending'
}

function rolloutRow(rollout: Rollout): RolloutRow {
  const { status } = rollout
  return {
    name: keyOf(rollout),
    phase: status?.phase ?? 'Pending',
    ring: status?.ring ?? '',
    counts: { ...status?.counts },
    message: findCondition(status?.conditions, 'Ready')?.message ?? '',
  }
}

function rank(state: string): number {
  const at = STATE_ORDER.indexOf(state)
  return at < 0 ? STATE_ORDER.length : at
}

function countBy(states: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const state of states) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1
}

function newestFirst(a: KubeObject, b: KubeObject): number {
  return (a.metadata.creationTimestamp ?? '') < (b.metadata.creationTimestamp ?? '') ? 1 : -1
}
