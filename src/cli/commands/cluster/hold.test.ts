/** freeze, cluster hold and cordon, and rollout except, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensureNamespace } from '../../../hub/home/hub-info.ts'
import { ClusterWindow } from '../../../kinds/native/cluster-window.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { Window } from '../../../kinds/native/window.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { clusterHold, clusterRelease } from './hold.ts'
import { freezeCreate, freezeLift, freezeList } from '../rollout/freeze.ts'
import type { FreezeInput } from '../rollout/freeze.ts'
import { rolloutExcept } from '../rollout/except.ts'

async function started(t: { after(fn: () => Promise<void>): void }) {
  const { client, connection, terminal, taken } = createCliHub(t)
  await ensureNamespace(client, 'retail')
  for (const [name, tier] of [
    ['store-1', 'store'],
    ['store-2', 'store'],
    ['lab', 'lab'],
  ] as const) {
    await client.create(Cluster, buildCluster(name, { labels: { tier } }))
  }
  const input = (flags: FreezeInput['flags'] = {}) => ({
    connection,
    terminal,
    flags,
    confirm: async () => false,
  })
  return { client, taken, input }
}

test('a freeze is made, listed and lifted; it says how many clusters it holds', async (t) => {
  const { client, taken, input } = await started(t)
  const flags = { until: '36h', selector: 'tier=store', except: ['role=incident-commander'], reason: 'Black Friday' }
  await freezeCreate('black-friday', input(flags))
  const { err } = taken()
  assert.match(
    err,
    /freeze "black-friday": no change starts on 2 clusters until .* \(in 3[56]h\); started changes finish/,
  )
  assert.match(err, /flotilla freeze lift black-friday/)
  await freezeCreate('typo', input({ until: '1h', selector: 'tier=stroe', reason: 'x' }))
  assert.match(taken().err, /freeze "typo" matches no cluster now.*check the selector and names/)
  await freezeLift('typo', input({ yes: true }))
  taken()
  const { spec } = await client.get(ClusterWindow, { name: 'black-friday' })
  assert.deepEqual(spec.exceptions, [
    { name: 'role-incident-commander', subjects: [{ kind: 'Role', name: 'incident-commander' }] },
  ])
  await freezeCreate(
    'pos',
    input({ namespace: 'retail', bundle: ['pos-*'], until: '1h', from: '30m', reason: 'stock' }),
  )
  assert.deepEqual((await client.get(Window, { name: 'pos', namespace: 'retail' })).spec.bundles, ['pos-*'])
  await freezeList(input())
  const lines = taken().out.trim().split('\n')
  assert.match(lines[1]!, /^black-friday +active until .* tier=store +all +role=incident-commander +Black Friday$/)
  assert.match(lines[2]!, /^retail\/pos +from .* \(in (29|30)m\) +all +pos-\* +- +stock$/)
  assert.match(await expectErrorText(freezeLift('black-friday', input())), /stdin is not a terminal/)
  assert.match(await expectErrorText(freezeLift('black-fridy', input())), /did you mean "black-friday"/)
  await freezeLift('black-friday', input({ yes: true }))
  await assert.rejects(client.get(ClusterWindow, { name: 'black-friday' }))
})

test('what makes no sense is refused, with what to do', async (t) => {
  const { input } = await started(t)
  const cases: [FreezeInput['flags'], RegExp][] = [
    [{ until: '1h' }, /missing --reason/],
    [{ reason: 'x' }, /missing --until/],
    [{ reason: 'x', until: 'tomorrow' }, /--until "tomorrow": must be a time with zone/],
    [{ reason: 'x', until: '2026-12-01T06:00:00' }, /--until "2026-12-01T06:00:00"/],
    [{ reason: 'x', until: '2020-01-01T00:00:00Z' }, /is invalid/],
    [{ reason: 'x', until: '1h', except: ['boss'] }, /--except "boss"/],
    [{ reason: 'x', until: '1h', selector: 'a b' }, /invalid selector "a b"/],
  ]
  for (const [flags, expected] of cases) {
    const told = await expectErrorText(freezeCreate('f', input(flags)))
    assert.match(told, expected)
    assert.match(told, /must be|hint:|:/, 'has a cause')
  }
})

test('a cluster is held and released, cordoned and uncordoned; many need a yes', async (t) => {
  const { client, taken, input } = await started(t)
  assert.match(await expectErrorText(clusterHold('hold', ['store-1'], input())), /--reason/)
  await clusterHold('hold', ['store-1'], input({ reason: 'fire' }))
  assert.match(
    taken().err,
    /cluster "store-1" is on hold: no change starts; 0 Bundles continue to run and drift is repaired/,
  )
  const { spec } = await client.get(Cluster, { name: 'store-1' })
  assert.equal(spec.hold?.reason, 'fire')
  assert.ok(spec.hold?.by)
  await clusterHold('hold', ['store-1'], input({ reason: 'water' }))
  assert.match(taken().err, /cluster "store-1" is already on hold; the reason changed from "fire" to "water"/)
  const again = (await client.get(Cluster, { name: 'store-1' })).spec.hold
  assert.deepEqual([again?.reason, again?.since], ['water', spec.hold?.since])
  await clusterHold('cordon', ['store-1'], input({ reason: 'new tills' }))
  await clusterRelease('hold', ['store-1'], input())
  assert.match(
    taken().err,
    /cluster "store-1" released; still cordoned .*new tills; end this with flotilla cluster uncordon store-1/,
  )
  await clusterRelease('cordon', ['store-1'], input())
  assert.equal((await client.get(Cluster, { name: 'store-1' })).spec.cordon, undefined)
  const many = input({ selector: 'tier=store', reason: 'x' })
  assert.match(await expectErrorText(clusterHold('cordon', [], many)), /cordon stops all changes on 2 clusters/)
  await clusterHold('cordon', [], input({ selector: 'tier=store', reason: 'x', yes: true }))
  assert.equal((await client.get(Cluster, { name: 'store-2' })).spec.cordon?.reason, 'x')
  assert.match(await expectErrorText(clusterHold('hold', ['store-9'], input({ reason: 'x' }))), /did you mean/)
})

test('an exception is used on a rollout, with a reason', async (t) => {
  const { client, taken, input } = await started(t)
  await freezeCreate('night', input({ until: '1h', except: ['role=incident-commander'], reason: 'stock' }))
  taken()
  await client.create(
    Rollout,
    build(Rollout, 'retail/pos-g1', {
      spec: { release: 'pos-g1', rings: [{ name: 'all', concurrency: 1 }], paused: false },
    }),
  )
  const flags = { namespace: 'retail', reason: 'CVE' }
  assert.match(await expectErrorText(rolloutExcept('pos-g1', 'boss', input(flags))), /--as role=NAME/)
  await rolloutExcept('pos-g1', 'role=incident-commander', input(flags))
  assert.match(taken().err, /passes windows and freezes with an exception for role=incident-commander/)
  const { spec } = await client.get(Rollout, { name: 'pos-g1', namespace: 'retail' })
  assert.deepEqual(spec.exceptions, [{ kind: 'Role', name: 'incident-commander', reason: 'CVE' }])
})
