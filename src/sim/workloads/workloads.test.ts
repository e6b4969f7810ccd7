import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Deployment } from '../../kinds/builtin/apps.ts'
import { builtinKind } from '../../kinds/builtin/kind-table.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { healthOf } from '../../plan/health/object-health.ts'
import { startWorkloadCluster } from '../../testing/agents/workload-cluster.ts'
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
  }
}

function started(t: { after(fn: () => Promise<void>): void }) {
  const { clock, cluster } = startWorkloadCluster(t)
  const apply = async (deployment: Deployment) => {
    await cluster.client.apply(Deployment, deployment, { fieldManager: 'test' })
    await clock.settle()
  }
  const look = async () => {
    const { status, metadata } = await cluster.client.get(Deployment, KEY)
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
  const { clock, apply, look } = started(t)
  await apply(deploymentOf('web:1'))
  await clock.advance(900)
  assert.deepEqual(await look(), {
    seen: '1 of 1',
    available: 0,
    updated: 2,
    Available: 'False MinimumReplicasUnavailable',
    Progressing: 'True ReplicaSetUpdated',
  })
  await clock.advance(200)
  assert.deepEqual(await look(), { seen: '1 of 1', available: 2, updated: 2, ...AVAILABLE })
})

test('an image that cannot be pulled fails its Deployment while the old replicas stay, and a good one heals it', async (t) => {
  const { clock, apply, look, cluster } = started(t)
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
  const failed = await cluster.client.get(Deployment, KEY)
  assert.match(
    failed.status?.conditions?.find(({ type }) => type === 'Progressing')?.message ?? '',
    /ImagePullBackOff: back-off pulling image "web:broken"/,
  )
  await apply(deploymentOf('web:2'))
  await clock.advance(1_100)
  assert.deepEqual(await look(), { seen: '3 of 3', available: 2, updated: 2, ...AVAILABLE })
})

for (const kind of ['Deployment', 'StatefulSet', 'DaemonSet']) {
  test(`a ${kind} of one replica never looks ready between a good image and a broken one`, async (t) => {
    const { clock, cluster } = started(t)
    const type = builtinKind<UnknownObject>('apps/v1', kind)
    const objectOf = (image: string): UnknownObject => {
      const { replicas, ...spec } = deploymentOf(image, 1).spec
      const own = { Deployment: { replicas }, StatefulSet: { replicas, serviceName: 'web' }, DaemonSet: {} }[kind]
      return { apiVersion: 'apps/v1', kind, metadata: { ...KEY }, spec: { ...spec, ...own } }
    }
    const states: string[] = []
    const note = async (ms: number): Promise<void> => {
      await clock.settle()
      await clock.advance(ms)
      const { state } = healthOf(await cluster.client.get(type, KEY))
      if (states.at(-1) !== state) states.push(state)
    }
    await cluster.client.apply(type, objectOf('web:1'), { fieldManager: 'test' })
    await note(900)
    await note(200)
    await cluster.client.apply(type, objectOf('web:broken'), { fieldManager: 'test' })
    for (let ms = 0; ms < 6_000; ms += 500) await note(500)
    // Only a Deployment says itself that it gave up.
    const end = kind === 'Deployment' ? ['Progressing', 'Failed'] : ['Progressing']
    assert.deepEqual(states, ['Progressing', 'Ready', ...end])
  })
}

test('a Deployment that is only scaled is no new rollout', async (t) => {
  const { clock, apply, look } = started(t)
  await apply(deploymentOf('web:1', 1))
  await clock.advance(1_100)
  await apply(deploymentOf('web:1', 3))
  const { available, updated, Progressing } = await look()
  assert.deepEqual(
    { available, updated, Progressing },
    { available: 1, updated: 3, Progressing: AVAILABLE.Progressing },
  )
})

test('nothing is written once a workload is at rest', async (t) => {
  const { clock, apply, cluster } = started(t)
  await apply(deploymentOf('web:1', 0))
  await clock.advance(2_000)
  const { resourceVersion } = (await cluster.client.get(Deployment, KEY)).metadata
  await clock.advance(3_600_000)
  assert.equal((await cluster.client.get(Deployment, KEY)).metadata.resourceVersion, resourceVersion)
})

interface Life {
  readonly object: { readonly apiVersion: string; readonly kind: string; readonly spec: object }
  /** What its status says while it progresses, when it is done, and when its image cannot be pulled. */
  readonly progressing: object
  readonly done: object
  readonly failed?: object
}

const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }
const selector = { matchLabels: labels }

const LIVES: readonly Life[] = [
  {
    object: { apiVersion: 'apps/v1', kind: 'StatefulSet', spec: { replicas: 2, serviceName: 'w', selector, template } },
    progressing: { replicas: 2, readyReplicas: undefined, observedGeneration: 1 },
    done: { replicas: 2, readyReplicas: 2, currentReplicas: 2, updatedReplicas: 2, availableReplicas: 2 },
    failed: { replicas: 2, readyReplicas: undefined, updatedReplicas: 1 },
  },
  {
    object: { apiVersion: 'apps/v1', kind: 'DaemonSet', spec: { selector, template } },
    progressing: { desiredNumberScheduled: 1, numberReady: 0, numberUnavailable: 1, observedGeneration: 1 },
    done: { desiredNumberScheduled: 1, numberReady: 1, numberAvailable: 1, updatedNumberScheduled: 1 },
    failed: { numberReady: 0, numberUnavailable: 1 },
  },
  {
    object: { apiVersion: 'apps/v1', kind: 'ReplicaSet', spec: { replicas: 3, selector, template } },
    progressing: { replicas: 3, readyReplicas: undefined },
    done: { replicas: 3, readyReplicas: 3, availableReplicas: 3, observedGeneration: 1 },
  },
  {
    object: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      spec: { completions: 2, template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } },
    },
    progressing: { active: 1, succeeded: undefined },
    done: { active: undefined, succeeded: 2, conditions: 'SuccessCriteriaMet Complete' },
    failed: { failed: 7, conditions: 'FailureTarget Failed' },
  },
  {
    object: { apiVersion: 'v1', kind: 'Pod', spec: template.spec },
    progressing: { phase: 'Pending', conditions: 'PodScheduled Initialized' },
    done: { phase: 'Running', conditions: 'PodScheduled Initialized ContainersReady Ready' },
    failed: { phase: 'Pending', podIP: undefined },
  },
  {
    object: { apiVersion: 'v1', kind: 'Pod', spec: { ...template.spec, restartPolicy: 'Never' } },
    progressing: { phase: 'Pending' },
    done: { phase: 'Succeeded', conditions: 'PodScheduled Initialized' },
  },
  {
    object: { apiVersion: 'v1', kind: 'Service', spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } },
    progressing: { loadBalancer: {} },
    done: { loadBalancer: { ingress: [{ ip: '192.0.2.112', ipMode: 'VIP' }] } },
  },
  {
    object: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
    progressing: { phase: 'Pending' },
    done: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } },
  },
]

/** The fields of a status that are asked for; of conditions, the names of the true ones. */
function shown(status: Record<string, unknown>, asked: object): object {
  return Object.fromEntries(
    Object.keys(asked).map((field) => {
      if (field !== 'conditions') return [field, status[field]]
      const conditions = (status[field] ?? []) as { type: string; status: string }[]
      return [
        field,
        conditions
          .filter((it) => it.status === 'True')
          .map(({ type }) => type)
          .join(' '),
      ]
    }),
  )
}

for (const { object, progressing, done, failed } of LIVES) {
  test(`a ${object.kind} lives: ${JSON.stringify(done)}`, async (t) => {
    const { clock, cluster } = started(t)
    const kind = builtinKind<UnknownObject>(object.apiVersion, object.kind)
    const statusAfter = async (made: UnknownObject, ms: number): Promise<Record<string, unknown>> => {
      await cluster.client.create(kind, made)
      await clock.settle()
      await clock.advance(ms)
      return (await cluster.client.get(kind, made.metadata))['status'] as Record<string, unknown>
    }
    const made = (name: string): UnknownObject => ({ ...object, metadata: { name, namespace: 'default' } })
    assert.deepEqual(shown(await statusAfter(made('web'), 900), progressing), progressing)
    await clock.advance(200)
    const at = await cluster.client.get(kind, { name: 'web', namespace: 'default' })
    assert.deepEqual(shown(at['status'] as Record<string, unknown>, done), done)
    // At rest, nothing is written.
    await clock.advance(3_600_000)
    const later = await cluster.client.get(kind, { name: 'web', namespace: 'default' })
    assert.equal(later.metadata.resourceVersion, at.metadata.resourceVersion, keyOf(at))
    if (!failed) return
    const broken = JSON.parse(JSON.stringify(made('bad')).replace('web:1', 'web:broken')) as UnknownObject
    assert.deepEqual(shown(await statusAfter(broken, 5_100), failed), failed)
  })
}

test('a pod on a node has time to end, and goes once it has', async (t) => {
  const { clock, cluster } = started(t)
  const Pod = builtinKind<UnknownObject>('v1', 'Pod')
  const containers = [{ name: 'web', image: 'web:1' }]
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { ...KEY }, spec: { nodeName: 'n1', containers } }
  await cluster.client.create(Pod, pod)
  await clock.advance(2_000)
  await cluster.client.delete(Pod, KEY)
  await clock.advance(2_000)
  await assert.rejects(cluster.client.get(Pod, KEY), /pods "web" not found/)
})
