import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MetricLabels, Metrics, MetricSpec } from '../../core/metrics.ts'
import { declareJournals } from './thread-metrics.ts'

test('the journal’s gauges are set, and its counters grow by what is new', () => {
  const seen: string[] = []
  const note = (spec: MetricSpec) => (labels: MetricLabels, value: number) =>
    void seen.push(`${spec.name}{${labels['stream']}} ${value}`)
  const metrics: Metrics = { counter: note, gauge: note, histogram: note }
  const tell = declareJournals(metrics)
  tell([{ stream: 'evidence-0', waiting: 2, lagMs: 1500, written: 5, lost: 1 }])
  assert.deepEqual(seen.splice(0), [
    'flotilla_journal_lag_seconds{evidence-0} 1.5',
    'flotilla_journal_waiting_records{evidence-0} 2',
    'flotilla_journal_records_total{evidence-0} 5',
    'flotilla_journal_lost_records_total{evidence-0} 1',
  ])
  tell([{ stream: 'evidence-0', waiting: 0, lagMs: 0, written: 9, lost: 1 }])
  assert.deepEqual(seen.slice(2), [
    'flotilla_journal_records_total{evidence-0} 4',
    'flotilla_journal_lost_records_total{evidence-0} 0',
  ])
})
