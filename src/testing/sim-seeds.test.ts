import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seedsToRun } from './sim-seeds.ts'

test('the seeds to run are the first ones, as many as are asked for, those of a range, or one', () => {
  assert.deepEqual(seedsToRun(3, {}), ['1', '2', '3'])
  assert.deepEqual(seedsToRun(3, { FLOTILLA_SEEDS: '2' }), ['1', '2'])
  assert.deepEqual(seedsToRun(3, { FLOTILLA_SEEDS: '101-103' }), ['101', '102', '103'])
  assert.deepEqual(seedsToRun(3, { FLOTILLA_SEEDS: '5', FLOTILLA_SEED: 'dusk' }), ['dusk'])
  assert.throws(() => seedsToRun(3, { FLOTILLA_SEEDS: 'many' }), /is a number of seeds, or the first and the last/)
})
