/** What Prometheus scrapes: the main thread's registry with the fleet's numbers, then each thread's own. */
import collectDefaultMetrics from '@prometheus-io/client/lib/defaultMetrics.js'
import Registry from '@prometheus-io/client/lib/registry.js'
import { deadline, untilAborted } from '../../core/async/deadline.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Clock } from '../../core/time/clock.ts'
import { VERSION } from '../../core/version.ts'
import { prometheusMetrics } from '../../engine/prometheus.ts'
import type { HubAuthority, HubPart } from '../../plan/fleet/hub-health.ts'
import type { Supervisor } from '../threads/supervisor.ts'
import { declareFleetMetrics } from './fleet-metrics.ts'
import type { FleetMetricsInput } from './fleet-metrics.ts'
import { declareAuthorities, declareBuildInfo, declareMaintenance, declareParts } from './thread-metrics.ts'

/** A hub's metrics. */
export interface MetricsPage {
  /** Where the main thread's rooms declare theirs. */
  readonly metrics: Metrics
  /**
   * The page. The metrics of a thread that does not answer are left out, and `flotilla_part_running` says so: the
   * restarts of a thread must be seen while it is down.
   */
  text(): Promise<string>
}

/** What the page is made of. */
export interface MetricsPageOptions {
  readonly clock: Clock
  /** Undefined on a hub that does not follow the fleet. */
  readonly facts: () => FleetMetricsInput | undefined
  readonly threads: () => readonly MeasuredThread[]
  readonly supervisor: Pick<Supervisor, 'health' | 'onEnd'>
  readonly authorities: () => readonly HubAuthority[]
  readonly isInMaintenance: () => boolean
}

/** A thread with metrics of its own; undefined while it does not run. */
export interface MeasuredThread {
  readonly name: HubPart
  metrics(): Promise<string> | undefined
}

/** The type that says this is Prometheus' text. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Below the usual scrape timeout of 10 s. */
const ANSWER_MS = 5_000

// The library's own defaults that Prometheus' linter refuses; the same facts are in other default metrics.
const ILL_NAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_utilization_histogram',
  'nodejs_eventloop_utilization_summary',
]

/** Makes the page. */
export function createMetricsPage(options: MetricsPageOptions): MetricsPage {
  const { clock, facts, threads, supervisor, authorities, isInMaintenance } = options
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of ILL_NAMED) registry.removeSingleMetric(name)
  const metrics = prometheusMetrics(registry)
  const measureFleet = declareFleetMetrics(metrics)
  declareBuildInfo(metrics)(VERSION)
  const parts = declareParts(metrics)
  const measureAuthorities = declareAuthorities(metrics)
  const measureMaintenance = declareMaintenance(metrics)
  supervisor.onEnd(({ name, cause }) => parts.restarts({ part: name, cause }, 1))

  /** The metrics of a thread; undefined when it does not answer in time. */
  async function metricsOf(thread: MeasuredThread): Promise<string | undefined> {
    const asked = { clock, ms: ANSWER_MS, what: `metrics of the ${thread.name} thread` }
    return await deadline(asked, async (signal) => await untilAborted(Promise.resolve(thread.metrics()), signal)).catch(
      () => undefined,
    )
  }

  return {
    metrics,
    text: async () => {
      const fleet = facts()
      if (fleet) measureFleet(fleet, clock.now())
      measureAuthorities(authorities(), clock.now())
      measureMaintenance(isInMaintenance())
      const measured = threads()
      const answers = await Promise.all(measured.map(metricsOf))
      const silent = new Set(measured.filter((_, at) => answers[at] === undefined).map(({ name }) => name))
      for (const { name, state } of supervisor.health()) {
        parts.running({ part: name }, state === 'Running' && !silent.has(name) ? 1 : 0)
      }
      const texts = [await registry.metrics(), ...answers.filter((text) => text !== undefined)]
      return texts.map((text) => (text === '' || text.endsWith('\n') ? text : `${text}\n`)).join('')
    },
  }
}
