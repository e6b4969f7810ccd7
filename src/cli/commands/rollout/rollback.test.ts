/** rollback and release lift, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../../core/crypto/digest.ts'
import { ensureNamespace } from '../../../hub/home/hub-info.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { PlacementDecision } from '../../../kinds/native/placement-decision.ts'
import { Release } from '../../../kinds/native/release.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { build, buildBundle, buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { releaseLift, retry, rollback } from './rollback.ts'
import type { RollbackInput } from './rollback.ts'
import { rolloutHistory } from './rollout.ts'

const write = { fieldManager: 'test' }

/** Two generations of a bundle; a and b run the second, c still the first. */
async function started(t: { after(fn: () => Promise<void>): void }) {
  const hub = createCliHub(t)
  const { client } = hub
  await ensureNamespace(client, 'ns')
  const bundle = await client.create(Bundle, buildBundle('ns/hello', { placement: 'p' }), write)
  const revision = (generation: number) => ({ generation, set: digestOf(`v${generation}`) })
  for (const generation of [1, 2]) {
    const bundles = [{ name: 'hello', ...revision(generation), placement: 'p' }]
    await client.create(Release, build(Release, `ns/hello-g${generation}`, { spec: { bundles } }), write)
    const rings = [{ name: 'all', concurrency: 10 }]
    const spec = { release: `hello-g${generation}`, rings, paused: false }
    await client.create(Rollout, build(Rollout, `ns/hello-g${generation}`, { spec }), write)
  }
  await client.update(Bundle, { ...bundle, status: { release: 'hello-g2' } }, { ...write, subresource: 'status' })
  const has: Record<string, readonly [number, number?]> = { a: [2, 1], b: [2], c: [1] }
  for (const [name, [generation, before]] of Object.entries(has)) {
    await client.create(Cluster, buildCluster(name, {}), write)
    const entry = { bundle: 'ns/hello', ...revision(generation), rollout: 'ns/hello-g2' }
    const entries = [before === undefined ? entry : { ...entry, before: revision(before) }]
    const spec = { clusterId: `c-${name}`, epoch: 1, revision: 1, document: digestOf(name), entries }
    await client.create(Assignment, build(Assignment, name, { spec }), write)
  }
  const decisions = Object.keys(has).map((cluster) => ({ cluster, reason: '', state: 'Selected' as const }))
  const page = { placement: 'p', placementGeneration: 1, page: 0, pages: 1, decisions }
  await client.create(PlacementDecision, build(PlacementDecision, 'ns/p-0', { spec: page }), write)
  const input = (flags: RollbackInput['flags'] = {}): RollbackInput => ({
    connection: { ...hub.connection, namespace: 'ns' },
    terminal: hub.terminal,
    confirm: async () => false,
    now: () => Date.parse('2026-11-16T12:00:00Z'),
    flags,
  })
  return { hub, input }
}

test('who goes where is shown first; nothing happens without a yes', async (t) => {
  const { hub, input } = await started(t)
  const refused = await expectErrorText(rollback('hello', input()))
  assert.match(refused, /roll back hello-g2 on 1 cluster: stdin is not a terminal[\s\S]*pass --yes to confirm/)
  assert.equal(
    hub.taken().out,
    [
      'roll back hello-g2 on 1 cluster, within the budgets of its rings',
      'BUNDLE   FROM   TO   CLUSTERS   OFFLINE',
      'hello    g2     g1   1          1 after reconnecting',
      'b keeps the release: no earlier release to roll back to',
      '',
    ].join('\n'),
  )
  assert.equal((await hub.client.get(Rollout, { namespace: 'ns', name: 'hello-g2' })).spec.acts, undefined)
})

test('what is asked is written on the rollout, in the caller’s own name', async (t) => {
  const { hub, input } = await started(t)
  await rollback('hello', input({ yes: true, reason: 'tills are slow', cluster: ['a'] }))
  const rollout = await hub.client.get(Rollout, { namespace: 'ns', name: 'hello-g2' })
  const [act] = rollout.spec.acts!
  assert.deepEqual(
    { ...act, by: '' },
    {
      n: 1,
      verb: 'RollBack',
      by: '',
      at: '2026-11-16T12:00:00Z',
      reason: 'tills are slow',
      clusters: ['a'],
      bundles: ['hello'],
    },
  )
  assert.notEqual(act!.by, '')
  assert.match(hub.taken().err, /flotilla rollout status hello-g2-undo-1 -n ns/)
})

test('what cannot be taken back is said', async (t) => {
  const { input } = await started(t)
  const say = (name: string, flags: RollbackInput['flags']) =>
    expectErrorText(rollback(name, input({ yes: true, ...flags })))
  assert.match(
    await say('hello', { cluster: ['b'] }),
    /cannot roll back rollout "hello-g2": b ran no earlier release of the Bundle\n.*--to-release from "flotilla rollout history hello -n ns"/,
  )
  assert.match(await say('hello', { cluster: ['c'] }), /no selected cluster runs its release/)
  assert.match(await say('hello-g1', {}), /newer releases carry its Bundles[\s\S]*give the name of the Bundle/)
  assert.match(await say('hello', { ring: 'x' }), /has no ring "x"[\s\S]*the rings are all/)
  assert.match(await say('hello', { toRelease: 'hello-g7' }), /no release "hello-g7" before "hello-g2"/)
  assert.match(await say('nope', {}), /rollout "nope" not found in namespace "ns"/)
})

test('a mark is shown in the history and can be lifted', async (t) => {
  const { hub, input } = await started(t)
  const release = await hub.client.get(Release, { namespace: 'ns', name: 'hello-g2' })
  const bad = [{ bundle: 'hello', by: 'ana', at: '2026-11-16T12:00:00Z', reason: 'slow' }]
  await hub.client.update(Release, { ...release, status: { bad } }, { ...write, subresource: 'status' })
  const rollBack = { of: 'hello-g2', scope: 'All' as const, by: 'ana', reason: 'slow' }
  const bundles = [{ name: 'hello', generation: 3, set: digestOf('v1'), placement: 'p' }]
  await hub.client.create(Release, build(Release, 'ns/hello-g2-undo-1', { spec: { bundles, rollBack } }), write)
  await rolloutHistory('hello', input())
  const { out } = hub.taken()
  assert.match(out, /hello-g2-undo-1 .* rollback of hello-g2 by ana: slow\n/)
  assert.match(out, /hello-g2 .* rolled back .* ago by ana: slow\n/)
  await releaseLift('hello-g2', input({ bundle: 'other' }))
  assert.match(hub.taken().err, /not marked bad for bundle "other"/)
  await releaseLift('hello-g2', input())
  assert.match(hub.taken().err, /no longer marked bad for hello; its content can be rolled out again/)
  assert.equal((await hub.client.get(Release, { namespace: 'ns', name: 'hello-g2' })).status?.bad, undefined)
})

test('retry reaches who failed at what an older release brought and this one did not change', async (t) => {
  const { hub, input } = await started(t)
  const rollout = await hub.client.get(Rollout, { namespace: 'ns', name: 'hello-g2' })
  const counts = { total: 3, ready: 2, progressing: 0, pending: 0, failed: 1, offline: 0 }
  await hub.client.update(Rollout, { ...rollout, status: { counts } }, { ...write, subresource: 'status' })
  for (const [name, state] of [['a', 'Ready'] as const, ['c', 'Failed'] as const]) {
    const bundles = [{ bundle: 'ns/hello', generation: 1, set: digestOf('v1'), state }]
    const spec = { clusterId: `c-${name}`, epoch: 1, revision: 1, receivedAt: '2026-11-16T11:00:00Z', bundles }
    await hub.client.create(ClusterReport, build(ClusterReport, name, { spec }), write)
  }
  assert.match(await expectErrorText(retry('hello-g2', input({ cluster: ['a', 'b', 'c'] }))), /a, b did not fail/)
  await retry('hello-g2', input({ cluster: ['c'] }))
  await retry('hello-g2', input())
  const { acts } = (await hub.client.get(Rollout, { namespace: 'ns', name: 'hello-g2' })).spec
  assert.deepEqual(
    acts?.map(({ verb, clusters }) => [verb, clusters]),
    [
      ['Retry', ['c']],
      ['Retry', undefined],
    ],
  )
})

test('retry records the caller, and retries failed clusters only', async (t) => {
  const { hub, input } = await started(t)
  assert.match(await expectErrorText(retry('hello-g2', input())), /no cluster failed; nothing to retry/)
  const rollout = await hub.client.get(Rollout, { namespace: 'ns', name: 'hello-g2' })
  const at = '2026-11-16T11:00:00Z'
  const admissions = [{ bundle: 'hello', cluster: 'a', ring: 'all', admittedAt: at, failedAt: at }]
  await hub.client.update(Rollout, { ...rollout, status: { admissions } }, { ...write, subresource: 'status' })
  assert.match(await expectErrorText(retry('hello-g2', input({ cluster: ['b'] }))), /b did not fail/)
  await retry('hello-g2', input({ cluster: ['a'], reason: 'registry is back' }))
  const [act] = (await hub.client.get(Rollout, { namespace: 'ns', name: 'hello-g2' })).spec.acts!
  assert.deepEqual([act?.n, act?.verb, act?.clusters, act?.reason], [1, 'Retry', ['a'], 'registry is back'])
  await rolloutHistory('hello', input())
  assert.match(hub.taken().out, /hello-g2 .* retried .* ago by \S+: registry is back/)
  await retry('hello', input({ cluster: ['a'] }))
  const { acts } = (await hub.client.get(Rollout, { namespace: 'ns', name: 'hello-g2' })).spec
  assert.deepEqual(
    acts?.map(({ n }) => n),
    [1, 2],
    'the bundle’s newest one',
  )
  const over = await hub.client.get(Rollout, { namespace: 'ns', name: 'hello-g1' })
  const status = { phase: 'Superseded' as const, admissions }
  await hub.client.update(Rollout, { ...over, status }, { ...write, subresource: 'status' })
  assert.match(await expectErrorText(retry('hello-g1', input())), /"hello-g1" .* was superseded by hello-g2/)
})
