import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { base64 } from '../core/bytes.ts'
import { Secret } from '../core/secret.ts'
import { systemIds } from '../core/system-ids.ts'
import { collect, storeContract } from '../testing/store-contract.ts'
import { createMemoryStore } from './memory-store.ts'
import { reseal } from './reseal.ts'
import { createSealedStore, sealedWith } from './sealed-store.ts'
import type { SealingKey } from './sealed-store.ts'
import { createSqliteStore } from './sqlite-store.ts'
import type { Store } from './store.ts'

const keyOf = (id: string): SealingKey => ({ id, key: new Secret(base64(systemIds.bytes(32))) })
const [one, two] = [keyOf('one'), keyOf('two')]
const sealed = (store: Store, ...keys: [SealingKey, ...SealingKey[]]): Store =>
  createSealedStore({ store, prefixes: ['/_/secrets/'], keys, ids: systemIds })

storeContract('sealed memory', async () => {
  const store = createSealedStore({ store: createMemoryStore(), prefixes: ['/'], keys: [one], ids: systemIds })
  return { store, cleanup: () => store.close() }
})

describe('sealed store', () => {
  it('leaves no trace of a value in any file of the database', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'flotilla-sealed-'))
    const store = sealed(createSqliteStore({ path: join(folder, 'hub.db') }), one)
    await store.commit({ key: '/_/secrets/ns/x', expect: 0, value: () => 'CANARY-in-secret', audit: 'made x' })
    await store.commit({ key: '/_/secrets/ns/x', expect: 1, value: () => 'CANARY-in-secret again' })
    await store.commit({ key: '/_/configmaps/ns/x', expect: 0, value: () => 'CANARY-in-map' })
    const onDisk = async () => {
      const texts = await Promise.all(
        (await readdir(folder)).map((name) => readFile(join(folder, name), { encoding: 'latin1' })),
      )
      return texts.join('')
    }
    assert.ok((await onDisk()).includes('CANARY-in-map'), 'the search finds what is not sealed')
    assert.ok(!(await onDisk()).includes('CANARY-in-secret'))
    assert.equal((await store.get('/_/secrets/ns/x'))?.value, 'CANARY-in-secret again')
    await store.close()
    assert.ok(!(await onDisk()).includes('CANARY-in-secret'))
    await rm(folder, { recursive: true })
  })

  it('a change of key seals everything anew, once, with the content as it was', async () => {
    const inner = createMemoryStore()
    const options = (sealedNow: Store) => ({
      plain: inner,
      sealed: sealedNow,
      prefixes: ['/_/secrets/'],
      newest: 'two',
      rewrite: (value: string) => () => value,
    })
    const before = sealed(inner, one)
    for (let n = 0; n < 450; n += 1) {
      await before.commit({ key: `/_/secrets/ns/s${n}`, expect: 0, value: () => `value ${n}` })
    }
    await inner.commit({ key: '/_/secrets/ns/plain', expect: 0, value: () => 'plain' })
    await inner.commit({ key: '/_/configmaps/ns/x', expect: 0, value: () => 'map' })
    const now = sealed(inner, two, one)
    assert.equal(await reseal(options(now), new AbortController().signal), 451)
    const ids = (await inner.list({ prefix: '/_/secrets/' })).entries.map(({ value }) => sealedWith(value))
    assert.deepEqual([...new Set(ids)], ['two'])
    const onlyTwo = sealed(inner, two)
    assert.equal((await onlyTwo.get('/_/secrets/ns/s7'))?.value, 'value 7')
    assert.equal((await onlyTwo.get('/_/secrets/ns/plain'))?.value, 'plain')
    assert.equal((await inner.get('/_/configmaps/ns/x'))?.value, 'map')
    const revision = inner.revision()
    assert.equal(await reseal(options(now), new AbortController().signal), 0)
    assert.equal(inner.revision(), revision)
  })

  it('opens values of older keys and of the time before sealing, and seals with the newest', async () => {
    const inner = createMemoryStore()
    await inner.commit({ key: '/_/secrets/ns/plain', expect: 0, value: () => '{"a":1}' })
    await sealed(inner, one).commit({ key: '/_/secrets/ns/old', expect: 0, value: () => 'old' })
    const store = sealed(inner, two, one)
    await store.commit({ key: '/_/secrets/ns/new', expect: 0, value: () => 'new' })
    assert.deepEqual(
      (await store.list({ prefix: '/_/secrets/' })).entries.map(({ value }) => value),
      ['new', 'old', '{"a":1}'],
    )
    assert.equal(sealedWith((await inner.get('/_/secrets/ns/new'))!.value), 'two')
    assert.equal(sealedWith((await inner.get('/_/secrets/ns/old'))!.value), 'one')
    await assert.rejects(sealed(inner, two).get('/_/secrets/ns/old'), /sealed with the key "one", which is not among/)
    await inner.close()
  })

  it('refuses a value that was put under another key, or changed', async () => {
    const inner = createMemoryStore()
    const store = sealed(inner, one)
    await store.commit({ key: '/_/secrets/ns/a', expect: 0, value: () => 'of a' })
    const { value } = (await inner.get('/_/secrets/ns/a'))!
    await inner.commit({ key: '/_/secrets/ns/b', expect: 0, value: () => value })
    await assert.rejects(store.get('/_/secrets/ns/b'), /its stored value was changed/)
    await assert.rejects(collect(store, '/_/secrets/', 1, 1), /its stored value was changed/)
    await inner.close()
  })

  it('shows present values in conflicts in the open', async () => {
    const store = sealed(createMemoryStore(), one)
    await store.commit({ key: '/_/secrets/ns/a', expect: 0, value: () => 'mine' })
    const result = await store.commit({ key: '/_/secrets/ns/a', expect: 0, value: () => 'other' })
    assert.equal(result.ok ? undefined : result.current?.value, 'mine')
    await store.close()
  })
})
