/** What is done about operations that fail, and in which order bundles leave, against an embedded cluster. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { AgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import { joinedAgents } from '../../testing/agents/joined-agents.ts'
import { configMap, deployment, hookJob } from '../../testing/hub/test-hub.ts'
import type { TestHub } from '../../testing/hub/test-hub.ts'

const BUNDLE = 'default/hello'
const { joined, close } = joinedAgents()
afterEach(close)

const rowOf = (site: AgentUnderTest) => site.agent().report().bundles[0]
const one = (objects: readonly UnknownObject[], generation: number, options?: BundleOptions) => ({
  [BUNDLE]: { generation, objects, ...(options ? { options } : {}) },
})
const stateAt = (hub: TestHub, site: AgentUnderTest, state: string, generation: number) =>
  hub.clock
    .runUntil(() => rowOf(site)?.state === state && rowOf(site)?.generation === generation, {
      withinMs: 3_600_000,
      what: `${state} at ${generation}`,
    })
    .catch((caught: unknown) => {
      throw new Error(`last: ${JSON.stringify(rowOf(site))}`, { cause: caught })
    })
const said = (hub: TestHub, site: AgentUnderTest, words: RegExp) =>
  hub.clock
    .runUntil(() => words.test(rowOf(site)?.message ?? ''), { withinMs: 3_600_000, what: String(words) })
    .catch((caught: unknown) => {
      throw new Error(`last: ${JSON.stringify(rowOf(site))}`, { cause: caught })
    })
const secret = (password: string): UnknownObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'login', namespace: 'default' },
  stringData: { password },
})
const passwordOf = async (site: AgentUnderTest) => {
  const data = (await site.get('Secret', 'login'))?.['data'] as { password: string } | undefined
  return data && atob(data.password)
}
const imageOf = async (site: AgentUnderTest) => JSON.stringify((await site.get('Deployment', 'web'))?.['spec'])
const web = (image: string): UnknownObject => deployment('web', image)
const timeout = { apply: { timeout: '30s' } }

describe('states of objects', () => {
  it('a healthy object beside a failing one is Ready, and the failing one has its own message', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', one([configMap('a', { v: '1' }), web('broken:1'), secret('one')], 1, timeout))
    await stateAt(hub, site, 'Failed', 1)
    const row = rowOf(site)!
    assert.deepEqual(row.objectCounts, { Ready: 2, Failed: 1 })
    const [failing, ...others] = row.objects ?? []
    assert.deepEqual([failing?.object, failing?.state, others], ['Deployment default/web', 'Failed', []])
    assert.ok(failing?.message && !failing.message.startsWith('Deployment'), failing?.message ?? 'no message')
    assert.ok(row.message?.includes(failing.message), 'the message of the bundle names the object and repeats it')
  })
})

describe('a failed upgrade', () => {
  const back = { ...timeout, remediation: { upgrade: 'RollBack' } } as const
  const good = [configMap('a', { v: '1' }), configMap('old'), web('web:1'), secret('one')]
  const bad = [configMap('a', { v: '2' }), configMap('new'), web('broken:2'), secret('two')]

  it('is taken back to what ran before, stays Failed, and is not tried again until a user asks', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', one(good, 1, back))
    await stateAt(hub, site, 'Ready', 1)
    await hub.assign('store-1', one(bad, 2, back))
    await said(hub, site, /^rolled back to the previous set: Deployment default\/web: /)
    assert.equal(rowOf(site)?.state, 'Failed')
    assert.equal(rowOf(site)?.generation, 2)
    assert.equal(rowOf(site)?.firstFailing, 'Deployment default/web')
    assert.equal(rowOf(site)?.objectCounts, undefined, 'the objects are those of another set')
    assert.deepEqual((await site.configMap('a'))?.['data'], { v: '1' })
    assert.ok(await site.configMap('old'))
    assert.equal(await site.configMap('new'), undefined, 'what only the failed set has is pruned')
    assert.match(await imageOf(site), /web:1/)
    assert.equal(await passwordOf(site), 'one')
    const writes = site.door.writes.length
    await hub.clock.advance(3_600_000)
    await site.stop()
    await site.start()
    await hub.clock.advance(600_000)
    assert.equal(site.door.writes.length, writes, 'no flapping')
    assert.match(rowOf(site)?.message ?? '', /^rolled back to the previous set/)
    const edited = (await site.configMap('a'))!
    await site.update('ConfigMap', { ...edited, data: { v: 'x' } } as UnknownObject)
    await hub.clock.advance(10_000)
    assert.deepEqual((await site.configMap('a'))?.['data'], { v: '1' }, 'what was gone back to is kept so')
    await hub.assign('store-1', one(bad, 3, back))
    await hub.clock.runUntil(async () => (await imageOf(site)).includes('broken:2'), {
      withinMs: 60_000,
      what: 'again',
    })
    await hub.assign('store-1', one([configMap('a', { v: '4' })], 4, back))
    await stateAt(hub, site, 'Ready', 4)
    assert.equal(await site.get('Deployment', 'web'), undefined)
  })

  it('is taken back for a hook too, and the hooks of a roll back run', async () => {
    const { hub, site } = await joined()
    const undo = hookJob('undo', { 'helm.sh/hook': 'post-rollback' })
    await hub.assign('store-1', one([configMap('a', { v: '1' }), undo], 1, back))
    await stateAt(hub, site, 'Ready', 1)
    const migrate = hookJob('migrate', { 'helm.sh/hook': 'pre-upgrade' }, 'broken:1')
    await hub.assign('store-1', one([configMap('a', { v: '2' }), migrate], 2, back))
    await said(hub, site, /^rolled back to the previous set: pre-upgrade hook Job default\/migrate failed: /)
    assert.ok(await site.get('Job', 'undo'))
    assert.deepEqual((await site.configMap('a'))?.['data'], { v: '1' })
    await hub.assign('store-1', one([configMap('a', { v: '1' }), undo], 3, back))
    await stateAt(hub, site, 'Ready', 3)
  })

  it('says so when what ran before is not here any more', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', one([configMap('a', { v: '1' })], 1, back))
    await stateAt(hub, site, 'Ready', 1)
    await hub.assign('store-1', one([configMap('a', { v: '2' }), deployment('web', 'broken:1')], 2, back))
    await hub.clock.runUntil(async () => (await site.get('Deployment', 'web')) !== undefined, {
      withinMs: 60_000,
      what: 'begun',
    })
    await site.stop()
    for await (const digest of site.blobs.list()) await site.blobs.delete(digest)
    await site.start()
    await said(hub, site, /; not rolled back: the previous set is not on this disk any more$/)
    assert.equal(rowOf(site)?.state, 'Failed')
  })

  it('is only said without remediation, and goes on when it is healthy after all', async () => {
    let broken = true
    const { hub, site } = await joined({ behaviour: { isBroken: (image) => broken && image.includes('broken') } })
    await hub.assign('store-1', one(good, 1, timeout))
    await stateAt(hub, site, 'Ready', 1)
    await hub.assign('store-1', one(bad, 2, timeout))
    await stateAt(hub, site, 'Failed', 2)
    await hub.clock.advance(600_000)
    assert.match(await imageOf(site), /broken:2/)
    broken = false
    await site.update('Deployment', {
      ...(await site.get('Deployment', 'web'))!,
      metadata: { ...(await site.get('Deployment', 'web'))!.metadata, annotations: { x: 'y' } },
    })
    await stateAt(hub, site, 'Ready', 2)
  })
})

describe('a failed install', () => {
  it('is tried again so many times, later each time, each with its hooks', async () => {
    const { hub, site } = await joined()
    const options = { ...timeout, remediation: { retries: 2 } }
    const hook = hookJob('migrate', { 'helm.sh/hook': 'pre-install' }, 'broken:1')
    await hub.assign('store-1', one([configMap('a'), hook], 1, options))
    await said(hub, site, /^attempt 1 of 3 failed; next attempt at .*: pre-install hook Job default\/migrate failed: /)
    assert.equal(rowOf(site)?.state, 'Progressing')
    await stateAt(hub, site, 'Failed', 1)
    await hub.clock.advance(3_600_000)
    const made = site.door.writes.filter((write) => write.startsWith('POST') && write.endsWith('/jobs')).length
    assert.equal(made, 3)
    assert.equal(await site.configMap('a'), undefined)
  })

  it('is taken out again, hooks included, and begun anew when a user asks', async () => {
    const { hub, site } = await joined()
    const options = { ...timeout, remediation: { install: 'Uninstall' } } as const
    const bye = hookJob('bye', { 'helm.sh/hook': 'pre-delete' })
    const objects = [configMap('a'), deployment('web', 'broken:1'), bye]
    await hub.assign('store-1', one(objects, 1, options))
    await said(hub, site, /^uninstalled after a failure: Deployment default\/web: /)
    assert.equal(rowOf(site)?.state, 'Failed')
    for (const kind of ['ConfigMap', 'Deployment', 'Job'] as const) {
      const names = { ConfigMap: 'a', Deployment: 'web', Job: 'bye' }
      assert.equal(await site.get(kind, names[kind]), undefined, kind)
    }
    const writes = site.door.writes.length
    await hub.clock.advance(3_600_000)
    await site.stop()
    await site.start()
    await hub.clock.advance(600_000)
    assert.equal(site.door.writes.length, writes)
    assert.match(rowOf(site)?.message ?? '', /^uninstalled after a failure/)
    await hub.assign('store-1', one(objects, 2, options))
    await hub.clock.runUntil(async () => (await site.configMap('a')) !== undefined, { withinMs: 60_000, what: 'anew' })
  })
})

describe('a bundle that leaves', () => {
  it('goes wave by wave from the last, each gone before the one before it, and namespaces only when named', async () => {
    const { hub, site } = await joined()
    const inWave = (object: UnknownObject, wave: number): UnknownObject => ({
      ...object,
      metadata: { ...object.metadata, annotations: { 'flotilla.dev/wave': String(wave) } },
    })
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
    const objects = [
      namespace,
      inWave(configMap('first', {}, 'shop'), -1),
      inWave({ ...configMap('last', {}, 'shop') }, 2),
      deployment('web', 'web:1', 'shop'),
    ]
    const named = { delete: { named: [{ kind: 'Namespace', name: 'shop' }] } }
    await hub.assign('store-1', one(objects, 1, named))
    await stateAt(hub, site, 'Ready', 1)
    const live = (await site.configMap('last', 'shop'))!
    await site.update('ConfigMap', { ...live, metadata: { ...live.metadata, finalizers: ['example.com/hold'] } })
    await hub.assign('store-1', {}, { tombstones: [{ bundle: BUNDLE, generation: 2, policy: 'Delete' }] })
    await hub.clock.advance(60_000)
    assert.ok((await site.configMap('last', 'shop'))?.metadata.deletionTimestamp)
    assert.equal((await site.get('Deployment', 'web', 'shop'))?.metadata.deletionTimestamp, undefined, 'it waits')
    const held = (await site.configMap('last', 'shop'))!
    await site.update('ConfigMap', { ...held, metadata: { ...held.metadata, finalizers: [] } })
    await hub.clock.runUntil(async () => (await site.get('Namespace', 'shop')) === undefined, {
      withinMs: 300_000,
      what: 'the namespace',
    })
    const order = site.door.writes.flatMap((write) => /^DELETE .*\/(\w+)$/.exec(write)?.[1] ?? [])
    const last = ['last', 'web', 'first', 'shop'].map((name) => order.lastIndexOf(name))
    assert.deepEqual(
      last,
      last.toSorted((a, b) => a - b),
    )
    assert.ok(last.every((at) => at >= 0))
  })
})
