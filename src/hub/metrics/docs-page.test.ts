import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { declaredMetrics, withMetricsTable } from './docs-page.ts'

test('docs/metrics.md lists every metric as it is declared', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/metrics.md'), 'utf8')
  assert.equal(withMetricsTable(page), page, 'run `npm run docs`')
  assert.throws(() => withMetricsTable('# Metrics\n'), /has no place for its table/)
})

test('every metric has a help sentence and a name of ours or of controller-runtime', () => {
  const declared = declaredMetrics()
  assert.ok(declared.length > 25, `only ${declared.length}`)
  for (const { name, help } of declared) {
    assert.match(name, /^(flotilla|workqueue|controller_runtime|leader_election)_[a-z_]+$/)
    assert.ok(help.length > 10, name)
  }
})
