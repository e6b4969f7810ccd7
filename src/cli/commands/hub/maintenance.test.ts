import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Rest } from '../../../client/rest.ts'
import { ApiError } from '../../../core/errors.ts'
import { formatTime } from '../../../core/time/time.ts'
import { createVirtualClock } from '../../../sim/kernel/virtual-clock.ts'
import { CliError } from '../../errors/cli-error.ts'
import { maintenanceOff, maintenanceOn } from './maintenance.ts'

/** An API with two ConfigMaps, and hubs that confirm after so many looks. */
function api(hubs: Readonly<Record<string, number>> | 'Forbidden') {
  const clock = createVirtualClock()
  let written: Record<string, string> = {}
  let looks = 0
  const json = async ({ method, path, body }: { method: string; path: string; body?: unknown }): Promise<unknown> => {
    if (method === 'PATCH') {
      written = (body as { data: Record<string, string> }).data
      return {}
    }
    if (path.includes('flotilla-hub-maintenance')) return { data: written }
    if (hubs === 'Forbidden') throw new ApiError('Forbidden', 'no')
    looks += 1
    const health = (after: number) => ({
      startedAt: formatTime(clock.now()),
      parts: [],
      ...(looks > after && written['since'] !== undefined && { maintenance: written['since'] }),
    })
    return {
      data: Object.fromEntries(Object.entries(hubs).map(([name, after]) => [name, JSON.stringify(health(after))])),
    }
  }
  const out: string[] = []
  const run = async (command: typeof maintenanceOn, flags: Record<string, unknown> = {}) => {
    const rest = { json } as unknown as Rest
    const terminal = { data: (text: string) => void out.push(text) }
    const running = command({ connection: { rest }, terminal, signal: new AbortController().signal, flags, clock })
    const ended = running.then(
      () => undefined,
      (caught: unknown) => caught,
    )
    await clock.advance(60_000)
    const caught = await ended
    return caught instanceof CliError ? { code: caught.exitCode, what: caught.report.what } : caught
  }
  return { run, out, written: () => written }
}

test('a maintenance is done when all hubs have confirmed it', async () => {
  const { run, out, written } = api({ a: 0, b: 3 })
  assert.equal(await run(maintenanceOn, { reason: 'upgrade' }), undefined)
  assert.equal(written()['state'], 'On')
  const { since } = written()
  assert.equal(await run(maintenanceOn, { reason: 'a longer upgrade' }), undefined)
  assert.equal(written()['since'], since, 'another reason is no other maintenance')
  assert.equal(await run(maintenanceOff), undefined)
  assert.deepEqual(written(), { state: 'Off' })
  assert.deepEqual(out, [
    'maintenance on; confirmed by a, b: nothing is decided\n',
    'maintenance on; confirmed by a, b: nothing is decided\n',
    'maintenance off; confirmed by a, b: the hub works again\n',
  ])
})

test('a hub that does not confirm is named, and without a hub nothing is confirmed', async () => {
  const late = await api({ a: 0, b: 1000 }).run(maintenanceOn, { reason: 'upgrade', timeout: '5s' })
  assert.deepEqual(late, { code: 8, what: 'maintenance is on, but not confirmed by b within 5 s' })
  const none = await api({}).run(maintenanceOn, { reason: 'upgrade' })
  assert.deepEqual(none, { code: 8, what: 'maintenance is on, but no hub has confirmed it within 30 s' })
  const refused = await api('Forbidden').run(maintenanceOff)
  assert.deepEqual(refused, {
    code: 4,
    what: 'maintenance is off, but you may not read whether the hub has confirmed it',
  })
})
