import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { Secret } from '../../core/secret.ts'
import { createSqliteStore } from '../../store/sqlite-store.ts'
import { configMap, createApi } from '../../testing/api-contract/harness.ts'
import { startApiHome } from '../../testing/control-plane/embedded-api.ts'

const MAPS = '/api/v1/namespaces/default/configmaps'

it('a full disk: writes are 503 with a reason, reads and watches go on, room makes it well again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-full-'))
  const store = createSqliteStore({ path: join(folder, 'hub.db'), maxBytes: 3_000_000, defer: setImmediate })
  const home = await startApiHome(store)
  const { transport, close } = createUndiciTransport({
    server: home.url,
    ca: home.ca,
    cert: home.admin.certificate,
    key: new Secret(home.admin.privateKey),
  })
  const api = createApi(transport, 'default')
  try {
    await api.ok('POST', MAPS, configMap('a'))
    const write = (n: number) =>
      api.send('PUT', `${MAPS}/a`, { body: configMap('a', { big: String(n).repeat(100_000).slice(0, 100_000) }) })
    let reply = await write(0)
    for (let n = 1; n < 200 && reply.status === 200; n += 1) reply = await write(n)
    assert.equal(reply.status, 503, reply.text)
    assert.equal(reply.body.reason, 'ServiceUnavailable')
    assert.match(reply.body.message, /the store cannot write: .*full; nothing was changed\. Check the disk/)
    const kept = await api.ok('GET', `${MAPS}/a`)
    const path = `${MAPS}?watch=true&resourceVersion=${kept.metadata.resourceVersion}`
    const watching = api.watch(path, (events) => events.length > 0)
    assert.equal((await api.ok('GET', MAPS)).metadata.resourceVersion, kept.metadata.resourceVersion)
    await store.compact(store.revision())
    assert.equal((await write(7)).status, 200)
    assert.equal((await watching)[0]?.type, 'MODIFIED')
  } finally {
    await close()
    await home.close()
    await rm(folder, { recursive: true })
  }
})
