import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { divideSeats, tieOrder } from './seats.ts'
import type { TieOrder } from './seats.ts'

const WEIGHTS = { a: 100_000, b: 80_000, c: 30_000, d: 20_000 }
const seatsOf = (seats: number, weights: Record<string, number>, ties?: TieOrder) =>
  Object.fromEntries(divideSeats({ seats, weights: new Map(Object.entries(weights)), ...(ties && { ties }) }))

test('seats go to the highest quotients, as the method of Webster has it', () => {
  assert.deepEqual(seatsOf(1, WEIGHTS), { a: 1, b: 0, c: 0, d: 0 })
  assert.deepEqual(seatsOf(4, WEIGHTS), { a: 2, b: 1, c: 1, d: 0 })
  assert.deepEqual(seatsOf(8, WEIGHTS), { a: 3, b: 3, c: 1, d: 1 })
  assert.deepEqual(seatsOf(2, { a: 2, b: 1 }), { a: 1, b: 1 })
})

test('ties go to the name that comes first, or last, by the uid of the object', () => {
  assert.deepEqual(seatsOf(1, { a: 1, b: 1 }), { a: 1, b: 0 })
  assert.deepEqual(seatsOf(1, { a: 1, b: 1 }, 'descending'), { a: 0, b: 1 })
  assert.equal(tieOrder(''), 'ascending')
  const orders = new Set(Array.from({ length: 20 }, (_, i) => tieOrder(`uid-${i}`)))
  assert.deepEqual([...orders].sort(), ['ascending', 'descending'])
})

test('without a weight there is nothing to divide', () => {
  assert.deepEqual(seatsOf(3, {}), {})
  assert.deepEqual(seatsOf(3, { a: 0 }), {})
  const initial = new Map([['a', 2]])
  assert.deepEqual([...divideSeats({ seats: 3, weights: new Map([['a', 0]]), initial })], [['a', 2]])
})

test('replicas that clusters have already count', () => {
  const initial = new Map([['a', 3]])
  const divided = divideSeats({
    seats: 3,
    weights: new Map([
      ['a', 1],
      ['b', 1],
    ]),
    initial,
  })
  assert.deepEqual(
    [...divided],
    [
      ['a', 3],
      ['b', 3],
    ],
  )
})

const weights = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), fc.nat(1000), { minKeys: 1 })

/** One seat after another, without the short cut. */
function oneByOne(seats: number, given: Record<string, number>): Record<string, number> {
  let own: ReadonlyMap<string, number> = new Map(Object.keys(given).map((name) => [name, 0]))
  for (let i = 0; i < seats; i++) {
    own = divideSeats({ seats: 1, weights: new Map(Object.entries(given)), initial: own })
  }
  return Object.fromEntries(own)
}

test('property: the division of many replicas is the one of one replica after another', () => {
  fc.assert(
    fc.property(weights, fc.nat(60), (given, seats) => {
      if (Object.values(given).every((weight) => weight === 0)) return
      assert.deepEqual(seatsOf(seats, given), oneByOne(seats, given))
    }),
  )
})

test('property: all replicas are divided, and one more takes none away', () => {
  fc.assert(
    fc.property(weights, fc.nat(500), (given, seats) => {
      if (Object.values(given).every((weight) => weight === 0)) return
      const before = seatsOf(seats, given)
      const after = seatsOf(seats + 1, given)
      assert.equal(
        Object.values(before).reduce((sum, count) => sum + count, 0),
        seats,
      )
      for (const [name, count] of Object.entries(before)) assert.ok(after[name]! >= count)
    }),
  )
})
