/** How bundles are applied, owned and pruned, against an embedded cluster. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { Deployment } from '../../kinds/builtin/apps.ts'
import { ConfigMap, ServiceAccount } from '../../kinds/builtin/core.ts'
import { Role, RoleBinding } from '../../kinds/builtin/rbac.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { AgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import { createOperatingAgent } from '../../testing/agents/operating-agent.ts'
import { joinedAgents } from '../../testing/agents/joined-agents.ts'
import { configMap, deployment } from '../../testing/hub/test-hub.ts'
import type { TestHub } from '../../testing/hub/test-hub.ts'

const BUNDLE = 'default/hello'
const OTHER = 'default/other'
const { joined, open, close } = joinedAgents()
afterEach(close)

const annotated = (object: UnknownObject, annotations: Record<string, string>): UnknownObject => ({
  ...object,
  metadata: { ...object.metadata, annotations },
})
const one = (objects: readonly UnknownObject[], generation = 1, options?: BundleOptions) => ({
  [BUNDLE]: { generation, objects, ...(options ? { options } : {}) },
})
const dataOf = (object: UnknownObject | undefined) => object?.['data'] as Record<string, string> | undefined
const uidOf = async (site: AgentUnderTest, name: string) => (await site.configMap(name))?.metadata.uid

async function readyAt(hub: TestHub, site: AgentUnderTest, generation: number, bundle = BUNDLE): Promise<void> {
  const row = () =>
    site
      .agent()
      .report()
      .bundles.find((candidate) => candidate.bundle === bundle)
  await hub.clock
    .runUntil(() => row()?.generation === generation && row()?.state === 'Ready', { withinMs: 300_000, what: 'ready' })
    .catch((caught: unknown) => {
      throw new Error(`last: ${JSON.stringify(row())}`, { cause: caught })
    })
}

describe('an operation', () => {
  it('goes wave by wave, each healthy before the next, and says where it waits', async () => {
    const { hub, site } = await joined({ behaviour: { progressMs: 20_000 } })
    const first = annotated(deployment('first'), { 'flotilla.dev/wave': '-1' })
    await hub.assign('store-1', one([configMap('second'), first]))
    const row = await site.until(BUNDLE, 'Progressing')
    assert.match(row.message ?? '', /^wave 1 of 2: Deployment default\/first: /)
    assert.equal(await site.configMap('second'), undefined)
    await site.stop()
    await site.start()
    await hub.clock.advance(5000)
    assert.equal(await site.configMap('second'), undefined, 'a restart does not skip the wait')
    await site.until(BUNDLE, 'Ready')
    assert.ok(await site.configMap('second'))
  })

  it('fails a wave that takes too long, and goes on when it is healthy after all', async () => {
    const { hub, site } = await joined({ behaviour: { progressMs: 90_000 } })
    const first = annotated(deployment('first'), { 'flotilla.dev/wave': '-1' })
    await hub.assign('store-1', one([configMap('second'), first], 1, { apply: { timeout: '30s' } }))
    const row = await site.until(BUNDLE, 'Failed')
    assert.match(row.message ?? '', /^wave 1 of 2 was not healthy within 30s: Deployment default\/first: /)
    assert.equal(row.firstFailing, 'Deployment default/first')
    await site.until(BUNDLE, 'Ready', 300_000)
    assert.ok(await site.configMap('second'))
  })

  it('tries everything before it writes anything', async () => {
    const { hub, site } = await joined()
    const bad = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bad', namespace: 'default' }, data: { a: 1 } }
    const missing = { apiVersion: 'widgets.io/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'default' } }
    await hub.assign('store-1', one([configMap('good'), bad, missing]))
    const row = await site.until(BUNDLE, 'Failed')
    assert.match(row.message ?? '', /ConfigMap default\/bad: .*\(and 1 more objects cannot be applied\)/)
    assert.equal(await site.configMap('good'), undefined)
  })

  it('applies the others with onError: Continue, tries the failed ones again, and prunes when all are applied', async () => {
    const { hub, site } = await joined()
    const options: BundleOptions = { apply: { onError: 'Continue' } }
    const bad = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'bad', namespace: 'default' }, data: { a: 1 } }
    const missing = { apiVersion: 'widgets.io/v1', kind: 'Widget', metadata: { name: 'w', namespace: 'default' } }
    await hub.assign('store-1', one([configMap('old')], 1, options))
    await site.until(BUNDLE, 'Ready')
    await hub.assign('store-1', one([configMap('good'), bad, missing], 2, options))
    const row = await site.until(BUNDLE, 'Failed')
    assert.match(row.message ?? '', /ConfigMap default\/bad: .*\(and 1 more objects cannot be applied\)/)
    assert.ok(await site.configMap('good'))
    assert.ok(await site.configMap('old'), 'nothing is pruned before the set is applied')
    const uid = await uidOf(site, 'good')
    await site.stop()
    await site.start()
    await hub.clock.advance(20_000)
    assert.equal(await uidOf(site, 'good'), uid)
    await hub.assign('store-1', one([configMap('good'), configMap('bad')], 3, options))
    await readyAt(hub, site, 3)
    assert.ok(await site.configMap('bad'))
    assert.equal(await site.configMap('old'), undefined)
  })

  it('leaves the object of another bundle alone with onError: Continue, also when it tries again', async () => {
    const { hub, site } = await joined()
    const options: BundleOptions = { apply: { onError: 'Continue', force: true } }
    const others = { [OTHER]: { generation: 1, objects: [configMap('shared', { by: 'other' })] } }
    await hub.assign('store-1', others)
    await site.until(OTHER, 'Ready')
    await hub.assign('store-1', {
      ...others,
      ...one([configMap('own'), configMap('shared', { by: 'hello' })], 1, options),
    })
    const row = await site.until(BUNDLE, 'Failed')
    assert.match(row.message ?? '', /ConfigMap default\/shared: /)
    await hub.clock.advance(60_000)
    assert.equal(dataOf(await site.configMap('shared'))?.['by'], 'other')
    assert.ok(await site.configMap('own'))
    await hub.assign('store-1', others, { tombstones: [{ bundle: BUNDLE, generation: 1, policy: 'Delete' }] })
    await hub.clock.advance(30_000)
    assert.equal(await site.configMap('own'), undefined)
    assert.equal(dataOf(await site.configMap('shared'))?.['by'], 'other', 'the object of another bundle stays')
  })

  it('waits for the bundles it depends on, at the generation that is wanted of them, and names cycles', async () => {
    const { hub, site } = await joined({ behaviour: { progressMs: 10_000 } })
    const dependsOn = [{ bundle: 'other' }]
    const twice = (object: UnknownObject) => ({ ...object, spec: { ...(object['spec'] as object), replicas: 2 } })
    const app = (generation: number) => ({
      generation,
      objects: [configMap('app', { g: String(generation) })],
      options: { dependsOn },
    })
    await hub.assign('store-1', { [BUNDLE]: app(1) })
    assert.equal(
      (await site.until(BUNDLE, 'Pending')).message,
      'waits for bundle default/other, which is not on this cluster',
    )
    await hub.assign('store-1', { [BUNDLE]: app(1), [OTHER]: { generation: 1, objects: [twice(deployment('db'))] } })
    await site.until(BUNDLE, 'Ready')
    await hub.assign('store-1', {
      [BUNDLE]: app(2),
      [OTHER]: { generation: 2, objects: [twice(deployment('db', 'db:2'))] },
    })
    await hub.clock.advance(5000)
    assert.equal(dataOf(await site.configMap('app'))?.['g'], '1', 'Ready on its old version is not enough')
    await readyAt(hub, site, 2)
    assert.equal(dataOf(await site.configMap('app'))?.['g'], '2')
    const back = { dependsOn: [{ bundle: 'default/hello' }] }
    await hub.assign('store-1', { [BUNDLE]: app(3), [OTHER]: { generation: 3, objects: [], options: back } })
    assert.match(
      (await site.until(BUNDLE, 'Failed')).message ?? '',
      /cycle: default\/hello → default\/other → default\/hello/,
    )
  })
})

describe('an operation of a bundle that depends on another', () => {
  it('begins when the other is in a state that it accepts, also one in the middle of its waves', async () => {
    const { hub, site } = await joined({ behaviour: { progressMs: 600_000 } })
    const slow = {
      generation: 1,
      objects: [deployment('db'), annotated(configMap('late'), { 'flotilla.dev/wave': '1' })],
    }
    const needs = (states: readonly ('Ready' | 'Progressing' | 'Failed')[], generation: number) =>
      one([configMap('app', { g: String(generation) })], generation, {
        dependsOn: [{ bundle: 'other', states: [...states] }],
      })
    const assign = (states: readonly ('Ready' | 'Progressing' | 'Failed')[], generation: number) =>
      hub.assign('store-1', {
        [OTHER]: { ...slow, options: { apply: { timeout: '1m' } } },
        ...needs(states, generation),
      })
    await assign(['Ready', 'Failed'], 1)
    await hub.clock.advance(20_000)
    assert.match(
      site
        .agent()
        .report()
        .bundles.find(({ bundle }) => bundle === BUNDLE)?.message ?? '',
      /waits for bundle default\/other: it is Progressing, wanted is Ready or Failed/,
    )
    await readyAt(hub, site, 1)
    assert.equal((await site.until(OTHER, 'Failed')).state, 'Failed')
    assert.equal(await site.configMap('late'), undefined)
    await assign(['Ready'], 2)
    assert.match((await site.until(BUNDLE, 'Pending')).message ?? '', /it is Failed, wanted is Ready/)
  })
})

describe('ownership', () => {
  it('shares an object whose fields are disjoint or identical, and the last bundle deletes it', async () => {
    const { hub, site } = await joined()
    const mine = { [BUNDLE]: { generation: 1, objects: [configMap('x', { a: '1', same: 's' })] } }
    await hub.assign('store-1', mine)
    await site.until(BUNDLE, 'Ready')
    const theirs = { [OTHER]: { generation: 1, objects: [configMap('x', { b: '2', same: 's' })] } }
    await hub.assign('store-1', { ...mine, ...theirs })
    await site.until(OTHER, 'Ready')
    assert.deepEqual(dataOf(await site.configMap('x')), { a: '1', b: '2', same: 's' })
    const uid = await uidOf(site, 'x')
    await hub.assign('store-1', theirs, { tombstones: [{ bundle: BUNDLE, generation: 1, policy: 'Delete' }] })
    await hub.clock.advance(60_000)
    assert.equal(await uidOf(site, 'x'), uid, 'wanted by the other bundle')
    assert.deepEqual(dataOf(await site.configMap('x')), { b: '2', same: 's' }, 'what only the first one said is gone')
    await hub.assign('store-1', {}, { tombstones: [{ bundle: OTHER, generation: 1, policy: 'Delete' }] })
    await hub.clock.runUntil(async () => !(await site.configMap('x')), { withinMs: 60_000, what: 'removal' })
  })

  it('refuses two values for one field, naming both bundles and the field, before anything is written', async () => {
    const { hub, site } = await joined()
    const mine = { [BUNDLE]: { generation: 1, objects: [configMap('x', { a: '1' })] } }
    await hub.assign('store-1', mine)
    await site.until(BUNDLE, 'Ready')
    const objects = [configMap('new'), configMap('x', { a: '2' })]
    await hub.assign('store-1', { ...mine, [OTHER]: { generation: 1, objects, options: { apply: { force: true } } } })
    const row = await site.until(OTHER, 'Failed')
    assert.equal(
      row.message,
      'ConfigMap default/x: field .data.a belongs to bundle default/hello, and bundle default/other wants another value there; leave it to one of them',
    )
    await hub.clock.advance(120_000)
    assert.equal(dataOf(await site.configMap('x'))?.['a'], '1')
    assert.equal(await site.configMap('new'), undefined)
  })

  it('moves objects to a bundle of another name as they are', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', one([configMap('x', { a: '1' })]))
    await site.until(BUNDLE, 'Ready')
    const uid = await uidOf(site, 'x')
    const tombstones = [{ bundle: BUNDLE, generation: 1, policy: 'Delete' as const }]
    await hub.assign('store-1', { [OTHER]: { generation: 1, objects: [configMap('x', { a: '2' })] } }, { tombstones })
    await site.until(OTHER, 'Ready')
    assert.deepEqual([await uidOf(site, 'x'), dataOf(await site.configMap('x'))?.['a']], [uid, '2'])
    await hub.assign('store-1', {}, { tombstones: [{ bundle: OTHER, generation: 1, policy: 'Delete' }] })
    await hub.clock.runUntil(async () => !(await site.configMap('x')), { withinMs: 60_000, what: 'removal' })
  })

  it('is that of the new bundle alone after a move: what it leaves out later goes', async () => {
    const { hub, site } = await joined()
    const objects = [configMap('x', { a: '1', b: '1' })]
    await hub.assign('store-1', one(objects))
    await site.until(BUNDLE, 'Ready')
    const tombstones = [{ bundle: BUNDLE, generation: 1, policy: 'Delete' as const }]
    await hub.assign('store-1', { [OTHER]: { generation: 1, objects } }, { tombstones })
    await site.until(OTHER, 'Ready')
    await hub.clock.advance(60_000)
    await hub.assign('store-1', { [OTHER]: { generation: 2, objects: [configMap('x', { a: '1' })] } })
    await readyAt(hub, site, 2, OTHER)
    assert.deepEqual(dataOf(await site.configMap('x')), { a: '1' })
  })

  it('is the bundle’s alone where it takes fields: what it leaves out later goes, also equal ones that others had', async () => {
    const { hub, site } = await joined()
    const { client } = site.cluster
    for (const name of ['forced', 'shared']) {
      await client.create(ConfigMap, configMap(name, { a: '1', b: '1', c: '1' }), { fieldManager: 'helm' })
    }
    const objects = (data: Record<string, string>) =>
      ['forced', 'shared'].map((name) =>
        annotated(configMap(name, data), name === 'forced' ? { 'flotilla.dev/force': 'true' } : {}),
      )
    await hub.assign('store-1', one(objects({ a: '1', b: '1' })))
    await site.until(BUNDLE, 'Ready')
    await hub.assign('store-1', one(objects({ a: '1' }), 2))
    await readyAt(hub, site, 2)
    assert.deepEqual(dataOf(await site.configMap('forced')), { a: '1', c: '1' })
    assert.deepEqual(dataOf(await site.configMap('shared')), { a: '1', b: '1', c: '1' }, 'still helm’s')
    const before = site.door.writes.length
    await hub.clock.advance(600_000)
    assert.deepEqual(site.door.writes.slice(before), [])
  })

  it('is the new bundle’s alone, too, after another one orphaned it, and after another way to apply', async () => {
    const { hub, site } = await joined()
    const x = (data: Record<string, string>, how = 'ServerSideApply') => [
      annotated(configMap('x', data), { 'flotilla.dev/apply': how }),
    ]
    await hub.assign('store-1', one(x({ a: '1', b: '1', c: '1' })))
    await site.until(BUNDLE, 'Ready')
    await hub.assign('store-1', {}, { tombstones: [{ bundle: BUNDLE, generation: 1, policy: 'Orphan' }] })
    await hub.clock.runUntil(() => site.agent().report().removals?.[0]?.state === 'Orphaned', {
      withinMs: 60_000,
      what: 'orphaned',
    })
    const steps = [x({ a: '1', b: '1' }), x({ a: '1', n: '1' }, 'Replace'), x({ a: '1' })]
    const expected = [{ a: '1', b: '1', c: '1' }, { a: '1', n: '1' }, { a: '1' }]
    for (const [index, objects] of steps.entries()) {
      await hub.assign('store-1', { [OTHER]: { generation: index + 1, objects } })
      await readyAt(hub, site, index + 1, OTHER)
      assert.deepEqual(dataOf(await site.configMap('x')), expected[index], `step ${index + 1}`)
    }
  })

  it('of a bundle that keeps what it leaves is not taken out of what it shared', async () => {
    const { hub, site } = await joined()
    const theirs = { [OTHER]: { generation: 1, objects: [configMap('x', { b: '2' })] } }
    await hub.assign('store-1', { ...one([configMap('x', { a: '1' })]), ...theirs })
    await readyAt(hub, site, 1)
    await readyAt(hub, site, 1, OTHER)
    await hub.assign('store-1', theirs, { tombstones: [{ bundle: BUNDLE, generation: 1, policy: 'Orphan' }] })
    await hub.clock.advance(60_000)
    assert.deepEqual(dataOf(await site.configMap('x')), { a: '1', b: '2' })
  })

  it('moves objects from one bundle to another that both stay, with new values, whichever comes first', async () => {
    for (const [from, to] of [
      ['default/a', 'default/z'],
      ['default/z', 'default/a'],
    ] as const) {
      const { hub, site } = await joined()
      const both = [configMap('moves', { v: '1' }), configMap('kept')]
      await hub.assign('store-1', { [from]: { generation: 1, objects: both } })
      await site.until(from, 'Ready')
      const uid = (await site.configMap('moves'))?.metadata.uid
      const split = {
        [from]: { generation: 2, objects: [configMap('kept')] },
        [to]: { generation: 1, objects: [configMap('moves', { v: '2' })] },
      }
      const states: string[] = []
      await hub.assign('store-1', split)
      await hub.clock.runUntil(
        () => {
          const rows = site.agent().report().bundles
          states.push(...rows.map(({ state }) => state))
          return (
            rows.length === 2 &&
            rows.every(({ state, bundle, generation }) => state === 'Ready' && generation === split[bundle]?.generation)
          )
        },
        { withinMs: 120_000, what: `from ${from} to ${to}` },
      )
      assert.ok(!states.includes('Failed'), 'it waits for the other one')
      const live = await site.configMap('moves')
      assert.deepEqual([live?.metadata.uid, live?.['data']], [uid, { v: '2' }])
      // And is the other one's from now on.
      await hub.clock.advance(600_000)
      await hub.assign(
        'store-1',
        { [from]: split[from]! },
        { tombstones: [{ bundle: to, generation: 2, policy: 'Delete' }] },
      )
      await hub.clock.runUntil(async () => (await site.configMap('moves')) === undefined, {
        withinMs: 60_000,
        what: 'its end',
      })
      assert.ok(await site.configMap('kept'))
      await close()
    }
  })

  it('takes what was there before Always, IfNoDiff or Never, and gives it back unharmed', async () => {
    const { hub, site } = await joined()
    for (const name of ['never', 'same', 'differs', 'always'])
      await site.create('ConfigMap', configMap(name, { a: '1' }))
    const takeover = (name: string, how: string, data: Record<string, string> = { a: '1' }) =>
      annotated(configMap(name, data), { 'flotilla.dev/takeover': how })
    await hub.assign('store-1', one([takeover('never', 'Never')]))
    assert.match(
      (await site.until(BUNDLE, 'Failed')).message ?? '',
      /never: it was there before the bundle, and takeover is Never/,
    )
    await hub.assign('store-1', one([takeover('differs', 'IfNoDiff', { a: '2' })], 2))
    await hub.clock.advance(10_000)
    assert.match((await site.until(BUNDLE, 'Failed')).message ?? '', /differs in \.data\.a .*takeover is IfNoDiff$/)
    await hub.assign('store-1', one([takeover('always', 'Always', { b: '2' })], 3))
    await readyAt(hub, site, 3)
    assert.deepEqual(dataOf(await site.configMap('always')), { a: '1', b: '2' })
    await hub.assign('store-1', {}, { tombstones: [{ bundle: BUNDLE, generation: 3, policy: 'Delete' }] })
    await hub.clock.advance(60_000)
    for (const name of ['never', 'same', 'differs', 'always']) assert.ok(await site.configMap(name), name)
  })
})

describe('ways to apply', () => {
  it('CreateOnly makes and never changes, ReadOnly only looks, Replace writes the whole', async () => {
    const { hub, site } = await joined()
    await site.create('ConfigMap', configMap('whole', { theirs: '1' }))
    const by = (name: string, method: string, data: Record<string, string>) =>
      annotated(configMap(name, data), { 'flotilla.dev/apply': method })
    const objects = (v: string) => [
      by('once', 'CreateOnly', { v }),
      by('looked', 'ReadOnly', { v }),
      by('whole', 'Replace', { v }),
    ]
    await hub.assign('store-1', one(objects('1')))
    assert.match((await site.until(BUNDLE, 'Progressing')).message ?? '', /looked: the object does not exist yet/)
    await site.create('ConfigMap', configMap('looked', { theirs: '1' }))
    await readyAt(hub, site, 1)
    await hub.assign('store-1', one(objects('2'), 2))
    await readyAt(hub, site, 2)
    assert.deepEqual(dataOf(await site.configMap('once')), { v: '1' })
    assert.deepEqual(dataOf(await site.configMap('looked')), { theirs: '1' })
    assert.deepEqual(dataOf(await site.configMap('whole')), { v: '2' })
  })

  it('recreates what cannot be changed only when told to', async () => {
    const { hub, site } = await joined()
    const frozen = (v: string): UnknownObject => ({ ...configMap('x', { v }), immutable: true })
    await hub.assign('store-1', one([frozen('1')]))
    await site.until(BUNDLE, 'Ready')
    const uid = await uidOf(site, 'x')
    await hub.assign('store-1', one([frozen('2')], 2))
    assert.match((await site.until(BUNDLE, 'Failed')).message ?? '', /immutable/)
    await hub.assign('store-1', one([frozen('2')], 3, { apply: { immutable: 'Recreate' } }))
    await readyAt(hub, site, 3)
    assert.equal(dataOf(await site.configMap('x'))?.['v'], '2')
    assert.notEqual(await uidOf(site, 'x'), uid)
  })

  it('leaves ignored fields to others, also when it applies again', async () => {
    const { hub, site } = await joined()
    const options = { ignore: [{ kind: 'Deployment', pointers: ['/spec/replicas'] }] }
    await hub.assign(
      'store-1',
      one([{ ...deployment('web'), spec: { ...(deployment('web')['spec'] as object), replicas: 1 } }], 1, options),
    )
    await site.until(BUNDLE, 'Ready')
    const { client } = site.cluster
    const scale = { spec: { replicas: 5 } }
    await client.patch(
      Deployment,
      { namespace: 'default', name: 'web' },
      { type: 'merge', body: scale },
      { fieldManager: 'hpa' },
    )
    await hub.clock.advance(120_000)
    const changed = deployment('web', 'web:2')
    await hub.assign(
      'store-1',
      one([{ ...changed, spec: { ...(changed['spec'] as object), replicas: 1 } }], 2, options),
    )
    await readyAt(hub, site, 2)
    const spec = (await client.get(Deployment, { namespace: 'default', name: 'web' })).spec
    assert.equal(spec?.replicas, 5)
    assert.equal(spec?.template?.spec?.containers?.[0]?.image, 'web:2')
  })

  it('makes namespaces with labels, and deletes those it made only when told to', async () => {
    const { hub, site } = await joined()
    const options = { namespaces: { create: true, labels: { team: 'a' }, delete: true } }
    const into = (namespace: string) => configMap('x', {}, namespace)
    await hub.assign('store-1', one([into('made'), into('default')], 1, options))
    await site.until(BUNDLE, 'Ready')
    assert.equal((await site.get('Namespace', 'made'))?.metadata.labels?.['team'], 'a')
    await hub.assign('store-1', {}, { tombstones: [{ bundle: BUNDLE, generation: 1, policy: 'Delete' }] })
    await hub.clock.runUntil(async () => !(await site.get('Namespace', 'made')), { withinMs: 60_000, what: 'removal' })
    assert.ok(await site.get('Namespace', 'default'))
  })
})

describe('leaving', () => {
  it('waits for a confirmation, and says how to give it', async () => {
    const { hub, site } = await joined()
    const options = { prune: { mode: 'Confirm' as const } }
    await hub.assign('store-1', one([configMap('a'), configMap('b')], 1, options))
    await site.until(BUNDLE, 'Ready')
    await hub.assign('store-1', one([configMap('a')], 2, options))
    assert.match((await site.until(BUNDLE, 'Pending')).message ?? '', /ConfigMap default\/b left the set; annotate it/)
    await site.stop()
    await site.start()
    await hub.clock.advance(120_000)
    assert.ok(await site.configMap('b'))
    const live = (await site.configMap('b'))!
    await site.update('ConfigMap', annotated(live, { 'flotilla.dev/confirm-prune': 'true' }))
    await readyAt(hub, site, 2)
    assert.equal(await site.configMap('b'), undefined)
  })

  it('does not delete more than the bundle or the cluster allows', async () => {
    const { hub, site } = await joined({ ceiling: { maxPrune: 2 } })
    const names = ['a', 'b', 'c', 'd']
    await hub.assign('store-1', one(names.map((name) => configMap(name))))
    await site.until(BUNDLE, 'Ready')
    await hub.assign('store-1', one([configMap('a')], 2))
    assert.match(
      (await site.until(BUNDLE, 'Pending')).message ?? '',
      /3 objects would be deleted and this cluster allows 2/,
    )
    await hub.assign('store-1', one([configMap('a'), configMap('b')], 3, { prune: { max: 1 } }))
    await hub.clock.advance(10_000)
    assert.match((await site.until(BUNDLE, 'Pending')).message ?? '', /2 objects left the set and prune.max is 1/)
    for (const name of names) assert.ok(await site.configMap(name), name)
    await hub.assign('store-1', one([configMap('a'), configMap('b')], 4))
    await readyAt(hub, site, 4)
    assert.equal(await site.configMap('c'), undefined)
  })

  it('does not delete more than the hub says for this cluster, and goes on when that changes', async () => {
    const { hub, site } = await joined()
    const limit = (maxPrune: number) => ({ rules: { trustVersion: 1, limits: { maxPrune } }, requires: ['limits/v1'] })
    await hub.assign('store-1', one(['a', 'b', 'c', 'd'].map((name) => configMap(name))))
    await site.until(BUNDLE, 'Ready')
    await hub.assign('store-1', one([configMap('a')], 2), limit(2))
    const { message } = await site.until(BUNDLE, 'Pending')
    assert.match(message ?? '', /3 objects would be deleted and this cluster allows 2 at once .*the Cluster's limits/)
    await hub.assign('store-1', one([configMap('a')], 2), limit(3))
    await readyAt(hub, site, 2)
    assert.equal(await site.configMap('b'), undefined)
  })

  it('keeps what the bundle says is kept, by cause, rule and annotation, and Orphan keeps all', async () => {
    const { hub, site } = await joined()
    const objects = [
      configMap('goes'),
      annotated(configMap('kept-by-word'), { 'flotilla.dev/delete': 'Orphan' }),
      configMap('kept-by-rule'),
    ]
    const rules: BundleOptions = { delete: { unplaced: 'Orphan', orphan: [{ name: '*-rule' }] } }
    await hub.assign('store-1', one(objects, 1, rules))
    await site.until(BUNDLE, 'Ready')
    const tombstone = { bundle: BUNDLE, generation: 1, policy: 'Delete' as const }
    await hub.assign('store-1', {}, { tombstones: [{ ...tombstone, cause: 'unplaced' }] })
    await hub.clock.advance(60_000)
    for (const { metadata } of objects) assert.ok(await site.configMap(metadata.name), metadata.name)
    await hub.assign('store-1', one(objects, 2, rules))
    await readyAt(hub, site, 2)
    await hub.assign('store-1', {}, { tombstones: [{ ...tombstone, generation: 2, policy: 'Orphan' }] })
    await hub.clock.advance(60_000)
    for (const { metadata } of objects) assert.ok(await site.configMap(metadata.name), metadata.name)
  })

  it('deletes exactly what it made', async () => {
    const { hub, site } = await joined()
    await site.create('ConfigMap', configMap('bystander'))
    const kept = annotated(configMap('kept'), { 'flotilla.dev/delete': 'Orphan' })
    await hub.assign('store-1', one([configMap('a'), configMap('b'), kept]))
    await site.until(BUNDLE, 'Ready')
    const tombstone = { bundle: BUNDLE, generation: 1, policy: 'Delete' as const, cause: 'bundleDeleted' as const }
    await hub.assign('store-1', {}, { tombstones: [tombstone] })
    await hub.clock.runUntil(async () => !(await site.configMap('b')), { withinMs: 60_000, what: 'removal' })
    await hub.clock.advance(60_000)
    const { items } = await site.cluster.client.list(ConfigMap, { namespace: 'default' })
    assert.deepEqual(items.map(({ metadata }) => metadata.name).toSorted(), ['bystander', 'kept'])
  })
})

describe('a new epoch', () => {
  it('alters no object until the hub has reached what runs here', async () => {
    const { hub, site } = await joined()
    const agent = createOperatingAgent({
      transport: site.cluster.transport,
      clock: hub.clock,
      ids: hub.ids.fork('operating'),
    })
    await site.stop()
    agent.start()
    open.unshift({ close: () => agent.stop() })
    const at = (generation: number, v: string) => ({ 'default/app': { generation, objects: [configMap('e', { v })] } })
    const state = () => agent.row('default/app')
    await agent.assign(at(5, '1'))
    await hub.clock.runUntil(() => state()?.state === 'Ready', { withinMs: 60_000, what: 'ready' })
    const version = async () => (await site.configMap('e'))?.metadata.resourceVersion
    const before = await version()
    for (const [generation, v] of [
      [5, '1'],
      [3, 'older'],
      [1, '1'],
    ] as const) {
      await agent.assign(at(generation, v), { epoch: 2 })
      await hub.clock.advance(120_000)
      assert.equal(await version(), before, `generation ${generation}`)
    }
    await agent.assign(at(3, 'older'), { epoch: 2 })
    await hub.clock.advance(10_000)
    assert.match(state()?.message ?? '', /a new epoch began: held at generation 5 until the hub reaches it again/)
    await agent.assign(at(6, '2'), { epoch: 2 })
    await hub.clock.runUntil(async () => dataOf(await site.configMap('e'))?.['v'] === '2', {
      withinMs: 60_000,
      what: 'v2',
    })
  })
})

describe('whose rights', () => {
  const executor = { namespace: 'shop', name: 'deployer' }
  const user = 'system:serviceaccount:shop:deployer'

  async function withDeployer(site: AgentUnderTest, verbs: string[]): Promise<void> {
    const { client } = site.cluster
    await site.create('Namespace', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    const named = { metadata: { name: 'deployer', namespace: 'shop' } }
    await client.create(ServiceAccount, { apiVersion: 'v1', kind: 'ServiceAccount', ...named })
    const rbac = 'rbac.authorization.k8s.io'
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs }]
    await client.create(Role, { apiVersion: `${rbac}/v1`, kind: 'Role', ...named, rules })
    await client.create(RoleBinding, {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      ...named,
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'deployer' },
      subjects: [{ kind: 'ServiceAccount', ...executor }],
    })
  }

  it('are those of the executor, for reads and writes, and what is denied is named', async () => {
    const { hub, site } = await joined()
    await withDeployer(site, ['get', 'list', 'watch', 'create', 'patch', 'delete'])
    await hub.assign('store-1', one([configMap('x', {}, 'shop')], 1, { executor }))
    await readyAt(hub, site, 1)
    await hub.assign('store-1', one([configMap('x', {}, 'default')], 2, { executor }))
    assert.equal(
      (await site.until(BUNDLE, 'Failed')).message,
      `ConfigMap default/x: denied: ${user} may not get configmaps in namespace default`,
    )
    assert.ok(await site.configMap('x', 'shop'), 'nothing is pruned for a set that is not applied')
  })

  it('are not enough to read when only writing is allowed', async () => {
    const { hub, site } = await joined()
    await withDeployer(site, ['create', 'patch'])
    await hub.assign('store-1', one([configMap('x', {}, 'shop')], 1, { executor }))
    assert.match(
      (await site.until(BUNDLE, 'Failed')).message ?? '',
      /deployer may not get configmaps in namespace shop/,
    )
  })

  it('end at the ceiling of the cluster, whatever the hub says', async () => {
    const ceiling = { namespaces: ['shop-*'], executors: ['shop/*'], ownRights: false }
    const { hub, site } = await joined({ ceiling })
    await hub.assign('store-1', one([configMap('x')]))
    assert.match((await site.until(BUNDLE, 'Failed')).message ?? '', /ceiling wants an executor for every bundle/)
    await withDeployer(site, ['*'])
    await hub.assign('store-1', one([configMap('x', {}, 'shop')], 2, { executor }))
    await hub.clock.advance(10_000)
    assert.match(
      (await site.until(BUNDLE, 'Failed')).message ?? '',
      /ceiling does not allow namespace shop; allowed: shop-\*/,
    )
    assert.equal(await site.configMap('x', 'shop'), undefined)
  })
})

describe('a large bundle', () => {
  it('has an inventory in pages that survives a restart', async () => {
    const { hub, site } = await joined()
    const objects = Array.from({ length: 800 }, (_, i) => configMap(`object-${i}`))
    await hub.assign('store-1', one(objects))
    await readyAt(hub, site, 1)
    const pages = async () =>
      (await site.cluster.client.list(ConfigMap, { namespace: 'flotilla-agent' })).items
        .map(({ metadata }) => metadata.name)
        .filter((name) => /-[ab]\d$/.test(name))
    assert.equal((await pages()).length, 1)
    await site.stop()
    const writes = site.door.writes.length
    await site.start()
    await hub.clock.advance(60_000)
    assert.deepEqual(site.door.writes.slice(writes), [], 'a restart writes nothing')
    await hub.assign('store-1', one(objects.slice(0, 799), 2))
    await readyAt(hub, site, 2)
    assert.equal(await site.configMap('object-799'), undefined)
    assert.ok(await site.configMap('object-798'))
    assert.ok(
      site.door.writes.length - writes < 20,
      `${site.door.writes.length - writes} writes for one removed object`,
    )
    assert.equal((await pages()).length, 1)
  })
})
