import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fromUtf8 } from '../../core/bytes.ts'
import { Secret } from '../../core/secret.ts'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { createSqliteStore } from '../../store/sqlite-store.ts'
import { configMap } from '../../testing/api-contract/harness.ts'
import type { Loose } from '../../testing/api-contract/harness.ts'
import { startApiProcess } from '../../testing/control-plane/embedded-api-process.ts'
import type { ApiProcess } from '../../testing/control-plane/embedded-api-process.ts'
import { storeKey, serializeObject } from '../storage/stored-object.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'
const COUNT = 10_000
const MB = 1024 * 1024
const nameOf = (n: number) => `m-${String(n).padStart(5, '0')}`

describe('a list of many objects', { timeout: 300_000 }, () => {
  let folder: string
  let server: ApiProcess
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'flotilla-long-'))
    const store = createSqliteStore({ path: join(folder, 'hub.db'), defer: setImmediate })
    const commits = Array.from({ length: COUNT }, (_, n) => {
      const metadata = {
        name: nameOf(n),
        namespace: 'default',
        labels: { even: String(n % 2 === 0) },
      }
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'x'.repeat(500) } }
      return store.commit({ key: storeKey(ConfigMap, metadata), expect: 0, value: serializeObject(object) })
    })
    await Promise.all(commits)
    await store.close()
    server = await startApiProcess(join(folder, 'hub.db'))
  })
  after(async () => {
    await server?.kill()
    await rm(folder, { recursive: true })
  })

  it('is the state at one revision, however much is written while it is read', async () => {
    const { api, url, ca, admin } = server
    const connection = { server: url, ca, cert: admin.certificate, key: new Secret(admin.privateKey) }
    const { transport, close } = createUndiciTransport(connection)
    const { signal } = new AbortController()
    const { body } = await transport({ method: 'GET', path: MAPS, headers: { accept: 'application/json' } }, signal)
    let text = ''
    let writes = 0
    for await (const chunk of body) {
      text += fromUtf8(chunk)
      if (writes >= 10) continue
      // Behind and before the place the list has come to.
      await api.ok('POST', MAPS, configMap(`a-${writes}`))
      await api.ok('DELETE', `${MAPS}/${nameOf(COUNT - 1 - writes)}`)
      await api.ok('POST', MAPS, configMap(`z-${writes}`))
      writes += 1
    }
    await close()
    assert.ok(writes > 0)
    const list: Loose = JSON.parse(text)
    assert.equal(list.kind, 'ConfigMapList')
    assert.deepEqual(
      [list.items.length, list.items[0].metadata.name, list.items.at(-1).metadata.name],
      [COUNT, nameOf(0), nameOf(COUNT - 1)],
    )
    const newest = Math.max(...list.items.map(({ metadata }: Loose) => Number(metadata.resourceVersion)))
    assert.ok(newest <= Number(list.metadata.resourceVersion))
  })

  it('selects by labels, and is no list with a hole or a comma too many when nothing is selected', async () => {
    const { api } = server
    assert.equal((await api.ok('GET', `${MAPS}?labelSelector=even%3Dtrue`)).items.length > COUNT / 2 - 10, true)
    assert.deepEqual((await api.ok('GET', `${MAPS}?labelSelector=even%3Dmaybe`)).items, [])
  })

  it('pages alike: all of them, once each, at the revision of the first page', async () => {
    const { api } = server
    const names = new Set<string>()
    const revisions = new Set<string>()
    let token = ''
    do {
      const page = await api.ok('GET', `${MAPS}?limit=900${token && `&continue=${token}`}`)
      for (const { metadata } of page.items) names.add(metadata.name)
      revisions.add(page.metadata.resourceVersion)
      token = page.metadata.continue ?? ''
      if (revisions.size === 1) await api.ok('POST', MAPS, { ...configMap(''), metadata: { generateName: 'during-' } })
    } while (token !== '')
    assert.equal(names.size, COUNT + 10)
    assert.equal(
      [...names].some((name) => name.startsWith('during-')),
      false,
    )
    assert.equal(revisions.size, 1)
  })

  it('gives its memory back', async () => {
    const { api } = server
    await api.ok('GET', MAPS)
    const first = await server.memory()
    for (let n = 0; n < 8; n += 1) await api.ok('GET', MAPS)
    const last = await server.memory()
    assert.ok(last < first + 4 * MB, `${first} bytes after one list, ${last} after many`)
  })
})
