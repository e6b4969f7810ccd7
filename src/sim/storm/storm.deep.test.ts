/** Very many bad days, and some of them with a kill before and after every durable step. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allCrashDays, stormCrashes } from '../../testing/storm/crashes.ts'
import { smallDay, stormSeeds } from '../../testing/storm/storm.ts'

test('rollouts through very many bad days', () => stormSeeds(200))

test('rollouts through thousands of small bad days', () => stormSeeds(2000, { size: smallDay }))

test('bad days in which processes die before and after every durable step', async () => {
  const { taken, crashed } = await stormCrashes(['dawn', 'noon'].flatMap(allCrashDays))
  const untried = [...taken].filter((step) => !crashed.has(step))
  assert.ok(
    untried.length < taken.size / 20,
    `of ${taken.size} kinds of steps, no process crashed around ${untried.join(', ')}`,
  )
})
