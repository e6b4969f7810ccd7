import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { ClusterReport } from '../kinds/native/cluster-report.ts'
import { ConfigMap } from '../kinds/builtin/core.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { createAgentUnderTest } from '../testing/agents/agent-under-test.ts'
import { buildTrust } from '../testing/fixtures/wire-builders.ts'
import { joinedAgents } from '../testing/agents/joined-agents.ts'
import { configMap, deployment, startTestHub } from '../testing/hub/test-hub.ts'
import { readRefusal } from './documents/document-file.ts'
import { createMemoryStorage } from './storage/storage.ts'

const BUNDLE = 'default/hello'
const { joined, open, close } = joinedAgents()
afterEach(close)

describe('an agent', () => {
  it('enrols, applies, reports Ready only when healthy, and tells the hub its versions', async () => {
    const { hub, site } = await joined()
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
    const objects = [deployment('web', 'web:1', 'shop'), configMap('settings', { a: '1' }, 'shop'), namespace]
    const set = await hub.putSet(objects)
    await hub.assign('store-1', { [BUNDLE]: { generation: 3, objects } })
    const progressing = await site.until(BUNDLE, 'Progressing')
    assert.match(progressing.message ?? '', /^Deployment shop\/web: /)
    const ready = await site.until(BUNDLE, 'Ready')
    assert.deepEqual(ready, { bundle: BUNDLE, generation: 3, set, state: 'Ready', objectCounts: { Ready: 3 } })
    assert.equal((await site.configMap('settings', 'shop'))?.['data']?.['a' as never], '1')
    const cluster = await hub.client.get(Cluster, { name: 'store-1' })
    assert.deepEqual(cluster.metadata.labels, { tier: 'store' })
    assert.equal(cluster.status?.agentVersion, '0.1.0')
    assert.match(cluster.status?.kubernetesVersion ?? '', /^v1\.36/)
    assert.match(cluster.status?.certificate?.fingerprint ?? '', /^sha256:/)
    const managers = (await site.get('Deployment', 'web', 'shop'))?.metadata.managedFields?.map(
      (entry) => entry.manager,
    )
    assert.ok(managers?.includes('flotilla:default/hello'))
  })

  it('waits until it is accepted', async () => {
    const hub = await startTestHub()
    const joinCode = await hub.token('store-1', { clusterName: 'store-1', accept: 'Manual' })
    const site = createAgentUnderTest(hub, 'store-1', { joinCode })
    open.unshift(site, hub)
    await site.start()
    await hub.clock.advance(60_000)
    assert.equal(site.agent().linkState(), 'Backoff')
    const pending = await hub.client.get(Cluster, { name: 'store-1' })
    assert.equal(pending.spec.accepted, false)
    assert.equal(pending.status?.certificate, undefined)
    await hub.client.update(Cluster, { ...pending, spec: { ...pending.spec, accepted: true } })
    await hub.clock.runUntil(() => site.agent().linkState() === 'Following', { withinMs: 30_000, what: 'following' })
  })

  it("says which object failed, in the cluster's own words, and recovers with the next generation", async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', {
      [BUNDLE]: { generation: 1, objects: [configMap('a'), deployment('web', 'broken:1')] },
    })
    const failed = await site.until(BUNDLE, 'Failed', 600_000)
    assert.equal(failed.firstFailing, 'Deployment default/web')
    assert.match(failed.message ?? '', /progress/i)
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: [configMap('a'), deployment('web', 'web:2')] } })
    assert.equal((await site.until(BUNDLE, 'Ready')).generation, 2)
  })

  it('prunes what left the set, after the new set applied, and never what is adopted or wanted elsewhere', async () => {
    const { hub, site } = await joined()
    await site.create('ConfigMap', configMap('theirs', { owner: 'another client' }))
    const first = [configMap('stays'), configMap('goes'), configMap('theirs'), configMap('shared')]
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: first } })
    await site.until(BUNDLE, 'Ready')
    const shared = (await site.configMap('shared'))?.metadata.uid
    await hub.assign('store-1', {
      [BUNDLE]: { generation: 2, objects: [configMap('stays')] },
      'default/other': { generation: 1, objects: [configMap('shared')] },
    })
    await hub.clock.runUntil(async () => (await site.configMap('goes')) === undefined, {
      withinMs: 60_000,
      what: 'prune',
    })
    await site.until('default/other', 'Ready')
    for (const kept of ['stays', 'theirs', 'shared']) assert.ok(await site.configMap(kept), kept)
    assert.equal((await site.configMap('shared'))?.metadata.uid, shared, 'deleted and made again')
  })

  it('leaves an object alone that was recreated by another client under a pruned name', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('stays'), configMap('goes')] } })
    await site.until(BUNDLE, 'Ready')
    await site.stop()
    await site.remove('ConfigMap', 'goes')
    await site.create('ConfigMap', configMap('goes', { owner: 'another client' }))
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: [configMap('stays')] } })
    await site.start()
    await hub.clock.runUntil(() => site.agent().report().bundles[0]?.generation === 2, {
      withinMs: 60_000,
      what: 'generation 2',
    })
    await site.until(BUNDLE, 'Ready')
    await hub.clock.advance(60_000)
    assert.ok(await site.configMap('goes'))
  })

  it('repairs without the hub, also after a restart with an expired certificate, and renews when the hub is back', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('a', { v: '1' })] } })
    await site.until(BUNDLE, 'Ready')
    hub.network.up = false
    await site.stop()
    hub.clock.jumpWall(30 * 86_400_000)
    await site.remove('ConfigMap', 'a')
    await site.start()
    await hub.clock.runUntil(async () => (await site.configMap('a')) !== undefined, {
      withinMs: 120_000,
      what: 'repair',
    })
    await site.remove('ConfigMap', 'a')
    await hub.clock.runUntil(async () => (await site.configMap('a')) !== undefined, {
      withinMs: 120_000,
      what: 'repair',
    })
    hub.network.up = true
    await hub.clock.runUntil(() => site.agent().linkState() === 'Following', {
      withinMs: 120_000,
      what: 'following again',
    })
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: [configMap('a', { v: '2' })] } })
    await hub.clock.runUntil(async () => (await site.configMap('a'))?.['data']?.['v' as never] === '2', {
      withinMs: 60_000,
      what: 'v2',
    })
  })

  it('refuses to write into its own namespace', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('x', {}, 'flotilla-agent')] } })
    assert.match((await site.until(BUNDLE, 'Failed')).message ?? '', /belongs to the agent/)
  })

  it('does not start after start-by', async () => {
    const { hub, site } = await joined()
    const startBy = '2025-12-31T23:59:59Z'
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('a')], startBy } })
    assert.match((await site.until(BUNDLE, 'Pending')).message ?? '', /start by 2025-12-31T23:59:59Z/)
    assert.equal(await site.configMap('a'), undefined)
    const again = { generation: 1, objects: [configMap('a')], startBy: '2099-01-01T00:00:00Z' }
    await hub.assign('store-1', { [BUNDLE]: again })
    await site.until(BUNDLE, 'Ready')
    assert.notEqual(await site.configMap('a'), undefined, 'admitted again, it begins')
  })

  it('tries again when a user asks, and says which try it tells of', async () => {
    const { hub, site } = await joined()
    const bundle = { generation: 1, objects: [configMap('a')] }
    await hub.assign('store-1', { [BUNDLE]: bundle })
    await site.until(BUNDLE, 'Ready')
    const tried = async () => {
      await hub.clock.advance(10_000)
      const { bundles } = (await hub.client.get(ClusterReport, { name: 'store-1' })).spec
      return bundles.map(({ state, attempt }) => `${state} ${attempt ?? 0}`)
    }
    assert.deepEqual(await tried(), ['Ready 0'])
    await hub.assign('store-1', { [BUNDLE]: { ...bundle, attempt: 2 } })
    assert.deepEqual(await tried(), ['Ready 2'])
  })

  it('keeps what runs when a document is refused, and absence removes nothing', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('a')] } })
    await site.until(BUNDLE, 'Ready')
    await hub.assign('store-1', {}, { requires: ['sets/v2'] })
    await hub.clock.advance(10_000)
    const { refusal } = (await hub.client.get(ClusterReport, { name: 'store-1' })).spec
    assert.equal(refusal?.reason, 'MissingFeature')
    assert.match(refusal?.message ?? '', /requires sets\/v2/)
    assert.equal(refusal?.revision, 2)
    // The file on the machine shows it too, also after a restart without contact to the hub.
    const onDisk = async () => (await readRefusal(createMemoryStorage(site.files)))?.reason
    assert.equal(await onDisk(), 'MissingFeature')
    assert.equal(site.agent().report().revision, 1)
    await hub.assign('store-1', {})
    await hub.clock.advance(120_000)
    assert.equal(site.agent().report().revision, 3)
    assert.equal((await hub.client.get(ClusterReport, { name: 'store-1' })).spec.refusal, undefined)
    assert.equal(await onDisk(), undefined)
    assert.ok(await site.configMap('a'))
  })

  it('reports two documents with one number, a foreign signature and its own age, and follows none of them', async () => {
    const { hub, site } = await joined()
    const first = await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('a')] } })
    await site.until(BUNDLE, 'Ready')
    const refusal = async () => (await hub.client.get(ClusterReport, { name: 'store-1' })).spec.refusal

    const twin = await hub.assign('store-1', {}, { revision: 1 })
    await hub.clock.advance(10_000)
    assert.deepEqual(
      { ...(await refusal()), message: '' },
      { reason: 'Equivocation', message: '', epoch: 1, revision: 1, document: twin },
    )
    assert.equal((await hub.client.get(ClusterReport, { name: 'store-1' })).spec.document, first)

    hub.signWith(buildTrust(9).trust.signer)
    await hub.assign('store-1', {}, { previous: first })
    await hub.clock.advance(10_000)
    assert.equal((await refusal())?.reason, 'UnknownSigner')
    hub.signWith(hub.trust.signer)

    hub.amend({ minAgentVersion: '99.0.0' })
    await hub.clock.advance(60_000)
    await hub.assign('store-1', {}, { revision: 5 })
    await hub.clock.advance(60_000)
    assert.equal((await refusal())?.reason, 'AgentTooOld')
    assert.equal(site.agent().report().document, first)
    assert.ok(await site.configMap('a'))
  })

  it('removes a bundle for its tombstone only', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: [configMap('a')] } })
    await site.until(BUNDLE, 'Ready')
    await hub.assign('store-1', {}, { tombstones: [{ bundle: BUNDLE, generation: 1, policy: 'Delete' }] })
    await hub.clock.advance(60_000)
    assert.ok(await site.configMap('a'), 'an older tombstone')
    await hub.assign('store-1', {}, { tombstones: [{ bundle: BUNDLE, generation: 2, policy: 'Delete' }] })
    await hub.clock.runUntil(async () => (await site.configMap('a')) === undefined, {
      withinMs: 60_000,
      what: 'removal',
    })
  })

  it('does not go back when its disk is restored from an older state', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('a', { v: '1' })] } })
    await site.until(BUNDLE, 'Ready')
    const old = new Map(site.files)
    const oldBlobs: Uint8Array[] = []
    for await (const digest of site.blobs.list()) oldBlobs.push((await site.blobs.get(digest))!)
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: [configMap('a', { v: '2' })] } })
    await hub.clock.runUntil(async () => (await site.configMap('a'))?.['data']?.['v' as never] === '2', {
      withinMs: 60_000,
      what: 'v2',
    })
    await site.stop()
    hub.network.up = false
    for (const [name, bytes] of old) site.files.set(name, bytes)
    for (const bytes of oldBlobs) await site.blobs.put(bytes)
    await site.start()
    await hub.clock.advance(300_000)
    assert.equal((await site.configMap('a'))?.['data']?.['v' as never], '2')
    hub.network.up = true
    await hub.clock.runUntil(() => site.agent().report().bundles[0]?.state === 'Ready', {
      withinMs: 300_000,
      what: 'ready again',
    })
    assert.equal(site.agent().report().revision, 2)
  })
})

describe('a cluster that is restored from its own backup', () => {
  it('is noticed, looked at again, brought to what holds now, and reports a new incarnation', async () => {
    const { hub, site } = await joined()
    const at = (generation: number) => ({
      [BUNDLE]: { generation, objects: [configMap('a', { g: String(generation) })] },
    })
    await hub.assign('store-1', at(1))
    await site.until(BUNDLE, 'Ready')
    const backup = (await site.cluster.client.list(ConfigMap, {})).items
    await hub.assign('store-1', at(2))
    await hub.clock.advance(20 * 60_000)
    assert.equal((await hub.client.get(ClusterReport, { name: 'store-1' })).spec.incarnation, undefined)
    // The objects as they were, mark and inventory with them.
    for (const { metadata, data } of backup) {
      const live = await site.cluster.client.get(ConfigMap, { namespace: metadata.namespace!, name: metadata.name })
      await site.cluster.client.update(
        ConfigMap,
        { ...live, ...(data ? { data } : {}) },
        { fieldManager: 'flotilla:default/hello' },
      )
    }
    await hub.clock.advance(20 * 60_000)
    assert.equal((await site.configMap('a'))?.['data']?.['g' as never], '2')
    await hub.clock.advance(60_000)
    const { spec } = await hub.client.get(ClusterReport, { name: 'store-1' })
    assert.deepEqual([spec.incarnation, spec.bundles[0]?.state, spec.bundles[0]?.generation], [2, 'Ready', 2])
    await site.stop()
    await site.start()
    await hub.clock.advance(20 * 60_000)
    assert.equal(site.agent().report().incarnation, 2, 'a restart is no new life')
  })
})

describe('a mark whose answer was lost', () => {
  it('is read again, at the first document and at the next', async () => {
    const { hub, site } = await joined()
    for (const generation of [1, 2]) {
      site.door.loseAnswerTo = 'flotilla-agent-mark'
      await hub.assign('store-1', { [BUNDLE]: { generation, objects: [configMap('a', { g: String(generation) })] } })
      const applied = async () => (await site.configMap('a'))?.['data']?.['g' as never] === String(generation)
      await hub.clock.runUntil(applied, { withinMs: 120_000, what: `generation ${generation}` })
      assert.equal(site.door.loseAnswerTo, undefined)
    }
  })
})

describe('an agent and its copy', () => {
  it('are found out: the copy is refused, the first one keeps working', async () => {
    const { hub, site } = await joined()
    const copy = createAgentUnderTest(hub, 'copy', { joinCode: await hub.token('x', { clusterName: 'x' }) })
    open.unshift(copy)
    for (const [name, bytes] of site.files) copy.files.set(name, bytes)
    await copy.start()
    const agentOf = async () => (await hub.client.get(Cluster, { name: 'store-1' })).status?.agent
    await hub.clock.runUntil(async () => (await agentOf())?.rival !== undefined, {
      withinMs: 120_000,
      what: 'the copy being noticed',
    })
    await hub.clock.runUntil(() => copy.agent().linkState() === 'Refused', { withinMs: 120_000, what: 'the refusal' })
    assert.equal(site.agent().linkState(), 'Following')
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('a')] } })
    await site.until(BUNDLE, 'Ready')
    assert.ok(await site.configMap('a'))
  })

  it('are not what a restart is', async () => {
    const { hub, site } = await joined()
    for (let i = 0; i < 3; i++) {
      await site.stop()
      await site.start()
      await hub.clock.runUntil(() => site.agent().linkState() === 'Following', { withinMs: 60_000, what: 'following' })
      await hub.clock.advance(60_000)
    }
    const agent = (await hub.client.get(Cluster, { name: 'store-1' })).status?.agent
    assert.equal(agent?.rival, undefined)
    assert.ok(agent?.before)
  })
})

describe('what an agent says about its cluster', () => {
  it('reaches the claims of its Cluster, and is written again only when it changed', async () => {
    const { hub } = await joined()
    const claims = async () =>
      new Map((await hub.client.get(Cluster, { name: 'store-1' })).status?.claims?.map((one) => [one.name, one.value]))
    await hub.clock.runUntil(async () => (await claims()).has('flotilla.dev/platform'), {
      withinMs: 60_000,
      what: 'claims',
    })
    assert.match((await claims()).get('flotilla.dev/kubernetes-version') ?? '', /^v1\.36/)
    const { length } = hub.writes.filter((write) => write.includes('clusters/'))
    await hub.clock.advance(3_600_000)
    assert.equal(hub.writes.filter((write) => write.includes('clusters/')).length, length)
  })

  it('has its newest log lines when a user asks for them, and is written once for it', async () => {
    const { hub } = await joined()
    const report = () => hub.client.get(ClusterReport, { name: 'store-1' })
    const isThere = async () => (await hub.client.list(ClusterReport)).items.length > 0
    await hub.clock.runUntil(isThere, { withinMs: 60_000, what: 'a report' })
    const asked = '2026-01-01T00:00:30Z'
    await hub.client.patch(Cluster, { name: 'store-1' }, { type: 'merge', body: { spec: { logsAskedAt: asked } } })
    await hub.clock.runUntil(async () => (await report()).spec.log?.asked === asked, {
      withinMs: 120_000,
      what: 'the log',
    })
    const { metadata, spec } = await report()
    assert.ok(
      spec.log!.lines.some((line) => / info /.test(line)),
      spec.log!.lines.join('\n'),
    )
    await hub.clock.advance(600_000)
    assert.equal((await report()).metadata.resourceVersion, metadata.resourceVersion)
  })
})
