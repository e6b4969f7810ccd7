import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../../client/client.ts'
import { silentLogger } from '../../core/log.ts'
import { systemIds } from '../../core/system-ids.ts'
import { formatTime } from '../../core/time/time.ts'
import { isObject } from '../../core/json.ts'
import { parseHubHealth } from '../../plan/fleet/hub-health.ts'
import type { PartHealth } from '../../plan/fleet/hub-health.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { publishHealth } from './publish-health.ts'
import { createStorageWatch } from './storage-health.ts'

const DAY_MS = 86_400_000

test('a CA is published with its end, and from 90 days before it there is one Event', async () => {
  const clock = createVirtualClock()
  const written: unknown[] = []
  const events: unknown[] = []
  const keep = async (kind: { readonly kind: string }, object: { readonly metadata: object }): Promise<unknown> => {
    if (kind.kind === 'Event') events.push(object)
    else written.push(object)
    return { ...object, metadata: { uid: 'u', ...object.metadata } }
  }
  const client = { apply: keep, create: keep } as unknown as Client
  const notAfter = formatTime(clock.now() + 91 * DAY_MS)
  const stop = new AbortController()
  const supervisor = { health: () => [], onChange: () => {} }
  const running = publishHealth(
    {
      clock,
      ids: systemIds,
      log: silentLogger,
      client,
      name: 'a',
      supervisor,
      authorities: () => [{ name: 'transport', notAfter }],
      storage: createStorageWatch({ clock, log: silentLogger }, async () => ({ freeBytes: 1 })),
    },
    stop.signal,
  )
  const messages = (): unknown[] => events.map((event) => (isObject(event) ? event['message'] : undefined))
  await clock.advance(5_000)
  const [first] = written
  const data = isObject(first) && isObject(first['data']) ? first['data'] : {}
  assert.deepEqual(parseHubHealth(String(data['a']))?.authorities, [{ name: 'transport', notAfter }])
  assert.deepEqual(messages(), [])
  await clock.advance(2 * DAY_MS)
  assert.equal(messages().length, 1, 'one Event, although the health is published every hour')
  assert.match(
    String(messages()[0]),
    /^Hub "a": the transport CA expires in \d+d.*; replace it with "flotilla trust rotate ca"\.$/,
  )
  stop.abort()
  await running
})

test('a hub that shares its API says every minute that it runs, removes its entry at its end, and those of lost hubs', async () => {
  const clock = createVirtualClock()
  const data = new Map<string, string>()
  const writes: string[] = []
  const lost = { startedAt: formatTime(clock.now()), parts: [], at: formatTime(clock.now() - 2 * DAY_MS) }
  const silent = { ...lost, at: formatTime(clock.now() - DAY_MS / 2) }
  data.set('lost', JSON.stringify(lost))
  data.set('silent', JSON.stringify(silent))
  data.set('embedded', JSON.stringify({ ...lost, at: undefined }))
  const all = () => ({ metadata: { name: 'x' }, data: Object.fromEntries(data) })
  const client = {
    apply: async (_kind: unknown, object: { data: Record<string, string> }) => {
      writes.push('apply')
      data.delete('a')
      for (const [name, text] of Object.entries(object.data)) data.set(name, text)
      return all()
    },
    patch: async (_kind: unknown, _key: unknown, patch: { body: { data: Record<string, null> } }) => {
      writes.push('patch')
      for (const name of Object.keys(patch.body.data)) data.delete(name)
      return all()
    },
  } as unknown as Client
  const stop = new AbortController()
  const supervisor = { health: () => [], onChange: () => {} }
  const storage = createStorageWatch({ clock, log: silentLogger }, async () => ({ freeBytes: 1 }))
  const ports = { clock, ids: systemIds, log: silentLogger, client }
  const options = { ...ports, name: 'a', supervisor, storage, authorities: () => [] }
  const running = publishHealth({ ...options, isShared: true }, stop.signal)
  await clock.advance(1_000)
  assert.deepEqual([...data.keys()].toSorted(), ['a', 'embedded', 'silent'])
  const first = parseHubHealth(data.get('a')!)?.at
  await clock.advance(180_000)
  assert.notEqual(parseHubHealth(data.get('a')!)?.at, first)
  assert.deepEqual(writes, ['apply', 'patch', 'apply', 'apply'])
  stop.abort()
  await clock.settle()
  await running
  assert.equal(data.has('a'), false)
})

test('each restart has its Event, also when the next one follows within seconds or the API refused the Event', async () => {
  const clock = createVirtualClock()
  const messages: unknown[] = []
  let refused = 0
  const client = {
    apply: async (_kind: unknown, object: { metadata: object }) => ({
      ...object,
      metadata: { uid: 'u', ...object.metadata },
    }),
    create: async (_kind: unknown, event: { message: string }) => {
      if (event.message.includes('restarts since the start of the hub: 2') && refused++ === 0) {
        throw new Error('connect ECONNREFUSED')
      }
      messages.push(event.message)
      return event
    },
  } as unknown as Client
  const at = formatTime(clock.now())
  let parts: PartHealth[] = []
  let changed = (): void => {}
  const supervisor = { health: () => parts, onChange: (call: () => void) => void (changed = call) }
  const ended = (restarts: number): void => {
    parts = [{ name: 'api', state: 'Running', restarts, last: { cause: 'exit', message: `end ${restarts}`, at } }]
    changed()
  }
  const stop = new AbortController()
  const storage = createStorageWatch({ clock, log: silentLogger }, async () => ({ freeBytes: 1 }))
  const ports = { clock, ids: systemIds, log: silentLogger, client }
  const running = publishHealth({ ...ports, name: 'a', supervisor, storage, authorities: () => [] }, stop.signal)
  ended(1)
  await clock.advance(2_000)
  ended(2)
  await clock.advance(120_000)
  const told = (restarts: number): string =>
    `Hub "a": the api thread was started again (restarts since the start of the hub: ${restarts}). Cause: end ${restarts}.`
  assert.deepEqual(messages, [told(1), told(2)])
  assert.equal(refused, 2, 'the refused Event and the one that was written')
  stop.abort()
  await running
})
