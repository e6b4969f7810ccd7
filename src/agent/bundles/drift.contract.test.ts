/** Drift: a user changes objects that a bundle applied, in an embedded cluster. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { base64, generateKeyPair, publicKeyDer } from '../../core/bytes.ts'
import { Secret } from '../../core/secret.ts'
import { formatTime } from '../../core/time/time.ts'
import { Deployment } from '../../kinds/builtin/apps.ts'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { openDriftValues } from '../../plan/drift/drift-values.ts'
import type { DriftRule } from '../../plan/drift/drift-rules.ts'
import { createAgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import type { AgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import { configMap, deployment, startTestHub } from '../../testing/hub/test-hub.ts'
import type { TestHub } from '../../testing/hub/test-hub.ts'

const BUNDLE = 'default/hello'
const open: { close(): Promise<void> }[] = []

async function running(options?: BundleOptions): Promise<{ hub: TestHub; site: AgentUnderTest }> {
  const hub = await startTestHub()
  const joinCode = await hub.token('store-1', { clusterName: 'store-1' })
  const site = createAgentUnderTest(hub, 'store-1', { joinCode })
  open.unshift(site, hub)
  await site.start()
  await hub.clock.runUntil(() => site.agent().linkState() === 'Following', { withinMs: 30_000, what: 'following' })
  const objects = [configMap('x', { a: '1', b: '2' }), deployment('web')]
  await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects, ...(options ? { options } : {}) } })
  await site.until(BUNDLE, 'Ready')
  return { hub, site }
}

afterEach(async () => {
  for (const part of open.splice(0)) await part.close()
})

const edit = (site: AgentUnderTest, a: string, fieldManager = 'kubectl-edit') =>
  site.cluster.client.patch(
    ConfigMap,
    { namespace: 'default', name: 'x' },
    { type: 'merge', body: { data: { a } } },
    { fieldManager },
  )
const X = { kind: 'ConfigMap', namespace: 'default', name: 'x' }

/** Writes the same content with decisions about drift. */
const decide = async (hub: TestHub, drift: readonly DriftRule[], options?: BundleOptions) => {
  const objects = [configMap('x', { a: '1', b: '2' }), deployment('web')]
  const bundles = { [BUNDLE]: { generation: 1, objects, ...(options ? { options } : {}) } }
  await hub.assign('store-1', bundles, { rules: { trustVersion: 1, drift } })
}
const valueOf = async (site: AgentUnderTest) => ((await site.configMap('x'))?.['data'] as { a: string } | undefined)?.a
const rowOf = (site: AgentUnderTest) => site.agent().report().bundles[0]

describe('drift', () => {
  it('is corrected within a moment when it comes while the agent still records that the bundle is ready', async () => {
    const { hub, site } = await running()
    site.door.delayAnswerTo = 'Settled'
    const objects = [configMap('x', { a: '2', b: '2' }), deployment('web')]
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects } })
    await hub.clock.runUntil(() => site.door.delayAnswerTo === undefined, { withinMs: 30_000, what: 'the record' })
    assert.equal(await valueOf(site), '2')
    await edit(site, 'edited')
    await hub.clock.advance(5000)
    assert.equal(await valueOf(site), '2')
  })

  it('is corrected within a moment, a deletion too, also without the hub', async () => {
    const { hub, site } = await running()
    hub.network.up = false
    await edit(site, 'edited')
    await hub.clock.advance(2000)
    assert.equal(await valueOf(site), '1')
    await site.remove('ConfigMap', 'x')
    await hub.clock.advance(2000)
    assert.equal(await valueOf(site), '1')
    assert.equal(rowOf(site)?.state, 'Ready')
  })

  it('D35: leaves a trace in the report: what was corrected, how often, and who had changed it', async () => {
    const { hub, site } = await running()
    assert.equal(rowOf(site)?.corrections, undefined)
    for (const a of ['one', 'two']) {
      await edit(site, a)
      await hub.clock.advance(2000)
      assert.equal(await valueOf(site), '1')
    }
    const [{ at, ...corrected } = { at: '' }, ...more] = rowOf(site)?.corrections ?? []
    assert.deepEqual(more, [])
    assert.deepEqual(corrected, {
      object: 'ConfigMap default/x',
      fields: ['.data.a (changed by kubectl-edit)'],
      times: 2,
    })
    assert.ok(at <= formatTime(hub.clock.now()))
    const objects = [configMap('x', { a: '1', b: '3' }), deployment('web')]
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects } })
    await hub.clock.advance(30_000)
    assert.deepEqual([rowOf(site)?.generation, rowOf(site)?.corrections?.length], [2, 1], 'kept for a new revision')
  })

  it('D17: has values for the user who asks, sealed to the key of the request, and for no other', async () => {
    const { hub, site } = await running({ drift: { mode: 'Report' } })
    await edit(site, 'edited')
    await site.until(BUNDLE, 'Drifted')
    const pair = generateKeyPair('x25519')
    const asked = formatTime(hub.clock.now())
    const valuesAsked = { at: asked, bundle: BUNDLE, key: base64(publicKeyDer(pair.publicKey)) }
    await hub.client.patch(Cluster, { name: 'store-1' }, { type: 'merge', body: { spec: { valuesAsked } } })
    const reported = async () => (await hub.client.get(ClusterReport, { name: 'store-1' })).spec
    await hub.clock.runUntil(async () => (await reported()).values?.asked === asked, {
      withinMs: 120_000,
      what: 'the values',
    })
    const { clusterId, values } = await reported()
    const own = new Secret(pair.privateKey)
    assert.deepEqual(openDriftValues({ clusterId, bundle: BUNDLE, asked }, values!.sealed, own), {
      objects: [{ object: 'ConfigMap default/x', fields: [{ field: '.data.a', delivered: '1', live: 'edited' }] }],
    })
    assert.doesNotMatch(JSON.stringify(await reported()), /edited"/)

    // The question about a bundle without drift has an answer, so that it is not asked again and again.
    const later = formatTime(hub.clock.now() + 1000)
    const body = { spec: { valuesAsked: { ...valuesAsked, at: later, bundle: 'default/other' } } }
    await hub.client.patch(Cluster, { name: 'store-1' }, { type: 'merge', body })
    await hub.clock.runUntil(async () => (await reported()).values?.asked === later, {
      withinMs: 120_000,
      what: 'the second answer',
    })
    const other = { clusterId, bundle: 'default/other', asked: later }
    assert.deepEqual(openDriftValues(other, (await reported()).values!.sealed, own), { objects: [] })
  })

  it('that happened while the agent was away is found at its start', async () => {
    const { hub, site } = await running()
    await site.stop()
    await edit(site, 'edited')
    await site.start()
    await hub.clock.advance(20_000)
    assert.equal(await valueOf(site), '1')
  })

  it('is only shown with Report: the object, the field, and who changed it', async () => {
    const { hub, site } = await running({ drift: { mode: 'Report' } })
    await edit(site, 'edited')
    const row = await site.until(BUNDLE, 'Drifted')
    assert.equal(row.message, 'ConfigMap default/x: .data.a (changed by kubectl-edit)')
    assert.deepEqual(
      row.drift?.map(({ object, fields }) => [object, fields]),
      [['ConfigMap default/x', ['.data.a (changed by kubectl-edit)']]],
    )
    await hub.clock.advance(3_600_000)
    assert.equal(await valueOf(site), 'edited')
    await edit(site, '1')
    await site.until(BUNDLE, 'Ready')
    await site.remove('ConfigMap', 'x')
    assert.equal(
      (await site.until(BUNDLE, 'Progressing')).message,
      'ConfigMap default/x: the object does not exist yet',
    )
  })

  it('D10: is corrected by a decision in the rules, at once, with no other content; afterwards the bundle decides', async () => {
    const { hub, site } = await running({ drift: { mode: 'Report' } })
    await edit(site, 'edited')
    await site.until(BUNDLE, 'Drifted')
    const generation = rowOf(site)?.generation
    const until = formatTime(hub.clock.now() + 3_600_000)
    await decide(hub, [{ bundle: BUNDLE, until, objects: [X] }], { drift: { mode: 'Report' } })
    await site.until(BUNDLE, 'Ready')
    assert.deepEqual([await valueOf(site), rowOf(site)?.generation], ['1', generation])
    await edit(site, 'again')
    await hub.clock.advance(10_000)
    assert.equal(await valueOf(site), '1', 'for the time of the decision')
    await hub.clock.advance(3_600_000)
    await edit(site, 'later')
    await site.until(BUNDLE, 'Drifted')
    assert.equal(await valueOf(site), 'later')
  })

  it('D10: a decision about another object, and one that is over, changes nothing', async () => {
    const { hub, site } = await running({ drift: { mode: 'Report' } })
    await edit(site, 'edited')
    await site.until(BUNDLE, 'Drifted')
    const over = formatTime(hub.clock.now() - 1000)
    const rules = [
      { bundle: BUNDLE, objects: [{ ...X, name: 'y' }] },
      { bundle: BUNDLE, until: over, objects: [X] },
    ]
    await decide(hub, rules, { drift: { mode: 'Report' } })
    await hub.clock.advance(60_000)
    assert.deepEqual([await valueOf(site), rowOf(site)?.state], ['edited', 'Drifted'])
  })

  it('D10: accepted fields stay until the decision ends, also through a new revision and a restart', async () => {
    const { hub, site } = await running()
    hub.network.up = false
    await site.stop()
    await edit(site, 'local price')
    hub.network.up = true
    const until = formatTime(hub.clock.now() + 3_600_000)
    await decide(hub, [{ bundle: BUNDLE, until, objects: [{ ...X, ignore: ['.data.a'] }] }])
    // Before the agent has the newer document, it corrects; the second edit is the one that is accepted.
    await site.start()
    await hub.clock.advance(30_000)
    await edit(site, 'local price')
    await hub.clock.advance(30_000)
    assert.deepEqual([await valueOf(site), rowOf(site)?.state], ['local price', 'Ready'])
    const objects = [configMap('x', { a: '1', b: '3' }), deployment('web')]
    const rules = { trustVersion: 1, drift: [{ bundle: BUNDLE, until, objects: [{ ...X, ignore: ['.data.a'] }] }] }
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects } }, { rules })
    await hub.clock.advance(30_000)
    assert.deepEqual((await site.configMap('x'))?.['data'], { a: 'local price', b: '3' })
    await site.stop()
    await hub.clock.advance(3_600_000)
    await site.start()
    await hub.clock.advance(60_000)
    assert.equal(await valueOf(site), '1', 'the end was noticed by an agent that was away')
  })

  it('is nothing with Ignore', async () => {
    const { hub, site } = await running({ drift: { mode: 'Ignore' } })
    await edit(site, 'edited')
    await hub.clock.advance(600_000)
    assert.deepEqual([await valueOf(site), rowOf(site)?.state], ['edited', 'Ready'])
  })

  it('is not fought over: after a few rounds the bundle steps back and says so', async () => {
    const { hub, site } = await running()
    const before = site.door.writes.length
    let edits = 0
    for (let second = 0; second < 3600; second += 10) {
      if ((await valueOf(site)) === '1') {
        await edit(site, `mine-${second}`, 'stubborn-controller')
        edits += 1
      }
      await hub.clock.advance(10_000)
    }
    assert.ok(edits <= 12, `${edits} rounds within an hour`)
    assert.ok(site.door.writes.length - before <= 30, `${site.door.writes.length - before} writes`)
    assert.match(
      rowOf(site)?.message ?? '',
      /^ConfigMap default\/x: \.data\.a \(changed by stubborn-controller\); corrected \d+ times within an hour/,
    )
    await hub.clock.advance(3_600_000)
    assert.deepEqual([await valueOf(site), rowOf(site)?.state], ['1', 'Ready'])
  })

  it('is not what others add, status, or an equal claim', async () => {
    const { hub, site } = await running()
    const before = site.door.writes.length
    const { client } = site.cluster
    const key = { namespace: 'default', name: 'x' }
    const add = { data: { theirs: '1' }, metadata: { labels: { theirs: '1' } } }
    await client.patch(ConfigMap, key, { type: 'merge', body: add }, { fieldManager: 'person' })
    await client.apply(
      ConfigMap,
      { ...configMap('x', { a: '1' }), data: { a: '1' } },
      {
        fieldManager: 'other',
      },
    )
    const web = await client.get(Deployment, { namespace: 'default', name: 'web' })
    await client.update(Deployment, { ...web, status: { ...web.status, collisionCount: 3 } } as never, {
      subresource: 'status',
    })
    await hub.clock.advance(600_000)
    assert.deepEqual(site.door.writes.slice(before), [])
    assert.equal(rowOf(site)?.state, 'Ready')
  })

  it('needs no polling: in steady state there are watches, and nothing else', async () => {
    const { hub, site } = await running()
    await hub.clock.advance(60_000)
    const [reads, writes] = [site.door.reads.length, site.door.writes.length]
    await hub.clock.advance(3_600_000)
    assert.deepEqual(site.door.writes.slice(writes), [])
    const about =
      /^\/version|\/nodes|clusterproperties|clusterclaims|^\/apis?(\/|$)[^?]*$|namespaces\/kube-system|flotilla-agent-mark/
    const others = site.door.reads.slice(reads).filter((path) => !path.includes('watch=true') && !about.test(path))
    assert.deepEqual(others, [])
    const watches = site.door.reads.slice(reads).filter((path) => path.includes('watch=true'))
    assert.ok(watches.length <= 8, `${watches.length} watches renewed`)
  })
})

describe('rules of a bundle', () => {
  it('decide about health by CEL, and tell values, without polling', async () => {
    const health = [
      { kind: 'ConfigMap', ready: 'object.data.a == "1" && has(object.data.stamp)', message: '"no stamp"' },
    ]
    const feedback = [{ kind: 'ConfigMap', as: 'stamp', expression: 'object.data.?stamp.orValue("none")' }]
    const hub = await startTestHub()
    const joinCode = await hub.token('store-1', { clusterName: 'store-1' })
    const site = createAgentUnderTest(hub, 'store-1', { joinCode })
    open.unshift(site, hub)
    await site.start()
    await hub.clock.runUntil(() => site.agent().linkState() === 'Following', { withinMs: 30_000, what: 'following' })
    const options = { health, feedback }
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('x', { a: '1' })], options } })
    const row = await site.until(BUNDLE, 'Progressing')
    assert.equal(row.message, 'ConfigMap default/x: no stamp')
    assert.deepEqual(row.feedback, [{ object: 'ConfigMap default/x', name: 'stamp', value: 'none' }])
    const stamp = { type: 'merge', body: { data: { stamp: '7' } } } as const
    await site.cluster.client.patch(ConfigMap, { namespace: 'default', name: 'x' }, stamp, { fieldManager: 'person' })
    const ready = await site.until(BUNDLE, 'Ready', 5000)
    assert.deepEqual(ready.feedback, [{ object: 'ConfigMap default/x', name: 'stamp', value: '7' }])
  })
})
