/** Many bad days: whatever meets, what a fleet promises holds, and it comes to rest when the faults stop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crashDays, stormCrashes } from '../../testing/storm/crashes.ts'
import { smallDay, stormSeeds } from '../../testing/storm/storm.ts'

test('rollouts through bad days (I-04, I-06, I-08, I-11, I-12, I-14, I-15, I-23)', () => stormSeeds(3))

test('rollouts through small bad days, one to three faults each', () => stormSeeds(10, { size: smallDay }))

test('a bad day in which processes die around some of their durable steps', async () => {
  const { crashed } = await stormCrashes(crashDays('dawn', [7, 27]))
  assert.ok(crashed.size >= 10, [...crashed].join(', '))
})
