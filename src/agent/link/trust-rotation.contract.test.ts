/** Trust that changes, certificates that run out, and hubs that come back from the past. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { seededKeys } from '../../core/crypto/key-pair.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { createAgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import { configMap, startTestHub } from '../../testing/hub/test-hub.ts'
import type { TestHub } from '../../testing/hub/test-hub.ts'
import { ROUTES } from '../../wire/link/frames.ts'
import { TRUST_FILES } from '../../wire/trust/hub-keys.ts'
import { newEpoch, rotateCa, rotateSigner } from '../../wire/trust/rotate-keys.ts'

const BUNDLE = 'default/hello'
const DAY = 86_400_000
const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const part of open.splice(0)) await part.close()
})

async function running(content: Record<string, string> = { v: '1' }) {
  const hub = await startTestHub()
  const joinCode = await hub.token('store-1', { clusterName: 'store-1' })
  const site = createAgentUnderTest(hub, 'store-1', { joinCode })
  open.unshift(site, hub)
  await site.start()
  await hub.clock.runUntil(() => site.agent().linkState() === 'Following', { withinMs: 30_000, what: 'following' })
  await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('a', content)] } })
  await site.until(BUNDLE, 'Ready')
  return { hub, site }
}

function changeOf(hub: TestHub, dropOld: boolean) {
  const rootKey = hub.trustFiles[TRUST_FILES.root]!
  return { rootKey, newKeyPair: seededKeys(hub.ids), now: hub.clock.now(), serial: hub.ids.bytes(16), dropOld }
}

describe('an agent', () => {
  it('that was away through rotations of signer and CA, with its certificate long expired, walks forward and goes on', async () => {
    const { hub, site } = await running()
    const id = (await hub.client.get(Cluster, { name: 'store-1' })).spec.id
    hub.network.up = false
    await hub.clock.advance(60_000)
    for (let round = 0; round < 3; round++) {
      hub.rotate(rotateSigner(hub.trust, changeOf(hub, round > 0)))
      hub.rotate(rotateCa(hub.trust, changeOf(hub, true)))
      hub.clock.jumpWall(200 * DAY)
    }
    hub.signWith(hub.trust.signer)
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: [configMap('a', { v: '2' })] } })
    hub.network.up = true
    await hub.clock.runUntil(async () => (await site.configMap('a'))?.['data']?.['v' as never] === '2', {
      withinMs: 600_000,
      what: 'the new content',
    })
    assert.equal((await hub.client.get(Cluster, { name: 'store-1' })).spec.id, id, 'the same cluster')
  })

  it('on a live link takes a new signer and a new CA without losing a beat', async () => {
    const { hub, site } = await running()
    hub.rotate(rotateCa(hub.trust, changeOf(hub, false)))
    hub.rotate(rotateSigner(hub.trust, changeOf(hub, false)))
    hub.signWith(hub.trust.signer)
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: [configMap('a', { v: '2' })] } })
    await hub.clock.runUntil(async () => (await site.configMap('a'))?.['data']?.['v' as never] === '2', {
      withinMs: 60_000,
      what: 'the new content',
    })
    assert.equal(site.agent().linkState(), 'Following')
  })

  it('on a live link gets a new certificate when its CA is dropped, though its stream would go on', async () => {
    const { hub, site } = await running()
    hub.rotate(rotateCa(hub.trust, changeOf(hub, true)))
    hub.rotate(rotateSigner(hub.trust, changeOf(hub, true)))
    hub.signWith(hub.trust.signer)
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: [configMap('a', { v: '2' })] } })
    await hub.clock.runUntil(async () => (await site.configMap('a'))?.['data']?.['v' as never] === '2', {
      withinMs: 90_000,
      what: 'the new content',
    })
    const isHeard = async () => (await hub.client.get(ClusterReport, { name: 'store-1' })).spec.revision === 2
    await hub.clock.runUntil(isHeard, { withinMs: 60_000, what: 'its report' })
  })

  it('tells a hub from the past the truth, changes nothing, and goes on in a new epoch without going back', async () => {
    const { hub, site } = await running()
    const past = await hub.client.get(Assignment, { name: 'store-1' })
    await hub.assign('store-1', { [BUNDLE]: { generation: 2, objects: [configMap('a', { v: '2' })] } })
    await site.until(BUNDLE, 'Ready')
    const held = await hub.assign('store-1', { [BUNDLE]: { generation: 3, objects: [configMap('a', { v: '3' })] } })
    await hub.clock.runUntil(async () => (await site.configMap('a'))?.['data']?.['v' as never] === '3', {
      withinMs: 60_000,
      what: 'generation 3',
    })
    // The hub's state goes back by two revisions, and it does not know.
    const present = await hub.client.get(Assignment, { name: 'store-1' })
    await hub.client.update(Assignment, { ...present, spec: past.spec })
    await hub.clock.advance(120_000)
    const cluster = await hub.client.get(Cluster, { name: 'store-1' })
    assert.deepEqual({ ...cluster.status?.ahead, at: '' }, { epoch: 1, revision: 3, document: held, at: '' })
    // It issues documents that fork from its lost future: none of them is followed.
    for (const generation of [7, 8, 9, 10]) {
      await hub.assign('store-1', { [BUNDLE]: { generation, objects: [configMap('a', { v: `fork ${generation}` })] } })
      await hub.clock.advance(60_000)
      assert.equal((await site.configMap('a'))?.['data']?.['v' as never], '3', `generation ${generation}`)
    }

    hub.rotate(newEpoch(hub.trust, changeOf(hub, false)))
    const epoch = hub.trust.newest.bundle.epoch
    await hub.assign('store-1', { [BUNDLE]: { generation: 1, objects: [configMap('a', { v: '1' })] } }, { epoch })
    await hub.clock.advance(120_000)
    assert.equal(site.agent().report().epoch, 2)
    assert.equal((await site.configMap('a'))?.['data']?.['v' as never], '3', 'an epoch alone changes nothing (I-25)')
    await hub.assign('store-1', { [BUNDLE]: { generation: 4, objects: [configMap('a', { v: '4' })] } }, { epoch })
    await hub.clock.runUntil(async () => (await site.configMap('a'))?.['data']?.['v' as never] === '4', {
      withinMs: 120_000,
      what: 'generation 4',
    })
  })
})

describe('what an agent shows', () => {
  it('counts only with this hub’s signature, for this cluster, and beyond what the hub knows', async () => {
    const { hub } = await running()
    await hub.client.create(Cluster, {
      ...(await hub.client.get(Cluster, { name: 'store-1' })),
      metadata: { name: 'other' },
      spec: { ...(await hub.client.get(Cluster, { name: 'store-1' })).spec, id: 'other' },
    })
    const mine = (await hub.client.get(Cluster, { name: 'store-1' })).spec.id
    const theirs = await hub.assign('other', {}, { revision: 99 })
    const known = (await hub.client.get(Assignment, { name: 'store-1' })).spec.document
    await hub.clock.settle()
    const show = async (body: Uint8Array) =>
      (await hub.ask('POST', ROUTES.held, { certificate: hub.certificateFor(mine), body })).status
    const ahead = async () => (await hub.client.get(Cluster, { name: 'store-1' })).status?.ahead
    assert.equal(await show((await hub.blobs.get(theirs))!), 403)
    assert.equal(await show((await hub.blobs.get(known))!), 200)
    const bent = (await hub.blobs.get(known))!.slice()
    bent[bent.length - 20] = bent[bent.length - 20]! ^ 1
    assert.equal(await show(bent), 400)
    assert.equal(await show(new TextEncoder().encode(`{"revision": 1000, "digest": "${digestOf('x')}"}`)), 400)
    assert.equal(await ahead(), undefined)
  })
})
