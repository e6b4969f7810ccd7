import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { engineRows } from './compliance-rows.ts'
import { clusterResults, countResults, incompleteResults } from './engine-results.ts'

type Results = NonNullable<ClusterReport['spec']['results']>
type Policy = Results['policies'][number]

const policy = (name: string, counts: Partial<Policy>): Policy => ({
  engine: 'kyverno',
  policy: name,
  pass: 0,
  fail: 0,
  warn: 0,
  error: 0,
  skip: 0,
  ...counts,
})
const report = (name: string, results: Results, clusterId = `c-${name}`) =>
  build(ClusterReport, name, { spec: { clusterId, epoch: 1, revision: 1, bundles: [], results, receivedAt: '2026-11-19T00:00:00Z' } }) // prettier-ignore
const cluster = (name: string, isOffline = false) => ({ name, id: `c-${name}`, isAccepted: true, isOffline, lastSeen: '2026-11-18T00:00:00Z' }) // prettier-ignore

const clusters = [cluster('a'), cluster('b'), cluster('gone', true), cluster('none'), cluster('shut')]
const reports = [
  report('a', {
    policies: [
      policy('tag', { severity: 'high', category: 'Images', fail: 5, pass: 2, namespaces: [{ namespace: 'shop', fail: 3, warn: 0, error: 0 }, { fail: 1, warn: 0, error: 0 }], objects: [{ object: 'Pod shop/x', result: 'fail', message: 'name a tag' }] }), // prettier-ignore
      policy('limits', { pass: 7 }),
      policy('odd', { error: 1, namespaces: [{ namespace: 'shop', fail: 0, warn: 0, error: 1 }] }),
    ],
  }),
  report('b', { policies: [policy('tag', { severity: 'high', pass: 4, warn: 1, namespaces: [{ namespace: 'shop', fail: 0, warn: 1, error: 0 }] })] }), // prettier-ignore
  report('gone', { policies: [policy('tag', { severity: 'high', fail: 9 })] }),
  report('none', { policies: [policy('tag', { fail: 100 })] }, 'c-of-an-earlier-cluster'),
  report('shut', { policies: [], denied: ['policyreports.wgpolicyk8s.io'], unread: 3 }),
]
const all = clusterResults(clusters, reports)
const lines = (by: Parameters<typeof countResults>[1], filter = {}) =>
  countResults(all, by, filter).map(({ group, ...counts }) => `${group} ${Object.values(counts).join(' ')}`)

test('sums results by policy, severity, namespace and cluster; offline clusters are only counted', () => {
  // fail, warn, error, pass, skip, clusters, offline
  assert.deepEqual(lines('policy'), ['kyverno:tag 5 1 0 6 0 2 1', 'kyverno:odd 0 0 1 0 0 1 0', 'kyverno:limits 0 0 0 7 0 1 0']) // prettier-ignore
  assert.deepEqual(lines('severity'), ['high 5 1 0 6 0 2 1', '- 0 0 1 7 0 1 0'])
  assert.deepEqual(lines('cluster'), ['a 5 0 1 9 0 1 0', 'b 0 1 0 4 0 1 0', 'gone 0 0 0 0 0 0 1'])
  assert.deepEqual(lines('category'), ['Images 5 0 0 2 0 1 0', '- 0 1 1 11 0 2 1'])
  // Where the report names no namespace, the sum still has the result. Passes are not counted by namespace.
  assert.deepEqual(lines('namespace'), ['shop 3 1 1 2 0', '(cluster-scoped) 1 0 0 1 0', '(other namespaces) 1 0 0 1 1'])
  assert.deepEqual(lines('policy', { namespace: 'shop' }), ['kyverno:tag 3 1 0 2 0', 'kyverno:odd 0 0 1 1 0'])
  assert.deepEqual(lines('policy', { policy: 'limits', engine: 'Kyverno' }), ['kyverno:limits 0 0 0 7 0 1 0'])
})

test('says which results are not complete', () => {
  assert.deepEqual(incompleteResults(all), [
    'shut: its agent may not list policyreports.wgpolicyk8s.io; it has 3 more objects with results than an agent counts',
  ])
})

test('a policy of an engine is compliant on a cluster only if nothing failed and everything was read', () => {
  const states = engineRows(clusters, reports).map((row) => `${row.policy} ${row.cluster} ${row.state}${row.last ? ` ${row.last}` : ''}`) // prettier-ignore
  assert.deepEqual(states.toSorted(), [
    'limits a Compliant',
    'limits b NotSelected',
    'limits gone Offline',
    'limits none NotSelected',
    'limits shut Unknown',
    'odd a Unknown',
    'odd b NotSelected',
    'odd gone Offline',
    'odd none NotSelected',
    'odd shut Unknown',
    'tag a NonCompliant',
    'tag b Compliant',
    'tag gone Offline NonCompliant',
    'tag none NotSelected',
    'tag shut Unknown',
  ])
  const row = engineRows(clusters, reports).find((one) => one.policy === 'tag' && one.cluster === 'a')
  assert.equal(row?.message, '5 fail; Pod shop/x: name a tag')
  const unread = engineRows([cluster('a')], [report('a', { policies: [policy('tag', { pass: 1 })], unread: 1 })])
  assert.equal(unread[0]?.state, 'Unknown')
})
