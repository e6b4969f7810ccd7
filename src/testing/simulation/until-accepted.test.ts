import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../core/errors.ts'
import { ConnectionError } from '../../sim/kernel/links.ts'
import { createWorld } from '../../sim/kernel/world.ts'
import { retryUntilAccepted } from './until-accepted.ts'

test('what is lost or comes at a bad moment is done again; a mistake of the scenario is told at once', async () => {
  const world = createWorld({ seed: 'person' })
  world.start('a process that wakes up every second', async ({ clock }) => {
    for (;;) await clock.sleep(1_000)
  })
  const lost = [
    new ConnectionError('ETIMEDOUT', 'timed out'),
    new Error('GET /apis: no answer within 30 s'),
    new ApiError('Conflict', 'changed meanwhile'),
  ]
  await retryUntilAccepted(world, 'the third try', async () => {
    const next = lost.shift()
    if (next) throw next
  })
  assert.equal(lost.length, 0)
  for (const mistake of [new TypeError('x is not a function'), new ApiError('Invalid', 'spec.rings: Required value')])
    await assert.rejects(
      retryUntilAccepted(world, 'never', () => Promise.reject(mistake)),
      mistake,
    )
  await world.end()
})
