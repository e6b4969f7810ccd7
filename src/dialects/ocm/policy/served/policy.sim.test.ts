/** Policies of Open Cluster Management on a simulated fleet: judged and enforced in the clusters, told on the hub. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findCondition } from '../../../../core/conditions.ts'
import type { JsonObject } from '../../../../core/json.ts'
import { parseTime } from '../../../../core/time/time.ts'
import { dutyState } from '../../../../plan/fleet/duties.ts'
import { ConfigMap, Namespace } from '../../../../kinds/builtin/core.ts'
import { Role, RoleBinding } from '../../../../kinds/builtin/rbac.ts'
import type { KubeObject, ResourceType, UnknownObject } from '../../../../kinds/meta.ts'
import { Bundle } from '../../../../kinds/native/bundle.ts'
import { startFleet } from '../../../../sim/fleet/fleet.ts'
import type { Fleet } from '../../../../sim/fleet/fleet.ts'
import type { World } from '../../../../sim/kernel/world.ts'
import { configMapPolicy } from '../../../../testing/agents/policies-contract.ts'
import { listStored, recheckOnWrite } from '../../../../testing/simulation/fleet-invariants.ts'
import { simulate } from '../../../../testing/simulation/run-seeds.ts'
import { retryUntilAccepted } from '../../../../testing/simulation/until-accepted.ts'
import { ManagedClusterSetBinding, OcmPlacement } from '../../kinds.ts'
import { PlacementBinding, PlacementRule, Policy, PolicySet } from './kinds.ts'

const WITHIN = { withinMs: 3_600_000 }
const PERSON = { fieldManager: 'person', force: true }
const GROUP = 'policy.open-cluster-management.io'

async function apply<T extends KubeObject>(world: World, { client }: Fleet, type: ResourceType<T>, object: unknown) {
  await retryUntilAccepted(world, type.kind, () => client.apply(type, object as T, PERSON))
}

const metadata = (name: string) => ({ name, namespace: 'default' })
const policy = (name: string, templates: UnknownObject[], spec: JsonObject = {}) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Policy',
  metadata: metadata(name),
  spec: { 'policy-templates': templates.map((objectDefinition) => ({ objectDefinition })), ...spec },
})
const binding = (name: string, selected: string, subject: string, more: JsonObject = {}) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'PlacementBinding',
  metadata: metadata(name),
  placementRef: { apiGroup: 'cluster.open-cluster-management.io', kind: 'Placement', name: selected },
  subjects: [{ apiGroup: GROUP, kind: 'Policy', name: subject }],
  ...more,
})
const placement = (name: string, matchLabels: Record<string, string>) => ({
  apiVersion: 'cluster.open-cluster-management.io/v1beta1',
  kind: 'Placement',
  metadata: metadata(name),
  spec: { predicates: [{ requiredClusterSelector: { labelSelector: { matchLabels } } }] },
})

async function start(world: World, clusters: number): Promise<Fleet> {
  const fleet = await startFleet(world, { clusters, dialects: ['ocm'] })
  await apply(world, fleet, ManagedClusterSetBinding, {
    apiVersion: 'cluster.open-cluster-management.io/v1beta2',
    kind: 'ManagedClusterSetBinding',
    metadata: metadata('global'),
    spec: { clusterSet: 'global' },
  })
  await apply(world, fleet, OcmPlacement, placement('all', {}))
  return fleet
}

const policyOf = async (fleet: Fleet, name: string) =>
  (await listStored(fleet.hubStore, Policy)).find((one) => one.metadata.name === name)
const rowsOf = (one: Policy | undefined) =>
  Object.fromEntries((one?.status?.status ?? []).map(({ clustername, compliant }) => [clustername, compliant ?? '']))

async function until(world: World, fleet: Fleet, what: string, holds: () => Promise<boolean>) {
  await world.runUntil(recheckOnWrite(fleet.hubStore, holds), { ...WITHIN, what })
}
const reaches = (world: World, fleet: Fleet, name: string, state: string) =>
  until(world, fleet, `${name} is ${state}`, async () => (await policyOf(fleet, name))?.status?.compliant === state)
const mapsOn = async (fleet: Fleet, member: number, name: string) =>
  (await listStored(fleet.members[member]!.store, ConfigMap)).find((one) => one.metadata.name === name)

describe('a Policy', () => {
  test('is judged in the bound clusters, and enforced where a binding says so', () =>
    simulate(
      async (world) => {
        const fleet = await start(world, 3)
        await apply(world, fleet, Policy, policy('quota', [configMapPolicy('quota', { pods: '10' })], { remediationAction: 'inform' })) // prettier-ignore
        await apply(world, fleet, PlacementBinding, binding('all', 'all', 'quota'))
        await reaches(world, fleet, 'quota', 'NonCompliant')
        await until(world, fleet, 'all rows', async () =>
          Object.values(rowsOf(await policyOf(fleet, 'quota'))).every((state) => state === 'NonCompliant'),
        )
        const shown = await policyOf(fleet, 'quota')
        assert.deepEqual(Object.keys(rowsOf(shown)), ['store-1', 'store-2', 'store-3'])
        assert.deepEqual(shown?.status?.placement, [{ placement: 'all', placementBinding: 'all' }])
        assert.equal(findCondition(shown?.status?.conditions, 'Compiled')?.status, 'True')
        assert.equal(await mapsOn(fleet, 0, 'quota'), undefined)
        // One cluster is enforced by a second binding; the others stay as they are.
        await apply(world, fleet, OcmPlacement, {
          ...placement('one', {}),
          spec: { numberOfClusters: 1 },
        })
        const enforce = { bindingOverrides: { remediationAction: 'enforce' }, subFilter: 'restricted' }
        await apply(world, fleet, PlacementBinding, binding('enforced', 'one', 'quota', enforce))
        await until(world, fleet, 'one cluster is enforced', async () =>
          Object.values(rowsOf(await policyOf(fleet, 'quota'))).includes('Compliant'),
        )
        const [enforced] = Object.entries(rowsOf(await policyOf(fleet, 'quota'))).find(
          ([, state]) => state === 'Compliant',
        )!
        const member = fleet.members.findIndex(({ name }) => name === enforced)
        assert.deepEqual((await mapsOn(fleet, member, 'quota'))?.data, { pods: '10' })
        // The Policy enforces everywhere.
        await apply(world, fleet, Policy, policy('quota', [configMapPolicy('quota', { pods: '10' })], { remediationAction: 'enforce' })) // prettier-ignore
        await reaches(world, fleet, 'quota', 'Compliant')
        for (const index of [0, 1, 2]) assert.deepEqual((await mapsOn(fleet, index, 'quota'))?.data, { pods: '10' })
      },
      { seeds: 2 },
    ))

  test('of a PolicySet leaves out clusters by exclusion, and waits for another Policy', () =>
    simulate(
      async (world) => {
        const fleet = await start(world, 2)
        await apply(world, fleet, Policy, policy('first', [configMapPolicy('first', { a: 'b' })]))
        const dependencies = [{ apiVersion: `${GROUP}/v1`, kind: 'Policy', name: 'first', compliance: 'Compliant' }]
        await apply(world, fleet, Policy, policy('second', [configMapPolicy('second', { a: 'b' })], { dependencies, remediationAction: 'enforce' })) // prettier-ignore
        await apply(world, fleet, PolicySet, {
          apiVersion: `${GROUP}/v1beta1`,
          kind: 'PolicySet',
          metadata: metadata('set'),
          spec: {
            policies: ['first', 'second'],
            exclusions: [{ policyName: 'second', clusterNames: ['store-2'], reason: 'CHG-1' }],
          },
        })
        await apply(
          world,
          fleet,
          PlacementBinding,
          binding('set', 'all', 'set', { subjects: [{ apiGroup: GROUP, kind: 'PolicySet', name: 'set' }] }),
        )
        await reaches(world, fleet, 'first', 'NonCompliant')
        await reaches(world, fleet, 'second', 'Pending')
        assert.deepEqual(rowsOf(await policyOf(fleet, 'second')), { 'store-1': 'Pending' })
        await until(world, fleet, 'the set tells it', async () => {
          const [set] = await listStored(fleet.hubStore, PolicySet)
          return set?.status?.compliant === 'NonCompliant' && set.status.statusMessage === 'Policies awaiting pending dependencies: second' // prettier-ignore
        })
        await apply(world, fleet, Policy, policy('first', [configMapPolicy('first', { a: 'b' })], { remediationAction: 'enforce' })) // prettier-ignore
        await reaches(world, fleet, 'second', 'Compliant')
        assert.equal(await mapsOn(fleet, 1, 'second'), undefined)
      },
      { seeds: 1 },
    ))

  test('with templates of the hub has its own checks in each cluster; a PlacementRule selects as a Placement', () =>
    simulate(
      async (world) => {
        const fleet = await start(world, 2)
        const own = configMapPolicy(
          'own',
          { cluster: '{{hub .ManagedClusterName hub}}' },
          { remediationAction: 'enforce' },
        )
        await apply(world, fleet, Policy, policy('own', [own]))
        await apply(world, fleet, PlacementRule, {
          apiVersion: 'apps.open-cluster-management.io/v1',
          kind: 'PlacementRule',
          metadata: metadata('rule'),
          spec: { clusterSelector: {} },
        })
        const rule = { apiGroup: 'apps.open-cluster-management.io', kind: 'PlacementRule', name: 'rule' }
        await apply(world, fleet, PlacementBinding, { ...binding('own', 'all', 'own'), placementRef: rule })
        await reaches(world, fleet, 'own', 'Compliant')
        for (const [index, { name }] of fleet.members.entries())
          assert.deepEqual((await mapsOn(fleet, index, 'own'))?.data, { cluster: name })
      },
      { seeds: 1 },
    ))

  test('with templates that read ConfigMaps of the hub follows them, and a missing one concerns its cluster alone', () =>
    simulate(
      async (world) => {
        const fleet = await start(world, 2)
        const settings = (name: string, region: string) => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: metadata(name),
          data: { region },
        })
        await apply(world, fleet, ConfigMap, settings('store-1-site', 'north'))
        const data = {
          site: '{{hub fromConfigMap "" (printf "%s-site" .ManagedClusterName) "region" hub}}',
          label:
            '{{hub (lookup "cluster.open-cluster-management.io/v1" "ManagedCluster" "" .ManagedClusterName).metadata.name hub}}',
        }
        await apply(world, fleet, Policy, policy('own', [configMapPolicy('own', data, { remediationAction: 'enforce' })])) // prettier-ignore
        await apply(world, fleet, PlacementBinding, binding('own', 'all', 'own'))
        const on = async (index: number) => (await mapsOn(fleet, index, 'own'))?.data
        await until(world, fleet, 'the cluster with settings', async () => (await on(0)) !== undefined)
        assert.deepEqual(await on(0), { site: 'north', label: 'store-1' })
        assert.equal(await on(1), undefined)
        const compiled = async () => findCondition((await policyOf(fleet, 'own'))?.status?.conditions, 'Compiled')
        await until(world, fleet, 'the other cluster is said', async () => (await compiled())?.status === 'False')
        assert.match((await compiled())?.message ?? '', /configmaps "store-2-site" not found/)
        const rows = async () => rowsOf(await policyOf(fleet, 'own'))
        await until(world, fleet, 'one state', async () => (await rows())['store-1'] === 'Compliant')
        assert.equal((await rows())['store-2'], '')
        await apply(world, fleet, ConfigMap, settings('store-2-site', 'south'))
        await apply(world, fleet, ConfigMap, settings('store-1-site', 'west'))
        await until(world, fleet, 'both follow', async () => (await on(0))?.['site'] === 'west' && (await on(1))?.['site'] === 'south') // prettier-ignore
        await reaches(world, fleet, 'own', 'Compliant')
        // The values of Secrets never become part of a Policy.
        const secret = { secret: '{{hub fromSecret "" "key" "token" hub}}' }
        await apply(world, fleet, Policy, policy('own', [configMapPolicy('own', secret)]))
        await until(world, fleet, 'it is refused', async () => (await compiled())?.reason === 'NotSupported')
        assert.match((await compiled())?.message ?? '', /fromSecret, and Secrets of the hub are not read/)
      },
      { seeds: 1 },
    ))

  test('with a ServiceAccount reads what the account may read on the hub, and nothing else', () =>
    simulate(
      async (world) => {
        const fleet = await start(world, 1)
        const inShop = { namespace: 'shop', name: 'settings' }
        await apply(world, fleet, Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
        await apply(world, fleet, ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata: inShop, data: { level: 'high' } }) // prettier-ignore
        const check = configMapPolicy(
          'own',
          { level: '{{hub fromConfigMap "shop" "settings" "level" hub}}' },
          { remediationAction: 'enforce' },
        )
        await apply(world, fleet, PlacementBinding, binding('own', 'all', 'own'))
        await apply(world, fleet, Policy, policy('own', [check]))
        const says = (words: RegExp) =>
          until(world, fleet, String(words), async () =>
            words.test(findCondition((await policyOf(fleet, 'own'))?.status?.conditions, 'Compiled')?.message ?? ''),
          )
        await says(/the namespace argument is restricted to default/)
        await apply(world, fleet, Policy, policy('own', [check], { hubTemplateOptions: { serviceAccountName: 'reader' } })) // prettier-ignore
        await says(/ServiceAccount default\/reader may not get ConfigMap settings in namespace shop/)
        assert.equal(await mapsOn(fleet, 0, 'own'), undefined)
        const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['settings'], verbs: ['get'] }]
        const role = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { namespace: 'shop', name: 'reader' } }
        await apply(world, fleet, Role, { ...role, kind: 'Role', rules })
        await apply(world, fleet, RoleBinding, {
          ...role,
          kind: 'RoleBinding',
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
          subjects: [{ kind: 'ServiceAccount', namespace: 'default', name: 'reader' }],
        })
        await reaches(world, fleet, 'own', 'Compliant')
        assert.deepEqual((await mapsOn(fleet, 0, 'own'))?.data, { level: 'high' })
      },
      { seeds: 1 },
    ))

  test('that is refused says why and takes nothing away; one that is disabled is evaluated nowhere', () =>
    simulate(
      async (world) => {
        const fleet = await start(world, 1)
        const prunes = { remediationAction: 'enforce', pruneObjectBehavior: 'DeleteIfCreated' }
        const good = configMapPolicy('kept', { a: 'b' }, prunes)
        await apply(world, fleet, Policy, policy('kept', [good]))
        await apply(world, fleet, PlacementBinding, binding('kept', 'all', 'kept'))
        await reaches(world, fleet, 'kept', 'Compliant')
        const olm = { apiVersion: `${GROUP}/v1beta1`, kind: 'OperatorPolicy', metadata: { name: 'olm' } }
        await apply(world, fleet, Policy, policy('kept', [good, olm]))
        const compiled = async () => findCondition((await policyOf(fleet, 'kept'))?.status?.conditions, 'Compiled')
        await until(world, fleet, 'it is refused', async () => (await compiled())?.reason === 'NotSupported')
        assert.match((await compiled())?.message ?? '', /OperatorPolicy is not evaluated.*keep what they evaluate/)
        assert.notEqual(await mapsOn(fleet, 0, 'kept'), undefined)
        // A Placement that is gone is no reason to stop an evaluation.
        await apply(world, fleet, Policy, policy('kept', [good]))
        await until(world, fleet, 'it is compiled', async () => (await compiled())?.status === 'True')
        await apply(world, fleet, PlacementBinding, binding('kept', 'missing', 'kept'))
        await until(
          world,
          fleet,
          'the Placement is missed',
          async () => (await compiled())?.reason === 'PlacementUnknown',
        )
        assert.equal((await listStored(fleet.hubStore, Bundle)).length, 1)
        await apply(world, fleet, PlacementBinding, binding('kept', 'all', 'kept'))
        await apply(world, fleet, Policy, policy('kept', [good], { disabled: true }))
        await until(world, fleet, 'the object is pruned', async () => (await mapsOn(fleet, 0, 'kept')) === undefined)
        await until(world, fleet, 'it is told', async () => (await compiled())?.reason === 'Disabled')
        assert.equal((await policyOf(fleet, 'kept'))?.status?.compliant, undefined)
      },
      { seeds: 1 },
    ))

  test('with deadlines of its bindings tells which clusters were in time, and which were not', () =>
    simulate(
      async (world) => {
        const fleet = await start(world, 3)
        await apply(world, fleet, OcmPlacement, { ...placement('one', {}), spec: { numberOfClusters: 1 } })
        await apply(world, fleet, Policy, policy('rule', [configMapPolicy('rule', { a: 'b' })]))
        const within = (name: string, selected: string, time: string) => ({
          ...binding(name, selected, 'rule'),
          metadata: { ...metadata(name), annotations: { 'flotilla.dev/comply-within': time } },
        })
        await apply(world, fleet, PlacementBinding, within('all', 'all', '1w'))
        await apply(world, fleet, PlacementBinding, within('production', 'one', '30m'))
        const duties = async () => (await policyOf(fleet, 'rule'))?.status?.duties ?? []
        const condition = async () => findCondition((await policyOf(fleet, 'rule'))?.status?.conditions, 'DutiesMet')
        await until(world, fleet, 'both times count', async () => {
          const bindings = (await duties()).map((one) => one.binding).toSorted()
          return bindings.join() === 'all,all,production'
        })
        assert.equal((await condition())?.reason, 'InTime')
        await until(world, fleet, 'the deadline passes', async () => (await condition())?.status === 'False')
        const short = (await duties()).find((one) => one.binding === 'production')!
        assert.equal(parseTime(short.deadline)! - parseTime(short.since)!, 1_800_000)
        assert.match((await condition())!.message, new RegExp(`^1 of 3 clusters .* ${short.clustername}\\.$`))
        await world.run(60_000)
        // The clusters comply: one too late, the others in time.
        await apply(world, fleet, Policy, policy('rule', [configMapPolicy('rule', { a: 'b' })], { remediationAction: 'enforce' })) // prettier-ignore
        await until(world, fleet, 'all comply', async () => (await condition())?.reason === 'Met')
        assert.equal((await condition())?.message, 'All 3 clusters comply; 1 complied after the deadline.')
        const proof = await duties()
        assert.deepEqual(proof.map((one) => dutyState(one, parseTime(one.compliedAt!)!)).toSorted(), [
          'Late',
          'Met',
          'Met',
        ])
        // A time that is none is told, and without a time nothing is demanded.
        await apply(world, fleet, PlacementBinding, within('production', 'one', 'soon'))
        await until(world, fleet, 'it is told', async () => (await condition())?.reason === 'InvalidTime')
        assert.match((await condition())!.message, /PlacementBinding production: .* "soon" is not a time such as 24h/)
      },
      { seeds: 2 },
    ))
})
