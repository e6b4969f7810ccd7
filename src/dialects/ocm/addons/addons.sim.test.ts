/** Add-ons on a simulated fleet: installed by a Placement, configured, healthy, and removed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCondition } from '../../../core/conditions.ts'
import { Deployment } from '../../../kinds/builtin/apps.ts'
import type { KubeObject, ResourceType } from '../../../kinds/meta.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { startFleet } from '../../../sim/fleet/fleet.ts'
import type { Fleet } from '../../../sim/fleet/fleet.ts'
import type { World } from '../../../sim/kernel/world.ts'
import { listStored, recheckOnWrite } from '../../../testing/simulation/fleet-invariants.ts'
import { simulate } from '../../../testing/simulation/run-seeds.ts'
import { retryUntilAccepted } from '../../../testing/simulation/until-accepted.ts'
import { ManagedClusterSetBinding, OcmPlacement } from '../kinds.ts'
import { AddOnDeploymentConfig, AddOnTemplate, ClusterManagementAddOn, ManagedClusterAddOn } from './kinds.ts'

const WITHIN = { withinMs: 3_600_000 }
const PERSON = { fieldManager: 'person', force: true }
const GROUP = 'addon.open-cluster-management.io'

async function apply(world: World, { client }: Fleet, kind: ResourceType<KubeObject>, object: object): Promise<void> {
  const whole = { apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind, ...object } as KubeObject
  await retryUntilAccepted(world, kind.kind, () => client.apply(kind, whole, PERSON))
}

async function says({ hubStore }: Fleet, type: string): Promise<string[]> {
  const all = await listStored(hubStore, ManagedClusterAddOn)
  return all.map(({ metadata, status }) => {
    const { status: is, reason } = findCondition(status?.conditions, type) ?? {}
    return `${metadata.namespace} ${is} ${reason}`
  })
}

async function until(world: World, fleet: Fleet, what: string, holds: () => Promise<boolean>): Promise<void> {
  try {
    await world.runUntil(recheckOnWrite(fleet.hubStore, holds), { ...WITHIN, what })
  } catch (caught) {
    const seen = (await listStored(fleet.hubStore, ManagedClusterAddOn)).map(({ status }) => status)
    throw new Error(`${what}: ${JSON.stringify(seen)}`, { cause: caught })
  }
}

const deploymentsOn = async ({ members }: Fleet): Promise<string[]> =>
  (
    await Promise.all(
      members.map(async ({ store }) =>
        (await listStored(store, Deployment)).map(({ metadata }) => metadata.annotations?.['of'] ?? ''),
      ),
    )
  ).flat()

test('an add-on is installed by a Placement, follows its variables, and goes with a label', async () => {
  await simulate(
    async (world) => {
      const fleet = await startFleet(world, { clusters: 2, dialects: ['ocm'] })
      const selector = { labelSelector: { matchExpressions: [{ key: 'off', operator: 'DoesNotExist' }] } }
      const where = { namespace: 'default' }
      await apply(world, fleet, ManagedClusterSetBinding, {
        metadata: { name: 'global', ...where },
        spec: { clusterSet: 'global' },
      })
      await apply(world, fleet, OcmPlacement, {
        metadata: { name: 'all', ...where },
        spec: { predicates: [{ requiredClusterSelector: selector }] },
      })
      const labels = { app: 'agent' }
      const agent = {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'agent', namespace: 'default', annotations: { of: '{{CLUSTER_NAME}} {{LEVEL}}' } },
        spec: {
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'agent', image: 'agent:1' }] } },
        },
      }
      const template = { addonName: 'web', agentSpec: { workload: { manifests: [agent] } } }
      await apply(world, fleet, AddOnTemplate, { metadata: { name: 'web-1' }, spec: template })
      const config = (value: string) => ({
        metadata: { name: 'settings', ...where },
        spec: { customizedVariables: [{ name: 'LEVEL', value }] },
      })
      await apply(world, fleet, AddOnDeploymentConfig, config('1'))
      const resource = (name: string) => ({ group: GROUP, resource: name })
      await apply(world, fleet, ClusterManagementAddOn, {
        metadata: { name: 'web' },
        spec: {
          supportedConfigs: [{ ...resource('addontemplates'), defaultConfig: { name: 'web-1' } }],
          installStrategy: {
            type: 'Placements',
            placements: [
              {
                name: 'all',
                ...where,
                configs: [{ ...resource('addondeploymentconfigs'), name: 'settings', ...where }],
              },
            ],
          },
        },
      })
      const both = ['store-1 True ProbeAvailable', 'store-2 True ProbeAvailable']
      await until(world, fleet, 'available', async () => (await says(fleet, 'Available')).join() === both.join())
      assert.deepEqual(await deploymentsOn(fleet), ['store-1 1', 'store-2 1'])
      const [first] = await listStored(fleet.hubStore, ManagedClusterAddOn)
      assert.deepEqual(
        first?.status?.configReferences?.map(({ name, desiredConfig, lastAppliedConfig }) => [
          name,
          desiredConfig?.specHash === lastAppliedConfig?.specHash,
        ]),
        [
          ['web-1', true],
          ['settings', true],
        ],
      )
      await apply(world, fleet, AddOnDeploymentConfig, config('2'))
      await world.runUntil(async () => (await deploymentsOn(fleet)).join() === 'store-1 2,store-2 2', {
        ...WITHIN,
        what: 'the new variable',
      })
      const body = { metadata: { labels: { off: 'true' } } }
      await retryUntilAccepted(world, 'label', () =>
        fleet.client.patch(Cluster, { name: 'store-2' }, { type: 'merge', body }),
      )
      await world.runUntil(async () => (await deploymentsOn(fleet)).join() === 'store-1 2', {
        ...WITHIN,
        what: 'removed',
      })
      await apply(world, fleet, AddOnTemplate, {
        metadata: { name: 'web-1' },
        spec: { ...template, registration: [{ type: 'KubeClient' }] },
      })
      const refused = ['store-1 False ConfigurationUnsupported']
      await until(world, fleet, 'refused', async () => (await says(fleet, 'Configured')).join() === refused.join())
      await world.run(60_000)
      assert.deepEqual(await deploymentsOn(fleet), ['store-1 2'], 'what runs stays')
    },
    { seeds: 1 },
  )
})
