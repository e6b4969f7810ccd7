/** D18: the commands of a user who has the role view in one namespace, and nothing else. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../../core/crypto/digest.ts'
import { ensureNamespace } from '../../../hub/home/hub-info.ts'
import { RoleBinding } from '../../../kinds/builtin/rbac.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { PlacementDecision } from '../../../kinds/native/placement-decision.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Source } from '../../../kinds/native/source.ts'
import { build, buildBundle, buildCluster, buildPlacement } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorReport } from '../../../testing/hub/cli-hub.ts'
import { objectSetBytes } from '../../../wire/document/signed-document.ts'
import { driftList, driftShow } from '../drift/drift.ts'
import { explain } from '../placement/placement.ts'
import { events } from './events.ts'
import { trace } from './trace.ts'
import { tree } from './tree.ts'

async function started(t: { after(fn: () => Promise<void>): void }, namespace: string | undefined) {
  const hub = createCliHub(t)
  const { client } = hub
  const write = { fieldManager: 'test' }
  await ensureNamespace(client, 'shop')
  const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'pos', name: 'prices', digest: digestOf('prices') }
  const set = await hub.blobs.put(objectSetBytes({ format: 'flotilla.dev/set/v1', objects: [object] }))
  const git = { url: 'https://git.example/fleet' }
  await client.create(Source, build(Source, 'shop/fleet', { spec: { git } }), write)
  await client.create(Placement, buildPlacement('shop/stores'), write)
  await client.create(Bundle, buildBundle('shop/web', { placement: 'stores', source: { name: 'fleet' } }), write)
  await client.create(Cluster, buildCluster('store-1'), write)
  const decisions = [{ cluster: 'store-1', reason: '', state: 'Selected' as const }]
  const page = { placement: 'stores', placementGeneration: 1, page: 0, pages: 1, decisions }
  await client.create(PlacementDecision, build(PlacementDecision, 'shop/stores-0', { spec: page }), write)
  const row = { bundle: 'shop/web', generation: 1, set }
  const known = { clusterId: 'c-store-1', epoch: 1, revision: 1 }
  const entries = [{ ...row, rollout: 'shop/web-g1' }]
  await client.create(Assignment, build(Assignment, 'store-1', { spec: { ...known, document: set, entries } }), write)
  const drift = [{ object: 'ConfigMap pos/prices', fields: ['.data.a'], since: '2026-11-16T00:00:00Z' }]
  const drifted = { ...row, state: 'Drifted' as const, message: 'ConfigMap pos/prices: .data.a', drift }
  const report = { ...known, receivedAt: '2026-11-16T00:00:00Z', bundles: [drifted] }
  await client.create(ClusterReport, build(ClusterReport, 'store-1', { spec: report }), write)
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' }
  const subjects = [{ kind: 'User', name: 'vera', apiGroup: 'rbac.authorization.k8s.io' }]
  await client.create(RoleBinding, build(RoleBinding, 'shop/view', { roleRef, subjects }), write)
  const { terminal, taken } = hub
  return { connection: { ...hub.connectionOf('vera'), namespace }, terminal, taken }
}

test('tree, trace, explain, drift and events work in the namespace of the context', async (t) => {
  const { connection, terminal, taken } = await started(t, 'shop')
  await tree([], { connection, terminal, flags: {} })
  const shown = taken()
  assert.match(shown.out, /^Source shop\/fleet\n└─ Bundle web/)
  assert.doesNotMatch(shown.out, /not found/, 'a Source that the user may not read is not called missing')
  assert.match(
    shown.err,
    /showing namespace "shop": you may not list bundles in all namespaces\n.*may not list sources/s,
  )

  await trace(['configmap/prices'], { connection, terminal, flags: { cluster: 'store-1' } })
  const traced = taken().out
  assert.match(traced, /Bundle {5}shop\/web\n.*Source {5}fleet\n/s)
  assert.match(traced, /Hidden {5}you may not read assignments, sources of the hub/)

  await explain(['stores'], { connection, terminal, flags: {} })
  assert.match(taken().out, /^placement stores: pending\nstore-1 {2}Selected\n/)
  await explain(['stores', 'store-9'], { connection, terminal, flags: {} })
  const other = taken()
  assert.match(other.out, /store-9 {2}NotSelected/)
  assert.match(other.err, /the checks are not shown: you may not list clusters/)

  const flags = {}
  await driftList({ connection, terminal, flags })
  const listed = taken()
  assert.match(listed.out, /\nstore-1 +shop\/web +<unknown>/)
  assert.match(listed.err, /fields are not shown: you may not list clusterreports/)
  await driftShow(['store-1'], { connection, terminal, flags })
  assert.match(taken().out, /^bundle shop\/web \(generation 1\)/)

  await events({ connection, terminal, signal: new AbortController().signal, flags: { for: 'bundle/web' } })
  assert.match(taken().err, /showing namespace "shop".*\nNo events for bundle\/web/s)
})

test('a user of another namespace is told which role to ask for', async (t) => {
  const { connection, terminal } = await started(t, undefined)
  const refused = await expectErrorReport(tree([], { connection, terminal, flags: {} }))
  assert.equal(refused.exitCode, 4)
  assert.match(refused.what, /not allowed to list bundles in namespace "default"/)
  assert.match(refused.todo ?? '', /-n NAMESPACE.*role "view"/)
})
