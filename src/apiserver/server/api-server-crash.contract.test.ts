import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { it } from 'node:test'
import { findAuditBreak } from '../../store/audit-chain.ts'
import { createSqliteStore } from '../../store/sqlite-store.ts'
import { configMap } from '../../testing/api-contract/harness.ts'
import type { Loose } from '../../testing/api-contract/harness.ts'
import { startApiProcess } from '../../testing/control-plane/embedded-api-process.ts'

const ROUNDS = 4
const WRITERS = 6
const MAPS = '/api/v1/namespaces/default/configmaps'

it('kill -9 of the API in a loop loses no acknowledged write and no collection', { timeout: 180_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-api-crash-'))
  const path = join(folder, 'hub.db')
  const acknowledged = new Map<string, string>()
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const server = await startApiProcess(path)
      const { api } = server
      const { items } = await api.ok('GET', MAPS)
      const present = new Map(items.map(({ metadata }: Loose) => [metadata.name, metadata.resourceVersion]))
      for (const [name, version] of acknowledged) assert.equal(present.get(name), version, `${name} was acknowledged`)
      if (round > 0) {
        // The owner was deleted just before the kill; the next start finishes the collection.
        await until(async () => (await api.send('GET', `${MAPS}/child-${round - 1}`)).status === 404)
      }
      const owner = await api.ok('POST', MAPS, configMap(`owner-${round}`))
      const { name, uid } = owner.metadata
      const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name, uid }]
      await api.ok('POST', MAPS, {
        ...configMap(`child-${round}`),
        metadata: { name: `child-${round}`, ownerReferences },
      })
      let count = 0
      const enough = Promise.withResolvers<void>()
      const writers = Array.from({ length: WRITERS }, async (_, writer) => {
        for (let n = 0; ; n += 1) {
          const wanted = `w-${round}-${writer}-${n}`
          const reply = await api.send('POST', MAPS, { body: configMap(wanted) }).catch(() => undefined)
          if (!reply) return
          assert.equal(reply.status, 201, reply.text)
          acknowledged.set(wanted, reply.body.metadata.resourceVersion)
          count += 1
          if (count >= 40 + round * 30) enough.resolve()
        }
      })
      await enough.promise
      await api.ok('DELETE', `${MAPS}/owner-${round}`)
      await server.kill()
      await Promise.all(writers)
      const store = createSqliteStore({ path })
      assert.equal(findAuditBreak(await store.audit(0, 1_000_000)), undefined)
      await store.close()
    }
    assert.ok(acknowledged.size >= ROUNDS * 40)
  } finally {
    await rm(folder, { recursive: true })
  }
})

// The deadline only ends a test that would hang.
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await isSo()) return
    await sleep(50)
  }
  assert.fail('it never came to it')
}
