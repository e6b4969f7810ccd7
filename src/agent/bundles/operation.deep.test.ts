/** Ten thousand objects in one bundle, on a real API server and on an embedded one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../client/create-client.ts'
import type { Transport } from '../../core/http.ts'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { createEmbeddedCluster } from '../../sim/fleet/embedded-cluster.ts'
import { startControlPlane } from '../../testing/control-plane/control-plane.ts'
import { clusterOf, createOperatingAgent } from '../../testing/agents/operating-agent.ts'
import { configMap } from '../../testing/hub/test-hub.ts'

const COUNT = 10_000
const BUNDLE = 'default/many'

interface Home {
  readonly transport: Transport
  close(): Promise<void>
}

const HOMES: Readonly<Record<string, () => Promise<Home>>> = {
  async real() {
    const plane = await startControlPlane()
    const cluster = await clusterOf(plane.kubeconfigPath)
    const close = async () => {
      await cluster.close()
      await plane.stop()
    }
    return { transport: cluster.transport, close }
  },
  embedded: async () => createEmbeddedCluster({ name: 'large', clock: systemClock, ids: systemIds, log: silentLogger }),
}

for (const [name, start] of Object.entries(HOMES)) {
  test(`a bundle of ten thousand objects is applied, changed by one, repaired, and removed: ${name}`, async (t) => {
    await using ends = new AsyncDisposableStack()
    const cluster = await start()
    ends.defer(() => cluster.close())
    await goThrough(t, cluster)
  })
}

async function goThrough(t: TestContext, cluster: Home): Promise<void> {
  let requests = 0
  let writes = 0
  const client = createClient({ transport: cluster.transport, clock: systemClock })
  const agent = createOperatingAgent({
    transport: (request, signal) => {
      requests += 1
      if (request.method !== 'GET' && !request.path.includes('dryRun=All')) writes += 1
      return cluster.transport(request, signal)
    },
    clock: systemClock,
    ids: systemIds,
  })
  agent.start()
  await using ends = new AsyncDisposableStack()
  ends.defer(() => agent.stop())
  const until = async (what: string, holds: () => boolean | Promise<boolean>) => {
    const end = systemClock.monotonicMs() + 1_200_000
    while (!(await holds())) {
      if (systemClock.monotonicMs() > end) throw new Error(`${what}: ${JSON.stringify(agent.row(BUNDLE))}`)
      await sleep(200)
    }
  }
  const ready = (generation: number) => () =>
    agent.row(BUNDLE)?.state === 'Ready' && agent.row(BUNDLE)?.generation === generation
  const measured = async (what: string, work: () => Promise<void>) => {
    const [at, asked, wrote] = [systemClock.monotonicMs(), requests, writes]
    await work()
    const seconds = ((systemClock.monotonicMs() - at) / 1000).toFixed(1)
    t.diagnostic(`${what}: ${seconds} s, ${requests - asked} requests, ${writes - wrote} writes`)
    return writes - wrote
  }
  const objects = Array.from({ length: COUNT }, (_, i) => configMap(`object-${i}`, { v: '1' }))
  await measured('install', async () => {
    await agent.assign({ [BUNDLE]: { generation: 1, objects } })
    await until('install', ready(1))
  })
  const changed = objects.with(77, configMap('object-77', { v: '2' })).slice(0, COUNT - 1)
  const forOne = await measured('one changed, one removed', async () => {
    await agent.assign({ [BUNDLE]: { generation: 2, objects: changed } })
    await until('upgrade', ready(2))
  })
  assert.ok(forOne < 60, `${forOne} writes for one change`)
  const value = async (name: string) =>
    (await client.get(ConfigMap, { namespace: 'default', name }).catch(() => undefined))?.data?.['v']
  assert.equal(await value('object-77'), '2')
  assert.equal(await value(`object-${COUNT - 1}`), undefined)
  await measured('one edit repaired', async () => {
    await client.patch(
      ConfigMap,
      { namespace: 'default', name: 'object-5' },
      { type: 'merge', body: { data: { v: 'x' } } },
    )
    await until('repair', async () => (await value('object-5')) === '1')
  })
  await agent.stop()
  const afterRestart = await measured('restart', async () => {
    agent.start()
    await until('restart', ready(2))
  })
  assert.equal(afterRestart, 0, 'a restart writes nothing')
  await measured('removal', async () => {
    await agent.assign({}, { tombstones: [{ bundle: BUNDLE, generation: 2, policy: 'Delete' }] })
    await until(
      'removal',
      async () => (await client.list(ConfigMap, { namespace: 'default', limit: 10 })).items.length <= 1,
    )
  })
}
