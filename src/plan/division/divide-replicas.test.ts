import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { divideReplicas, sumInt32, toInt32, TooFewReplicas } from './divide-replicas.ts'
import type { ClusterReplicas, DivisionInput, DivisionStrategy } from './divide-replicas.ts'

const candidates = (given: Record<string, number>) =>
  Object.entries(given).map(([name, allocatable]) => ({ name, allocatable }))

function divide(
  strategy: DivisionStrategy,
  given: Record<string, number>,
  input: Partial<DivisionInput> & { readonly replicas: number },
): Record<string, number> {
  const all = { previous: [], fresh: false, uid: '', weightOf: () => 0, ...input }
  const divided = divideReplicas({ strategy, candidates: candidates(given), ...all })
  return Object.fromEntries(divided.map(({ name, replicas }) => [name, replicas]))
}

const previous = (given: Record<string, number>): ClusterReplicas[] =>
  Object.entries(given).map(([name, replicas]) => ({ name, replicas }))

test('Duplicated gives each cluster all replicas', () => {
  assert.deepEqual(divide('Duplicated', { a: 0, b: 9 }, { replicas: 3 }), { a: 3, b: 3 })
})

test('StaticWeight follows weights; clusters without one receive nothing, and all are equal when none has one', () => {
  const weightOf = ({ name }: { readonly name: string }) => ({ a: 2, b: 1 })[name] ?? 0
  assert.deepEqual(divide('StaticWeight', { a: 0, b: 0, c: 0 }, { replicas: 9, weightOf }), { a: 6, b: 3 })
  assert.deepEqual(divide('StaticWeight', { a: 0, b: 0, c: 0 }, { replicas: 3 }), { a: 1, b: 1, c: 1 })
})

test('DynamicWeight follows free capacity', () => {
  assert.deepEqual(divide('DynamicWeight', { a: 6, b: 3 }, { replicas: 6 }), { a: 4, b: 2 })
  assert.throws(() => divide('DynamicWeight', { a: 1, b: 1 }, { replicas: 3 }), TooFewReplicas)
})

test('Aggregated uses as few clusters as suffice, those with replicas first', () => {
  assert.deepEqual(divide('Aggregated', { a: 6, b: 3 }, { replicas: 6 }), { a: 6 })
  assert.deepEqual(divide('Aggregated', { a: 6, b: 3 }, { replicas: 4, previous: previous({ b: 2 }) }), { b: 4 })
})

test('scaling down keeps proportions, scaling up adds to what is there', () => {
  const before = previous({ a: 6, b: 3 })
  assert.deepEqual(divide('DynamicWeight', { a: 0, b: 0 }, { replicas: 3, previous: before }), { a: 2, b: 1 })
  assert.deepEqual(divide('DynamicWeight', { a: 0, b: 3 }, { replicas: 12, previous: before }), { a: 6, b: 6 })
  assert.deepEqual(divide('DynamicWeight', { a: 0, b: 0 }, { replicas: 9, previous: before }), { a: 6, b: 3 })
})

test('a fresh division disregards where replicas run', () => {
  const before = previous({ a: 6 })
  assert.deepEqual(divide('DynamicWeight', { a: 0, b: 6 }, { replicas: 6, previous: before, fresh: true }), {
    a: 3,
    b: 3,
  })
})

test('sums wrap around as 32-bit integers do', () => {
  assert.equal(toInt32(2 ** 31), -(2 ** 31))
  assert.equal(toInt32(2 ** 60), 0)
  assert.equal(sumInt32(previous({ a: 2 ** 31 - 1, b: 1 })), -(2 ** 31))
})

test('property: divided replicas add up, and no cluster loses replicas when the workload grows', () => {
  const capacity = fc.dictionary(fc.constantFrom(...'abcdef'), fc.integer({ min: 0, max: 50 }), { minKeys: 1 })
  const strategy = fc.constantFrom('DynamicWeight' as const, 'Aggregated' as const)
  fc.assert(
    fc.property(
      capacity,
      strategy,
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 40 }),
      (given, how, first, more) => {
        try {
          const before = divide(how, given, { replicas: first })
          const after = divide(how, given, { replicas: first + more, previous: previous(before) })
          assert.equal(
            Object.values(after).reduce((sum, count) => sum + count, 0),
            first + more,
          )
          for (const [name, count] of Object.entries(before)) assert.ok((after[name] ?? 0) >= count)
        } catch (error) {
          if (!(error instanceof TooFewReplicas)) throw error
        }
      },
    ),
  )
})
