/** What Prometheus scrapes: the main thread's registry with the fleet's numbers, then each thread's own. */
import collectDefaultMetrics from '@prometheus-io/client/lib/defaultMetrics.js'
import Registry from '@prometheus-io/client/lib/registry.js'
import type { Metrics } from '../../core/metrics.ts'
import type { Clock } from '../../core/time/clock.ts'
import { VERSION } from '../../core/version.ts'
import { prometheusMetrics } from '../../engine/prometheus.ts'
import { declareFleetMetrics } from './fleet-metrics.ts'
import type { FleetMetricsInput } from './fleet-metrics.ts'
import { declareBuildInfo } from './thread-metrics.ts'

/** A hub's metrics. */
export interface MetricsPage {
  /** Where the main thread's rooms declare theirs. */
  readonly metrics: Metrics
  /** The page; a thread that does not answer fails it rather than leaving numbers out. */
  text(): Promise<string>
}

/** What the page is made of. */
export interface MetricsPageOptions {
  readonly clock: Clock
  readonly facts: () => FleetMetricsInput
  readonly threads: () => readonly { metrics(): Promise<string> }[]
}

/** The type that says this is Prometheus' text. */
export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

// The library's own defaults that Prometheus' linter refuses; the same facts are in other default metrics.
const ILL_NAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
  'nodejs_eventloop_utilization_histogram',
  'nodejs_eventloop_utilization_summary',
]

/** Makes the page. */
export function createMetricsPage({ clock, facts, threads }: MetricsPageOptions): MetricsPage {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of ILL_NAMED) registry.removeSingleMetric(name)
  const metrics = prometheusMetrics(registry)
  const measureFleet = declareFleetMetrics(metrics)
  declareBuildInfo(metrics)(VERSION)
  return {
    metrics,
    text: async () => {
      measureFleet(facts(), clock.now())
      const texts = await Promise.all([registry.metrics(), ...threads().map((thread) => thread.metrics())])
      return texts.map((text) => (text === '' || text.endsWith('\n') ? text : `${text}\n`)).join('')
    },
  }
}
