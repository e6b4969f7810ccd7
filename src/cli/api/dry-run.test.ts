import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Placement } from '../../kinds/native/placement.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { createCliHub } from '../../testing/hub/cli-hub.ts'
import { clientOver } from '../../client/create-client.ts'
import { createDryRun } from './dry-run.ts'
import { whoAmI } from './who-am-i.ts'

test('writes are checked and not stored; reads and reviews are what they are, and no next step is named', async (t) => {
  const { client, connection, terminal, taken } = createCliHub(t)
  const kept = build(Placement, 'default/kept', { spec: { clusterSelector: {} } })
  await client.create(Placement, kept)
  const dryRun = createDryRun()
  const dry = clientOver(dryRun.over(connection.rest))
  assert.equal((await dry.get(Placement, kept.metadata)).metadata.name, 'kept')
  assert.notEqual((await whoAmI(dryRun.over(connection.rest))).username, '')
  assert.equal(dryRun.wrote(), false)
  await dry.create(Placement, build(Placement, 'default/new', { spec: { clusterSelector: {} } }))
  await dry.patch(Placement, kept.metadata, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } })
  await dry.delete(Placement, kept.metadata)
  assert.equal(dryRun.wrote(), true)
  const { items } = await client.list(Placement, { namespace: 'default' })
  assert.deepEqual(
    items.map(({ metadata }) => [metadata.name, metadata.labels]),
    [['kept', undefined]],
  )
  const refused = build(Placement, 'default/bad', { spec: { clusterSelector: 3 as never } })
  await assert.rejects(dry.create(Placement, refused), /clusterSelector/)
  dryRun.on(terminal).step('next', 'flotilla get placements')
  dryRun.on(terminal).step('ok', 'done')
  assert.equal(taken().err, '✔ done\n')
})
