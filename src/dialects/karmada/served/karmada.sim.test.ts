/** Karmada's policies on a simulated fleet: Deployments of the hub on clusters, and their sum on the hub. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { findCondition } from '../../../core/conditions.ts'
import { isApiError } from '../../../core/errors.ts'
import { Deployment } from '../../../kinds/builtin/apps.ts'
import { builtinKind } from '../../../kinds/builtin/kind-table.ts'
import { ConfigMap, Namespace } from '../../../kinds/builtin/core.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { ClusterSetBinding } from '../../../kinds/native/cluster-set-binding.ts'
import { ClusterSet } from '../../../kinds/native/cluster-set.ts'
import { Delivery } from '../../../kinds/native/delivery.ts'
import { Project } from '../../../kinds/native/project.ts'
import { shrinkTokenIn } from '../../../plan/placement/shrink-guard.ts'
import { startFleet, untilAnswered } from '../../../sim/fleet/fleet.ts'
import type { Fleet } from '../../../sim/fleet/fleet.ts'
import type { World } from '../../../sim/kernel/world.ts'
import { isOffline, listStored, recheckOnWrite } from '../../../testing/simulation/fleet-invariants.ts'
import { simulate } from '../../../testing/simulation/run-seeds.ts'
import { retryUntilAccepted } from '../../../testing/simulation/until-accepted.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { WorkloadRebalancer } from '../rebalance/kinds.ts'
import { ClusterTaintPolicy } from '../taints/kinds.ts'
import { KarmadaClusterFace, OverridePolicy, PropagationPolicy, ResourceBinding } from './kinds.ts'
import type { ServedBinding } from './kinds.ts'
import { KarmadaWork } from './work-projection.ts'

const WITHIN = { withinMs: 3_600_000 }
const PERSON = { fieldManager: 'person', force: true }
const NAMESPACE = 'shop'

type Written = [kind: Kind, name: string, fields: object]

async function apply(world: World, { client }: Fleet, ...[kind, name, fields]: Written): Promise<void> {
  const metadata = kind.scope === 'Namespaced' ? { name, namespace: NAMESPACE } : { name }
  const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata, ...fields }
  await retryUntilAccepted(world, `${kind.kind} ${name}`, () => client.apply(kind, object, PERSON))
}

/** A fleet with the namespace, and with a Project of it unless that is asked otherwise. */
async function start(world: World, clusters = 3, { hasProject = true } = {}): Promise<Fleet> {
  const fleet = await startFleet(world, { clusters, dialects: ['karmada'] })
  const areReady = async () =>
    (await listStored(fleet.hubStore, KarmadaClusterFace)).filter((face) =>
      says(face as never, 'Ready').startsWith('True'),
    ).length === clusters
  await world.runUntil(recheckOnWrite(fleet.hubStore, areReady), { ...WITHIN, what: 'the clusters are ready' })
  await apply(world, fleet, Namespace, NAMESPACE, {})
  if (hasProject) await allow(world, fleet)
  return fleet
}

async function allow(world: World, { client }: Fleet): Promise<void> {
  await retryUntilAccepted(world, 'project', async () => {
    const present = await client.get(Project, { name: 'default' })
    await client.update(Project, { ...present, spec: { ...present.spec, namespaces: ['default', NAMESPACE] } })
  })
}

const labels = { app: 'web' }
const web = (replicas: number, container: object = {}, pod: object = {}) => ({
  spec: {
    replicas,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { ...pod, containers: [{ name: 'web', image: 'registry.example/web:1.0', ...container }] },
    },
  },
})

const selects = (kind: string, apiVersion = 'apps/v1', name = 'web') => ({ apiVersion, kind, name })
const weights = (...numbers: number[]) => ({
  replicaSchedulingType: 'Divided',
  replicaDivisionPreference: 'Weighted',
  weightPreference: {
    staticWeightList: numbers.map((weight, index) => ({
      targetCluster: { clusterNames: [`store-${index + 1}`] },
      weight,
    })),
  },
})
const policy = (placement: object, more: object = {}) => ({
  spec: { resourceSelectors: [selects('Deployment')], placement, ...more },
})

async function bindingOf({ hubStore }: Fleet, name = 'web-deployment'): Promise<ServedBinding | undefined> {
  return (await listStored(hubStore, ResourceBinding)).find(({ metadata }) => metadata.name === name)
}

async function hubDeployment({ hubStore }: Fleet): Promise<Deployment | undefined> {
  return (await listStored(hubStore, Deployment))[0]
}

async function until(world: World, fleet: Fleet, what: string, holds: () => Promise<boolean>): Promise<void> {
  try {
    await world.runUntil(recheckOnWrite(fleet.hubStore, holds), { ...WITHIN, what })
  } catch (caught) {
    const seen = [
      await bindingOf(fleet),
      (await hubDeployment(fleet))?.status,
      (await listStored(fleet.hubStore, Delivery))[0],
    ]
    throw new Error(`${what}: ${JSON.stringify(seen)}`, { cause: caught })
  }
}

const says = (binding: ServedBinding | undefined, type: string): string => {
  const { status, reason } = findCondition(binding?.status?.conditions, type) ?? {}
  return `${status} ${reason}`
}

/** Lets the change through that the guard holds: the token in the condition, on the object. */
async function releaseDrop(world: World, fleet: Fleet): Promise<void> {
  const isHeld = async () => says(await bindingOf(fleet), 'Scheduled') === 'False DropHeld'
  await until(world, fleet, 'held', isHeld)
  const { message = '' } = findCondition((await bindingOf(fleet))?.status?.conditions, 'Scheduled') ?? {}
  const annotations = { 'flotilla.dev/release-drop': shrinkTokenIn(message)! }
  const patch = { type: 'merge', body: { metadata: { annotations } } } as const
  await retryUntilAccepted(world, 'release', () =>
    fleet.client.patch(Deployment, { namespace: NAMESPACE, name: 'web' }, patch),
  )
}

/** Replicas, or the first image, of the Deployment on each cluster. */
async function onClusters<T>({ members }: Fleet, read: (deployment: Deployment) => T): Promise<(T | undefined)[]> {
  return Promise.all(
    members.map(async ({ store }) => {
      const found = (await listStored(store, Deployment)).find(({ metadata }) => metadata.name === 'web')
      return found && read(found)
    }),
  )
}
const replicasOn = (fleet: Fleet) => onClusters(fleet, ({ spec }) => spec.replicas)

const isReady = async (fleet: Fleet, count: number): Promise<boolean> => {
  const deployment = await hubDeployment(fleet)
  return (
    deployment?.status?.readyReplicas === count &&
    deployment.status.observedGeneration === deployment.metadata.generation
  )
}

const once = (scenario: (world: World) => Promise<void>) => simulate(scenario, { seeds: 1 })

describe('a Deployment of the hub', () => {
  test('of 10 replicas is divided 2:1:1, runs on the clusters, and its sum is on the hub', async () => {
    await once(async (world) => {
      const fleet = await start(world)
      await apply(world, fleet, PropagationPolicy, 'web', policy({ replicaScheduling: weights(2, 1, 1) }))
      await apply(world, fleet, Deployment, 'web', web(10))
      await until(world, fleet, 'ready', () => isReady(fleet, 10))
      const [first, ...others] = (await replicasOn(fleet)) as [number, number, number]
      assert.equal(first, 5)
      assert.deepEqual(others.toSorted(), [2, 3])
      await until(
        world,
        fleet,
        'applied',
        async () => says(await bindingOf(fleet), 'FullyApplied') === 'True FullyAppliedSuccess',
      )
      const binding = await bindingOf(fleet)
      assert.equal(says(binding, 'Scheduled'), 'True Success')
      assert.deepEqual(
        binding?.status?.aggregatedStatus?.map(({ clusterName, applied, health, status }) => [
          clusterName,
          applied,
          health,
          status?.['readyReplicas'],
        ]),
        [
          ['store-1', true, 'Healthy', 5],
          ['store-2', true, 'Healthy', others[0]],
          ['store-3', true, 'Healthy', others[1]],
        ],
      )
      assert.equal((await listStored(fleet.hubStore, Delivery)).length, 1, 'one object, not one per cluster')
      const { items } = await untilAnswered(world, () => fleet.client.list(KarmadaWork, {}))
      assert.deepEqual(
        items.map(({ metadata }) => [metadata.namespace, metadata.name]),
        [1, 2, 3].map((nth) => [`karmada-es-store-${nth}`, 'shop.web-deployment']),
      )
      const key = { namespace: 'karmada-es-store-2', name: 'shop.web-deployment' }
      const work = (await untilAnswered(world, () => fleet.client.get(KarmadaWork, key))) as never
      assert.equal(says(work, 'Applied'), 'True AppliedSuccessful')
      const elsewhere = await untilAnswered(world, () => fleet.client.list(KarmadaWork, { namespace: NAMESPACE }))
      assert.deepEqual(elsewhere.items, [])
      const faces = await listStored(fleet.hubStore, KarmadaClusterFace)
      assert.deepEqual(
        faces.map((face) => [face.metadata.name, face.spec.syncMode, says(face as never, 'Ready')]),
        [1, 2, 3].map((nth) => [`store-${nth}`, 'Pull', 'True ClusterReady']),
      )
    })
  })

  test('follows each change: replicas, image and weights, and stays where a change of it is none', async () => {
    await once(async (world) => {
      const fleet = await start(world, 2)
      await apply(world, fleet, PropagationPolicy, 'web', policy({ replicaScheduling: weights(1, 1) }))
      await apply(world, fleet, Deployment, 'web', web(4))
      await until(world, fleet, 'ready', () => isReady(fleet, 4))
      await apply(world, fleet, Deployment, 'web', web(6, { image: 'registry.example/web:1.1' }))
      await until(world, fleet, 'ready again', () => isReady(fleet, 6))
      assert.deepEqual(await replicasOn(fleet), [3, 3])
      assert.deepEqual(await onClusters(fleet, ({ spec }) => spec.template.spec?.containers?.[0]?.image), [
        'registry.example/web:1.1',
        'registry.example/web:1.1',
      ])
      await apply(world, fleet, PropagationPolicy, 'web', policy({ replicaScheduling: weights(2, 1) }))
      await until(world, fleet, 'weights', async () => (await replicasOn(fleet)).join() === '4,2')
      await apply(world, fleet, Deployment, 'web', web(0))
      await until(world, fleet, 'stopped', async () => (await replicasOn(fleet)).join() === '0,0')
      await world.run(600_000)
      const before = (await bindingOf(fleet))?.metadata.resourceVersion
      await world.run(600_000)
      assert.equal((await bindingOf(fleet))?.metadata.resourceVersion, before, 'nothing is written at rest')
    })
  })

  test('changed is never shown as observed before each cluster has the change', async () => {
    await once(async (world) => {
      const fleet = await start(world, 2)
      await apply(world, fleet, PropagationPolicy, 'web', policy({}))
      await apply(world, fleet, Deployment, 'web', web(1))
      const applied = async () => says(await bindingOf(fleet), 'FullyApplied').startsWith('True')
      await until(world, fleet, 'ready', async () => (await isReady(fleet, 2)) && (await applied()))
      await apply(world, fleet, Deployment, 'web', web(1, { image: 'registry.example/web:1.1' }))
      const early: string[] = []
      const isThere = async () => {
        const images = await onClusters(fleet, ({ spec }) => spec.template.spec?.containers?.[0]?.image)
        const isOnAll = images.every((image) => image?.endsWith(':1.1'))
        if (!isOnAll && (await isReady(fleet, 2))) early.push(`observed, with ${images.join()}`)
        return isOnAll && (await isReady(fleet, 2)) && (await applied())
      }
      await until(world, fleet, 'ready again', isThere)
      assert.deepEqual(early, [])
    })
  })

  test('of a namespace without a Project runs nowhere and says so, also in the namespace of a cluster', async () => {
    await once(async (world) => {
      const fleet = await start(world, 1, { hasProject: false })
      await apply(world, fleet, PropagationPolicy, 'web', policy({}))
      await apply(world, fleet, Deployment, 'web', web(1))
      const refused = async () => says(await bindingOf(fleet), 'Admitted') === 'False ProjectRefuses'
      await until(world, fleet, 'refused', refused)
      const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'store-1' } }
      await retryUntilAccepted(world, 'namespace', () => fleet.client.apply(Namespace, own, PERSON))
      for (const [kind, fields] of [
        [PropagationPolicy, policy({})],
        [Deployment, web(1)],
      ] as const) {
        const object = {
          apiVersion: apiVersionOf(kind),
          kind: kind.kind,
          metadata: { name: 'web', namespace: 'store-1' },
          ...fields,
        } as KubeObject
        await retryUntilAccepted(world, 'own', () => fleet.client.apply(kind, object, PERSON))
      }
      await world.run(600_000)
      assert.deepEqual(await listStored(fleet.hubStore, Delivery), [])
      assert.deepEqual(await replicasOn(fleet), [undefined])
      await allow(world, fleet)
      await until(world, fleet, 'allowed', () => isReady(fleet, 1))
    })
  })

  test('has overrides on the clusters that they name, and an override that breaks concerns its cluster alone', async () => {
    await once(async (world) => {
      const fleet = await start(world, 2)
      const overriders = { imageOverrider: [{ component: 'Registry', operator: 'replace', value: 'mirror.example' }] }
      const rule = (name: string, changes: object) => ({ targetCluster: { clusterNames: [name] }, overriders: changes })
      await apply(world, fleet, OverridePolicy, 'mirror', {
        spec: { resourceSelectors: [selects('Deployment')], overrideRules: [rule('store-2', overriders)] },
      })
      await apply(world, fleet, PropagationPolicy, 'web', policy({}))
      await apply(world, fleet, Deployment, 'web', web(1))
      await until(world, fleet, 'ready', () => isReady(fleet, 2))
      const images = () => onClusters(fleet, ({ spec }) => spec.template.spec?.containers?.[0]?.image)
      assert.deepEqual(await images(), ['registry.example/web:1.0', 'mirror.example/web:1.0'])
      const broken = { plaintext: [{ path: '/spec/nowhere/x', operator: 'replace', value: 1 }] }
      await apply(world, fleet, OverridePolicy, 'mirror', {
        spec: {
          resourceSelectors: [selects('Deployment')],
          overrideRules: [rule('store-2', overriders), rule('store-1', broken)],
        },
      })
      const problem = async () => {
        const [item] = (await bindingOf(fleet))?.status?.aggregatedStatus ?? []
        return item?.applied === false && /overrides cannot be applied/.test(item.appliedMessage ?? '')
      }
      await until(world, fleet, 'problem', problem)
      assert.deepEqual(await images(), ['registry.example/web:1.0', 'mirror.example/web:1.0'], 'what runs stays')
    })
  })

  test('deleted goes from the clusters; its namespace on the hub keeps it until it is gone', async () => {
    await once(async (world) => {
      const fleet = await start(world, 2)
      await apply(world, fleet, PropagationPolicy, 'web', policy({}))
      await apply(world, fleet, Deployment, 'web', web(1))
      await until(world, fleet, 'ready', () => isReady(fleet, 2))
      await retryUntilAccepted(world, 'delete', () =>
        fleet.client.delete(Deployment, { namespace: NAMESPACE, name: 'web' }).catch((caught: unknown) => {
          if (!isApiError(caught, 'NotFound')) throw caught
        }),
      )
      await until(world, fleet, 'gone', async () => (await hubDeployment(fleet)) === undefined)
      assert.deepEqual(await replicasOn(fleet), [undefined, undefined])
      assert.deepEqual(await listStored(fleet.hubStore, Delivery), [])
      assert.deepEqual(await listStored(fleet.hubStore, ResourceBinding), [])
    })
  })

  test('of the page runs as the page says', async () => {
    await once(async (world) => {
      const fleet = await start(world)
      const page = readFileSync(new URL('../../../../docs/dialects/karmada.md', import.meta.url), 'utf8')
      const text = page.slice(page.indexOf('<!-- karmada-tutorial -->')).split('```')[1]!.replace('yaml', '')
      for (const { value } of readYaml(text.replaceAll('member', 'store-'))) {
        const object = value as KubeObject
        const kind = [PropagationPolicy, Deployment].find((one) => one.kind === object.kind) as Kind
        await retryUntilAccepted(world, object.kind, () => fleet.client.apply(kind, object, PERSON))
      }
      await until(world, fleet, 'ready', () => isReady(fleet, 10))
      assert.equal((await replicasOn(fleet))[0], 5)
    })
  })

  test('without a policy runs nowhere', async () => {
    await once(async (world) => {
      const fleet = await start(world, 1)
      await apply(world, fleet, Deployment, 'web', web(1))
      await world.run(600_000)
      const deployment = await hubDeployment(fleet)
      assert.deepEqual([deployment?.metadata.finalizers, deployment?.status], [undefined, {}])
      assert.deepEqual(await replicasOn(fleet), [undefined])
    })
  })
})

/** The data of a ConfigMap on each cluster. */
async function configOn({ members }: Fleet, name: string): Promise<(string | undefined)[]> {
  return Promise.all(
    members.map(async ({ store }) => {
      const found = (await listStored(store, ConfigMap)).find(({ metadata }) => metadata.name === name)
      return found?.data?.['value']
    }),
  )
}

async function remove(world: World, { client }: Fleet, kind: Kind, name: string): Promise<void> {
  await retryUntilAccepted(world, `delete ${name}`, () =>
    client.delete(kind, { namespace: NAMESPACE, name }).catch((caught: unknown) => {
      if (!isApiError(caught, 'NotFound')) throw caught
    }),
  )
}

describe('what follows, stays and waits', () => {
  test('a ConfigMap follows the workloads that name it, through changes, and goes with the last of them', async () => {
    await once(async (world) => {
      const fleet = await start(world, 2)
      const uses = { envFrom: [{ configMapRef: { name: 'settings' } }] }
      const on = (...clusterNames: string[]) => ({ clusterAffinity: { clusterNames } })
      await apply(world, fleet, PropagationPolicy, 'web', policy(on('store-2'), { propagateDeps: true }))
      await apply(world, fleet, Deployment, 'web', web(1, uses))
      await until(world, fleet, 'ready', () => isReady(fleet, 1))
      await apply(world, fleet, ConfigMap, 'settings', { data: { value: '1' } })
      await until(world, fleet, 'followed', async () => (await configOn(fleet, 'settings'))[1] === '1')
      assert.deepEqual(await configOn(fleet, 'settings'), [undefined, '1'])
      const attached = await bindingOf(fleet, 'settings-configmap')
      assert.deepEqual(attached?.spec.requiredBy, [
        { namespace: NAMESPACE, name: 'web-deployment', clusters: [{ name: 'store-2' }] },
      ])
      await apply(world, fleet, PropagationPolicy, 'web', policy(on('store-1', 'store-2'), { propagateDeps: true }))
      await apply(world, fleet, ConfigMap, 'settings', { data: { value: '2' } })
      await until(world, fleet, 'everywhere', async () => (await configOn(fleet, 'settings')).join() === '2,2')
      await apply(world, fleet, Deployment, 'web', web(1))
      await until(world, fleet, 'gone', async () => (await configOn(fleet, 'settings')).join() === ',')
      const stored = (await listStored(fleet.hubStore, ConfigMap)).find(({ metadata }) => metadata.name === 'settings')
      assert.equal(stored?.data?.['value'], '2', 'it stays on the hub')
      const isFree = async () =>
        (await listStored(fleet.hubStore, ConfigMap)).every(({ metadata }) => (metadata.finalizers ?? []).length === 0)
      await until(world, fleet, 'free', isFree)
    })
  })

  test('goes to no cluster of a set that its namespace is not bound to, and stays where it was allowed before', async () => {
    await once(async (world) => {
      const fleet = await start(world, 2)
      const { client } = fleet
      const put = (kind: Kind, object: object) =>
        retryUntilAccepted(world, kind.kind, () =>
          client.apply(kind, { apiVersion: apiVersionOf(kind), kind: kind.kind, ...object } as KubeObject, PERSON),
        )
      const stored = (await listStored(fleet.hubStore, Cluster)).find(({ metadata }) => metadata.name === 'store-2')!
      const { name } = stored.metadata
      await put(Cluster, { metadata: { name, labels: { 'flotilla.dev/cluster-set': 'guarded' } } })
      await put(ClusterSet, { metadata: { name: 'guarded' }, spec: { access: 'Bound' } })
      await apply(world, fleet, PropagationPolicy, 'web', policy({}))
      await apply(world, fleet, Deployment, 'web', web(1))
      await until(world, fleet, 'ready', () => isReady(fleet, 1))
      await world.run(600_000)
      assert.deepEqual(await replicasOn(fleet), [1, undefined])
      await apply(world, fleet, ClusterSetBinding, 'guarded', { spec: { clusterSet: 'guarded' } })
      await until(world, fleet, 'bound', () => isReady(fleet, 2))
      await remove(world, fleet, ClusterSetBinding, 'guarded')
      await apply(world, fleet, Deployment, 'web', web(2))
      await until(world, fleet, 'the other', async () => (await replicasOn(fleet))[0] === 2)
      await world.run(600_000)
      assert.deepEqual(await replicasOn(fleet), [2, 1])
      const item = (await bindingOf(fleet))?.status?.aggregatedStatus?.[1]
      assert.deepEqual([item?.applied, /does not allow this cluster/.test(item?.appliedMessage ?? '')], [false, true])
    })
  })

  test('deleted with preserveResourcesOnDeletion goes from the hub alone', async () => {
    await once(async (world) => {
      const fleet = await start(world, 2)
      await apply(world, fleet, PropagationPolicy, 'web', policy({}, { preserveResourcesOnDeletion: true }))
      await apply(world, fleet, Deployment, 'web', web(1))
      await until(world, fleet, 'ready', () => isReady(fleet, 2))
      await remove(world, fleet, Deployment, 'web')
      await until(world, fleet, 'gone', async () => (await hubDeployment(fleet)) === undefined)
      await world.run(600_000)
      assert.deepEqual(await replicasOn(fleet), [1, 1])
      assert.deepEqual(await listStored(fleet.hubStore, Delivery), [])
    })
  })

  test('a policy that is deleted, and an object that vanishes without a deletion, remove nothing', async () => {
    await once(async (world) => {
      const fleet = await start(world, 1)
      await apply(world, fleet, PropagationPolicy, 'web', policy({}))
      await apply(world, fleet, Deployment, 'web', web(1))
      await until(world, fleet, 'ready', () => isReady(fleet, 1))
      await remove(world, fleet, PropagationPolicy, 'web')
      await world.run(600_000)
      assert.deepEqual(await replicasOn(fleet), [1])
      assert.deepEqual((await bindingOf(fleet))?.metadata.labels ?? {}, {})
      // As after a restore from a backup without the object.
      const key = `/apps/deployments/${NAMESPACE}/web`
      const entry = await fleet.hubStore.get(key)
      await fleet.hubStore.commit({ key, expect: entry!.modRevision, value: undefined })
      const missing = async () => says(await bindingOf(fleet), 'Scheduled') === 'False TemplateNotFound'
      await until(world, fleet, 'missing', missing)
      await world.run(600_000)
      assert.deepEqual(await replicasOn(fleet), [1])
    })
  })

  test('deleted while dispatching is suspended stays where its policy has come to preserve it', async () => {
    await once(async (world) => {
      const fleet = await start(world, 1)
      await apply(world, fleet, PropagationPolicy, 'web', policy({}))
      await apply(world, fleet, Deployment, 'web', web(1))
      await until(world, fleet, 'ready', () => isReady(fleet, 1))
      const leaving = { suspension: { dispatching: true }, preserveResourcesOnDeletion: true }
      await apply(world, fleet, PropagationPolicy, 'web', policy({}, leaving))
      const isTaken = async () => (await bindingOf(fleet))?.spec.preserveResourcesOnDeletion === true
      await until(world, fleet, 'preserved', isTaken)
      await remove(world, fleet, Deployment, 'web')
      await until(world, fleet, 'gone', async () => (await hubDeployment(fleet)) === undefined)
      await world.run(600_000)
      assert.deepEqual(await replicasOn(fleet), [1])
    })
  })

  test('a ConfigMap stays where the copy of its workload stays, and where the workload vanished', async () => {
    await once(async (world) => {
      const fleet = await start(world, 2)
      const uses = { envFrom: [{ configMapRef: { name: 'settings' } }] }
      const on = (...clusterNames: string[]) => ({ clusterAffinity: { clusterNames } })
      const moving = { propagateDeps: true, failover: { cluster: { purgeMode: 'Gracefully' } } }
      await apply(world, fleet, ConfigMap, 'settings', { data: { value: '1' } })
      await apply(world, fleet, PropagationPolicy, 'web', policy(on('store-1'), moving))
      await apply(world, fleet, Deployment, 'web', web(1, uses))
      await until(world, fleet, 'ready', () => isReady(fleet, 1))
      await until(world, fleet, 'followed', async () => (await configOn(fleet, 'settings'))[0] === '1')
      // The new copy cannot become healthy: its agent is gone.
      fleet.members[1]!.agent.kill()
      await apply(world, fleet, PropagationPolicy, 'web', policy(on('store-2'), moving))
      await releaseDrop(world, fleet)
      const isLeaving = async () => (await bindingOf(fleet))?.spec.gracefulEvictionTasks?.length === 1
      await until(world, fleet, 'leaving', isLeaving)
      await world.run(120_000)
      assert.deepEqual([(await replicasOn(fleet))[0], (await configOn(fleet, 'settings'))[0]], [1, '1'])
      await apply(world, fleet, PropagationPolicy, 'web', policy(on('store-1', 'store-2'), moving))
      await world.run(120_000)
      // As after a restore from a backup without the workload.
      const key = `/apps/deployments/${NAMESPACE}/web`
      const entry = await fleet.hubStore.get(key)
      await fleet.hubStore.commit({ key, expect: entry!.modRevision, value: undefined })
      await until(world, fleet, 'missing', async () =>
        says(await bindingOf(fleet), 'Scheduled').endsWith('TemplateNotFound'),
      )
      await apply(world, fleet, ConfigMap, 'settings', { data: { value: '2' } })
      await world.run(600_000)
      assert.deepEqual([(await replicasOn(fleet))[0], (await configOn(fleet, 'settings'))[0]], [1, '2'])
    })
  })

  test('a policy that suspends dispatching holds content back, on all clusters or on some, and shows the status', async () => {
    await once(async (world) => {
      const fleet = await start(world, 2)
      await apply(world, fleet, PropagationPolicy, 'web', policy({}))
      await apply(world, fleet, Deployment, 'web', web(1))
      await until(world, fleet, 'ready', () => isReady(fleet, 2))
      const suspend = async (suspension: object) =>
        apply(world, fleet, PropagationPolicy, 'web', policy({}, { suspension }))
      await suspend({ dispatchingOnClusters: { clusterNames: ['store-1'] } })
      await until(world, fleet, 'suspended', async () => (await bindingOf(fleet))?.spec.suspension !== undefined)
      await apply(world, fleet, Deployment, 'web', web(2))
      await until(world, fleet, 'the other', async () => (await replicasOn(fleet)).join() === '1,2')
      await suspend({ dispatching: true })
      const isWhole = async () => (await bindingOf(fleet))?.spec.suspension?.dispatching === true
      await until(world, fleet, 'suspended whole', isWhole)
      await apply(world, fleet, Deployment, 'web', web(3))
      await world.run(600_000)
      assert.deepEqual(await replicasOn(fleet), [1, 2])
      const items = (await bindingOf(fleet))?.status?.aggregatedStatus ?? []
      assert.match(items[0]?.appliedMessage ?? '', /suspended/)
      await apply(world, fleet, PropagationPolicy, 'web', policy({}))
      await until(world, fleet, 'resumed', async () => (await replicasOn(fleet)).join() === '3,3')
    })
  })
})

describe('what a person has not asked for', () => {
  const label = async (world: World, { client }: Fleet, name: string, tier: string) =>
    retryUntilAccepted(world, `label ${name}`, () =>
      client.patch(Cluster, { name }, { type: 'merge', body: { metadata: { labels: { tier } } } }),
    )
  const inShop = {
    clusterAffinity: { labelSelector: { matchLabels: { tier: 'shop' } } },
    spreadConstraints: [{ spreadByField: 'cluster', minGroups: 1, maxGroups: 1 }],
  }

  test('a label that takes an object from its clusters is held; a release lets exactly that through', async () => {
    await once(async (world) => {
      const fleet = await start(world, 2)
      for (const nth of [1, 2]) await label(world, fleet, `store-${nth}`, 'shop')
      await apply(world, fleet, PropagationPolicy, 'web', policy(inShop))
      await apply(world, fleet, Deployment, 'web', web(2))
      await until(world, fleet, 'ready', () => isReady(fleet, 2))
      const [target] = (await bindingOf(fleet))?.spec.clusters ?? []
      await label(world, fleet, target!.name, 'office')
      const isHeld = async () => says(await bindingOf(fleet), 'Scheduled') === 'False DropHeld'
      await until(world, fleet, 'held', isHeld)
      await apply(world, fleet, Deployment, 'web', web(3))
      await until(world, fleet, 'followed', () => isReady(fleet, 3))
      await world.run(600_000)
      const at = (nth: number) => (target!.name === `store-${nth}` ? 3 : undefined)
      assert.deepEqual(await replicasOn(fleet), [at(1), at(2)], 'it stays where it was, and is on no other cluster')
      await releaseDrop(world, fleet)
      await until(world, fleet, 'moved', async () => (await replicasOn(fleet)).join() === [at(2), at(1)].join())
      const annotations = (await onClusters(fleet, ({ metadata }) => metadata.annotations ?? {})).filter(Boolean)
      assert.deepEqual(
        annotations.map((one) => one?.['flotilla.dev/release-drop']),
        [undefined],
        'the token stays on the hub',
      )
    })
  })

  test('a policy that comes to name other clusters is held, and undone without a release', async () => {
    await once(async (world) => {
      const fleet = await start(world)
      const on = (...clusterNames: string[]) => policy({ clusterAffinity: { clusterNames } })
      await apply(world, fleet, PropagationPolicy, 'web', on('store-1', 'store-2'))
      await apply(world, fleet, Deployment, 'web', web(1))
      await until(world, fleet, 'ready', () => isReady(fleet, 2))
      await apply(world, fleet, PropagationPolicy, 'web', on('store-3'))
      const isHeld = async () => says(await bindingOf(fleet), 'Scheduled') === 'False DropHeld'
      await until(world, fleet, 'held', isHeld)
      await world.run(600_000)
      assert.deepEqual(await replicasOn(fleet), [1, 1, undefined])
      await apply(world, fleet, PropagationPolicy, 'web', on('store-1', 'store-2'))
      await until(world, fleet, 'undone', async () => says(await bindingOf(fleet), 'Scheduled') === 'True Success')
      assert.deepEqual(await replicasOn(fleet), [1, 1, undefined])
    })
  })

  test('an edit that is not valid leaves the last valid one in force, for objects that come later, too', async () => {
    await once(async (world) => {
      const fleet = await start(world, 2)
      const valid = { clusterAffinity: { clusterNames: ['store-1'] } }
      const selectors = [{ apiVersion: 'apps/v1', kind: 'Deployment' }, selects('ConfigMap', 'v1', 'late')]
      const edit = async (placement: object) =>
        apply(world, fleet, PropagationPolicy, 'web', { spec: { resourceSelectors: selectors, placement } })
      await edit(valid)
      await apply(world, fleet, Deployment, 'web', web(1))
      await until(world, fleet, 'ready', () => isReady(fleet, 1))
      await apply(world, fleet, PropagationPolicy, 'other', policy({ clusterAffinity: { clusterNames: ['store-2'] } }))
      await edit({ ...valid, clusterAffinities: [{ affinityName: 'a', clusterNames: ['store-2'] }] })
      const shown = async () => {
        const stored = await listStored(fleet.hubStore, PropagationPolicy)
        const one = stored.find(({ metadata }) => metadata.name === 'web')
        return findCondition(one?.status?.conditions, 'Accepted')?.message ?? ''
      }
      await until(world, fleet, 'said', async () => /generation 1 of it stays in force/.test(await shown()))
      await apply(world, fleet, ConfigMap, 'late', { data: { value: '1' } })
      await until(world, fleet, 'late', async () => (await configOn(fleet, 'late'))[0] === '1')
      await world.run(600_000)
      assert.deepEqual(await replicasOn(fleet), [1, undefined])
      assert.equal((await bindingOf(fleet))?.metadata.annotations?.['propagationpolicy.karmada.io/name'], 'web')
    })
  })
})

describe('a division by free resources', () => {
  const dynamic = {
    replicaSchedulingType: 'Divided',
    replicaDivisionPreference: 'Weighted',
    weightPreference: { dynamicWeight: 'AvailableReplicas' },
  }
  const NODE = builtinKind('v1', 'Node') as Kind<KubeObject & { spec?: object; status?: object }>
  const addNode = async (world: World, { members }: Fleet, nth: number, cpu: string): Promise<void> => {
    const conditions = [{ type: 'Ready', status: 'True', reason: 'x', message: 'x' }]
    const status = { allocatable: { cpu, memory: '64Gi', pods: '110' }, conditions }
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } }
    const { client } = members[nth]!
    await retryUntilAccepted(world, 'node', () => client.create(NODE, node))
    const patch = { type: 'merge', body: { status } } as const
    await retryUntilAccepted(world, 'status', () => client.patch(NODE, { name: 'n' }, patch, { subresource: 'status' }))
  }
  const asked = async ({ hubStore }: Fleet) =>
    (await listStored(hubStore, Cluster)).filter(({ spec }) => spec.capacityAskedAt !== undefined).length
  const cores = (cpu: string) => ({ resources: { requests: { cpu } } })

  test('asks the clusters for them, waits for all that answer, and stops asking when no placement reads them', async () => {
    await once(async (world) => {
      const fleet = await start(world)
      for (const [nth, cpu] of ['40', '20', '10'].entries()) await addNode(world, fleet, nth, cpu)
      await world.run(600_000)
      assert.equal(await asked(fleet), 0, 'the hub asks no cluster before a placement reads free resources')
      await apply(world, fleet, PropagationPolicy, 'web', policy({ replicaScheduling: dynamic }))
      await apply(world, fleet, Deployment, 'web', web(14, cores('1')))
      await until(world, fleet, 'divided', async () => (await replicasOn(fleet)).join() === '8,4,2')
      await until(world, fleet, 'ready', () => isReady(fleet, 14))
      assert.equal(await asked(fleet), 3)
      const faces = await listStored(fleet.hubStore, KarmadaClusterFace)
      assert.deepEqual(
        faces.map(({ status }) => status?.resourceSummary?.allocatable?.['cpu']),
        ['40', '20', '10'],
      )
      const named = { clusterAffinity: { clusterNames: ['store-1'] }, replicaScheduling: dynamic }
      await apply(world, fleet, PropagationPolicy, 'web', policy(named))
      await until(world, fleet, 'asked less', async () => (await asked(fleet)) === 1)
      await apply(world, fleet, PropagationPolicy, 'web', policy({ replicaScheduling: weights(1, 1, 1) }))
      await until(world, fleet, 'asked no more', async () => (await asked(fleet)) === 0)
    })
  })

  test('says that there is no room, and goes on when a cluster gets some', async () => {
    await once(async (world) => {
      const fleet = await start(world)
      for (const nth of [0, 1]) await addNode(world, fleet, nth, '4')
      await apply(world, fleet, PropagationPolicy, 'web', policy({ replicaScheduling: dynamic }))
      await apply(world, fleet, Deployment, 'web', web(12, cores('1')))
      const message = async () =>
        findCondition((await bindingOf(fleet))?.status?.conditions, 'Scheduled')?.message ?? ''
      await until(world, fleet, 'no room', async () => /available replicas 8 are not enough/.test(await message()))
      assert.deepEqual(await replicasOn(fleet), [undefined, undefined, undefined])
      await addNode(world, fleet, 2, '10')
      await until(world, fleet, 'divided', async () => says(await bindingOf(fleet), 'Scheduled') === 'True Success')
      await until(world, fleet, 'ready', () => isReady(fleet, 12))
    })
  })
})

describe('a WorkloadRebalancer', () => {
  test('divides anew once, keeps the copy that goes until the others are healthy, and goes after its time', async () => {
    await once(async (world) => {
      const fleet = await start(world)
      const terms = ['store-1', 'store-2'].map((name) => ({ affinityName: name, clusterNames: [name] }))
      const taint = async (taints: object[]) => {
        const body = { spec: { taints } }
        await retryUntilAccepted(world, 'taint', () =>
          fleet.client.patch(Cluster, { name: 'store-1' }, { type: 'merge', body }),
        )
      }
      await taint([{ key: 'repair', effect: 'NoSelect' }])
      await apply(world, fleet, PropagationPolicy, 'web', policy({ clusterAffinities: terms }))
      await apply(world, fleet, Deployment, 'web', web(2))
      await until(world, fleet, 'second term', () => isReady(fleet, 2))
      assert.deepEqual(await replicasOn(fleet), [undefined, 2, undefined])
      await taint([])
      await world.run(600_000)
      assert.deepEqual(await replicasOn(fleet), [undefined, 2, undefined], 'nothing moves back by itself')
      const workloads = [
        { ...selects('Deployment'), namespace: NAMESPACE },
        { ...selects('Deployment', 'apps/v1', 'other'), namespace: NAMESPACE },
      ]
      await apply(world, fleet, WorkloadRebalancer, 'back', { spec: { workloads } })
      let tasks = 0
      await until(world, fleet, 'moved', async () => {
        tasks = Math.max(tasks, (await bindingOf(fleet))?.spec.gracefulEvictionTasks?.length ?? 0)
        return (await replicasOn(fleet)).join() === '2,,'
      })
      assert.equal(tasks, 1, 'the old copy was kept for a while')
      const results = async () =>
        (await listStored(fleet.hubStore, WorkloadRebalancer)).flatMap(({ status }) =>
          (status?.observedWorkloads ?? []).map(({ result }) => result),
        )
      assert.deepEqual(await results(), ['Successful', 'Failed'])
      const before = (await bindingOf(fleet))?.metadata.generation
      await world.run(600_000)
      assert.equal((await bindingOf(fleet))?.metadata.generation, before, 'it is asked once')
      await apply(world, fleet, WorkloadRebalancer, 'back', {
        spec: { workloads: workloads.slice(0, 1), ttlSecondsAfterFinished: 60 },
      })
      const isGone = async () => (await listStored(fleet.hubStore, WorkloadRebalancer)).length === 0
      await until(world, fleet, 'gone', isGone)
    })
  })
})

test('a ClusterTaintPolicy taints a cluster while its conditions match, and new content goes elsewhere', async () => {
  await once(async (world) => {
    const fleet = await start(world)
    const taints = [{ key: 'not-ready', effect: 'NoSchedule' }]
    const rule = (operator: string) => [{ conditionType: 'Ready', operator, statusValues: ['True'] }]
    await apply(world, fleet, ClusterTaintPolicy, 'not-ready', {
      spec: { addOnConditions: rule('NotIn'), removeOnConditions: rule('In'), taints },
    })
    const tainted = async () =>
      (await listStored(fleet.hubStore, Cluster)).flatMap(({ metadata, spec }) =>
        spec.taints?.some(({ key }) => key === 'not-ready') ? [metadata.name] : [],
      )
    fleet.members[0]!.agent.kill()
    await until(world, fleet, 'tainted', async () => (await tainted()).join() === 'store-1')
    await apply(world, fleet, PropagationPolicy, 'web', policy({}))
    await apply(world, fleet, Deployment, 'web', web(2))
    await until(world, fleet, 'elsewhere', async () => (await replicasOn(fleet)).join() === ',2,2')
    fleet.members[0]!.agent.start()
    await until(world, fleet, 'everywhere', async () => (await replicasOn(fleet)).join() === '2,2,2')
    assert.deepEqual(await tainted(), [])
  })
})

describe('a cluster that is cut off', () => {
  const moving = { failover: { cluster: { purgeMode: 'Gracefully' } } }
  const cutOff = async (world: World, fleet: Fleet, nth: number) => {
    fleet.members[nth]!.agent.kill()
    const isAway = async () => (await listStored(fleet.hubStore, Cluster)).some(isOffline)
    await until(world, fleet, 'offline', isAway)
  }

  test('keeps its replicas unless the policy asks to move them', async () => {
    await once(async (world) => {
      const fleet = await start(world)
      await apply(world, fleet, PropagationPolicy, 'web', policy({ replicaScheduling: weights(2, 1, 1) }))
      await apply(world, fleet, Deployment, 'web', web(10))
      await until(world, fleet, 'ready', () => isReady(fleet, 10))
      await cutOff(world, fleet, 0)
      await world.run(1_800_000)
      const [target] = (await bindingOf(fleet))?.spec.clusters ?? []
      assert.deepEqual([target?.name, target?.replicas], ['store-1', 5])
      const [item] = (await bindingOf(fleet))?.status?.aggregatedStatus ?? []
      assert.equal(item?.health, 'Unknown')
    })
  })

  test('loses its replicas to the others by the rule of the policy, and gets them back when it has stayed', async () => {
    await once(async (world) => {
      const fleet = await start(world)
      const annotations = { 'karmada.flotilla.dev/fail-back-after': '10m' }
      const rule = policy({ replicaScheduling: weights(2, 1, 1) }, moving)
      const object = {
        apiVersion: apiVersionOf(PropagationPolicy),
        kind: 'PropagationPolicy',
        metadata: { name: 'web', namespace: NAMESPACE, annotations },
        ...rule,
      }
      await retryUntilAccepted(world, 'policy', () => fleet.client.apply(PropagationPolicy, object, PERSON))
      await apply(world, fleet, Deployment, 'web', web(10))
      await until(world, fleet, 'ready', () => isReady(fleet, 10))
      const before = await replicasOn(fleet)
      await cutOff(world, fleet, 0)
      await until(world, fleet, 'moved', async () => (await replicasOn(fleet)).slice(1).join() === '5,5')
      const isSettled = async () => (await bindingOf(fleet))?.spec.gracefulEvictionTasks === undefined
      await until(world, fleet, 'the old copy is given up', isSettled)
      assert.deepEqual(
        (await bindingOf(fleet))?.spec.clusters?.map(({ name, replicas }) => [name, replicas]),
        [
          ['store-2', 5],
          ['store-3', 5],
        ],
      )
      assert.deepEqual((await replicasOn(fleet))[0], 5, 'it cannot be told')
      fleet.members[0]!.agent.start()
      await until(world, fleet, 'moved back', async () => (await replicasOn(fleet)).join() === before.join())
      await until(world, fleet, 'ready again', () => isReady(fleet, 10))
      assert.equal((await bindingOf(fleet))?.metadata.annotations?.['karmada.flotilla.dev/left-clusters'], undefined)
    })
  })

  test('among more than half of the fleet keeps its replicas, and the binding says so', async () => {
    await once(async (world) => {
      const fleet = await start(world)
      await apply(world, fleet, PropagationPolicy, 'web', policy({ replicaScheduling: weights(2, 1, 1) }, moving))
      await apply(world, fleet, Deployment, 'web', web(10))
      await until(world, fleet, 'ready', () => isReady(fleet, 10))
      await cutOff(world, fleet, 0)
      await cutOff(world, fleet, 1)
      const isHeld = async () => says(await bindingOf(fleet), 'Moved') === 'False ManyClustersUnreachable'
      await until(world, fleet, 'held', isHeld)
      assert.equal((await bindingOf(fleet))?.spec.clusters?.length, 3)
    })
  })
})
