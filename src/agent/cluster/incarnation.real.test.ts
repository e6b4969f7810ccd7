/**
 * A real cluster whose etcd is taken back to an earlier state under a running agent: the agent says that it is another
 * life, and looks at everything again.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryBlobs } from '../../blobs/memory-blobs.ts'
import { createClient } from '../../client/create-client.ts'
import { fromUtf8 } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import { isApiError } from '../../core/errors.ts'
import { seededKeys } from '../../core/crypto/key-pair.ts'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { startControlPlane } from '../../testing/control-plane/control-plane.ts'
import { clusterOf } from '../../testing/agents/operating-agent.ts'
import { passingClock } from '../../testing/control-plane/real-time-clock.ts'
import { configMap, embeddedHome, startTestHub } from '../../testing/hub/test-hub.ts'
import { createAgent } from '../create-agent.ts'
import { renderInPlace } from '../render/render-in-place.ts'
import { AGENT_FILES, createMemoryStorage } from '../storage/storage.ts'

const BUNDLE = 'default/hello'
const WITHIN = { withinMs: 120_000 }
// The age of a cluster is asked for every ten minutes; here every second, or the test would take as long.
const HURRIED: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 1000), signal) }

test('a real cluster that is restored from its own backup is a new incarnation, and is verified again', async (t) => {
  const plane = await startControlPlane({ ownEtcd: true })
  t.after(() => plane.stop())
  const cluster = await clusterOf(plane.kubeconfigPath)
  t.after(() => cluster.close())
  const ids = systemIds
  const hub = await startTestHub('hub', { home: embeddedHome(createSeededIds('home'), passingClock) })
  t.after(() => hub.close())
  const files = new Map<string, Uint8Array>()
  const blobs = createMemoryBlobs()
  const joinCode = await hub.token('store-1', { clusterName: 'store-1' })
  let writes: string[] = []
  async function startAgent() {
    const stopping = new AbortController()
    const agent = await createAgent({
      cluster: (request, signal) => {
        if (request.method !== 'GET' && !request.path.includes('dryRun=All')) writes.push(request.path)
        return cluster.transport(request, signal)
      },
      hub: hub.connect,
      storage: createMemoryStorage(files),
      blobs,
      clock: HURRIED,
      ids,
      newKeyPair: seededKeys(ids),
      render: renderInPlace({ clock: systemClock, ids }),
      log: silentLogger,
      joinCode,
    })
    const running = agent.run(stopping.signal)
    return async () => {
      stopping.abort()
      await running
    }
  }
  let stop = await startAgent()
  t.after(() => stop())
  const client = createClient({ transport: cluster.transport, clock: systemClock })
  const value = async (name: string) => {
    const found = await client.get(ConfigMap, { namespace: 'default', name }).catch((caught: unknown) => {
      if (!isApiError(caught, 'NotFound')) throw caught
    })
    return found?.data?.['g']
  }
  const reported = async () => (await hub.client.get(ClusterReport, { name: 'store-1' }).catch(() => undefined))?.spec
  const isReady = (generation: number) => async () =>
    (await reported())?.bundles.some((row) => row.state === 'Ready' && row.generation === generation) ?? false
  const at = (generation: number, ...names: string[]) => ({
    [BUNDLE]: { generation, objects: names.map((name) => configMap(name, { g: String(generation) })) },
  })
  const isNoted = (revision: number) => () =>
    fromUtf8(files.get(AGENT_FILES.incarnation) ?? new Uint8Array()).includes(`"revision":${revision}`)

  await passingClock.runUntil(async () => (await reported()) !== undefined, { ...WITHIN, what: 'a first report' })
  await hub.assign('store-1', at(1, 'a', 'old'))
  await passingClock.runUntil(isReady(1), { ...WITHIN, what: 'generation 1' })
  const goBack = await plane.remember()
  await hub.assign('store-1', at(2, 'a', 'new'))
  await passingClock.runUntil(isReady(2), { ...WITHIN, what: 'generation 2' })
  await passingClock.runUntil(isNoted(2), { ...WITHIN, what: 'the age of the cluster noted' })
  assert.equal((await reported())?.incarnation, undefined, 'a control plane that was away is not another one')

  await goBack()
  await passingClock.runUntil(async () => (await reported())?.incarnation === 2, {
    ...WITHIN,
    what: 'a new incarnation',
  })
  const values = async () => [await value('a'), await value('new'), await value('old')]
  await passingClock.runUntil(async () => (await values()).join() === '2,2,', { ...WITHIN, what: 'what holds now' })
  await passingClock.runUntil(isReady(2), { ...WITHIN, what: 'ready again' })
  await passingClock.runUntil(isNoted(2), { ...WITHIN, what: 'the new age noted' })

  await stop()
  writes = []
  stop = await startAgent()
  const before = (await reported())?.revision
  await hub.assign('store-1', at(2, 'a', 'new'))
  await passingClock.runUntil(async () => (await reported())?.revision !== before, { ...WITHIN, what: 'a report' })
  assert.equal((await reported())?.incarnation, 2, 'a restart is no new life')
  assert.deepEqual(
    writes.filter((path) => !path.includes('flotilla-agent')),
    [],
    'and everything is as it should be',
  )
})
