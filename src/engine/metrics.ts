/** The engine's metrics, under controller-runtime's names, so that existing dashboards and alerts work. */
import type { Metrics, Observe } from '../core/metrics.ts'

/** How a reconcile ended, in controller-runtime's words. */
export type ReconcileResult = 'success' | 'requeue' | 'requeue_after' | 'error'

/** Metrics of work queues; label `name` is the controller's. */
export interface QueueMetrics {
  readonly depth: Observe
  readonly adds: Observe
  readonly retries: Observe
  readonly queueSeconds: Observe
  readonly workSeconds: Observe
}

/** Metrics of controllers; label `controller`, and `result` where it says so. */
export interface ControllerMetrics {
  readonly total: Observe
  readonly errors: Observe
  readonly seconds: Observe
  readonly active: Observe
  readonly workers: Observe
}

/** All metrics of the engine. */
export interface EngineMetrics {
  readonly queue: QueueMetrics
  readonly controller: ControllerMetrics
  readonly leader: Observe
  readonly eventsDropped: Observe
}

const QUEUE_BUCKETS = [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000]
const RECONCILE_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Declares the engine's metrics. */
export function declareEngineMetrics(metrics: Metrics): EngineMetrics {
  const name = ['name']
  const controller = ['controller']
  return {
    queue: {
      depth: metrics.gauge({ name: 'workqueue_depth', help: 'Current depth of workqueue', labels: name }),
      adds: metrics.counter({
        name: 'workqueue_adds_total',
        help: 'Total number of adds handled by workqueue',
        labels: name,
      }),
      retries: metrics.counter({
        name: 'workqueue_retries_total',
        help: 'Total number of retries handled by workqueue',
        labels: name,
      }),
      queueSeconds: metrics.histogram({
        name: 'workqueue_queue_duration_seconds',
        help: 'How long in seconds an item stays in workqueue before being requested',
        labels: name,
        buckets: QUEUE_BUCKETS,
      }),
      workSeconds: metrics.histogram({
        name: 'workqueue_work_duration_seconds',
        help: 'How long in seconds processing an item from workqueue takes',
        labels: name,
        buckets: QUEUE_BUCKETS,
      }),
    },
    controller: {
      total: metrics.counter({
        name: 'controller_runtime_reconcile_total',
        help: 'Total number of reconciliations per controller',
        labels: ['controller', 'result'],
      }),
      errors: metrics.counter({
        name: 'controller_runtime_reconcile_errors_total',
        help: 'Total number of reconciliation errors per controller',
        labels: controller,
      }),
      seconds: metrics.histogram({
        name: 'controller_runtime_reconcile_time_seconds',
        help: 'Length of time per reconciliation per controller',
        labels: controller,
        buckets: RECONCILE_BUCKETS,
      }),
      active: metrics.gauge({
        name: 'controller_runtime_active_workers',
        help: 'Number of currently used workers per controller',
        labels: controller,
      }),
      workers: metrics.gauge({
        name: 'controller_runtime_max_concurrent_reconciles',
        help: 'Maximum number of concurrent reconciles per controller',
        labels: controller,
      }),
    },
    eventsDropped: metrics.counter({
      name: 'flotilla_events_dropped_total',
      help: 'Events that were not written because there were too many.',
    }),
    leader: metrics.gauge({
      name: 'leader_election_master_status',
      help: 'Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master',
      labels: name,
    }),
  }
}
