import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../core/log.ts'
import type { ResourceType } from '../kinds/meta.ts'
import { createEmbeddedCluster } from './cluster.ts'
import { createSeededIds } from './kernel/seeded-ids.ts'
import { createVirtualClock } from './kernel/virtual-clock.ts'
import type { Deployment } from './workloads.ts'

const DEPLOYMENT: ResourceType<Deployment> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  scope: 'Namespaced',
}
const KEY = { namespace: 'default', name: 'web' }

function deploymentOf(image: string, replicas = 2): Deployment {
  const labels = { app: 'web' }
  const container = { name: 'web', image }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { ...KEY },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  } as Deployment
}

async function started(t: { after(fn: () => Promise<void>): void }) {
  const clock = createVirtualClock()
  const cluster = createEmbeddedCluster({
    name: 'a',
    clock,
    ids: createSeededIds('workloads'),
    log: silentLogger,
    behaviour: { progressMs: 1_000, failMs: 5_000 },
  })
  const stop = new AbortController()
  const running = cluster.run(stop.signal)
  t.after(async () => {
    stop.abort()
    await clock.settle()
    await running
    await cluster.close()
  })
  const apply = async (deployment: Deployment) => {
    await cluster.client.apply(DEPLOYMENT, deployment, { fieldManager: 'test' })
    await clock.settle()
  }
  const look = async () => {
    const { status, metadata } = await cluster.client.get(DEPLOYMENT, KEY)
    const reason = (type: string) => {
      const condition = status?.conditions?.find((one) => one.type === type)
      return condition && `${condition.status} ${condition.reason}`
    }
    return {
      seen: `${status?.observedGeneration} of ${metadata.generation}`,
      available: status?.availableReplicas ?? 0,
      updated: status?.updatedReplicas ?? 0,
      Available: reason('Available'),
      Progressing: reason('Progressing'),
    }
  }
  return { clock, cluster, apply, look }
}

const AVAILABLE = { Available: 'True MinimumReplicasAvailable', Progressing: 'True NewReplicaSetAvailable' }

test('a Deployment progresses, and is available after its delay', async (t) => {
  const { clock, apply, look } = await started(t)
  await apply(deploymentOf('web:1'))
  await clock.advance(900)
  assert.deepEqual(await look(), {
    seen: '1 of 1',
    available: 0,
    updated: 1,
    Available: 'False MinimumReplicasUnavailable',
    Progressing: 'True ReplicaSetUpdated',
  })
  await clock.advance(200)
  assert.deepEqual(await look(), { seen: '1 of 1', available: 2, updated: 2, ...AVAILABLE })
})

test('an image that cannot be pulled fails its Deployment while the old replicas stay, and a good one heals it', async (t) => {
  const { clock, apply, look, cluster } = await started(t)
  await apply(deploymentOf('web:1'))
  await clock.advance(1_100)
  await apply(deploymentOf('web:broken'))
  await clock.advance(5_100)
  assert.deepEqual(await look(), {
    seen: '2 of 2',
    available: 2,
    updated: 1,
    Available: 'True MinimumReplicasAvailable',
    Progressing: 'False ProgressDeadlineExceeded',
  })
  const failed = await cluster.client.get(DEPLOYMENT, KEY)
  assert.match(
    failed.status?.conditions?.find(({ type }) => type === 'Progressing')?.message ?? '',
    /ImagePullBackOff: back-off pulling image "web:broken"/,
  )
  await apply(deploymentOf('web:2'))
  await clock.advance(1_100)
  assert.deepEqual(await look(), { seen: '3 of 3', available: 2, updated: 2, ...AVAILABLE })
})

test('nothing is written once a workload is at rest', async (t) => {
  const { clock, apply, cluster } = await started(t)
  await apply(deploymentOf('web:1', 0))
  await clock.advance(2_000)
  const { resourceVersion } = (await cluster.client.get(DEPLOYMENT, KEY)).metadata
  await clock.advance(3_600_000)
  assert.equal((await cluster.client.get(DEPLOYMENT, KEY)).metadata.resourceVersion, resourceVersion)
})
