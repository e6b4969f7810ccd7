import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bulkDriftActions } from './bulk-drift.ts'

const drift = (...fields: string[]) => [{ object: 'ConfigMap pos/a', fields, since: '2026-01-01T00:00:00Z' }]
const ana = { username: 'ana', groups: [], reason: 'sale', nowMs: Date.parse('2026-01-01T00:00:00Z') }

test('all clusters of a cause are reverted or accepted, each by its own Override', () => {
  const clusters = ['a', 'b'].map((cluster) => ({ cluster, drift: drift('.data.x') }))
  const actions = bulkDriftActions({ bundle: 'shop/web', clusters })
  assert.deepEqual(
    actions.map(({ sample, names }) => `${sample.title} ${names.join()}`),
    ['Revert a,b', 'Accept a,b'],
  )
  const { path, body } = actions[0]!.actionFor('b').change(ana)
  assert.match(path, /\/namespaces\/shop\/overrides\/revert-web-b-/)
  assert.deepEqual((body as { spec: { clusters: string[] } }).spec.clusters, ['b'])
  assert.equal(
    actions[0]!.command('sale'),
    "for name in a b; do flotilla drift revert $name --bundle web --reason 'sale'; done",
  )
  assert.equal(actions[0]!.typed, undefined)
})

test('what no Override can express is not offered, and one cluster has its own buttons', () => {
  const both = [
    { cluster: 'a', drift: drift('.data.x') },
    { cluster: 'b', drift: drift('.') },
  ]
  assert.deepEqual(
    bulkDriftActions({ bundle: 'shop/web', clusters: both }).map(
      ({ sample, names }) => `${sample.title} ${names.join()}`,
    ),
    ['Revert a,b', 'Accept a'],
  )
  assert.deepEqual(bulkDriftActions({ bundle: 'shop/web', clusters: both.slice(0, 1) }), [])
})

test('many clusters ask for their number', () => {
  const clusters = Array.from({ length: 26 }, (_, at) => ({ cluster: `s${at}`, drift: drift('.data.x') }))
  assert.equal(bulkDriftActions({ bundle: 'shop/web', clusters })[0]?.typed, '26')
})
