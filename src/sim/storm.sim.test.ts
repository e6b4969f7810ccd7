/** Many bad days: whatever meets, what a fleet promises holds, and it comes to rest when the faults stop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storm } from '../testing/storm.ts'
import { simulate } from '../testing/sim-seeds.ts'

test('rollouts through bad days (I-04, I-06, I-08, I-11, I-12, I-14, I-15, I-23)', async () => {
  const looks = new Map<string, number>()
  await simulate(
    async (world) => {
      const truth = await storm(world)
      for (const [invariant, count] of truth.looks) looks.set(invariant, (looks.get(invariant) ?? 0) + count)
    },
    { seeds: process.env['FLOTILLA_DEEP'] ? 100 : 3 },
  )
  for (const invariant of ['I-04', 'I-04 rings', 'I-14', 'I-23'])
    assert.ok((looks.get(invariant) ?? 0) > 0, `${invariant} was never put to the test`)
})
