/**
 * Rehearsals of an edge team: rings, a store that is offline, one that is frozen, one that fails, a person at the
 * lever.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { base64, utf8 } from '../../core/bytes.ts'
import { Approval } from '../../kinds/native/approval.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { build, buildBundle, buildCluster, buildPlacement } from '../../testing/fixtures/builders.ts'
import type { GateQuestion, GateReply } from '../controllers.ts'
import { startControllersHome } from '../../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../../testing/hub/controllers-home.ts'

const RINGS = [
  { name: 'canary', selector: { matchLabels: { ring: 'canary' } }, concurrency: 1, maxFailed: 0, soak: '20s' },
  { name: 'rest', concurrency: 5, maxFailed: 1 },
]

async function fleet(
  t: TestContext,
  clusters: Readonly<Record<string, Record<string, string>>>,
  plan: Partial<RolloutPlan['spec']> = {},
): Promise<ControllersHome> {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  for (const [name, labels] of Object.entries(clusters)) {
    await hub.create(buildCluster(name, { labels: { tier: 'store', ...labels } }), Cluster)
    await hub.report(name, 'Ready')
  }
  const spec = { rings: RINGS, start: 'Automatic' as const, ...plan }
  await hub.create(build(RolloutPlan, 'default/careful', { spec }), RolloutPlan)
  await hub.create(buildPlacement('default/everywhere', { tier: 'store' }), Placement)
  await hub.create(buildBundle('default/hello', { rollout: { plan: 'careful' } }), Bundle)
  await hub.clock.advance(5000)
  return hub
}

async function rollout(hub: ControllersHome): Promise<Rollout> {
  return (await hub.find(Rollout, 'default/hello-g1'))!
}

/** Phase, moving ring, and who holds a slot. */
async function tell(hub: ControllersHome): Promise<string> {
  const { status } = await rollout(hub)
  return `${status?.phase} ${status?.ring} [${(status?.admissions ?? []).map(({ cluster }) => cluster).join(' ')}]`
}

async function report(hub: ControllersHome, cluster: string, state: 'Ready' | 'Failed' | 'Progressing') {
  await hub.report(cluster, state)
  await hub.clock.advance(3000)
}

async function relabel(hub: ControllersHome, name: string, labels: Record<string, string>) {
  const cluster = await hub.client.get(Cluster, { name })
  await hub.client.update(Cluster, {
    ...cluster,
    metadata: { ...cluster.metadata, labels: { tier: 'store', ...labels } },
  })
  await hub.clock.advance(3000)
}

test('the canary first; it soaks; then the rest; a restart in between forgets nothing', async (t) => {
  const hub = await fleet(t, { lab: { ring: 'canary' }, s1: {}, s2: {} })
  assert.equal(await tell(hub), 'Progressing canary [lab]')
  await report(hub, 'lab', 'Progressing')
  await hub.clock.advance(30_000)
  assert.equal(await tell(hub), 'Progressing canary [lab]', 'an overloaded canary keeps the next ring closed')
  await report(hub, 'lab', 'Ready')
  await hub.clock.advance(8_000)
  await hub.restart()
  await hub.clock.advance(5_000)
  assert.equal(await tell(hub), 'Progressing canary []', 'soaks')
  await hub.clock.advance(10_000)
  assert.equal(await tell(hub), 'Progressing rest [s1 s2]')
  await report(hub, 's1', 'Ready')
  await report(hub, 's2', 'Ready')
  assert.equal(await tell(hub), 'Completed rest []')
  const { status } = await rollout(hub)
  assert.deepEqual(
    status?.rings?.map(({ name, members, ready, passedAt }) => [name, members, ready, passedAt !== undefined]),
    [
      ['canary', 1, 1, true],
      ['rest', 2, 2, true],
    ],
  )
})

test('a failed canary stops it: no cluster of the next ring is changed', async (t) => {
  const hub = await fleet(t, { lab: { ring: 'canary' }, s1: {} })
  await report(hub, 'lab', 'Failed')
  assert.equal(await tell(hub), 'Failed canary [lab]')
  await hub.clock.advance(30_000)
  assert.equal(await tell(hub), 'Failed canary [lab]')
  const { status } = await rollout(hub)
  assert.match(
    status?.conditions?.find(({ type }) => type === 'Held')?.message ?? '',
    /more than the 0 that maxFailed allows/,
  )
})

test('a frozen store is held while the rest go on, and follows when it is free', async (t) => {
  const hub = await fleet(t, { lab: { ring: 'canary' }, s1: { maintenance: 'frozen' }, s2: {} })
  await report(hub, 'lab', 'Ready')
  await hub.clock.advance(25_000)
  assert.equal(await tell(hub), 'Progressing rest [s2]')
  await report(hub, 's2', 'Ready')
  assert.equal(await tell(hub), 'Completed rest []')
  assert.match(
    (await rollout(hub)).status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    /s1 is frozen or on hold/,
  )
  await relabel(hub, 's1', {})
  assert.equal(await tell(hub), 'Progressing rest [s1]')
})

test('a plan that starts by hand waits; pausing lets what was admitted go on', async (t) => {
  const hub = await fleet(t, { a: {}, b: {} }, { start: 'Manual', rings: [{ name: 'all', concurrency: 1 }] })
  assert.equal(await tell(hub), 'Paused all []')
  const set = async (paused: boolean) => {
    const seen = await rollout(hub)
    await hub.client.update(Rollout, { ...seen, spec: { ...seen.spec, paused } })
    await hub.clock.advance(3000)
  }
  await set(false)
  assert.equal(await tell(hub), 'Progressing all [a]')
  await set(true)
  await report(hub, 'a', 'Ready')
  assert.equal(await tell(hub), 'Paused all []')
  await set(false)
  assert.equal(await tell(hub), 'Progressing all [b]')
})

test('a ring opens when two people have approved it; a restart in between forgets nothing', async (t) => {
  const [canary, rest] = RINGS
  const rings = [
    { ...canary!, soak: '1s' },
    { ...rest!, approvals: { count: 2, noSelfApproval: false } },
  ]
  const hub = await fleet(t, { lab: { ring: 'canary' }, s1: {}, s2: {} }, { rings })
  await report(hub, 'lab', 'Ready')
  await hub.clock.advance(10_000)
  assert.equal(await tell(hub), 'Progressing rest []')
  assert.match(
    (await rollout(hub)).status?.conditions?.find(({ type }) => type === 'Held')?.message ?? '',
    /^Waits for approval of ring "rest" by 2 different people\. Since .* Approve it with `flotilla rollout approve hello-g1/,
  )
  const approve = async (author: string, plan = 'careful') => {
    const spec = { rollout: 'hello-g1', plan, ring: 'rest', decision: 'Approve' as const, author }
    await hub.create(build(Approval, `default/${author}-${plan}`, { spec }), Approval)
    await hub.clock.advance(3000)
  }
  await approve('ana')
  await approve('ana', 'lax')
  await approve('eva', 'lax')
  assert.equal(await tell(hub), 'Progressing rest []', 'one person, and words about another plan')
  await hub.restart()
  await approve('ben')
  assert.equal(await tell(hub), 'Progressing rest [s1 s2]')
  const { status } = await rollout(hub)
  assert.deepEqual(
    status?.rings?.[1]?.approvedBy?.map(({ author, approval }) => [author, approval]),
    [
      ['ana', 'ana-careful'],
      ['ben', 'ben-careful'],
    ],
  )
})

test('gates: the hub asks, an answer is written down before the next ring begins; silence holds; another bundle opens the last ring', async (t) => {
  const webhook = { url: 'https://cab.example/', credentials: 'cab' }
  const rings = [
    { ...RINGS[0]!, soak: '1s', gates: [{ name: 'cab', when: 'Pass' as const, webhook }] },
    { ...RINGS[1]!, gates: [{ name: 'base', when: 'Open' as const, bundleReady: { bundle: 'base' } }] },
  ]
  const hub = await fleet(t, { lab: { ring: 'canary' }, s1: {}, s2: {} }, { rings })
  const asked: Extract<GateQuestion, { kind: 'Webhook' }>[] = []
  const answer = (reply: GateReply) =>
    hub.serveGates(async (question) => {
      if (question.kind === 'Webhook') asked.push(question)
      return reply
    })
  const held = async () =>
    (await rollout(hub)).status?.conditions?.find(({ type }) => type === 'Held')?.message.replace(/ Since.*/, '')
  answer({ kind: 'Said', allowed: false, message: 'CHG-7 is open' })
  await report(hub, 'lab', 'Ready')
  await hub.clock.advance(5_000)
  assert.equal(
    await held(),
    'Ring "canary" is Ready and waits for gate "cab": the query failed: its credentials name Secret cab, which does not exist.',
  )
  assert.equal(asked.length, 0)
  const secret = { data: { token: base64(utf8('t0p')) } }
  const bound = { annotations: { 'flotilla.dev/urls': 'https://cab.example/' } }
  await hub.create(build(Secret, 'default/cab', secret, bound), Secret)
  await hub.clock.advance(40_000)
  assert.equal(await held(), 'Ring "canary" is Ready and waits for gate "cab": cab.example refused it: CHG-7 is open.')
  const { askedAt: _, ...body } = asked[0]!.body
  assert.deepEqual(body, {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'GateQuestion',
    namespace: 'default',
    rollout: 'hello-g1',
    release: 'hello-g1',
    plan: 'careful',
    ring: 'canary',
    gate: 'cab',
    when: 'Pass',
  })
  assert.equal(asked[0]?.credentials?.token, 't0p')
  const before = asked.length
  const writes = hub.writes.length
  await hub.clock.advance(300_000)
  assert.ok(asked.length - before >= 9 && asked.length - before <= 11, `asked ${asked.length - before} times`)
  assert.deepEqual(hub.writes.slice(writes), [], 'waiting writes nothing')
  answer({ kind: 'Said', allowed: true, message: '' })
  await hub.restart()
  await hub.clock.advance(40_000)
  assert.equal(await tell(hub), 'Progressing rest []')
  assert.equal(await held(), 'Ring "rest" opens after gate "base": Bundle "base" does not exist in this namespace.')
  const { status } = await rollout(hub)
  assert.deepEqual(
    status?.rings?.map(({ gates, passedAt }) => [
      gates?.map(({ name, state }) => `${name} ${state}`),
      passedAt !== undefined,
    ]),
    [
      [['cab Passed'], true],
      [['base Unknown'], false],
    ],
  )
  await hub.create(buildBundle('default/base', { rollout: { concurrency: '100%' } }), Bundle)
  await hub.clock.advance(3_000)
  assert.equal(await tell(hub), 'Progressing rest []')
  assert.match((await held()) ?? '', /Rollout base-g1 of Bundle base is Progressing/)
  for (const name of ['lab', 's1', 's2']) await report(hub, name, 'Ready')
  assert.equal(await tell(hub), 'Progressing rest [s1 s2]')
})
