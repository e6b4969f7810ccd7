import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BUNDLE_STATES } from '../../../kinds/fields/states.ts'
import { addSummaries, fleetState, summaryOf, summaryText, worstOf } from './states.ts'

test('every state has its word, and what decides between two', () => {
  const words = BUNDLE_STATES.map((state) => [
    fleetState(state),
    fleetState(state, { generation: 1, target: 2 }),
    fleetState(state, { generation: 2, target: 2, lastKnown: 'Drifted' }),
    fleetState(state, { generation: 1, target: 2, waitsFor: 'ring', lastKnown: 'Ready' }),
  ])
  assert.deepEqual(words, [
    ['Ready', 'Ready', 'Ready', 'OutOfSync'],
    ['WaitApplied', 'WaitApplied', 'NotReady', 'WaitApplied'],
    ['Pending', 'OutOfSync', 'OutOfSync', 'OutOfSync'],
    ['WaitApplied', 'WaitApplied', 'Modified', 'OutOfSync'],
    ['Modified', 'Modified', 'Modified', 'OutOfSync'],
    ['ErrApplied', 'ErrApplied', 'ErrApplied', 'ErrApplied'],
    [undefined, undefined, undefined, undefined],
  ])
})

test('summaries add up, the worst state names the whole, nothing is hidden', () => {
  const one = summaryOf({ total: 6, ready: 1, progressing: 2, pending: 1, failed: 1, offline: 1 })
  assert.deepEqual(one, { desiredReady: 6, ready: 1, notReady: 2, pending: 1, errApplied: 1, waitApplied: 1 })
  const two = summaryOf({ total: 2, ready: 2, progressing: 0, pending: 0, failed: 0, offline: 0 })
  assert.deepEqual(two, { desiredReady: 2, ready: 2 })
  assert.deepEqual([worstOf(one), worstOf(two)], ['ErrApplied', 'Ready'])
  assert.equal(summaryText(addSummaries([one, two])), 'ErrApplied(1); NotReady(2); Pending(1); WaitApplied(1)')
  const drifted = summaryOf({
    total: 2,
    ready: 2,
    progressing: 0,
    pending: 0,
    failed: 0,
    offline: 0,
    states: { Drifted: 1, Ready: 1 },
  })
  assert.deepEqual(drifted, { desiredReady: 2, ready: 1, modified: 1 })
  assert.deepEqual(summaryOf(undefined), { desiredReady: 0, ready: 0 })
})
