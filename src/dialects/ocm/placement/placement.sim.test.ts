/** Placements of Open Cluster Management on a hub, also those that courses on fleet management give their readers. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { findCondition } from '../../../core/conditions.ts'
import { Namespace } from '../../../kinds/builtin/core.ts'
import type { Condition, KubeObject, UnknownObject } from '../../../kinds/meta.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../../../testing/hub/controllers-home.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { ManagedClusterSet, ManagedClusterSetBinding, OcmPlacement, OcmPlacementDecision } from '../kinds.ts'

const LABS = new URL('../../../../test/labs/', import.meta.url)

/** The Placement of a lab. */
function placementIn(file: string): OcmPlacement {
  const documents = readYaml(readFileSync(new URL(file, LABS), 'utf8'), { file })
  const found = documents.map(({ value }) => value as UnknownObject).find(({ kind }) => kind === 'Placement')
  return found as unknown as OcmPlacement
}

async function withHome(run: (home: ControllersHome) => Promise<void>): Promise<void> {
  const home = await startControllersHome(['ocm'])
  try {
    await run(home)
  } finally {
    await home.close()
  }
}

async function join(home: ControllersHome, name: string, labels: Record<string, string>, claims: object = {}) {
  const { status: _status, ...cluster } = buildCluster(name, { labels })
  await home.create(cluster, Cluster)
  const list = Object.entries(claims).map(([claim, value]) => ({ name: claim, value }))
  const body = { status: { certificate: { notAfter: '2027-01-01T00:00:00Z', fingerprint: 'ab' }, claims: list } }
  await home.client.patch(Cluster, { name }, { type: 'merge', body }, { subresource: 'status' })
  await home.summarize('0', 0, { [`c-${name}`]: 0 })
  await home.clock.advance(5_000)
}

const namespace = (home: ControllersHome, name: string) => home.create(build(Namespace, name, {}), Namespace)
const bind = (home: ControllersHome, where: string, set: string) =>
  home.create(
    build(ManagedClusterSetBinding, `${where}/${set}`, { spec: { clusterSet: set } }),
    ManagedClusterSetBinding,
  )

async function decisionsOf(home: ControllersHome, where: string) {
  const pages = (await home.client.list(OcmPlacementDecision, { namespace: where })).items
  return pages.map(({ metadata, status }) => [metadata.name, status?.decisions.map(({ clusterName }) => clusterName)])
}

async function satisfied(home: ControllersHome, key: string): Promise<string> {
  const found = findCondition((await home.find(OcmPlacement, key))?.status?.conditions, 'PlacementSatisfied')
  return `${found?.status} ${found?.reason}`
}

test('a lab: label and claim select, a cluster that joins later is included, without a binding there is none', () =>
  withHome(async (home) => {
    await namespace(home, 'fleet-policies')
    await join(home, 'eu-gpu', { region: 'eu' }, { 'gpu.open-cluster-management.io': 'present' })
    await join(home, 'eu-cpu', { region: 'eu' })
    await home.create(placementIn('000-placement-manifestwork.yaml'), OcmPlacement)
    await home.clock.advance(3_000)
    assert.equal(await satisfied(home, 'fleet-policies/eu-gpu-clusters'), 'False NoManagedClusterSetBindings')
    assert.deepEqual(await decisionsOf(home, 'fleet-policies'), [['eu-gpu-clusters-decision-1', []]])
    await bind(home, 'fleet-policies', 'default')
    await home.clock.advance(3_000)
    assert.deepEqual(await decisionsOf(home, 'fleet-policies'), [['eu-gpu-clusters-decision-1', ['eu-gpu']]])
    assert.equal(await satisfied(home, 'fleet-policies/eu-gpu-clusters'), 'True AllDecisionsScheduled')
    await join(home, 'eu-later', { region: 'eu' }, { 'gpu.open-cluster-management.io': 'present' })
    assert.deepEqual(await decisionsOf(home, 'fleet-policies'), [
      ['eu-gpu-clusters-decision-1', ['eu-gpu', 'eu-later']],
    ])
  }))

test('a lab: a Placement by one label, in the default namespace', () =>
  withHome(async (home) => {
    await join(home, 'prod-1', { environment: 'production' })
    await join(home, 'test-1', { environment: 'test' })
    await bind(home, 'default', 'global')
    const placement = placementIn('002-policy-placement.yaml')
    await home.create({ ...placement, metadata: { ...placement.metadata, namespace: 'default' } }, OcmPlacement)
    await home.clock.advance(3_000)
    assert.deepEqual(await decisionsOf(home, 'default'), [['production-clusters-decision-1', ['prod-1']]])
  }))

test('a mistake keeps the last good decisions and says so; deleting the Placement deletes its pages', () =>
  withHome(async (home) => {
    await join(home, 'prod-1', {})
    await bind(home, 'default', 'global')
    await home.create(build(OcmPlacement, 'default/all', { spec: {} }), OcmPlacement)
    await home.clock.advance(3_000)
    const [page] = (await home.client.list(OcmPlacementDecision, { namespace: 'default' })).items
    assert.equal(page?.metadata.labels?.['cluster.open-cluster-management.io/decision-group-index'], '0')
    const body = { spec: { predicates: [{ requiredClusterSelector: { celSelector: { celExpressions: ['1 +'] } } }] } }
    await home.client.patch(OcmPlacement, { namespace: 'default', name: 'all' }, { type: 'merge', body })
    await home.clock.advance(3_000)
    assert.deepEqual(await decisionsOf(home, 'default'), [['all-decision-1', ['prod-1']]])
    const wrong = findCondition(
      (await home.find(OcmPlacement, 'default/all'))?.status?.conditions,
      'PlacementMisconfigured',
    )
    assert.match(`${wrong?.status} ${wrong?.message}`, /^True .*The last 1 decisions are kept\.$/s)
    await home.client.delete(OcmPlacement, { namespace: 'default', name: 'all' })
    await home.clock.advance(3_000)
    assert.deepEqual(await decisionsOf(home, 'default'), [])
  }))

test('pages have 100 clusters, and a quiet hub writes nothing', () =>
  withHome(async (home) => {
    for (let n = 0; n < 130; n += 1) {
      const { status: _status, ...cluster } = buildCluster(`c-${String(n).padStart(3, '0')}`)
      await home.create(cluster, Cluster)
    }
    await bind(home, 'default', 'global')
    const tolerations = [{ operator: 'Exists' }]
    await home.create(build(OcmPlacement, 'default/all', { spec: { tolerations } }), OcmPlacement)
    await home.clock.advance(10_000)
    const pages = await decisionsOf(home, 'default')
    assert.deepEqual(
      pages.map(([name, clusters]) => [name, clusters?.length]),
      [
        ['all-decision-1', 100],
        ['all-decision-2', 30],
      ],
    )
    home.writes.length = 0
    await home.clock.advance(300_000)
    assert.deepEqual(
      home.writes.filter((line) => line.includes('open-cluster-management')),
      [],
    )
  }))

test('a set says that its namespaces have no effect, until it has none', () =>
  withHome(async (home) => {
    const spec = { managedNamespaces: [{ name: 'shop' }] }
    await home.create(build(ManagedClusterSet, 'gold', { spec }), ManagedClusterSet)
    const told = async () => {
      await home.clock.advance(3_000)
      const set: KubeObject & { status?: { conditions?: Condition[] } } = (await home.find(ManagedClusterSet, 'gold'))!
      return findCondition(set.status?.conditions, 'FieldsHonored')?.message
    }
    assert.equal(await told(), 'No effect: spec.managedNamespaces.')
    const body = { spec: { managedNamespaces: null } }
    await home.client.patch(ManagedClusterSet, { name: 'gold' }, { type: 'merge', body })
    assert.equal(await told(), undefined)
  }))

test('spread constraints are kept', () =>
  withHome(async (home) => {
    for (const [name, region] of [
      ['a-1', 'east'],
      ['a-2', 'east'],
      ['b-1', 'west'],
    ] as const) {
      await join(home, name, { region })
    }
    await bind(home, 'default', 'global')
    const spreadConstraints = [{ topologyKey: 'region', topologyKeyType: 'Label', maxSkew: 1 }]
    const spec = { numberOfClusters: 2, spreadPolicy: { spreadConstraints } }
    await home.create(build(OcmPlacement, 'default/two', { spec }), OcmPlacement)
    await home.clock.advance(3_000)
    assert.deepEqual(await decisionsOf(home, 'default'), [['two-decision-1', ['a-1', 'b-1']]])
  }))
