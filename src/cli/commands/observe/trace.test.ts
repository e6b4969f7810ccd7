/** trace and tree, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../../core/crypto/digest.ts'
import { ensureNamespace } from '../../../hub/home/hub-info.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Delivery } from '../../../kinds/native/delivery.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { PlacementDecision } from '../../../kinds/native/placement-decision.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Release } from '../../../kinds/native/release.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { Source } from '../../../kinds/native/source.ts'
import { build, buildBundle, buildCluster, buildPlacement } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { objectSetBytes } from '../../../wire/document/signed-document.ts'
import { trace } from './trace.ts'
import { tree } from './tree.ts'

const COMMIT = 'f2ca02237401dd95b41fd98e234a119b4b48b164'

async function started(t: { after(fn: () => Promise<void>): void }) {
  const hub = createCliHub(t)
  const { client, blobs } = hub
  const write = { fieldManager: 'test' }
  await ensureNamespace(client, 'shop')
  const of = (kind: string, apiVersion: string, name: string) => ({ apiVersion, kind, namespace: 'pos', name })
  const objects = [of('Deployment', 'apps/v1', 'web'), of('ConfigMap', 'v1', 'greeting')]
  const bytes = objectSetBytes({
    format: 'flotilla.dev/set/v1',
    objects: objects.map((object) => ({ ...object, digest: digestOf(object.name) })),
  })
  const set = digestOf(bytes)
  await blobs.put(bytes)
  const git = { url: 'https://git.example/fleet' }
  await client.create(Source, build(Source, 'shop/fleet', { spec: { git } }), write)
  await client.create(Placement, buildPlacement('shop/stores'), write)
  const source = { name: 'fleet', path: 'apps/web' }
  const bundle = await client.create(Bundle, buildBundle('shop/web', { placement: 'stores', source }), write)
  await client.update(Bundle, { ...bundle, status: { release: 'web-g3' } }, { ...write, subresource: 'status' })
  const revision = `main@sha1:${COMMIT}`
  const bundles = [{ name: 'web', generation: 3, set, placement: 'stores', revision }]
  await client.create(Release, build(Release, 'shop/web-g3', { spec: { bundles } }), write)
  const spec = { release: 'web-g3', rings: ['canary', 'rest'].map((name) => ({ name, concurrency: 1 })), paused: false }
  const rollout = await client.create(Rollout, build(Rollout, 'shop/web-g3', { spec }), write)
  const rings = [{ name: 'canary', members: 4, ready: 3, failed: 1, passedAt: '2026-11-16T00:00:00Z' }]
  const status = { phase: 'Progressing' as const, ring: 'rest', rings }
  await client.update(Rollout, { ...rollout, status }, { ...write, subresource: 'status' })
  await client.create(Cluster, buildCluster('store-1'), write)
  const decisions = [{ cluster: 'store-1', reason: '', state: 'Selected' as const }]
  const page = { placement: 'stores', placementGeneration: 1, page: 0, pages: 1, decisions }
  await client.create(PlacementDecision, build(PlacementDecision, 'shop/stores-0', { spec: page }), write)
  const known = { clusterId: 'c-1', epoch: 1, revision: 1 }
  const row = { bundle: 'shop/web', generation: 3, set }
  const entries = [{ ...row, rollout: 'shop/web-g3' }]
  const assigned = { ...known, document: digestOf('d'), entries }
  await client.create(Assignment, build(Assignment, 'store-1', { spec: assigned }), write)
  const failing = { state: 'Failed' as const, message: 'ImagePullBackOff', firstFailing: 'Deployment pos/web' }
  const report = { ...known, receivedAt: '2026-11-16T00:00:00Z', bundles: [{ ...row, ...failing }] }
  await client.create(ClusterReport, build(ClusterReport, 'store-1', { spec: report }), write)
  return hub
}

test('trace leads from an object in a cluster back to the commit', async (t) => {
  const { connection, terminal, taken } = await started(t)
  const run = (word: string, flags = {}) =>
    trace([word], { connection, terminal, flags: { cluster: 'store-1', ...flags } })
  await run('deploy/web')
  const lines = taken().out.split('\n')
  assert.match(lines[0]!, /^Object {5}Deployment\/pos\/web \(store-1\) {3}✗ Failed {3}sha256:[0-9a-f]{12}$/)
  assert.equal(lines[1], '  ↑ Bundle     shop/web   generation 3')
  assert.match(lines[2]!, /^ {2}↑ Rollout {4}web-g3 {3}Progressing, at ring rest {3}created \d+s ago$/)
  assert.equal(lines[3], `  ↑ Source     fleet main@sha1:${COMMIT.slice(0, 12)}   path apps/web`)
  assert.equal(lines[4], 'Why        ImagePullBackOff')
  assert.equal(lines[5], 'Try        flotilla events --for bundle/web     flotilla explain -n shop stores store-1')
  await run('configmaps/greeting', { namespace: 'pos', output: 'json' })
  const json = taken().out
  const [{ object, rollout, ...rest }] = JSON.parse(json)
  assert.equal(object.name, 'greeting')
  assert.deepEqual([rollout.name, rollout.phase, rollout.ring], ['web-g3', 'Progressing', 'rest'])
  assert.deepEqual(rest, {
    cluster: 'store-1',
    state: 'NotReported',
    message: 'The agent does not report the state of this object.',
    bundle: { namespace: 'shop', name: 'web', generation: 3, placement: 'stores' },
    release: { generation: 3, revision: `main@sha1:${COMMIT}` },
    source: { namespace: 'shop', name: 'fleet', path: 'apps/web' },
  })
  assert.doesNotMatch(json, /managedFields/, 'D33')
  assert.match(
    await expectErrorText(run('deploy/wob')),
    /no Bundle delivers deploy\/wob to cluster "store-1": objects of this kind are web\n.*--field-selector cluster=store-1"\n$/s,
  )
  assert.match(await expectErrorText(run('web')), /"web": must be KIND\/NAME/)
})

test('trace leads from an object of a Delivery to the object that the Delivery was made for', async (t) => {
  const { connection, terminal, taken, client, blobs } = await started(t)
  const write = { fieldManager: 'test' }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'pos', name: 'prices', digest: digestOf('prices') }
  const set = await blobs.put(objectSetBytes({ format: 'flotilla.dev/set/v1', objects: [object] }))
  const owner = { apiVersion: 'work.open-cluster-management.io/v1', kind: 'ManifestWork', name: 'prices', uid: 'u' }
  const made = build(Delivery, 'shop/prices', { spec: { set, clusters: ['store-1'] } }, { ownerReferences: [owner] })
  const delivery = await client.create(Delivery, made, write)
  const admissions = [{ cluster: 'store-1', generation: 2, admittedAt: '2026-11-16T00:00:00Z' }]
  const status = { revision: { generation: 2, set }, admissions }
  await client.update(Delivery, { ...delivery, status }, { ...write, subresource: 'status' })
  const assignment = await client.get(Assignment, { name: 'store-1' })
  const entry = { bundle: 'shop/delivery:prices', generation: 2, set, rollout: 'shop/delivery:prices' }
  const spec = { ...assignment.spec, entries: [...assignment.spec.entries, entry] }
  await client.update(Assignment, { ...assignment, spec }, write)
  await trace(['cm/prices'], { connection, terminal, flags: { cluster: 'store-1' } })
  const lines = taken().out.split('\n')
  assert.equal(lines[1], '  ↑ Delivery   shop/prices   generation 2')
  assert.equal(lines[2], '  ↑ ManifestWork shop/prices')
  assert.equal(lines.at(-2), 'Try        flotilla get delivery prices -n shop -o yaml')
})

test('tree shows which source feeds which bundle and how far its rollout is', async (t) => {
  const { connection, terminal, taken } = await started(t)
  const run = (words: readonly string[] = []) => tree(words, { connection, terminal, flags: {} })
  await run()
  assert.equal(
    taken().out,
    [
      'Source shop/fleet',
      '└─ Bundle web   path apps/web   Pending',
      '   ├─ Placement stores   not decided yet',
      '   └─ Rollout web-g3   Progressing',
      '      ├─ Ring canary   3/4 ready, 1 failed, passed',
      '      └─ Ring rest   0/0 ready',
      '',
    ].join('\n'),
  )
  assert.match(await expectErrorText(run(['wep'])), /bundle "wep" not found\n.*web/s)
})
