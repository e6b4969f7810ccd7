/** An object does not grow without end, whatever makes it grow. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { generateKeyPair } from '../../core/bytes.ts'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import { BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import { createApi, gadget, Gadget } from '../../testing/api-contract/harness.ts'
import { createApiServer } from '../server/api-server.ts'
import { storeKey, serializeObject } from './stored-object.ts'

const MIB = 1024 * 1024
const FORMS = { merge: 'application/merge-patch+json', json: 'application/json-patch+json' }

it('CVE-2019-1002100: small patches make an object grow to the limit, and not beyond', async (t) => {
  const store = createMemoryStore()
  const server = createApiServer({
    store,
    kinds: [...BUILTIN_KINDS, ...NATIVE_KINDS, Gadget],
    clock: systemClock,
    ids: systemIds,
    log: silentLogger,
    tokenKeys: [generateKeyPair('ed25519').privateKey],
  })
  t.after(async () => {
    await server.close()
    await store.close()
  })
  const caller = { user: 'admin', groups: ['system:masters'] }
  const api = createApi((request, signal) => server.handle(request, caller, signal), 'default')
  const path = '/apis/contract.flotilla.dev/v1/namespaces/default/gadgets'
  const large = 'x'.repeat(2 * MIB)
  const patch = (name: string, form: keyof typeof FORMS, body: unknown) =>
    api.send('PATCH', `${path}/${name}`, { body, contentType: FORMS[form] })
  await api.ok('POST', path, gadget('a', { size: 1, settings: { k0: large } }))

  // 60 bytes bring two million characters each time.
  const copy = (n: number) =>
    patch('a', 'json', [{ op: 'copy', from: '/spec/settings/k0', path: `/spec/settings/k${n}` }])
  assert.equal((await copy(1)).status, 200)
  const refused = await copy(2)
  assert.deepEqual([refused.status, refused.body.reason], [413, 'RequestEntityTooLarge'])
  assert.equal(refused.body.message, `The object would be too large: limit is ${6 * MIB}`)
  const merged = await patch('a', 'merge', { spec: { settings: { k3: large } } })
  assert.deepEqual([merged.status, merged.body.reason], [413, 'RequestEntityTooLarge'])
  const { spec } = await api.ok('GET', `${path}/a`)
  assert.deepEqual(Object.keys(spec.settings as object), ['k0', 'k1'], 'what was refused left nothing')

  // An object of a time without the limit.
  const old = {
    ...gadget('old', { size: 1, settings: { k0: 'x'.repeat(7 * MIB) } }),
    metadata: { name: 'old', namespace: 'default', uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z' },
  }
  await store.commit({
    key: storeKey(Gadget, { namespace: 'default', name: 'old' }),
    expect: 0,
    value: serializeObject(old),
  })
  assert.equal((await patch('old', 'merge', { spec: { settings: { k1: 'y' } } })).status, 413)
  assert.equal((await patch('old', 'merge', { spec: { settings: { k0: 'x' } } })).status, 200, 'it may shrink')
})
