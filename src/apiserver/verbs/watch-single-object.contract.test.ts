import assert from 'node:assert/strict'
import { it } from 'node:test'
import { fromUtf8, generateKeyPair } from '../../core/bytes.ts'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { createApi } from '../../testing/api-contract/harness.ts'
import { createApiServer } from '../server/api-server.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'

it('a watch of one object reads that object alone, then its changes', { timeout: 300_000 }, async (t) => {
  const store = createMemoryStore()
  const listed: string[] = []
  const counting = {
    ...store,
    list(range: Parameters<typeof store.list>[0]) {
      listed.push(range.prefix)
      return store.list(range)
    },
  }
  const server = createApiServer({
    store: counting,
    kinds: BUILTIN_KINDS,
    clock: systemClock,
    ids: systemIds,
    log: silentLogger,
    tokenKeys: [generateKeyPair('ed25519').privateKey],
  })
  const caller = { user: 'admin', groups: ['system:masters'] }
  const ended = new AbortController()
  t.after(async () => {
    ended.abort()
    await server.close()
    await store.close()
  })
  const api = createApi((request, signal) => server.handle(request, caller, signal), 'default')
  const put = (name: string, text: string, verb: 'POST' | 'PUT') =>
    api.ok(verb, verb === 'POST' ? MAPS : `${MAPS}/${name}`, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { text },
    })
  await put('one', 'a', 'POST')
  await put('one-more', 'a', 'POST')
  listed.length = 0
  const path = `${MAPS}?watch=true&fieldSelector=metadata.name%3Done`
  const { body } = await server.handle({ method: 'GET', path, headers: {} }, caller, ended.signal)
  const chunks = body[Symbol.asyncIterator]()
  const next = async () => {
    const chunk = await chunks.next()
    return fromUtf8(chunk.value as Uint8Array)
      .trimEnd()
      .split('\n')
      .map(
        (line) =>
          JSON.parse(line) as {
            type: string
            object: { metadata: { name: string }; data: object }
          },
      )
      .map(({ type, object }) => [type, object.metadata.name, object.data])
  }
  assert.deepEqual(await next(), [['ADDED', 'one', { text: 'a' }]])
  assert.deepEqual(
    listed.filter((prefix) => prefix.includes('configmaps')),
    [],
  )
  const changed = next()
  await put('one-more', 'b', 'PUT')
  await put('one', 'b', 'PUT')
  assert.deepEqual(await changed, [['MODIFIED', 'one', { text: 'b' }]])
})
