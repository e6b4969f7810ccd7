import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTime } from '../core/time/time.ts'
import { Deployment } from './builtin/apps.ts'
import { ConfigMap, Event } from './builtin/core.ts'
import { Bundle } from './native/bundle.ts'
import { Cluster } from './native/cluster.ts'
import { tableColumns, tableRow } from './columns.ts'
import { evaluateJsonPath, parseJsonPath } from './json-path.ts'
import type { KubeObject } from './meta.ts'

const NOW = parseTime('2026-11-16T00:05:00Z')!
const metadata = { name: 'x', namespace: 'default', creationTimestamp: '2026-11-16T00:00:00Z' }

function row(kind: Parameters<typeof tableRow>[0], fields: object) {
  const cells = tableRow(kind, { metadata, ...fields } as KubeObject, NOW)
  return Object.fromEntries(tableColumns(kind).map((column, index) => [column.name, cells[index]]))
}

test('a native kind shows its columns; what is missing stays empty', () => {
  const status = { state: 'Ready', bundles: { total: 2, ready: 1 }, since: '2026-11-16T00:04:50Z', badges: 'Held' }
  assert.deepEqual(row(Cluster, { spec: { accepted: true }, status }), {
    Name: 'x',
    State: 'Ready',
    Since: '10s',
    Badges: 'Held',
    Ready: 1,
    Bundles: 2,
    Version: null,
    Age: '5m',
    Accepted: true,
    Message: null,
  })
  assert.equal(row(Cluster, { status: { since: 'yesterday' } })['Since'], '<invalid>')
})

test('a condition is found by its type', () => {
  const conditions = [
    { type: 'Rendered', status: 'True' },
    { type: 'Ready', status: 'False', message: 'waiting' },
  ]
  const shown = row(Bundle, { spec: { placement: 'p' }, status: { conditions } })
  assert.equal(shown['Ready'], 'False')
  assert.equal(shown['Message'], 'waiting')
})

test('Kubernetes’ own kinds show what kubectl shows', () => {
  assert.equal(row(ConfigMap, { data: { a: '', b: '' }, binaryData: { c: '' } })['Data'], 3)
  const deployment = row(Deployment, {
    spec: {
      replicas: 3,
      selector: {
        matchLabels: { app: 'web' },
        matchExpressions: [{ key: 'tier', operator: 'In', values: ['b', 'a'] }],
      },
      template: {
        spec: {
          containers: [
            { name: 'web', image: 'web:1' },
            { name: 'log', image: 'log:2' },
          ],
        },
      },
    },
    status: { readyReplicas: 1, updatedReplicas: 2 },
  })
  assert.deepEqual(deployment, {
    Name: 'x',
    Ready: '1/3',
    'Up-to-date': 2,
    Available: 0,
    Age: '5m',
    Containers: 'web,log',
    Images: 'web:1,log:2',
    Selector: 'app=web,tier in (a,b)',
  })
  const event = row(Event, {
    involvedObject: { kind: 'Pod', name: 'p' },
    type: 'Normal',
    reason: 'Started',
    message: ' started \n',
    eventTime: '2026-11-16T00:00:00.000000Z',
    firstTimestamp: null,
    source: {},
    reportingComponent: 'kubelet',
    reportingInstance: 'n1',
  })
  assert.deepEqual(event, {
    'Last Seen': '5m',
    Type: 'Normal',
    Reason: 'Started',
    Object: 'pod/p',
    Subobject: '',
    Source: 'kubelet, n1',
    Message: 'started',
    'First Seen': '5m',
    Count: 1,
    Name: 'x',
  })
})

test('paths', () => {
  const data = {
    a: {
      'b.c': [
        { n: 1, v: 'x' },
        { n: 2, v: 'y' },
      ],
    },
  }
  const find = (path: string) => evaluateJsonPath(data, parseJsonPath(path)!)
  assert.deepEqual(find('.a.b\\.c[0].v'), ['x'])
  assert.deepEqual(find(".a['b.c'][-1].v"), ['y'])
  assert.deepEqual(find('.a["b.c"][*].v'), ['x', 'y'])
  assert.deepEqual(find('.a["b.c"][?(@.n==2)].v'), ['y'])
  assert.deepEqual(find('.a["b.c"][?(@.v!="y")].n'), [1])
  assert.deepEqual(find('.a.nothing.here'), [])
  assert.deepEqual(find('.__proto__'), [])
  for (const bad of ['a', '.a[', '.a[?(@.x>1)]', '.a..b']) assert.equal(parseJsonPath(bad), undefined, bad)
})
