import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Registry } from '@prometheus-io/client'
import { declareEngineMetrics } from './metrics.ts'
import { prometheusMetrics } from './prometheus.ts'

it('serves the engine’s metrics under controller-runtime’s names', async () => {
  const registry = new Registry()
  const metrics = prometheusMetrics(registry)
  const engine = declareEngineMetrics(metrics)
  declareEngineMetrics(metrics) // a second controller of the same process
  engine.queue.depth({ name: 'render' }, 3)
  engine.queue.adds({ name: 'render' }, 1)
  engine.controller.total({ controller: 'render', result: 'success' }, 2)
  engine.controller.errors({ controller: 'render' }, 1)
  engine.controller.seconds({ controller: 'render' }, 0.03)
  engine.leader({ name: 'hub' }, 1)
  const text = await registry.metrics()
  for (const line of [
    'workqueue_depth{name="render"} 3',
    'workqueue_adds_total{name="render"} 1',
    'controller_runtime_reconcile_total{controller="render",result="success"} 2',
    'controller_runtime_reconcile_errors_total{controller="render"} 1',
    'controller_runtime_reconcile_time_seconds_bucket{le="0.05",controller="render"} 1',
    'leader_election_master_status{name="hub"} 1',
  ]) {
    assert.ok(text.includes(line), `${line}\nis not in\n${text}`)
  }
})
