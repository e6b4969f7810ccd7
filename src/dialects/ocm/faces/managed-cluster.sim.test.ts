/** One cluster, two faces: what is written on one side appears on the other, and OCM's users see their conditions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findCondition } from '../../../core/conditions.ts'
import { Namespace } from '../../../kinds/builtin/core.ts'
import type { Condition } from '../../../kinds/meta.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../../../testing/hub/controllers-home.ts'
import { ManagedCluster, ManagedClusterSet } from '../kinds.ts'

const CERTIFICATE = { notAfter: '2027-01-01T00:00:00Z', fingerprint: 'ab' }

async function withHome(run: (home: ControllersHome) => Promise<void>): Promise<void> {
  const home = await startControllersHome(['ocm'])
  try {
    await run(home)
  } finally {
    await home.close()
  }
}

async function joined(home: ControllersHome, name: string, labels: Record<string, string> = {}): Promise<void> {
  const { status: _status, ...cluster } = buildCluster(name, { labels })
  await home.create(cluster, Cluster)
  const body = { status: { certificate: CERTIFICATE } }
  await home.client.patch(Cluster, { name }, { type: 'merge', body }, { subresource: 'status' })
  await home.clock.advance(2_000)
}

const condition = (object: { status?: { conditions?: Condition[] } } | undefined, type: string) => {
  const found = findCondition(object?.status?.conditions, type)
  return found && `${found.status} ${found.reason}`
}

test('a Cluster has a ManagedCluster with its labels, its namespace and the conditions of OCM', () =>
  withHome(async (home) => {
    await joined(home, 'store-1', { region: 'eu' })
    await home.summarize('0', 0, { 'c-store-1': 0 })
    await home.clock.advance(5_000)
    const face = await home.find(ManagedCluster, 'store-1')
    assert.equal(face?.spec.hubAcceptsClient, true)
    assert.equal(face.spec.leaseDurationSeconds, 24)
    assert.deepEqual(face.metadata.labels, {
      region: 'eu',
      'cluster.open-cluster-management.io/clusterset': 'default',
    })
    assert.equal(condition(face, 'HubAcceptedManagedCluster'), 'True HubClusterAdminAccepted')
    assert.equal(condition(face, 'ManagedClusterJoined'), 'True ManagedClusterJoined')
    assert.equal(condition(face, 'ManagedClusterConditionAvailable'), 'True ManagedClusterAvailable')
    assert.equal(condition(face, 'ClusterNamespaceReady'), 'True NamespaceReady')
    assert.equal(face.spec.taints, undefined)
    assert.ok(await home.find(Namespace, 'store-1'))
    const set = await home.find(ManagedClusterSet, 'default')
    assert.equal(condition(set as never, 'ClusterSetEmpty'), 'False ClustersSelected')
    assert.ok(await home.find(ManagedClusterSet, 'global'))
  }))

test('labels and taints go both ways, and nothing is written once both sides are equal', () =>
  withHome(async (home) => {
    await joined(home, 'store-1', { region: 'eu', tier: 'store' })
    const patch = (type: typeof Cluster | typeof ManagedCluster, body: object) =>
      home.client.patch(type as typeof Cluster, { name: 'store-1' }, { type: 'merge', body })
    await patch(ManagedCluster, {
      metadata: { labels: { gpu: 'yes', tier: null } },
      spec: { taints: [{ key: 'maintenance', effect: 'NoSelect' }] },
    })
    await home.clock.advance(2_000)
    const cluster = await home.find(Cluster, 'store-1')
    assert.equal(cluster?.metadata.labels?.['gpu'], 'yes')
    assert.equal(cluster.metadata.labels['tier'], undefined)
    assert.deepEqual(
      cluster.spec.taints?.map(({ key, effect, timeAdded }) => [key, effect, timeAdded !== undefined]),
      [['maintenance', 'NoSelect', true]],
    )
    await patch(Cluster, { metadata: { labels: { region: 'us' } }, spec: { taints: [] } })
    await home.clock.advance(2_000)
    const face = await home.find(ManagedCluster, 'store-1')
    assert.equal(face?.metadata.labels?.['region'], 'us')
    assert.equal(face.metadata.labels['gpu'], 'yes')
    assert.deepEqual(
      (face.spec.taints ?? []).map(({ key }) => key),
      ['cluster.open-cluster-management.io/unreachable'],
      'the agent was never heard',
    )
    home.writes.length = 0
    await home.clock.advance(600_000)
    assert.deepEqual(
      home.writes.filter((line) => /managedcluster|\/clusters\//.test(line)),
      [],
    )
  }))

test('hubAcceptsClient accepts, denies without removing anything, and accepts again', () =>
  withHome(async (home) => {
    const { status: _status, ...pending } = buildCluster('store-1', { spec: { accepted: false } })
    await home.create(pending, Cluster)
    await home.clock.advance(2_000)
    const accept = (hubAcceptsClient: boolean) =>
      home.client.patch(ManagedCluster, { name: 'store-1' }, { type: 'merge', body: { spec: { hubAcceptsClient } } })
    assert.equal((await home.find(ManagedCluster, 'store-1'))?.spec.hubAcceptsClient, false)
    assert.equal(await home.find(Namespace, 'store-1'), undefined)
    await accept(true)
    await home.clock.advance(2_000)
    assert.equal((await home.find(Cluster, 'store-1'))?.spec.accepted, true)
    await accept(false)
    await home.clock.advance(2_000)
    const denied = await home.find(Cluster, 'store-1')
    assert.equal(denied?.spec.refused?.verdict, 'Revoked')
    assert.equal(denied.spec.decommission, undefined)
    const face = await home.find(ManagedCluster, 'store-1')
    assert.equal(condition(face, 'HubAcceptedManagedCluster'), 'False HubClusterAdminDenied')
    await accept(true)
    await home.clock.advance(2_000)
    assert.equal((await home.find(Cluster, 'store-1'))?.spec.refused, undefined)
  }))

test('a ManagedCluster that was written first gives its labels to the cluster that joins', () =>
  withHome(async (home) => {
    await home.create(
      build(
        ManagedCluster,
        'store-1',
        { spec: { hubAcceptsClient: true, leaseDurationSeconds: 60 } },
        {
          labels: { region: 'eu' },
        },
      ),
      ManagedCluster,
    )
    await home.clock.advance(2_000)
    assert.equal(condition(await home.find(ManagedCluster, 'store-1'), 'ManagedClusterJoined'), undefined)
    await joined(home, 'store-1', { tier: 'store' })
    const cluster = await home.find(Cluster, 'store-1')
    assert.deepEqual([cluster?.metadata.labels?.['region'], cluster?.metadata.labels?.['tier']], ['eu', 'store'])
    assert.equal((await home.find(ManagedCluster, 'store-1'))?.metadata.labels?.['tier'], 'store')
  }))

test('a namespace of the name of a cluster that is not of the cluster is said, and not used', () =>
  withHome(async (home) => {
    await joined(home, 'default')
    const face = await home.find(ManagedCluster, 'default')
    assert.equal(condition(face, 'ClusterNamespaceReady'), 'False NamespaceTaken')
    await joined(home, 'store.two')
    const dotted = await home.find(ManagedCluster, 'store.two')
    assert.equal(condition(dotted, 'ClusterNamespaceReady'), 'False InvalidNamespaceName')
  }))

test('deleting a ManagedCluster lets the cluster leave and keeps what runs; the two go together', () =>
  withHome(async (home) => {
    await joined(home, 'store-1')
    await home.client.delete(ManagedCluster, { name: 'store-1' })
    await home.clock.advance(2_000)
    const cluster = await home.find(Cluster, 'store-1')
    assert.equal(cluster?.spec.decommission?.policy, 'Orphan')
    assert.equal(await home.find(ManagedCluster, 'store-1'), undefined)
    await joined(home, 'store-2')
    await home.client.delete(Cluster, { name: 'store-2' })
    await home.clock.advance(2_000)
    assert.equal(await home.find(ManagedCluster, 'store-2'), undefined)
  }))

test('two writers that fight over a label are said, until they stop', () =>
  withHome(async (home) => {
    await joined(home, 'store-1', { tier: 'a' })
    for (let turn = 0; turn < 4; turn += 1) {
      for (const [type, tier] of [
        [ManagedCluster, 'b'],
        [Cluster, 'a'],
      ] as const) {
        const body = { metadata: { labels: { tier } } }
        await home.client.patch(type as typeof Cluster, { name: 'store-1' }, { type: 'merge', body })
        await home.clock.advance(2_000)
      }
    }
    const contested = async () => condition(await home.find(ManagedCluster, 'store-1'), 'LabelContested')
    assert.equal(await contested(), 'True ChangedInTurns')
    await home.clock.advance(700_000)
    assert.equal(await contested(), 'False Settled')
  }))
