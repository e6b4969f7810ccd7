/** Rehearsals of going back: by hand and by itself, everywhere, in a ring, on one site; and that it stays away. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Release } from '../../kinds/native/release.ts'
import { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { build, buildBundle, buildCluster, buildPlacement, configMapManifest } from '../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../../testing/hub/controllers-home.ts'

type Act = NonNullable<Rollout['spec']['acts']>[number]

const STORES = ['a', 'b', 'c', 'd']
const RINGS = [
  { name: 'first', count: 2, concurrency: 2, soak: '1h' },
  { name: 'rest', concurrency: 5 },
]
const manifest = (greeting: string) => configMapManifest('hello', { greeting })

/** Four stores that all run `one` well. */
async function fleet(t: TestContext, plan: Partial<RolloutPlan['spec']> = {}): Promise<ControllersHome> {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  for (const name of STORES) {
    await hub.create(buildCluster(name, { labels: { tier: 'store' } }), Cluster)
    await hub.report(name, 'Ready')
  }
  await hub.create(buildPlacement('default/everywhere', { tier: 'store' }), Placement)
  await hub.create(buildBundle('default/hello', { manifests: manifest('one'), rollout: { concurrency: 5 } }), Bundle)
  await hub.clock.advance(3000)
  await say(hub, 'Ready', ...STORES)
  const spec = { rings: RINGS, start: 'Automatic' as const, ...plan }
  await hub.create(build(RolloutPlan, 'default/careful', { spec }), RolloutPlan)
  await edit(hub, { rollout: { plan: 'careful' } })
  return hub
}

async function edit(hub: ControllersHome, spec: Partial<Bundle['spec']>): Promise<void> {
  const bundle = await hub.client.get(Bundle, { namespace: 'default', name: 'hello' })
  await hub.client.update(Bundle, { ...bundle, spec: { ...bundle.spec, ...spec } })
  await hub.clock.advance(3000)
}

async function say(hub: ControllersHome, state: 'Ready' | 'Failed', ...clusters: readonly string[]) {
  for (const name of clusters) await hub.report(name, state, state === 'Failed' ? 'no such image' : undefined)
  await hub.clock.advance(3000)
}

async function ask(hub: ControllersHome, rollout: string, act: Partial<Act> = {}): Promise<void> {
  const found = await hub.client.get(Rollout, { namespace: 'default', name: rollout })
  const acts = found.spec.acts ?? []
  const one: Act = {
    n: acts.length + 1,
    verb: 'RollBack',
    by: 'system:flotilla:hub',
    at: '2026-01-01T00:00:00Z',
    reason: 'tills are slow',
    ...act,
  }
  await hub.client.update(Rollout, { ...found, spec: { ...found.spec, acts: [...acts, one] } })
  await hub.clock.advance(3000)
}

/** What each store's document says, by its greeting. */
async function delivered(hub: ControllersHome): Promise<string> {
  const words: string[] = []
  for (const name of STORES) {
    const { generation, set } = (await hub.client.get(Assignment, { name })).spec.entries[0]!
    const { objects } = JSON.parse(new TextDecoder().decode(await hub.blobs.get(set))) as {
      objects: { digest: `sha256:${string}` }[]
    }
    const object = JSON.parse(new TextDecoder().decode(await hub.blobs.get(objects[0]!.digest))) as {
      data: { greeting: string }
    }
    words.push(`${name} g${generation} ${object.data.greeting}`)
  }
  return words.join(', ')
}

const condition = async (hub: ControllersHome, type: string) => {
  const { status } = (await hub.find(Bundle, 'default/hello'))!
  const found = status?.conditions?.find((one) => one.type === type)
  return found ? `${found.status} ${found.reason}: ${found.message}` : '-'
}

async function settled(hub: ControllersHome): Promise<void> {
  for (let round = 0; round < 4; round++) await say(hub, 'Ready', ...STORES)
}

test('everything goes back to what each ran before, is marked bad, and stays away until it changes', async (t) => {
  const hub = await fleet(t)
  await edit(hub, { manifests: manifest('two') })
  await say(hub, 'Ready', 'a')
  await say(hub, 'Failed', 'b')
  assert.equal(await delivered(hub), 'a g3 two, b g3 two, c g1 one, d g1 one')
  await ask(hub, 'hello-g3')
  await settled(hub)
  assert.equal(await delivered(hub), 'a g4 one, b g4 one, c g1 one, d g1 one')
  const back = await hub.find(Release, 'default/hello-g3-undo-1')
  assert.deepEqual(back?.spec.rollBack, {
    of: 'hello-g3',
    scope: 'All',
    by: 'system:flotilla:hub',
    reason: 'tills are slow',
  })
  const rollout = await hub.find(Rollout, 'default/hello-g3-undo-1')
  assert.equal(rollout?.status?.phase, 'Completed')
  assert.deepEqual(rollout?.spec.rings, [{ name: 'back', concurrency: 5 }], 'a budget, and no soaking')
  const bad = (await hub.find(Release, 'default/hello-g3'))?.status?.bad
  assert.deepEqual(
    bad?.map(({ bundle, by, reason }) => [bundle, by, reason]),
    [['hello', 'system:flotilla:hub', 'tills are slow']],
  )
  assert.equal(
    await condition(hub, 'Reverted'),
    'True MarkedBad: Held back: release hello-g3 was rolled back by system:flotilla:hub: tills are slow. The hub does not roll out its content again until it changes, or: flotilla release lift hello-g3 -n default',
  )
  assert.match(await condition(hub, 'Ready'), /^False HeldBack: Held back: release hello-g3 was rolled back by /)
  await edit(hub, { manifests: `# looked at again\n${manifest('two')}` })
  hub.writes.length = 0
  await hub.clock.advance(120_000)
  assert.deepEqual(hub.writes, [], 'nothing moves, nothing is written')
  await hub.restart()
  await hub.clock.advance(60_000)
  assert.equal(await delivered(hub), 'a g4 one, b g4 one, c g1 one, d g1 one')

  await edit(hub, { manifests: manifest('three') })
  await settled(hub)
  assert.match(await delivered(hub), /^a g\d three, b g\d three, c g1 one, d g1 one$/, 'a fix goes through')
  assert.equal(await condition(hub, 'Reverted'), '-')
  assert.doesNotMatch(await condition(hub, 'Ready'), /HeldBack/)
})

test('a new store that fails at what it keeps does not stop the rollback', async (t) => {
  const hub = await fleet(t, { rings: [{ name: 'one-by-one', concurrency: 1 }] })
  await edit(hub, { manifests: manifest('two') })
  for (const name of STORES) await say(hub, 'Ready', name)
  await hub.create(buildCluster('new', { labels: { tier: 'store' } }), Cluster)
  await say(hub, 'Ready', 'new')
  await say(hub, 'Failed', 'new')
  await ask(hub, 'hello-g3')
  for (const name of STORES) {
    await say(hub, 'Ready', name)
    await hub.report('new', 'Failed', 'no such image')
  }
  assert.equal(await delivered(hub), 'a g4 one, b g4 one, c g4 one, d g4 one')
  const { phase, conditions } = (await hub.find(Rollout, 'default/hello-g3-undo-1'))?.status ?? {}
  const ready = conditions?.find(({ type }) => type === 'Ready')
  assert.deepEqual([phase, ready?.message], ['Completed', '4 of 5 ready; new is not Ready with the content it keeps.'])

  await edit(hub, { manifests: manifest('three') })
  await say(hub, 'Ready', 'new')
  await settled(hub)
  assert.match(
    await delivered(hub),
    /^a g5 three, b g5 three, c g5 three, d g5 three$/,
    'and a fix reaches all clusters',
  )
})

test('the mark can be lifted: then the content moves again', async (t) => {
  const hub = await fleet(t)
  await edit(hub, { manifests: manifest('two') })
  await say(hub, 'Ready', 'a', 'b')
  await ask(hub, 'hello-g3')
  await settled(hub)
  assert.equal(await delivered(hub), 'a g4 one, b g4 one, c g1 one, d g1 one')
  const release = await hub.client.get(Release, { namespace: 'default', name: 'hello-g3' })
  const { bad: _, ...status } = release.status!
  await hub.client.update(Release, { ...release, status }, { subresource: 'status' })
  await settled(hub)
  assert.equal(await delivered(hub), 'a g5 two, b g5 two, c g1 one, d g1 one')
  assert.equal(await condition(hub, 'Reverted'), '-')
})

test('one site goes back; the rest keep it or go on with it, and it stays so through the next release of the same', async (t) => {
  const hub = await fleet(t, { rings: [{ name: 'all', concurrency: 2 }] })
  await edit(hub, { manifests: manifest('two') })
  await say(hub, 'Ready', 'a')
  await say(hub, 'Failed', 'b')
  await ask(hub, 'hello-g3', { clusters: ['b'] })
  await settled(hub)
  assert.equal(await delivered(hub), 'a g3 two, b g4 one, c g3 two, d g4 two')
  await edit(hub, { manifests: `# the same\n${manifest('two')}` })
  await settled(hub)
  assert.equal(await delivered(hub), 'a g3 two, b g4 one, c g3 two, d g4 two')
  assert.match(
    await condition(hub, 'Reverted'),
    /release hello-g3 was rolled back on b by system:flotilla:hub: tills are slow\./,
  )
  await edit(hub, { manifests: manifest('three') })
  await settled(hub)
  assert.match(await delivered(hub), /^a g\d three, b g\d three, c g\d three, d g\d three$/)
})

test('a failure takes the ring back by itself: earlier rings keep it, later ones never get it', async (t) => {
  const rings = [
    { name: 'first', count: 1, concurrency: 1 },
    { name: 'second', count: 2, concurrency: 1, maxFailed: 0 },
    { name: 'rest', concurrency: 5 },
  ]
  const hub = await fleet(t, { rings, onFailure: 'RollBackRing' })
  await edit(hub, { manifests: manifest('two') })
  await say(hub, 'Ready', 'a')
  await say(hub, 'Failed', 'b')
  await settled(hub)
  assert.equal(await delivered(hub), 'a g3 two, b g4 one, c g1 one, d g1 one')
  const failed = await hub.find(Rollout, 'default/hello-g3')
  assert.equal(failed?.status?.rollBack?.ring, 'second')
  assert.match(failed?.status?.rollBack?.reason ?? '', /^1 cluster failed \(b\), more than the 0 that maxFailed allows/)
  const undo = await hub.find(Rollout, 'default/hello-g3-undo-0')
  assert.deepEqual([undo?.status?.phase, undo?.spec.onFailure], ['Completed', undefined])
})

test('or everywhere; and a rollback that fails waits for a person', async (t) => {
  const hub = await fleet(t, { rings: [{ name: 'all', concurrency: 2, maxFailed: 0 }], onFailure: 'RollBackAll' })
  await edit(hub, { manifests: manifest('two') })
  await say(hub, 'Ready', 'a')
  await say(hub, 'Failed', 'b')
  await hub.clock.advance(5000)
  await say(hub, 'Failed', 'a', 'b')
  assert.equal(await delivered(hub), 'a g3 two, b g4 one, c g4 one, d g1 one')
  const undo = await hub.find(Rollout, 'default/hello-g3-undo-0')
  assert.deepEqual([undo?.status?.phase, undo?.status?.rollBack], ['Failed', undefined])
  assert.equal(await hub.find(Release, 'default/hello-g3-undo-0-undo-0'), undefined)
})

test('or everywhere, in rings: a failed store of a later ring is rolled back first, and does not delay the others', async (t) => {
  const rings = [
    { name: 'first', count: 1, concurrency: 1, maxFailed: 0 },
    { name: 'rest', concurrency: 2, maxFailed: 0 },
  ]
  const hub = await fleet(t, { rings, onFailure: 'RollBackAll' })
  await edit(hub, { manifests: manifest('two') })
  await say(hub, 'Ready', 'a')
  await say(hub, 'Ready', 'b')
  await say(hub, 'Failed', 'c')
  await hub.clock.advance(60_000)
  assert.match(await delivered(hub), /^a g3 two, b g3 two, c g4 one, /)
  await say(hub, 'Ready', 'c', 'd')
  await say(hub, 'Ready', 'a', 'b')
  assert.match(await delivered(hub), /^a g4 one, b g4 one, c g4 one, d g\d one$/)
})

test('a first release has nothing to go back to, and says so', async (t) => {
  const hub = await fleet(t)
  await ask(hub, 'hello-g1')
  const rollout = await hub.find(Rollout, 'default/hello-g1')
  const told = rollout?.status?.conditions?.find(({ type }) => type === 'RolledBack')
  assert.equal(
    `${told?.status} ${told?.reason}: ${told?.message}`,
    'False NothingToTakeBack: bundle "hello" has no release before "hello-g1" to return to',
  )
})
