/** `flotilla cluster decommission` against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub } from '../../../testing/hub/cli-hub.ts'
import { clusterDecommission } from './decommission.ts'

async function started(t: { after(fn: () => Promise<void>): void }) {
  const hub = createCliHub(t, { tty: true, namespace: 'ns' })
  const { client, connection, terminal } = hub
  const said = Object.assign(hub.said, { questions: [] as string[] })
  await client.create(Cluster, buildCluster('store-1'))
  const run = (flags: object, answer = true) =>
    clusterDecommission('store-1', {
      connection,
      terminal,
      flags,
      confirm: async (question) => (said.questions.push(`y/N ${question}`), answer),
      confirmName: async (question, name) => (said.questions.push(`type ${name}: ${question}`), answer),
    })
  return { said, run, cluster: () => client.get(Cluster, { name: 'store-1' }) }
}

test('what becomes of what runs there must be said', async (t) => {
  const { run, cluster } = await started(t)
  await assert.rejects(run({}), /missing --orphan or --remove/)
  await assert.rejects(run({ orphan: true, remove: true }), /exclude each other/)
  assert.equal((await cluster()).spec.decommission, undefined)
})

test('--remove wants the name typed, is written down, and can be taken back', async (t) => {
  const { run, said, cluster } = await started(t)
  await assert.rejects(run({ remove: true }, false), /cancelled; nothing was changed/)
  await run({ remove: true, reason: 'store closed' })
  assert.match(said.err, /decommissioning cluster "store-1" removes 0 bundles with all objects/)
  assert.deepEqual(said.questions.at(-1), 'type store-1: decommission cluster "store-1"?')
  const { spec } = await cluster()
  assert.deepEqual([spec.decommission?.policy, spec.decommission?.reason], ['Remove', 'store closed'])
  await run({ undo: true })
  assert.equal((await cluster()).spec.decommission, undefined)
})

test('--orphan is a plain question; a second --undo says that there is nothing to take back', async (t) => {
  const { run, said, cluster } = await started(t)
  await run({ orphan: true, forceUnreachable: true })
  assert.deepEqual(said.questions, ['y/N decommission cluster "store-1"?'])
  const { at, ...asked } = (await cluster()).spec.decommission!
  assert.deepEqual([asked, typeof at], [{ policy: 'Orphan', forceUnreachable: true }, 'string'])
  await run({ undo: true })
  await run({ undo: true })
  assert.match(said.err, /cluster "store-1" is not being decommissioned/)
})
