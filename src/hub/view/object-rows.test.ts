import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryBlobs } from '../../blobs/memory-blobs.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { build, buildBundle, buildCluster, buildPlacement } from '../../testing/fixtures/builders.ts'
import { objectSetBytes } from '../../wire/document/signed-document.ts'
import type { ViewReader } from './bundle-rows.ts'
import { bundleObjectRows } from './object-rows.ts'
import type { PositionedRow, RowRange } from './row-source.ts'

const NAMES = ['c', 'a', 'b']
const CLUSTERS = ['store-1', 'store-2']
const bytes = objectSetBytes({
  format: 'flotilla.dev/set/v1',
  objects: NAMES.map((name) => ({ apiVersion: 'v1', kind: 'ConfigMap', namespace: 'x', name, digest: digestOf(name) })),
})
const set = digestOf(bytes)
const known = { clusterId: 'c-1', epoch: 1, revision: 1 }
const row = { bundle: 'shop/web', generation: 1, set }
const drift = [{ object: 'ConfigMap x/b', fields: ['.data'], since: '2026-11-16T00:00:00Z' }]
const bundle = buildBundle('shop/web', { placement: 'stores' })
const decisions = CLUSTERS.map((cluster) => ({ cluster, reason: '', state: 'Selected' as const }))
const page = { placement: 'stores', placementGeneration: 1, page: 0, pages: 1, decisions }

const reads: ViewReader = {
  bundle: async () => bundle,
  bundles: async function* () {
    yield bundle
  },
  delivery: async () => undefined,
  deliveries: async function* () {},
  placement: async () => {
    const placement = buildPlacement('shop/stores')
    return { ...placement, metadata: { ...placement.metadata, generation: 1 } }
  },
  decisions: async () => [build(PlacementDecision, 'shop/stores-0', { spec: page })],
  release: async () => undefined,
  releases: async () => [],
  rollouts: async () => [],
  windows: async () => [],
  now: () => 0,
  cluster: async (name) => (CLUSTERS.includes(name) ? buildCluster(name) : undefined),
  report: async (name) =>
    build(ClusterReport, name, {
      spec: {
        ...known,
        receivedAt: '2026-11-16T00:00:00Z',
        bundles: name === 'store-2' ? [{ ...row, state: 'Drifted', drift }] : [{ ...row, state: 'Ready' }],
      },
    }),
  assignment: async (name) =>
    build(Assignment, name, {
      spec: { ...known, document: digestOf('d'), entries: [{ ...row, rollout: 'shop/web-g1' }] },
    }),
}

async function rowsFrom(range: Partial<RowRange>): Promise<readonly PositionedRow[]> {
  const blobs = createMemoryBlobs()
  await blobs.put(bytes)
  return await Array.fromAsync(bundleObjectRows(reads, blobs).rows({ where: new Map(), ...range }))
}

test('objects come in order, one row each, and a list goes on after any of them', async () => {
  const all = await rowsFrom({})
  const shown = all.map(({ at }) => `${at[2]} ${at[3]}`)
  assert.deepEqual(
    shown,
    CLUSTERS.flatMap((cluster) => ['a', 'b', 'c'].map((name) => `${cluster} ConfigMap x ${name} v1`)),
  )
  for (const [index, { at }] of all.entries()) assert.deepEqual(await rowsFrom({ after: at }), all.slice(index + 1))
})

test('an object that drifted says so, and the others of its bundle do not', async () => {
  const rows = await rowsFrom({ where: new Map([['cluster', 'store-2']]) })
  const states = rows.map(({ object }) => object['state'])
  assert.deepEqual(states, ['Ready', 'Drifted', 'Ready'])
  assert.equal(rows[1]!.object['message'], '.data')
})

test('a healthy object beside a failing one is Ready, each with its own message', async () => {
  const failing = {
    ...row,
    state: 'Failed' as const,
    message: 'ConfigMap x/b: no',
    firstFailing: 'ConfigMap x/b',
    objects: [{ object: 'ConfigMap x/b', state: 'Failed' as const, message: 'no' }],
    objectCounts: { Ready: 2, Failed: 1 },
  }
  const shown = async (bundles: ClusterReport['spec']['bundles']) => {
    const blobs = createMemoryBlobs()
    await blobs.put(bytes)
    const report = build(ClusterReport, 'store-1', { spec: { ...known, receivedAt: '2026-11-16T00:00:00Z', bundles } })
    const source = bundleObjectRows({ ...reads, report: async () => report }, blobs)
    const rows = await Array.fromAsync(source.rows({ where: new Map([['cluster', 'store-1']]) }))
    return rows.map(({ object }) => [object['state'], object['message']])
  }
  assert.deepEqual(await shown([failing]), [
    ['Ready', undefined],
    ['Failed', 'no'],
    ['Ready', undefined],
  ])
  const { objects: _, objectCounts: _counts, ...old } = failing
  assert.deepEqual(
    (await shown([old])).map(([state]) => state),
    ['NotReported', 'Failed', 'NotReported'],
    'an agent of 0.1',
  )
  assert.deepEqual(
    (await shown([{ ...failing, set: digestOf('another') }])).map(([state]) => state),
    ['NotReported', 'NotReported', 'NotReported'],
  )
})

test('one row by name, and nothing for names of no row', async () => {
  const blobs = createMemoryBlobs()
  await blobs.put(bytes)
  const source = bundleObjectRows(reads, blobs)
  const [first] = await rowsFrom({})
  const { name } = first!.object.metadata
  assert.match(name, /^web\.store-1\.configmap-[0-9a-f]{10}$/)
  assert.deepEqual(await source.get('shop', name), first!.object)
  for (const wrong of ['web', 'web.store-1', 'web.store-9.configmap-0000000000', `${name}0`, '.'])
    assert.equal(await source.get('shop', wrong), undefined, wrong)
})
