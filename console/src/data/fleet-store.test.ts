import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeFleet } from '../../../src/hub/console/fleet-row.ts'
import { rowOf } from '../../../src/testing/hub/console-parts.ts'
import { applyDelta, countRows, fleetOf } from './fleet-store.ts'

const START = fleetOf(encodeFleet([rowOf('b'), rowOf('a', { state: 'Failed' })], { epoch: 'e', revision: 1 }))

test('a change replaces its rows and keeps the others as they are', () => {
  const next = applyDelta(START, { rows: [rowOf('a', { state: 'Ready' })], removed: [] })
  assert.deepEqual(
    next.rows.map(({ name, state }) => `${name} ${state}`),
    ['a Ready', 'b Ready'],
  )
  assert.equal(next.byName.get('b'), START.byName.get('b'), 'the same row')
  assert.equal(START.byName.get('a')?.state, 'Failed', 'the old list is as it was')
})

test('clusters come and go in the order of their names', () => {
  const next = applyDelta(START, { rows: [rowOf('aa')], removed: ['b', 'unknown'] })
  assert.deepEqual(
    next.rows.map(({ name }) => name),
    ['a', 'aa'],
  )
})

test('clusters that left are counted separately', () => {
  const rows = [rowOf('a'), rowOf('b', { state: 'Left', isApart: true }), rowOf('c')]
  const { total, states, apart } = countRows(rows)
  assert.deepEqual([total, [...states], [...apart]], [2, [['Ready', 2]], [['Left', 1]]])
})
