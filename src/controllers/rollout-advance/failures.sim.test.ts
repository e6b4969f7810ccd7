/** Rehearsals of what goes wrong: a bad value, a failing site, an agent that begins too late, a site that is away. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { build, buildBundle, buildCluster, buildPlacement, configMapManifest } from '../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../../testing/hub/controllers-home.ts'

type Ring = RolloutPlan['spec']['rings'][number]

async function fleet(
  t: TestContext,
  clusters: Readonly<Record<string, Record<string, string>>>,
  { rings, bundle = {} }: { readonly rings: readonly Ring[]; readonly bundle?: Partial<Bundle['spec']> },
): Promise<ControllersHome> {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  for (const [name, labels] of Object.entries(clusters)) {
    await hub.create(buildCluster(name, { labels: { tier: 'store', ...labels } }), Cluster)
    await hub.report(name, 'Ready')
  }
  const spec = { rings: [...rings], start: 'Automatic' as const }
  await hub.create(build(RolloutPlan, 'default/careful', { spec }), RolloutPlan)
  await hub.create(buildPlacement('default/everywhere', { tier: 'store' }), Placement)
  await hub.create(buildBundle('default/hello', { rollout: { plan: 'careful' }, ...bundle }), Bundle)
  await hub.clock.advance(5000)
  return hub
}

async function say(hub: ControllersHome, state: 'Ready' | 'Failed' | 'Pending', ...clusters: readonly string[]) {
  for (const name of clusters) await hub.report(name, state, state === 'Failed' ? 'no such image' : undefined)
  await hub.clock.advance(3000)
}

async function tell(hub: ControllersHome, name = 'hello-g1'): Promise<string> {
  const status = (await hub.find(Rollout, `default/${name}`))?.status
  return `${status?.phase} ${status?.ring} [${(status?.admissions ?? []).map(({ cluster }) => cluster).join(' ')}]`
}

const ready = async (hub: ControllersHome, name = 'hello-g1') =>
  (await hub.find(Rollout, `default/${name}`))?.status?.conditions?.find(({ type }) => type === 'Ready')?.message

test('a bad value for one site fails only that site: the others get it, ring by ring, and the reason is shown', async (t) => {
  const hub = await fleet(
    t,
    { a: { till: 'one' }, b: {}, c: { till: 'three' } },
    {
      rings: [
        { name: 'first', count: 2, concurrency: 1, maxFailed: 0 },
        { name: 'rest', concurrency: 1 },
      ],
      bundle: {
        templating: 'Enabled',
        manifests: configMapManifest('hello', { till: '${ .Cluster.Labels.till }' }),
      },
    },
  )
  assert.equal(await tell(hub), 'Progressing first [a]')
  await say(hub, 'Ready', 'a')
  assert.equal(await tell(hub), 'Progressing rest [c]')
  await say(hub, 'Ready', 'c')
  assert.equal(await tell(hub), 'Completed rest []')
  assert.match(
    (await ready(hub)) ?? '',
    /^2 of 3 ready\. Bundle "hello" cannot be rendered for b; the cluster keeps its present content\. Cause: .*no entry for key/,
  )
  const { counts } = (await hub.find(Rollout, 'default/hello-g1'))!.status!
  assert.deepEqual([counts?.ready, counts?.failed, counts?.pending], [2, 1, 0])
  assert.equal(await hub.find(Assignment, 'b'), undefined)
})

test('one failing site within maxFailed does not hold the others back', async (t) => {
  const hub = await fleet(t, { a: {}, b: {}, c: {} }, { rings: [{ name: 'all', concurrency: 1, maxFailed: 1 }] })
  await say(hub, 'Failed', 'a')
  assert.equal(await tell(hub), 'Progressing all [a b]')
  await say(hub, 'Ready', 'b')
  await say(hub, 'Ready', 'c')
  assert.equal(await tell(hub), 'Completed all [a]')
  assert.equal(await ready(hub), '2 of 3 ready; a failed.')
  await say(hub, 'Ready', 'a')
  assert.equal(await tell(hub), 'Completed all []')
})

test('a store that is offline during a rollout shows Offline, not Failed, and follows when it returns', async (t) => {
  const hub = await fleet(t, { a: {}, b: {} }, { rings: [{ name: 'all', concurrency: 5, maxFailed: 0 }] })
  await say(hub, 'Ready', 'a', 'b')
  await hub.summarize('g', 1000, { 'c-a': 1, 'c-b': 129 })
  await hub.clock.advance(1000)
  const bundle = await hub.client.get(Bundle, { namespace: 'default', name: 'hello' })
  const manifests = configMapManifest('hello', { greeting: 'two' })
  await hub.client.update(Bundle, { ...bundle, spec: { ...bundle.spec, manifests } })
  await hub.clock.advance(3000)
  await say(hub, 'Ready', 'a')
  const { phase, counts } = (await hub.find(Rollout, 'default/hello-g2'))!.status!
  assert.deepEqual([phase, counts?.ready, counts?.offline, counts?.failed], ['Completed', 1, 1, 0])
  await hub.summarize('g', 1100, { 'c-a': 1, 'c-b': 2 })
  await hub.clock.advance(3000)
  assert.equal(await tell(hub, 'hello-g2'), 'Progressing all [b]')
})

test('an agent that has not begun by start-by is admitted again, and its document says until when (I-23)', async (t) => {
  const hub = await fleet(t, { a: {} }, { rings: [{ name: 'all', concurrency: 1, startBy: '5m' }] })
  const startBy = async () => (await hub.documentOf('a')).content.entries[0]?.startBy
  const first = await startBy()
  assert.match(first ?? '', /Z$/)
  await say(hub, 'Pending', 'a')
  await hub.clock.advance(5 * 60_000)
  assert.equal(await startBy(), first, 'not before the margin is over: it may have begun')
  await hub.clock.advance(120_000)
  const second = await startBy()
  assert.ok(second! > first!, `${second} after ${first}`)
  await hub.clock.advance(10_000)
  assert.equal((await hub.documentOf('a')).revision, 2)
  await say(hub, 'Ready', 'a')
  assert.equal(await tell(hub), 'Completed all []')
})

test('a store that is frozen after its admission gives its slot back when start-by has passed, and follows when it is free', async (t) => {
  const hub = await fleet(t, { a: {}, b: {} }, { rings: [{ name: 'all', concurrency: 1, startBy: '5m' }] })
  const hold = async (isHeld: boolean) => {
    const { spec, ...rest } = await hub.client.get(Cluster, { name: 'a' })
    const { hold: _, ...free } = spec
    const held = { ...free, hold: { reason: 'stocktaking', since: '2026-01-01T00:00:00Z' } }
    await hub.client.update(Cluster, { ...rest, spec: isHeld ? held : free })
    await hub.clock.advance(3000)
  }
  await say(hub, 'Pending', 'a')
  await hold(true)
  assert.equal(await tell(hub), 'Progressing all [a]', 'its agent would begin the moment it is free')
  await hub.clock.advance(7 * 60_000)
  assert.equal(await tell(hub), 'Progressing all [b]', 'now it would not')
  await hold(false)
  assert.equal(await tell(hub), 'Progressing all [b]', 'one at a time')
  await say(hub, 'Ready', 'b')
  assert.equal(await tell(hub), 'Progressing all [a]')
  await say(hub, 'Ready', 'a')
  assert.equal(await tell(hub), 'Completed all []')
})

test('a user asks for a retry on a failed cluster: its document says so, and the rollout continues when the cluster is Ready', async (t) => {
  const hub = await fleet(t, { a: {}, b: {} }, { rings: [{ name: 'all', concurrency: 1, maxFailed: 0 }] })
  await say(hub, 'Failed', 'a')
  assert.equal(await tell(hub), 'Failed all [a]')
  const found = await hub.client.get(Rollout, { namespace: 'default', name: 'hello-g1' })
  const act = { n: 1, verb: 'Retry' as const, by: 'system:flotilla:hub', at: '2026-01-01T00:00:00Z' }
  await hub.client.update(Rollout, { ...found, spec: { ...found.spec, acts: [act] } })
  await hub.clock.advance(3000)
  assert.equal(await tell(hub), 'Progressing all [a]')
  const document = await hub.documentOf('a')
  assert.deepEqual([document.revision, document.content.entries[0]?.attempt], [2, 1])
  await say(hub, 'Ready', 'a')
  assert.equal(await tell(hub), 'Progressing all [b]')
})
