import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { trustRotateSealing } from './rotate-sealing.ts'

test('clusters are asked for new sealing keys, once each, and only those that can have one', async (t) => {
  const { client, connection, terminal, taken } = createCliHub(t)
  for (const name of ['store-1', 'store-2']) {
    await client.create(Cluster, buildCluster(name, { labels: { tier: 'store' } }))
  }
  await client.create(Cluster, buildCluster('waiting', { spec: { accepted: false } }))
  const input = (flags: { selector?: string; reason?: string; yes?: boolean } = {}) => ({
    connection,
    terminal,
    flags,
    confirm: async () => false,
  })
  const specOf = async (name: string) => (await client.get(Cluster, { name })).spec

  await trustRotateSealing(['store-1'], input({ reason: 'a lost laptop' }))
  assert.match(
    taken().err,
    /cluster "store-1" is asked for a new sealing key\n[^]*SealingKeyRetired[^]*change the secret values/,
  )
  const { sealingKey, retiredSealingKey } = await specOf('store-1')
  assert.deepEqual(
    [retiredSealingKey?.key, retiredSealingKey?.reason, retiredSealingKey?.by],
    [sealingKey, 'a lost laptop', 'admin'],
  )
  assert.equal((await specOf('store-2')).retiredSealingKey, undefined)

  await trustRotateSealing(['store-1'], input())
  assert.match(taken().err, /"store-1" was already asked for a new sealing key \d+m?s? ago/)
  assert.deepEqual((await specOf('store-1')).retiredSealingKey, retiredSealingKey)

  assert.match(await expectErrorText(trustRotateSealing(['store-3'], input())), /cluster "store-3" not found/)
  assert.match(await expectErrorText(trustRotateSealing([], input())), /missing argument NAME or -l/)
  const refused = await expectErrorText(trustRotateSealing(['store-2', 'waiting'], input()))
  assert.match(refused, /not accepted: waiting; nothing was changed[^]*flotilla cluster accept waiting/)
  assert.equal((await specOf('store-2')).retiredSealingKey, undefined)

  await trustRotateSealing([], input({ selector: 'tier=store' }))
  assert.ok((await specOf('store-2')).retiredSealingKey)
})
