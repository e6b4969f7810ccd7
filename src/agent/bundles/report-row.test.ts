import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { canonicalJson } from '../../core/json.ts'
import type { Health } from '../../plan/health/object-health.ts'
import type { ReportRow } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import type { BundleRun } from './bundle-run.ts'
import { appliedOf, boundObjects, detailsOf } from './report-row.ts'

const row = { bundle: 'default/a', generation: 1, set: digestOf('s'), state: 'Failed' as const }

/** A run with objects o0, o1, …, of which some were observed. */
function run(count: number, healths: Readonly<Record<number, Health>>, drifted: readonly number[] = []): BundleRun {
  const key = (index: number) => `o${index}`
  const objects = Array.from({ length: count }, (_, index) => ({
    key: key(index),
    apiVersion: 'v1',
    kind: 'ConfigMap',
    namespace: 'x',
    name: key(index),
  }))
  return {
    set: row.set,
    entry: { set: row.set },
    plan: { objects },
    healths: new Map(Object.entries(healths).map(([index, health]) => [key(Number(index)), health])),
    drifts: new Map(drifted.map((index) => [key(index), { message: 'changed', fields: [], since: '', version: '1' }])),
    judged: new Map(),
    corrected: new Map(),
  } as unknown as BundleRun
}

test('objects that are not Ready are named, the worst first, and all are counted', () => {
  const ready = { state: 'Ready', message: '' } as unknown as Health
  const failed = { state: 'Failed', message: 'no image' } as Health
  const { objects, objectCounts } = detailsOf(run(4, { 0: ready, 2: failed, 3: ready }, [3]))
  assert.deepEqual(objects, [
    { object: 'ConfigMap x/o2', state: 'Failed', message: 'no image' },
    { object: 'ConfigMap x/o3', state: 'Drifted', message: 'changed' },
    { object: 'ConfigMap x/o1', state: 'Pending' },
  ])
  assert.deepEqual(objectCounts, { Ready: 1, Pending: 1, Failed: 1, Drifted: 1 })
  assert.deepEqual(detailsOf(run(2, { 0: ready, 1: ready })), { objectCounts: { Ready: 2 } })
  assert.deepEqual(detailsOf(run(2, {})), { objectCounts: { Pending: 2 } }, 'one number says it')
})

test('a report has at most 200 objects and 64 KiB of them; counts stay whole', () => {
  const rows = (each: number, message: string): ReportRow[] =>
    ['default/a', 'default/b'].map((bundle) => ({
      ...row,
      bundle,
      objects: Array.from({ length: each }, (_, index) => ({
        object: `ConfigMap x/${index}`,
        state: 'Failed',
        message,
      })),
      objectCounts: { Failed: each },
    }))
  const named = (bound: readonly ReportRow[]) => bound.map(({ objects }) => objects?.length ?? 0)
  assert.deepEqual(named(boundObjects(rows(150, 'x'))), [150, 50])
  const large = boundObjects(rows(100, 'x'.repeat(1000)))
  const bytes = utf8(canonicalJson(large.flatMap(({ objects = [] }) => objects))).byteLength
  assert.ok(bytes <= LIMITS.reportObjectBytes + 2 && bytes > LIMITS.reportObjectBytes - 2000, `${bytes} bytes`)
  assert.deepEqual(
    large.map(({ objectCounts }) => objectCounts),
    [{ Failed: 100 }, { Failed: 100 }],
  )
})

test('a row that is under way or failed says whether its whole set was applied', () => {
  const of = (inventory: object | undefined, state: ReportRow['state'] = 'Failed') =>
    appliedOf({ inventory, entry: { set: row.set } } as unknown as BundleRun, { state })
  assert.deepEqual(of({ set: row.set, phase: 'Applying' }), { applied: false })
  assert.deepEqual(of({ set: row.set, phase: 'Applied' }, 'Progressing'), { applied: true })
  assert.deepEqual(of({ set: row.set, phase: 'Settled' }), { applied: true })
  // Rolled back to the set before it.
  assert.deepEqual(of({ set: digestOf('before'), phase: 'Settled' }), { applied: false })
  // Uninstalled: nothing is applied, and neither is the set before it.
  assert.deepEqual(of({ set: row.set, phase: 'Settled', remedy: { action: 'Uninstall' } }), {})
  assert.deepEqual([of(undefined), of({ set: row.set, phase: 'Settled' }, 'Ready')], [{}, {}])
})
