/** Delete and Orphan on a real API server: exactly what was made goes, and what is kept is kept with its identity. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../../client/create-client.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { ConfigMap, Namespace } from '../../../kinds/builtin/core.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { startControlPlane } from '../../../testing/control-plane/control-plane.ts'
import { clusterOf, createOperatingAgent } from '../../../testing/agents/operating-agent.ts'
import { configMap } from '../../../testing/hub/test-hub.ts'

const BUNDLE = 'default/leaves'

test('Orphan deletes nothing and Delete exactly what was recorded, on a real API server', async (t) => {
  const plane = await startControlPlane({})
  const cluster = await clusterOf(plane.kubeconfigPath)
  const agent = createOperatingAgent({ transport: cluster.transport, clock: systemClock, ids: systemIds })
  t.after(async () => {
    await agent.stop()
    await cluster.close()
    await plane.stop()
  })
  const client = createClient({ transport: cluster.transport, clock: systemClock })
  const until = async (what: string, holds: () => boolean | Promise<boolean>) => {
    for (const end = systemClock.monotonicMs() + 60_000; !(await holds()); await sleep(50)) {
      if (systemClock.monotonicMs() > end)
        throw new Error(`${what}: ${JSON.stringify([agent.row(BUNDLE), agent.removals()])}`)
    }
  }
  const maps = async () => {
    const { items } = await client.list(ConfigMap, { namespace: 'shop' })
    const ours = items.filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
    return new Map(ours.map(({ metadata }) => [metadata.name, metadata.uid]))
  }
  const objects: UnknownObject[] = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    configMap('a', {}, 'shop'),
    configMap('b', {}, 'shop'),
    configMap('adopted', {}, 'shop'),
  ]
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  for (const name of ['adopted', 'bystander']) await client.create(ConfigMap, configMap(name, {}, 'shop'))
  agent.start()
  const install = async (generation: number) => {
    await agent.assign({ [BUNDLE]: { generation, objects } })
    await until('ready', () => agent.row(BUNDLE)?.state === 'Ready' && agent.row(BUNDLE)?.generation === generation)
  }
  const remove = async (generation: number, policy: 'Delete' | 'Orphan', state: string) => {
    await agent.assign({}, { tombstones: [{ bundle: BUNDLE, generation, policy, cause: 'unplaced' }] })
    await until(state, () => agent.removals().some((row) => row.generation === generation && row.state === state))
    return agent.removals().find((row) => row.bundle === BUNDLE)!
  }

  await install(1)
  const before = await maps()
  assert.deepEqual([...before.keys()].toSorted(), ['a', 'adopted', 'b', 'bystander'])
  const orphaned = await remove(1, 'Orphan', 'Orphaned')
  assert.deepEqual([orphaned.deleted, orphaned.leftTotal], [0, 4])
  assert.deepEqual(await maps(), before, 'nothing was deleted or made again (I-07)')

  await install(2)
  assert.deepEqual(await maps(), before, 'taken back as it was')
  // Orphaned once, all of it was there before the bundle came again: nothing of it is the bundle's to delete.
  const kept = await remove(2, 'Delete', 'Orphaned')
  assert.deepEqual([kept.deleted, kept.leftTotal], [0, 4])
  assert.deepEqual(await maps(), before)

  for (const name of ['a', 'b']) await client.delete(ConfigMap, { namespace: 'shop', name })
  await install(3)
  const removed = await remove(3, 'Delete', 'Removed')
  assert.deepEqual([removed.deleted, removed.leftTotal], [2, 2])
  assert.deepEqual([...(await maps()).keys()].toSorted(), ['adopted', 'bystander'])
  assert.equal((await maps()).get('adopted'), before.get('adopted'))
  assert.equal((await client.get(Namespace, { name: 'shop' })).metadata.deletionTimestamp, undefined)
})
