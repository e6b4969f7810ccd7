import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../../client/client.ts'
import { ApiError } from '../../core/errors.ts'
import { silentLogger } from '../../core/log.ts'
import { maintenanceData } from '../../plan/fleet/hub-maintenance.ts'
import type { Maintenance } from '../../plan/fleet/hub-maintenance.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { openMaintenanceWatch } from './maintenance-watch.ts'

const UPGRADE: Maintenance = { since: '2026-11-19T03:00:00Z', reason: 'upgrade' }

async function watched(first: Maintenance | undefined | 'None') {
  const clock = createVirtualClock()
  const api = { says: first as Maintenance | undefined | 'None' | 'Down' }
  const client = {
    get: async () => {
      if (api.says === 'Down') throw new Error('connect ECONNREFUSED')
      if (api.says === 'None') throw new ApiError('NotFound', 'not found')
      return { data: maintenanceData(api.says) }
    },
  } as unknown as Pick<Client, 'get'>
  const stop = new AbortController()
  const watch = await openMaintenanceWatch({ client, clock, log: silentLogger }, stop.signal)
  const followed: (string | undefined)[] = []
  let hold: Promise<void> | undefined
  const running = watch.run(async (maintenance) => {
    followed.push(maintenance?.since)
    await hold
  }, stop.signal)
  await clock.settle()
  return {
    clock,
    api,
    watch,
    followed,
    slow: (until: Promise<void>) => void (hold = until),
    end: async () => {
      stop.abort()
      await running
    },
  }
}

test('a hub that starts in a maintenance carries it out at once', async () => {
  const { watch, followed, end } = await watched(UPGRADE)
  assert.deepEqual(watch.current(), UPGRADE)
  assert.deepEqual(followed, [UPGRADE.since])
  assert.equal(watch.confirmed(), UPGRADE.since)
  await end()
})

test('a maintenance is confirmed when it is carried out, not before', async () => {
  const { clock, api, watch, slow, end } = await watched('None')
  assert.equal(watch.current(), undefined)
  let confirmations = 0
  watch.onConfirm(() => (confirmations += 1))
  const stopped = Promise.withResolvers<void>()
  slow(stopped.promise)
  api.says = UPGRADE
  await clock.advance(4_000)
  assert.deepEqual(watch.current(), UPGRADE)
  assert.equal(watch.confirmed(), undefined)
  assert.equal(confirmations, 0)
  stopped.resolve()
  await clock.settle()
  assert.equal(watch.confirmed(), UPGRADE.since)
  assert.equal(confirmations, 1)
  api.says = undefined
  await clock.advance(4_000)
  assert.equal(watch.confirmed(), undefined)
  assert.equal(confirmations, 2)
  await end()
})

test('nothing changes while the API does not answer', async () => {
  const { clock, api, watch, followed, end } = await watched(UPGRADE)
  api.says = 'Down'
  await clock.advance(60_000)
  assert.deepEqual(watch.current(), UPGRADE)
  api.says = 'None'
  await clock.advance(4_000)
  assert.equal(watch.current(), undefined)
  assert.deepEqual(followed, [UPGRADE.since, undefined])
  await end()
})
