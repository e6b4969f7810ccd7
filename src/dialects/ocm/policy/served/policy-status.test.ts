import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dutiesCondition } from './policy-status.ts'

const complied = (clustername: string) => ({
  clustername,
  binding: 'b',
  since: '2026-01-01T00:00:00Z',
  deadline: '2026-01-02T00:00:00Z',
  compliedAt: '2026-01-01T12:00:00Z',
})
const met = (...names: string[]) => dutiesCondition(names.map(complied), Date.parse('2026-01-03T00:00:00Z'))

test('duties that are met name the number of clusters, and a single cluster in the singular', () => {
  assert.deepEqual(met('a'), { reason: 'Met', message: 'The cluster complies.' })
  assert.deepEqual(met('a', 'b'), { reason: 'Met', message: 'All 2 clusters comply.' })
})
