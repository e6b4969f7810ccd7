/** ManifestWorkReplicaSets on a simulated fleet: rollouts, works in each namespace of a cluster, and deletion. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findCondition } from '../../../core/conditions.ts'
import { isApiError } from '../../../core/errors.ts'
import { ConfigMap, Namespace } from '../../../kinds/builtin/core.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { ALLOW_DROP_ANNOTATION, Placement } from '../../../kinds/native/placement.ts'
import { Project } from '../../../kinds/native/project.ts'
import { startFleet, untilAnswered } from '../../../sim/fleet/fleet.ts'
import type { Fleet } from '../../../sim/fleet/fleet.ts'
import type { World } from '../../../sim/kernel/world.ts'
import { isOffline, listStored, recheckOnWrite } from '../../../testing/simulation/fleet-invariants.ts'
import { simulate } from '../../../testing/simulation/run-seeds.ts'
import { retryUntilAccepted } from '../../../testing/simulation/until-accepted.ts'
import { ManagedClusterSetBinding, OcmPlacement } from '../kinds.ts'
import { ManifestWork } from '../works/kinds.ts'
import { ManifestWorkReplicaSet } from './kinds.ts'

const WITHIN = { withinMs: 3_600_000 }
const PERSON = { fieldManager: 'person', force: true }
const NAMESPACE = 'shop'
type Written = [
  kind: typeof OcmPlacement | typeof ManagedClusterSetBinding | typeof ManifestWorkReplicaSet,
  name: string,
  spec: object,
]

async function apply(world: World, { client }: Fleet, ...[kind, name, spec]: Written): Promise<void> {
  const object = {
    apiVersion: `${kind.group}/${kind.version}`,
    kind: kind.kind,
    metadata: { name, namespace: NAMESPACE },
    spec,
  }
  await retryUntilAccepted(world, name, () => client.apply(kind as typeof OcmPlacement, object, PERSON))
}

const configMap = (value: string, name = 'web') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data: { value },
})

const spec = (manifests: object[], more: object = {}, strategy: object = { type: 'All' }) => ({
  manifestWorkTemplate: { workload: { manifests }, ...more },
  placementRefs: [{ name: 'all', rolloutStrategy: strategy }],
})

/** A fleet with a namespace in which a Placement selects all clusters. */
async function start(world: World, clusters: number, placement: object = {}): Promise<Fleet> {
  const fleet = await startFleet(world, { clusters, dialects: ['ocm'] })
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }
  await retryUntilAccepted(world, 'namespace', () => fleet.client.apply(Namespace, namespace, PERSON))
  await retryUntilAccepted(world, 'project', async () => {
    const present = await fleet.client.get(Project, { name: 'default' })
    await fleet.client.update(Project, { ...present, spec: { ...present.spec, namespaces: ['default', NAMESPACE] } })
  })
  await apply(world, fleet, ManagedClusterSetBinding, 'global', { clusterSet: 'global' })
  await apply(world, fleet, OcmPlacement, 'all', placement)
  const isDecided = async () =>
    (await listStored(fleet.hubStore, OcmPlacement))[0]?.status?.numberOfSelectedClusters === clusters
  await world.runUntil(recheckOnWrite(fleet.hubStore, isDecided), { ...WITHIN, what: 'the Placement selects all' })
  return fleet
}

async function setOf({ hubStore }: Fleet): Promise<ManifestWorkReplicaSet | undefined> {
  return (await listStored(hubStore, ManifestWorkReplicaSet))[0]
}

async function until(
  world: World,
  fleet: Fleet,
  what: string,
  holds: (set: ManifestWorkReplicaSet | undefined) => boolean,
): Promise<ManifestWorkReplicaSet | undefined> {
  try {
    await world.runUntil(
      recheckOnWrite(fleet.hubStore, async () => holds(await setOf(fleet))),
      { ...WITHIN, what },
    )
  } catch (caught) {
    const set = await setOf(fleet)
    const [bundle] = await listStored(fleet.hubStore, Bundle)
    const seen = [set?.status, bundle?.status?.conditions]
    throw new Error(`${what}: ${JSON.stringify(seen)}`, { cause: caught })
  }
  return await setOf(fleet)
}

const says = (set: ManifestWorkReplicaSet | undefined, type: string): string => {
  const { status, reason, observedGeneration } = findCondition(set?.status?.conditions, type) ?? {}
  return observedGeneration === set?.metadata.generation ? `${status} ${reason}` : 'stale'
}
const isDone = (set: ManifestWorkReplicaSet | undefined): boolean =>
  says(set, 'PlacementRolledOut') === 'True Complete' && says(set, 'ManifestworkApplied') === 'True AsExpected'

async function valuesOn({ members }: Fleet, name = 'web'): Promise<(string | undefined)[]> {
  return Promise.all(
    members.map(async ({ store }) => {
      const found = (await listStored(store, ConfigMap)).find(({ metadata }) => metadata.name === name)
      return found?.data?.['value']
    }),
  )
}

async function remove(world: World, { client }: Fleet): Promise<void> {
  await retryUntilAccepted(world, 'delete', () =>
    client.delete(ManifestWorkReplicaSet, { namespace: NAMESPACE, name: 'web' }).catch((caught: unknown) => {
      if (!isApiError(caught, 'NotFound')) throw caught
    }),
  )
}

describe('a ManifestWorkReplicaSet', () => {
  test('is one Bundle, a work in the namespace of each cluster, and a summary', async () => {
    await simulate(
      async (world) => {
        const fleet = await start(world, 3)
        await apply(world, fleet, ManifestWorkReplicaSet, 'web', spec([configMap('1')]))
        const set = await until(world, fleet, 'rolled out', isDone)
        assert.deepEqual(await valuesOn(fleet), ['1', '1', '1'])
        assert.equal(says(set, 'PlacementVerified'), 'True AsExpected')
        const all = {
          total: 3,
          desiredTotal: 3,
          applied: 3,
          available: 3,
          progressing: 0,
          degraded: 0,
          updated: 3,
        }
        assert.deepEqual(set?.status?.summary, all)
        assert.deepEqual(set?.status?.placementSummary, [{ name: 'all', availableDecisionGroups: '1/1', summary: all }])
        assert.equal((await listStored(fleet.hubStore, Bundle)).length, 1)
        assert.deepEqual(await listStored(fleet.hubStore, ManifestWork), [], 'works are never stored')
        const { items } = await untilAnswered(world, () => fleet.client.list(ManifestWork, { namespace: 'store-2' }))
        assert.deepEqual(
          items.map(({ metadata }) => [metadata.name, metadata.labels]),
          [
            [
              'shop.web.all',
              {
                'work.open-cluster-management.io/manifestworkreplicaset': 'shop.web',
                'work.open-cluster-management.io/placementname': 'all',
              },
            ],
          ],
        )
        assert.deepEqual(items[0]!.spec.workload?.manifests, [configMap('1')])
        assert.equal(findCondition(items[0]!.status?.conditions, 'Available')?.status, 'True')
        assert.equal(items[0]!.status?.resourceStatus?.manifests?.[0]?.resourceMeta.name, 'web')
        const body = { metadata: { labels: { a: 'b' } } }
        const key = { namespace: 'store-2', name: 'shop.web.all' }
        const refusal = await untilAnswered(world, () =>
          fleet.client.patch(ManifestWork, key, { type: 'merge', body }).then(
            () => 'accepted',
            (caught: unknown) => {
              if (!isApiError(caught, 'Invalid')) throw caught
              return caught.message
            },
          ),
        )
        assert.match(refusal, /manifestworkreplicasets?.*web/i)
      },
      { seeds: 1 },
    )
  })

  test('Progressive stops at maxFailures: no further cluster gets a template that fails; a correction goes on', async () => {
    await simulate(
      async (world) => {
        const fleet = await start(world, 4)
        const careful = { type: 'Progressive', progressive: { maxConcurrency: 1, maxFailures: 0 } }
        await apply(world, fleet, ManifestWorkReplicaSet, 'web', spec([configMap('1')], {}, careful))
        await until(world, fleet, 'rolled out', isDone)
        const broken = spec([configMap('2'), configMap('2', 'Not A Name')], {}, careful)
        await apply(world, fleet, ManifestWorkReplicaSet, 'web', broken)
        const stopped = await until(
          world,
          fleet,
          'stopped',
          (set) =>
            says(set, 'ManifestworkApplied') === 'False NotAsExpected' && (set?.status?.summary?.degraded ?? 0) > 0,
        )
        await world.run(1_800_000)
        const values = await valuesOn(fleet)
        assert.equal(values.filter((value) => value === '1').length, 3, `one cluster tries it: ${values.join(' ')}`)
        assert.equal(says(stopped, 'PlacementRolledOut'), 'False Progressing')
        await apply(world, fleet, ManifestWorkReplicaSet, 'web', spec([configMap('3')], {}, careful))
        await until(world, fleet, 'corrected', isDone)
        assert.deepEqual(await valuesOn(fleet), ['3', '3', '3', '3'])
      },
      { seeds: 1 },
    )
  })

  test('ProgressivePerGroup: a mandatory group that fails keeps the template from all other groups', async () => {
    await simulate(
      async (world) => {
        const groups = { clustersPerDecisionGroup: 1 }
        const fleet = await start(world, 3, { decisionStrategy: { groupStrategy: groups } })
        const mandatory = {
          type: 'ProgressivePerGroup',
          progressivePerGroup: { mandatoryDecisionGroups: [{ groupIndex: 1 }], maxFailures: 3 },
        }
        await apply(world, fleet, ManifestWorkReplicaSet, 'web', spec([configMap('1')], {}, mandatory))
        const set = await until(world, fleet, 'rolled out', isDone)
        assert.equal(set?.status?.placementSummary?.[0]?.availableDecisionGroups, '3/3')
        const broken = spec([configMap('2'), configMap('2', 'Not A Name')], {}, mandatory)
        await apply(world, fleet, ManifestWorkReplicaSet, 'web', broken)
        await until(world, fleet, 'failed', (one) => (one?.status?.summary?.degraded ?? 0) > 0)
        await world.run(1_800_000)
        assert.deepEqual(await valuesOn(fleet), ['1', '2', '1'])
      },
      { seeds: 1 },
    )
  })

  test('keeps a cluster that cannot be reached, and takes a cluster that its Placement leaves out', async () => {
    await simulate(
      async (world) => {
        const fleet = await start(world, 3)
        await apply(world, fleet, ManifestWorkReplicaSet, 'web', spec([configMap('1')]))
        await until(world, fleet, 'rolled out', isDone)
        fleet.members[0]!.agent.kill()
        const isAway = async () => (await listStored(fleet.hubStore, Cluster)).filter(isOffline).length === 1
        await world.runUntil(recheckOnWrite(fleet.hubStore, isAway), { ...WITHIN, what: 'offline' })
        await world.run(600_000)
        const [placement] = await listStored(fleet.hubStore, Placement)
        assert.deepEqual(placement?.spec.clusters, ['store-1', 'store-2', 'store-3'])
        fleet.members[0]!.agent.start()
        await world.run(600_000)
        assert.deepEqual(await valuesOn(fleet), ['1', '1', '1'])
        await apply(world, fleet, OcmPlacement, 'all', {
          predicates: [
            {
              requiredClusterSelector: {
                labelSelector: { matchExpressions: [{ key: 'name', operator: 'DoesNotExist' }] },
              },
            },
          ],
        })
        const body = { metadata: { labels: { name: 'three' } } }
        await retryUntilAccepted(world, 'label', () =>
          fleet.client.patch(Cluster, { name: 'store-3' }, { type: 'merge', body }),
        )
        // The cluster would have nothing left: the guard asks, and says how to answer.
        const held = await until(
          world,
          fleet,
          'held',
          (set) => says(set, 'PlacementVerified') === 'False NotAsExpected',
        )
        assert.match(findCondition(held?.status?.conditions, 'PlacementVerified')!.message, /flotilla guard release/)
        const [guarded] = await listStored(fleet.hubStore, Placement)
        const answer = { metadata: { annotations: { [ALLOW_DROP_ANNOTATION]: guarded!.status!.held!.token } } }
        await retryUntilAccepted(world, 'release', () =>
          fleet.client.patch(
            ManifestWorkReplicaSet,
            { namespace: NAMESPACE, name: 'web' },
            { type: 'merge', body: answer },
          ),
        )
        await world.runUntil(async () => (await valuesOn(fleet))[2] === undefined, { ...WITHIN, what: 'taken away' })
        assert.deepEqual(await valuesOn(fleet), ['1', '1', undefined])
      },
      { seeds: 1 },
    )
  })

  test('deleted with Foreground stays until no cluster has its objects, with Orphan the objects stay', async () => {
    await simulate(
      async (world) => {
        const fleet = await start(world, 2)
        const foreground = { ...spec([configMap('1')]), cascadeDeletionPolicy: 'Foreground' }
        await apply(world, fleet, ManifestWorkReplicaSet, 'web', foreground)
        await until(world, fleet, 'rolled out', isDone)
        await remove(world, fleet)
        await until(world, fleet, 'gone', (set) => set === undefined)
        assert.deepEqual(await valuesOn(fleet), [undefined, undefined], 'the objects went before the set')
        const orphan = spec([configMap('2')], { deleteOption: { propagationPolicy: 'Orphan' } })
        await apply(world, fleet, ManifestWorkReplicaSet, 'web', orphan)
        await until(world, fleet, 'rolled out again', isDone)
        await remove(world, fleet)
        await until(world, fleet, 'gone again', (set) => set === undefined)
        await world.run(600_000)
        assert.deepEqual(await valuesOn(fleet), ['2', '2'])
        assert.deepEqual(await listStored(fleet.hubStore, Bundle), [])
      },
      { seeds: 1 },
    )
  })
})
