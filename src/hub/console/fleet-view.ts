/** The hub's picture of the fleet: objects for counting, rows for the console, and which kinds have changed. */
import type { Client } from '../../client/client.ts'
import { createInformers } from '../../client/informers.ts'
import type { Informer } from '../../client/informer.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import type { Maintenance } from '../../plan/fleet/hub-maintenance.ts'
import type { FleetMetricsInput } from '../metrics/fleet-metrics.ts'
import { clusterRow } from './cluster-row.ts'
import { createFleetFeed } from './fleet-feed.ts'
import type { FleetFeed } from './fleet-feed.ts'

/** A live picture of the fleet. */
export interface FleetView {
  readonly feed: FleetFeed
  maintenance(): Maintenance | undefined
  /** Plural names of the kinds that `onChange` tells of. */
  readonly plurals: readonly string[]
  /** The objects themselves, for counting. */
  facts(): FleetMetricsInput
  /** Calls back after an object changed, with the plural name of its kind; returns what stops it. */
  onChange(changed: (plural: string) => void): () => void
  /** Follows the API until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>
}

/** What a view is made of. */
export interface FleetViewOptions {
  /** The maintenance that users are told of. If omitted, none. */
  readonly maintenance?: () => Maintenance | undefined
  readonly client: Client
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
}

/** Makes the view; nothing is read before `run`. */
export function createFleetView(options: FleetViewOptions): FleetView {
  const { client, clock, ids, log, maintenance = () => undefined } = options
  const informers = createInformers({ client, clock, ids, log })
  const clusters = informers.of(Cluster)
  const reports = informers.of(ClusterReport)
  const bundles = informers.of(Bundle)
  const rollouts = informers.of(Rollout)
  const assignments = informers.of(Assignment)
  const placements = informers.of(Placement)
  const feed = createFleetFeed(ids.suffix(8))
  const listeners = new Set<(plural: string) => void>()

  clusters.onChange(({ key, after }) => (after ? feed.put(clusterRow(after)) : feed.remove(key)))
  const all: readonly Pick<Informer<KubeObject>, 'onChange' | 'type'>[] = [
    clusters,
    reports,
    bundles,
    rollouts,
    placements,
  ]
  for (const { type, onChange } of all) {
    onChange(() => {
      for (const changed of listeners) changed(type.plural)
    })
  }

  return {
    feed,
    maintenance,
    plurals: all.map(({ type }) => type.plural),
    facts: () => ({
      clusters: clusters.lister.list(),
      reports: reports.lister.list(),
      assignments: assignments.lister.list(),
      bundles: bundles.lister.list(),
      placements: placements.lister.list(),
      rollouts: rollouts.lister.list(),
    }),
    onChange: (changed) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    run: (signal) => informers.run(signal),
  }
}
