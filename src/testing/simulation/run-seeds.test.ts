import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crashPlans } from '../../sim/kernel/crash-plan.ts'
import { crashPlanFromEnvironment } from './crash-points.ts'
import { seedsToRun } from './run-seeds.ts'

test('the seeds to run are the first ones, as many as are asked for, those of a range, or one', () => {
  assert.deepEqual(seedsToRun(3, {}), ['1', '2', '3'])
  assert.deepEqual(seedsToRun(3, { FLOTILLA_SEEDS: '2' }), ['1', '2'])
  assert.deepEqual(seedsToRun(3, { FLOTILLA_SEEDS: '101-103' }), ['101', '102', '103'])
  assert.deepEqual(seedsToRun(3, { FLOTILLA_SEEDS: '5', FLOTILLA_SEED: 'dusk' }), ['dusk'])
  assert.throws(() => seedsToRun(3, { FLOTILLA_SEEDS: 'many' }), /is a number of seeds, or the first and the last/)
})

test('one crash may be asked for by its step, or the last one', () => {
  const plans = crashPlans(3)
  assert.equal(crashPlanFromEnvironment(plans, {}), undefined)
  assert.deepEqual(crashPlanFromEnvironment(plans, { FLOTILLA_CRASH: 'after-2' }), [{ step: 2, when: 'after' }])
  assert.deepEqual(crashPlanFromEnvironment(plans, { FLOTILLA_CRASH: 'before-last' }), [{ step: 3, when: 'before' }])
  assert.throws(() => crashPlanFromEnvironment(plans, { FLOTILLA_CRASH: 'after-4' }), /with a step of the scenario/)
  assert.throws(() => crashPlanFromEnvironment(plans, { FLOTILLA_CRASH: 'soon' }), /write before-N or after-N/)
})
