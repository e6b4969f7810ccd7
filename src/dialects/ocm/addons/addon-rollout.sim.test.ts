/** Rollouts of add-ons over a real embedded API in virtual time; the test plays the agents. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCondition } from '../../../core/conditions.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../../../testing/hub/controllers-home.ts'
import { ManagedClusterSetBinding, OcmPlacement } from '../kinds.ts'
import { ManifestWork } from '../works/kinds.ts'
import { AddOnDeploymentConfig, AddOnTemplate, ClusterManagementAddOn, ManagedClusterAddOn } from './kinds.ts'

const NAMES = ['c1', 'c2', 'c3', 'c4']
const GROUP = 'addon.open-cluster-management.io'
const template = (level: string) => ({
  spec: {
    addonName: 'web',
    agentSpec: {
      workload: {
        manifests: [
          {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            metadata: { name: 'level', namespace: 'default' },
            data: { level, tier: '{{TIER}}' },
          },
        ],
      },
    },
  },
})

async function startAddon(rolloutStrategy: object): Promise<ControllersHome> {
  const hub = await startControllersHome(['ocm'])
  for (const name of NAMES) await hub.create(buildCluster(name, { labels: { env: 'all' } }), Cluster)
  await hub.clock.advance(5000)
  await hub.create(
    build(ManagedClusterSetBinding, 'default/global', { spec: { clusterSet: 'global' } }),
    ManagedClusterSetBinding,
  )
  const matchLabels = { env: 'all' }
  const selector = { requiredClusterSelector: { labelSelector: { matchLabels } } }
  // An agent that is played here is not seen by a gateway.
  const tolerations = [{ operator: 'Exists' as const }]
  await hub.create(build(OcmPlacement, 'default/all', { spec: { predicates: [selector], tolerations } }), OcmPlacement)
  await hub.create(build(AddOnTemplate, 'web-1', template('1')), AddOnTemplate)
  const customizedVariables = [{ name: 'TIER', value: 'gold' }]
  const settings = { customizedVariables, proxyConfig: { caBundle: 'eA==' } }
  await hub.create(build(AddOnDeploymentConfig, 'default/tier', { spec: settings }), AddOnDeploymentConfig)
  const configs = [{ group: GROUP, resource: 'addondeploymentconfigs', namespace: 'default', name: 'tier' }]
  const placements = [{ namespace: 'default', name: 'all', configs, rolloutStrategy }]
  const supportedConfigs = [{ group: GROUP, resource: 'addontemplates', defaultConfig: { name: 'web-1' } }]
  const spec = { supportedConfigs, installStrategy: { type: 'Placements' as const, placements } }
  await hub.create(build(ClusterManagementAddOn, 'web', { spec } as never), ClusterManagementAddOn)
  await hub.clock.advance(10_000)
  return hub
}

/** Plays the agent of a cluster: its works are applied, or not. */
async function arrive(hub: ControllersHome, cluster: string, applied = true): Promise<void> {
  await hub.report(cluster, applied ? 'Ready' : 'Failed', applied ? undefined : 'the API refused it')
  const report = (await hub.find(ClusterReport, cluster))!
  const at = { applied, available: applied, ...(applied ? {} : { message: 'the API refused it' }) }
  // The add-on has no Lease.
  const agent = { namespace: 'open-cluster-management-agent-addon', name: 'web', applied: true, available: false }
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...agent }
  const level = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'default', name: 'level', ...at }
  const feedback = report.spec.bundles.map(({ bundle, generation }) => ({
    bundle,
    generation,
    objects: [level, lease],
  }))
  await hub.client.update(ClusterReport, { ...report, spec: { ...report.spec, feedback } })
  await hub.clock.advance(10_000)
}

/** The level that each cluster gets, and `-` without a work. */
async function levels(hub: ControllersHome): Promise<string> {
  const texts = await Promise.all(
    NAMES.map(async (name) => {
      const work = await hub.find(ManifestWork, `${name}/addon-web-deploy-0`)
      const data = work?.spec.workload?.manifests?.[0]?.['data'] as { level: string; tier: string } | undefined
      return data ? `${data.level} ${data.tier}` : '-'
    }),
  )
  return texts.join(', ')
}

async function progress(hub: ControllersHome): Promise<string> {
  const addon = await hub.find(ClusterManagementAddOn, 'web')
  const { status, reason, message } = addon?.status?.installProgressions?.[0]?.conditions?.[0] ?? {}
  return `${status} ${reason}: ${message}`
}

async function upgrade(hub: ControllersHome, level: string): Promise<void> {
  const present = (await hub.find(AddOnTemplate, 'web-1'))!
  await hub.client.update(AddOnTemplate, { ...present, ...template(level) })
  await hub.clock.advance(10_000)
}

const WAITS = 'Waits for its turn in the rollout of Placement default/all; what is installed stays as it is.'

test('an add-on reaches its clusters one by one, a failure stops it, and a correction goes on', async () => {
  const hub = await startAddon({ type: 'Progressive', progressive: { maxConcurrency: 1, minSuccessTime: '1m' } })
  assert.equal(await levels(hub), '1 gold, -, -, -')
  assert.equal(await progress(hub), 'True Progressing: 1/4 progressing..., 0 failed 0 timeout.')
  const waiting = await hub.find(ManagedClusterAddOn, 'c2/web')
  assert.deepEqual(findCondition(waiting?.status?.conditions, 'Progressing')?.message, WAITS)
  assert.equal(findCondition(waiting?.status?.conditions, 'Configured'), undefined)

  const first = await hub.find(ManagedClusterAddOn, 'c1/web')
  assert.equal(
    findCondition(first?.status?.conditions, 'Configured')?.message,
    'Configurations configured; spec.proxyConfig.caBundle of AddOnDeploymentConfig default/tier has no effect',
  )

  await arrive(hub, 'c1')
  assert.equal(await levels(hub), '1 gold, -, -, -', 'the first cluster must stay well for a minute')
  await hub.clock.advance(60_000)
  assert.equal(await levels(hub), '1 gold, 1 gold, -, -')
  for (const name of NAMES.slice(1)) {
    await arrive(hub, name)
    await hub.clock.advance(60_000)
  }
  assert.equal(await levels(hub), '1 gold, 1 gold, 1 gold, 1 gold')
  assert.equal(await progress(hub), 'False Completed: 4/4 completed with no errors, 0 failed 0 timeout.')

  await upgrade(hub, '2')
  assert.equal(await levels(hub), '2 gold, 1 gold, 1 gold, 1 gold')
  await arrive(hub, 'c1', false)
  await hub.clock.advance(600_000)
  assert.equal(await levels(hub), '2 gold, 1 gold, 1 gold, 1 gold')
  assert.equal(
    await progress(hub),
    'False Failed: 0/4 progressing..., 1 failed 0 timeout. More clusters failed than maxFailures allows; correct the configuration to go on.',
  )
  // What is installed goes on being shown, and a restart of the hub changes nothing.
  await hub.restart()
  await hub.clock.advance(60_000)
  assert.equal(await levels(hub), '2 gold, 1 gold, 1 gold, 1 gold')

  await upgrade(hub, '3')
  assert.equal(await levels(hub), '3 gold, 1 gold, 1 gold, 1 gold')
  await arrive(hub, 'c1')
  await hub.clock.advance(60_000)
  assert.equal(await levels(hub), '3 gold, 3 gold, 1 gold, 1 gold')
  await hub.close()
})

test('an undecided Placement changes nothing of what is installed', async () => {
  const hub = await startAddon({ type: 'All' })
  for (const name of NAMES) await arrive(hub, name)
  assert.equal(await levels(hub), '1 gold, 1 gold, 1 gold, 1 gold')
  await hub.client.delete(OcmPlacement, { namespace: 'default', name: 'all' })
  await hub.clock.advance(10_000)
  await upgrade(hub, '2')
  await hub.clock.advance(60_000)
  assert.equal(await levels(hub), '1 gold, 1 gold, 1 gold, 1 gold', 'its variables stay, too')
  await hub.close()
})
