import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Delivery } from '../../kinds/native/delivery.ts'
import { build, buildBundle, buildCluster } from '../../testing/fixtures/builders.ts'
import type { ViewReader } from './bundle-rows.ts'
import { bundleStateRows } from './delivery-rows.ts'
import type { RowRange } from './row-source.ts'

const set = digestOf('set')
const delivery = (name: string, clusters: string[]) =>
  build(Delivery, name, {
    spec: { set, clusters },
    status: {
      revision: { generation: 1, set },
      admissions: clusters.map((cluster) => ({ cluster, generation: 1, admittedAt: '2026-11-18T12:00:00Z' })),
    },
  })
const DELIVERIES = [delivery('shop/tills', ['a', 'b']), delivery('shop/web', ['b']), delivery('zoo/web', ['a'])]
const assigned = { bundle: 'shop/delivery:tills', generation: 1, set, rollout: 'shop/delivery:tills' }

const reads: ViewReader = {
  bundle: async (namespace, name) =>
    namespace === 'shop' && name === 'site' ? buildBundle('shop/site', { placement: 'none' }) : undefined,
  bundles: async function* () {
    yield buildBundle('shop/site', { placement: 'none' })
  },
  delivery: async (namespace, name) =>
    DELIVERIES.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
  deliveries: async function* (namespace, from = ['', '']) {
    for (const one of DELIVERIES) {
      const { namespace: at = '', name } = one.metadata
      if ((namespace === undefined || at === namespace) && `${at}/${name}` >= from.join('/')) yield one
    }
  },
  placement: async () => undefined,
  decisions: async () => [],
  release: async () => undefined,
  releases: async () => [],
  rollouts: async () => [],
  windows: async () => [],
  cluster: async (name) => buildCluster(name),
  report: async () => undefined,
  assignment: async (name) =>
    name === 'a'
      ? build(Assignment, 'a', {
          spec: { clusterId: 'c-a', epoch: 1, revision: 1, document: digestOf('document'), entries: [assigned] },
        })
      : undefined,
  now: () => 0,
}
const rows = bundleStateRows(reads)

async function positions(range: Partial<RowRange> = {}): Promise<string[]> {
  const found: string[] = []
  for await (const { at } of rows.rows({ where: new Map(), ...range })) found.push(at.join('/'))
  return found
}

test('each cluster of a Delivery has a row, also after a resumed list', async () => {
  const all = ['shop/delivery:tills/a', 'shop/delivery:tills/b', 'shop/delivery:web/b', 'zoo/delivery:web/a']
  assert.deepEqual(await positions(), all)
  assert.deepEqual(await positions({ after: ['shop', 'delivery:tills', 'a'] }), all.slice(1))
  assert.deepEqual(await positions({ after: ['shop', 'delivery:web', 'b'] }), all.slice(3))
  assert.deepEqual(await positions({ after: ['shop', 'site', 'x'] }), all, 'rows of Bundles come first')
  assert.deepEqual(await positions({ namespace: 'zoo' }), all.slice(3))
})

test('rows are selected by Delivery, entry and cluster', async () => {
  const where = (field: string, value: string) => ({ where: new Map([[field, value]]) })
  assert.deepEqual(await positions(where('delivery', 'web')), ['shop/delivery:web/b', 'zoo/delivery:web/a'])
  assert.deepEqual(await positions({ namespace: 'shop', ...where('bundle', 'delivery:web') }), ['shop/delivery:web/b'])
  assert.deepEqual(await positions({ namespace: 'shop', ...where('bundle', 'site') }), [])
  const among = { bundle: (key: string) => key === 'shop/delivery:tills', clusters: new Set<string>() }
  assert.deepEqual(await positions({ among }), ['shop/delivery:tills/a', 'shop/delivery:tills/b'])
})

test('a row has the name of its Delivery, the state, and a message that names the Delivery', async () => {
  const row = await rows.get('shop', 'delivery:tills.a')
  assert.equal(row?.['delivery'], 'tills')
  assert.equal(row?.['bundle'], 'delivery:tills')
  assert.deepEqual(row?.metadata.labels, {
    'flotilla.dev/delivery': 'tills',
    'flotilla.dev/cluster': 'a',
    'flotilla.dev/state': String(row['state']),
  })
  const stranger = await rows.get('shop', 'delivery:web.a')
  assert.deepEqual([stranger?.['state'], stranger?.['message']], ['NotSelected', 'Not named by Delivery "web"'])
  assert.equal(await rows.get('shop', 'delivery:nothing.a'), undefined)
})
