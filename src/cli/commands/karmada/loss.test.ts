/** `flotilla simulate loss` against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../core/time/system-clock.ts'
import { ResourceBinding } from '../../../dialects/karmada/served/kinds.ts'
import { installDialects } from '../../../hub/home/dialects.ts'
import { Namespace } from '../../../kinds/builtin/core.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { simulateLosses } from './loss.ts'

const { signal } = new AbortController()
const weighted = { replicaSchedulingType: 'Divided', replicaDivisionPreference: 'Weighted' }

test('simulate loss says of each object where its replicas go, and writes nothing', async (t) => {
  const hub = createCliHub(t, { namespace: 'shop', dialects: ['karmada'] })
  const { client, terminal, connection } = hub
  const input = (selector: string, output?: string) => ({
    connection,
    terminal,
    clock: systemClock,
    signal,
    flags: { selector, ...(output ? { output } : {}) },
  })
  await client.create(Namespace, build(Namespace, 'shop', {}))
  for (const [name, region] of [
    ['m1', 'eu'],
    ['m2', 'us'],
    ['m3', 'us'],
  ] as const) {
    const made = await client.create(Cluster, buildCluster(name, { labels: { region } }))
    const isHere = { type: 'Available', status: 'True' as const, reason: 'Seen', message: 'x' }
    const conditions = [{ ...isHere, lastTransitionTime: '2026-01-01T00:00:00Z' }]
    await client.update(Cluster, { ...made, status: { ...made.status, conditions } }, { subresource: 'status' })
  }
  assert.match(await expectErrorText(simulateLosses(input('region=eu'))), /serves no templates.*\n.*--hub-templates/)
  await installDialects(['karmada'], { client, clock: systemClock, signal })
  const binding = (name: string, clusters: { name: string; replicas: number }[], more: object) => {
    const resource = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name }
    const spec = { resource, replicas: 4, placement: { replicaScheduling: weighted }, clusters, ...more }
    return build(ResourceBinding, `shop/${name}-deployment`, { spec })
  }
  const everywhere = [
    { name: 'm1', replicas: 2 },
    { name: 'm2', replicas: 2 },
  ]
  await client.create(ResourceBinding, binding('web', everywhere, { failover: { cluster: {} } }))
  await client.create(ResourceBinding, binding('api', [{ name: 'm1', replicas: 4 }], {}))
  await client.create(ResourceBinding, binding('far', [{ name: 'm3', replicas: 4 }], {}))
  const before = JSON.stringify((await client.list(ResourceBinding)).items)
  await simulateLosses(input('region=eu'))
  const { out, err } = hub.taken()
  const rows = out
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {3,}/))
  assert.deepEqual(rows, [
    ['NAMESPACE', 'OBJECT', 'LOST', 'AFTERWARDS', 'OUTCOME'],
    [
      'shop',
      'deployment/api',
      'm1=4',
      '-',
      'Stays, no copy left until then: the policy does not ask for moves: spec.failover.cluster',
    ],
    ['shop', 'deployment/web', 'm1=2', 'm2=2 m3=2', 'Moves'],
  ])
  assert.equal(err, '1 cluster of 3 lost (m1): 2 objects affected, 1 moved, 1 without a copy in reach\n')
  await simulateLosses(input('region=us', 'json'))
  const parsed = JSON.parse(hub.taken().out) as { objects: { object: string; outcome: string; why: string }[] }
  assert.deepEqual(
    parsed.objects.map(({ object, outcome }) => [object, outcome]),
    [
      ['deployment/far', 'Stays'],
      ['deployment/web', 'Stays'],
    ],
  )
  assert.match(parsed.objects[1]!.why, /2 of 3 clusters are out of reach, which is more than half/)
  assert.equal(JSON.stringify((await client.list(ResourceBinding)).items), before)
  assert.match(await expectErrorText(simulateLosses(input('region=mars'))), /no accepted cluster has the labels/)
})
