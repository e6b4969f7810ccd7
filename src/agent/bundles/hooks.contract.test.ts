/** Hooks of bundles, against an embedded cluster. */
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

const one = (objects: readonly UnknownObject[], generation = 1, options?: BundleOptions) => ({
  [BUNDLE]: { generation, objects, ...(options ? { options } : {}) },
})
const helm = (on: string, more: Record<string, string> = {}) => ({ 'helm.sh/hook': on, ...more })
const own = (on: string, more: Record<string, string> = {}) => ({ 'flotilla.dev/hook': on, ...more })
const jobsMade = ({ door }: AgentUnderTest) => door.writes.filter((write) => /^POST .*\/jobs$/.test(write)).length
const uidOf = async (site: AgentUnderTest, name: string) => (await site.get('Job', name))?.metadata.uid
const rowOf = (site: AgentUnderTest) => site.agent().report().bundles[0]
const readyAt = (hub: TestHub, site: AgentUnderTest, generation: number) =>
  hub.clock.runUntil(() => rowOf(site)?.state === 'Ready' && rowOf(site)?.generation === generation, {
    withinMs: 300_000,
    what: `ready at ${generation}`,
  })

describe('hooks', () => {
  it('run before and after, in the order of their weights, and the objects wait', async () => {
    const { hub, site } = await joined({ behaviour: { progressMs: 5000 } })
    const objects = [
      configMap('a'),
      deployment('web'),
      hookJob('second', helm('pre-install', { 'helm.sh/hook-weight': '5' })),
      hookJob('first', helm('pre-install,pre-upgrade', { 'helm.sh/hook-weight': '-5' })),
      hookJob('last', helm('post-install')),
      hookJob('never', helm('post-upgrade')),
    ]
    await hub.assign('store-1', one(objects))
    const row = await site.until(BUNDLE, 'Progressing')
    assert.equal(row.message, 'pre-install hook Job default/first: it is running')
    assert.equal(await site.configMap('a'), undefined)
    assert.equal(await uidOf(site, 'second'), undefined)
    await hub.clock.runUntil(async () => (await uidOf(site, 'second')) !== undefined, {
      withinMs: 60_000,
      what: 'second',
    })
    assert.equal(await site.configMap('a'), undefined)
    await hub.clock.runUntil(async () => (await site.configMap('a')) !== undefined, { withinMs: 60_000, what: 'a' })
    assert.equal(await uidOf(site, 'last'), undefined)
    await readyAt(hub, site, 1)
    assert.ok(await uidOf(site, 'last'))
    assert.equal(await uidOf(site, 'never'), undefined)
    assert.equal(jobsMade(site), 3)
  })

  it('run once per operation: not for a renumbered set, not after a restart, again for the next set', async () => {
    const { hub, site } = await joined()
    const hook = hookJob('migrate', helm('pre-install,pre-upgrade'))
    await hub.assign('store-1', one([configMap('a'), hook]))
    await readyAt(hub, site, 1)
    const first = await uidOf(site, 'migrate')
    await hub.assign('store-1', one([configMap('a'), hook], 2))
    await readyAt(hub, site, 2)
    await site.stop()
    await site.start()
    await readyAt(hub, site, 2)
    assert.equal(await uidOf(site, 'migrate'), first)
    await hub.assign('store-1', one([configMap('a', { v: '2' }), hook], 3))
    await readyAt(hub, site, 3)
    assert.notEqual(await uidOf(site, 'migrate'), first)
    assert.equal(jobsMade(site), 2)
  })

  it('are watched on after a restart in the middle, not made again', async () => {
    const { hub, site } = await joined({ behaviour: { progressMs: 30_000 } })
    await hub.assign('store-1', one([configMap('a'), hookJob('migrate', helm('pre-install'))]))
    await hub.clock.runUntil(async () => (await uidOf(site, 'migrate')) !== undefined, {
      withinMs: 60_000,
      what: 'made',
    })
    await site.stop()
    await site.start()
    await readyAt(hub, site, 1)
    assert.equal(jobsMade(site), 1)
  })

  it('are no inventory: what they made is neither pruned nor repaired nor put back', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', one([configMap('a'), hookJob('migrate', helm('pre-install'))]))
    await readyAt(hub, site, 1)
    const uid = await uidOf(site, 'migrate')
    await hub.assign('store-1', one([configMap('a', { v: '2' })], 2))
    await readyAt(hub, site, 2)
    await hub.clock.advance(60_000)
    assert.equal(await uidOf(site, 'migrate'), uid, 'it left the set and stays')
    await site.remove('Job', 'migrate')
    await hub.assign('store-1', one([configMap('a'), hookJob('migrate', helm('pre-install'))], 3))
    await readyAt(hub, site, 3)
    await hub.clock.advance(400_000)
    assert.equal(await uidOf(site, 'migrate'), undefined)
    assert.equal(rowOf(site)?.state, 'Ready')
  })

  it('fail the operation for good: not run again, said, and begun again only with the next generation', async () => {
    const { hub, site } = await joined()
    const bad = hookJob('migrate', helm('pre-install'), 'broken:1')
    await hub.assign('store-1', one([configMap('a'), bad]))
    const row = await site.until(BUNDLE, 'Failed')
    assert.equal(
      row.message,
      'pre-install hook Job default/migrate failed: Job has reached the specified backoff limit',
    )
    assert.equal(row.firstFailing, 'Job default/migrate')
    await hub.clock.advance(600_000)
    await site.stop()
    await site.start()
    await site.until(BUNDLE, 'Failed')
    await hub.clock.advance(600_000)
    assert.equal(jobsMade(site), 1)
    assert.equal(await site.configMap('a'), undefined)
    await hub.assign('store-1', one([configMap('a'), bad], 2))
    await hub.clock.runUntil(() => jobsMade(site) === 2, { withinMs: 60_000, what: 'another operation' })
  })

  it('are deleted as their policy says, and only what they made', async () => {
    const { hub, site } = await joined()
    const gone = hookJob('gone', helm('pre-install', { 'helm.sh/hook-delete-policy': 'hook-succeeded' }))
    const kept = hookJob('kept', helm('pre-install', { 'helm.sh/hook-delete-policy': 'hook-failed' }))
    const after = hookJob('after', own('post', { 'flotilla.dev/hook-delete': 'failed' }), 'broken:1')
    await hub.assign('store-1', one([configMap('a'), gone, kept, after]))
    await site.until(BUNDLE, 'Failed')
    await hub.clock.advance(10_000)
    assert.equal(await uidOf(site, 'gone'), undefined)
    assert.ok(await uidOf(site, 'kept'))
    assert.equal(await uidOf(site, 'after'), undefined)
    await site.create('Job', hookJob('mine', {}))
    const uid = await uidOf(site, 'mine')
    await hub.assign('store-1', one([configMap('a', { v: '2' }), hookJob('mine', helm('pre-upgrade'))], 2))
    const row = await site.until(BUNDLE, 'Failed')
    await hub.clock.runUntil(() => (rowOf(site)?.message ?? '').includes('mine'), { withinMs: 60_000, what: 'refusal' })
    assert.equal(row.state, 'Failed')
    assert.equal(
      rowOf(site)?.message,
      'pre-upgrade hook Job default/mine: the object exists, and this bundle did not create it; delete it, or give the hook another name',
    )
    assert.equal(await uidOf(site, 'mine'), uid)
  })

  it('have a deadline', async () => {
    const { hub, site } = await joined({ behaviour: { progressMs: 3_600_000 } })
    const slow = hookJob('slow', helm('pre-install', { 'flotilla.dev/hook-deadline': '90s' }))
    await hub.assign('store-1', one([configMap('a'), slow]))
    const row = await site.until(BUNDLE, 'Failed', 300_000)
    assert.equal(
      row.message,
      'pre-install hook Job default/slow failed: the hook did not end within 1m30s: it is running',
    )
  })

  it('run during a wave, and on failure, by the words of Argo CD', async () => {
    const { hub, site } = await joined()
    const argo = (on: string, wave = '0') => ({ 'argocd.argoproj.io/hook': on, 'argocd.argoproj.io/sync-wave': wave })
    const late = configMap('late')
    const objects = [
      configMap('early'),
      { ...late, metadata: { ...late.metadata, annotations: { 'argocd.argoproj.io/sync-wave': '2' } } },
      hookJob('check', argo('Sync', '1'), 'broken:1'),
      hookJob('cry', argo('SyncFail')),
      hookJob('smile', argo('PostSync')),
      hookJob('skipped', argo('Skip')),
    ]
    await hub.assign('store-1', one(objects, 1, { dialect: 'Argo' }))
    const row = await site.until(BUNDLE, 'Failed')
    assert.match(row.message ?? '', /^during hook Job default\/check failed: /)
    await hub.clock.advance(60_000)
    assert.ok(await site.configMap('early'))
    assert.equal(await site.configMap('late'), undefined)
    assert.ok(await uidOf(site, 'cry'))
    assert.equal(await uidOf(site, 'smile'), undefined)
    assert.equal(jobsMade(site), 2)
    await site.stop()
    await site.start()
    await hub.clock.advance(60_000)
    assert.equal(jobsMade(site), 2, 'neither of them again')
  })

  it('run when a bundle leaves, before its objects go and after they are gone', async () => {
    const { hub, site } = await joined({ behaviour: { progressMs: 10_000 } })
    const objects = [
      configMap('a'),
      hookJob('before', helm('pre-delete')),
      hookJob('after', helm('post-delete')),
      hookJob('began', helm('pre-install')),
    ]
    await hub.assign('store-1', one(objects))
    await readyAt(hub, site, 1)
    await hub.assign('store-1', {}, { tombstones: [{ bundle: BUNDLE, generation: 2, policy: 'Delete' }] })
    await hub.clock.runUntil(async () => (await uidOf(site, 'before')) !== undefined, {
      withinMs: 60_000,
      what: 'before',
    })
    assert.ok(await site.configMap('a'))
    await site.stop()
    await site.start()
    await hub.clock.runUntil(async () => (await site.configMap('a')) === undefined, { withinMs: 60_000, what: 'gone' })
    await hub.clock.runUntil(async () => (await uidOf(site, 'after')) !== undefined, {
      withinMs: 60_000,
      what: 'after',
    })
    await hub.clock.runUntil(async () => (await uidOf(site, 'after')) === undefined, {
      withinMs: 60_000,
      what: 'the end',
    })
    assert.equal(await uidOf(site, 'began'), undefined, 'what ran goes with the bundle')
    assert.equal(jobsMade(site), 3)
    const removal = () => site.agent().report().removals?.[0]
    await hub.clock.runUntil(() => removal()?.state === 'Removed', { withinMs: 60_000, what: 'the receipt' })
    assert.equal(removal()?.deleted, 1)
  })

  it('that fail before a bundle leaves keep it, and say so; asked for again it is tried again', async () => {
    const { hub, site } = await joined()
    const bad = hookJob('before', helm('pre-delete'), 'broken:1')
    await hub.assign('store-1', one([configMap('a'), bad]))
    await readyAt(hub, site, 1)
    const removal = () => site.agent().report().removals?.[0]
    const bury = (generation: number) =>
      hub.assign('store-1', {}, { tombstones: [{ bundle: BUNDLE, generation, policy: 'Delete' }] })
    await bury(2)
    await hub.clock.runUntil(() => removal()?.state === 'Failed', { withinMs: 120_000, what: 'the failure' })
    assert.match(removal()?.message ?? '', /^the bundle is not removed: pre-delete hook Job default\/before failed: /)
    await hub.clock.advance(600_000)
    assert.ok(await site.configMap('a'))
    assert.equal(jobsMade(site), 1)
    await bury(3)
    await hub.clock.runUntil(() => jobsMade(site) === 2, { withinMs: 120_000, what: 'another try' })
  })

  it('do not run for a bundle whose objects stay', async () => {
    const { hub, site } = await joined()
    const objects = [configMap('a'), hookJob('before', helm('pre-delete'))]
    await hub.assign('store-1', one(objects))
    await readyAt(hub, site, 1)
    await hub.assign('store-1', {}, { tombstones: [{ bundle: BUNDLE, generation: 2, policy: 'Orphan' }] })
    await hub.clock.advance(60_000)
    assert.ok(await site.configMap('a'))
    assert.equal(jobsMade(site), 0)
  })
})
