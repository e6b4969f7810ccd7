import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterReport } from '../../../src/kinds/native/cluster-report.ts'
import { driftCauses } from './drift-groups.ts'

type Row = Partial<ClusterReport['spec']['bundles'][number]>
const report = (name: string, ...bundles: readonly Row[]) =>
  ({ metadata: { name }, spec: { bundles } }) as unknown as Pick<ClusterReport, 'metadata' | 'spec'>
const drifted = (bundle: string, fields: readonly string[], since = '2026-11-19T10:00:00Z'): Row => ({
  bundle,
  state: 'Drifted',
  drift: [{ object: 'ConfigMap shop/greeting', fields: [...fields], since }],
})

test('equal drift of several clusters is one cause, the most frequent first', () => {
  const { causes, unknown } = driftCauses([
    report('b', drifted('default/shop', ['.data.x (by ed)', '.data.y (by ed)'])),
    report('c', drifted('default/shop', ['.data.x (by other)'])),
    report('a', drifted('default/shop', ['.data.y (by ed)', '.data.x (by ed)'], '2026-11-18T10:00:00Z')),
  ])
  assert.deepEqual(
    causes.map(({ fields, clusters, since }) => [fields.join(), clusters.map(({ cluster }) => cluster).join(), since]),
    [
      ['.data.x (by ed),.data.y (by ed)', 'a,b', '2026-11-18T10:00:00Z'],
      ['.data.x (by other)', 'c', '2026-11-19T10:00:00Z'],
    ],
  )
  assert.deepEqual(unknown, [])
})

test('the same object of another bundle is another cause, and drift without fields is not lost', () => {
  const { causes, unknown } = driftCauses([
    report('a', drifted('default/shop', ['.x']), drifted('other/shop', ['.x'])),
    report('b', { bundle: 'default/shop', state: 'Drifted', message: 'changed' }, { bundle: 'x/y', state: 'Ready' }),
  ])
  assert.equal(causes.length, 2)
  assert.deepEqual(unknown, [{ bundle: 'default/shop', cluster: 'b', message: 'changed' }])
})
