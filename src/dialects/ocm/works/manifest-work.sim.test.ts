/** ManifestWorks on a simulated fleet: objects on the cluster, and status on the hub in the words of its users. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { isApiError } from '../../../core/errors.ts'
import { Deployment } from '../../../kinds/builtin/apps.ts'
import { ConfigMap, Namespace, Secret } from '../../../kinds/builtin/core.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Delivery } from '../../../kinds/native/delivery.ts'
import { startFleet } from '../../../sim/fleet/fleet.ts'
import type { Fleet } from '../../../sim/fleet/fleet.ts'
import type { World } from '../../../sim/kernel/world.ts'
import { isOffline, listStored, recheckOnWrite } from '../../../testing/simulation/fleet-invariants.ts'
import { simulate } from '../../../testing/simulation/run-seeds.ts'
import { retryUntilAccepted } from '../../../testing/simulation/until-accepted.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { ManifestWork } from './kinds.ts'

const WITHIN = { withinMs: 3_600_000 }
const PERSON = { fieldManager: 'person', force: true }

async function apply(world: World, { client }: Fleet, work: ManifestWork): Promise<void> {
  const { namespace = '' } = work.metadata
  await retryUntilAccepted(world, 'namespace', () =>
    client.apply(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, PERSON),
  )
  await retryUntilAccepted(world, 'work', () => client.apply(ManifestWork, work, PERSON))
}

async function workOf(fleet: Fleet): Promise<ManifestWork | undefined> {
  return (await listStored(fleet.hubStore, ManifestWork))[0]
}

function isTrue(work: ManifestWork | undefined, type: string, status = 'True'): boolean {
  const found = work?.status?.conditions?.find((one) => one.type === type)
  return found?.status === status && found.observedGeneration === work?.metadata.generation
}

async function until(world: World, fleet: Fleet, what: string, holds: (work: ManifestWork | undefined) => boolean) {
  await world.runUntil(
    recheckOnWrite(fleet.hubStore, async () => holds(await workOf(fleet))),
    { ...WITHIN, what },
  )
  return workOf(fleet)
}

const words = (conditions: readonly { type: string; status: string; reason: string; message: string }[] = []) =>
  conditions.map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`)

function work(manifests: object[], spec: Partial<ManifestWork['spec']> = {}): ManifestWork {
  return {
    apiVersion: 'work.open-cluster-management.io/v1',
    kind: 'ManifestWork',
    metadata: { name: 'web', namespace: 'store-1' },
    spec: { workload: { manifests: manifests as never }, ...spec },
  }
}

const configMap = (name: string, data: object = { a: '1' }) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})

const start = (world: World) => startFleet(world, { clusters: 1, dialects: ['ocm'] })

describe('a ManifestWork', () => {
  for (const lab of ['000-lab1-manifestwork-nginx', '001-manifestwork-deploy-nginx']) {
    test(`${lab}: the Deployment is on the cluster, and its status on the hub`, async () => {
      await simulate(
        async (world) => {
          const fleet = await start(world)
          const text = readFileSync(new URL(`../../../../test/labs/${lab}.yaml`, import.meta.url), 'utf8')
          const [document] = readYaml(text)
          const written = document!.value as ManifestWork
          const named = { ...written, metadata: { ...written.metadata, namespace: 'store-1' } }
          await apply(world, fleet, named)
          const shown = await until(
            world,
            fleet,
            'Available',
            (one) => isTrue(one, 'Available') && isTrue(one, 'Applied'),
          )
          assert.deepEqual(words(shown?.status?.conditions), [
            'Applied True AppliedManifestWorkComplete: Apply manifest work complete',
            'Available True ResourcesAvailable: All resources are available',
          ])
          const [manifest] = shown?.status?.resourceStatus?.manifests ?? []
          const { name } = written.spec.workload!.manifests![0]!['metadata'] as { name: string }
          assert.deepEqual(manifest?.resourceMeta, {
            ordinal: 0,
            group: 'apps',
            version: 'v1',
            kind: 'Deployment',
            resource: 'deployments',
            name,
            namespace: 'default',
          })
          assert.deepEqual(words(manifest?.conditions), [
            'Applied True AppliedManifestComplete: Apply manifest complete',
            'Available True ResourceAvailable: Resource is available',
            'StatusFeedbackSynced True NoStatusFeedbackSynced: ',
          ])
          const deployments = await listStored(fleet.members[0]!.store, Deployment)
          assert.deepEqual(
            deployments.map(({ metadata }) => metadata.name),
            [name],
          )
        },
        { seeds: 1 },
      )
    })
  }

  test('that is broken carries the error of the cluster, and works after it is corrected', async () => {
    await simulate(
      async (world) => {
        const fleet = await start(world)
        const broken = { ...configMap('b'), metadata: { name: 'Not A Name', namespace: 'default' } }
        await apply(world, fleet, work([configMap('a'), broken]))
        const shown = await until(world, fleet, 'Applied is False', (one) => isTrue(one, 'Applied', 'False'))
        const manifests = shown!.status!.resourceStatus!.manifests!
        const [applied] = words(manifests[1]!.conditions)
        assert.match(
          applied!,
          /^Applied False AppliedManifestFailed: Failed to apply manifest: .*ConfigMap "Not A Name" is invalid: metadata\.name: Invalid value: "Not A Name"/,
        )
        await apply(world, fleet, work([configMap('a'), configMap('b')]))
        await until(world, fleet, 'Applied', (one) => isTrue(one, 'Applied') && isTrue(one, 'Available'))
      },
      { seeds: 1 },
    )
  })

  test('reports values and conditions by rules, and writes nothing once they rest', async () => {
    await simulate(
      async (world) => {
        const fleet = await start(world)
        const labels = { app: 'web' }
        const deployment = {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { name: 'web', namespace: 'default' },
          spec: {
            replicas: 2,
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] } },
          },
        }
        const manifestConfigs: ManifestWork['spec']['manifestConfigs'] = [
          {
            resourceIdentifier: { group: 'apps', resource: 'deployments', namespace: 'default', name: 'w*' },
            feedbackRules: [
              { type: 'WellKnownStatus' },
              { type: 'JSONPaths', jsonPaths: [{ name: 'image', path: '.spec.template.spec.containers[0].image' }] },
            ],
            conditionRules: [
              {
                type: 'CEL',
                condition: 'Progressing',
                celExpressions: ['object.status.readyReplicas < object.spec.replicas'],
                messageExpression: 'result ? "still rolling" : "rolled out"',
              },
            ],
          },
        ]
        await apply(world, fleet, work([deployment], { manifestConfigs }))
        const shown = await until(world, fleet, 'rolled out', (one) => isTrue(one, 'Progressing', 'False'))
        await world.run(60_000)
        const [manifest] = (await workOf(fleet))!.status!.resourceStatus!.manifests!
        assert.deepEqual(manifest!.statusFeedback?.values, [
          { name: 'ReadyReplicas', fieldValue: { type: 'Integer', integer: 2 } },
          { name: 'Replicas', fieldValue: { type: 'Integer', integer: 2 } },
          { name: 'AvailableReplicas', fieldValue: { type: 'Integer', integer: 2 } },
          { name: 'image', fieldValue: { type: 'String', string: 'nginx:1.27' } },
        ])
        assert.ok(words(manifest!.conditions).includes('Progressing False ConditionRuleEvaluated: rolled out'))
        assert.ok(shown)
        const before = (await workOf(fleet))!.metadata.resourceVersion
        await world.run(600_000)
        assert.equal((await workOf(fleet))!.metadata.resourceVersion, before, 'nothing is written at rest')
      },
      { seeds: 1 },
    )
  })

  test('deleted takes its objects with it, except objects that its rules orphan, and then goes', async () => {
    await simulate(
      async (world) => {
        const fleet = await start(world)
        const secret = {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'key', namespace: 'default' },
          stringData: { k: 'v' },
        }
        await apply(
          world,
          fleet,
          work([configMap('a'), configMap('keep'), secret], {
            deleteOption: {
              propagationPolicy: 'SelectivelyOrphan',
              selectivelyOrphans: { orphaningRules: [{ resource: 'configmaps', namespace: 'default', name: 'keep' }] },
            },
          }),
        )
        await until(world, fleet, 'Applied', (one) => isTrue(one, 'Applied'))
        const { store } = fleet.members[0]!
        assert.ok((await listStored(store, Secret)).some(({ metadata }) => metadata.name === 'key'))
        await retryUntilAccepted(world, 'delete', () =>
          fleet.client.delete(ManifestWork, { namespace: 'store-1', name: 'web' }).catch((caught: unknown) => {
            if (!isApiError(caught, 'NotFound')) throw caught
          }),
        )
        await world.runUntil(async () => (await workOf(fleet)) === undefined, { ...WITHIN, what: 'the work is gone' })
        const left = (await listStored(store, ConfigMap)).map(({ metadata }) => metadata.name)
        assert.deepEqual([left.includes('a'), left.includes('keep')], [false, true])
        assert.equal(
          (await listStored(store, Secret)).some(({ metadata }) => metadata.name === 'key'),
          false,
        )
        assert.deepEqual(await listStored(fleet.hubStore, Delivery), [])
      },
      { seeds: 1 },
    )
  })

  test('deleted with Orphan while its cluster is offline: everything stays when the cluster returns', async () => {
    await simulate(
      async (world) => {
        const fleet = await start(world)
        await apply(world, fleet, work([configMap('a')], { deleteOption: { propagationPolicy: 'Orphan' } }))
        await until(world, fleet, 'Applied', (one) => isTrue(one, 'Applied'))
        const { agent, store } = fleet.members[0]!
        agent.kill()
        const isAway = async () => (await listStored(fleet.hubStore, Cluster)).every(isOffline)
        await world.runUntil(recheckOnWrite(fleet.hubStore, isAway), { ...WITHIN, what: 'offline' })
        await retryUntilAccepted(world, 'delete', () =>
          fleet.client.delete(ManifestWork, { namespace: 'store-1', name: 'web' }),
        )
        await world.runUntil(async () => (await workOf(fleet)) === undefined, { ...WITHIN, what: 'the work is gone' })
        agent.start()
        await world.run(600_000)
        assert.ok((await listStored(store, ConfigMap)).some(({ metadata }) => metadata.name === 'a'))
      },
      { seeds: 1 },
    )
  })

  test('of a namespace without an accepted cluster is kept, is not delivered, and says why', async () => {
    await simulate(
      async (world) => {
        const fleet = await start(world)
        const stray = work([configMap('a')])
        await apply(world, fleet, { ...stray, metadata: { name: 'web', namespace: 'store-9' } })
        const shown = await until(world, fleet, 'Admitted is False', (one) => isTrue(one, 'Admitted', 'False'))
        assert.match(
          words(shown?.status?.conditions)[0]!,
          /^Admitted False ClusterNotFound: Cluster store-9 does not exist/,
        )
        await apply(world, fleet, {
          ...stray,
          metadata: { name: 'web', namespace: 'store-9' },
          spec: { workload: { manifests: [] } },
        })
        const empty = await until(world, fleet, 'refused', (one) => isTrue(one, 'Applied', 'False'))
        assert.match(words(empty?.status?.conditions).join(' '), /Workload manifests should not be empty/)
      },
      { seeds: 1 },
    )
  })

  test('of a namespace that belongs to another cluster is not delivered, until an administrator confirms it', async () => {
    await simulate(
      async (world) => {
        const fleet = await start(world)
        await apply(world, fleet, work([configMap('a')]))
        await until(world, fleet, 'Applied', (one) => isTrue(one, 'Applied'))
        const label = (value: string) =>
          retryUntilAccepted(world, 'label', () =>
            fleet.client.patch(
              Namespace,
              { name: 'store-1' },
              {
                type: 'merge',
                body: { metadata: { labels: { 'open-cluster-management.io/cluster-name': value } } },
              },
            ),
          )
        await label('store-2')
        await apply(world, fleet, work([configMap('a'), configMap('b')]))
        const refused = await until(world, fleet, 'refused', (one) => isTrue(one, 'Admitted', 'False'))
        const said = refused?.status?.conditions?.find(({ type }) => type === 'Admitted')
        assert.match(`${said?.reason} ${said?.message}`, /^NamespaceTaken .*kubectl label namespace store-1/)
        await world.run(600_000)
        const names = async () =>
          (await listStored(fleet.members[0]!.store, ConfigMap)).map(({ metadata }) => metadata.name)
        assert.deepEqual(
          [(await names()).includes('a'), (await names()).includes('b')],
          [true, false],
          'what runs stays',
        )
        await label('store-1')
        await until(world, fleet, 'Applied again', (one) => isTrue(one, 'Applied') && isTrue(one, 'Available'))
        const now = await workOf(fleet)
        assert.equal(
          now?.status?.conditions?.some(({ type }) => type === 'Admitted'),
          false,
        )
        assert.ok((await names()).includes('b'))
      },
      { seeds: 1 },
    )
  })
})
