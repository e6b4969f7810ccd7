import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withResult } from './kustomization-history.ts'
import type { KustomizationSnapshot } from './kustomization-history.ts'

const GOOD = 'ReconciliationSucceeded'
const BAD = 'HealthCheckFailed'

/** The entries as `digest status revision times first-last`. */
function told(results: readonly (readonly [digest: string, status: string, revision: string])[]): string[] {
  let history: KustomizationSnapshot[] = []
  for (const [at, [digest, status, revision]] of results.entries())
    history = withResult(history, { digest, status, revision, now: `t${at}`, duration: '1s' })
  return history.map(
    (one) =>
      `${one.digest} ${one.lastReconciledStatus} ${one.metadata.revision} ${one.totalReconciliations} ${one.firstReconciled}-${one.lastReconciled}`,
  )
}

test('a result is an entry, the newest first', () => {
  assert.deepEqual(
    told([
      ['a', GOOD, 'r1'],
      ['b', GOOD, 'r2'],
    ]),
    [`b ${GOOD} r2 1 t1-t1`, `a ${GOOD} r1 1 t0-t0`],
  )
})

test('a pass that finds the same result changes nothing; another revision of the same content counts', () => {
  assert.deepEqual(
    told([
      ['a', GOOD, 'r1'],
      ['a', GOOD, 'r1'],
      ['a', GOOD, 'r2'],
    ]),
    [`a ${GOOD} r2 2 t0-t2`],
  )
})

test('content that fails and recovers has an entry for each result, and the last one is in front', () => {
  assert.deepEqual(
    told([
      ['a', GOOD, 'r1'],
      ['a', BAD, 'r1'],
      ['a', GOOD, 'r1'],
    ]),
    [`a ${GOOD} r1 2 t0-t2`, `a ${BAD} r1 1 t1-t1`],
  )
})

test('five entries are kept', () => {
  const results = Array.from({ length: 7 }, (_, at) => [`d${at}`, GOOD, `r${at}`] as const)
  assert.deepEqual(
    told(results).map((line) => line.split(' ')[0]),
    ['d6', 'd5', 'd4', 'd3', 'd2'],
  )
})
