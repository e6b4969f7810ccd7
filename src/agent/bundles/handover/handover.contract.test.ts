/** Handovers from other systems whose controllers, records and marks are in the cluster, against embedded clusters. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { isApiError } from '../../../core/errors.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import type { ResourceType, UnknownObject } from '../../../kinds/meta.ts'
import type { HandoverRule } from '../../../plan/handover/handover-rule.ts'
import { HANDOVER_ANNOTATION } from '../../../plan/handover/saved-fields.ts'
import type { AgentUnderTest } from '../../../testing/agents/agent-under-test.ts'
import { joinedAgents } from '../../../testing/agents/joined-agents.ts'
import { PEER_FIXTURES, PEER_TYPES, peerObjects } from '../../../testing/fixtures/peer-systems.ts'
import type { PeerFixture } from '../../../testing/fixtures/peer-systems.ts'
import { configMap, deployment, hookJob } from '../../../testing/hub/test-hub.ts'
import type { TestBundle, TestHub } from '../../../testing/hub/test-hub.ts'

const BUNDLE = 'default/hello'
const { joined, close } = joinedAgents()
afterEach(close)

const OBJECTS = [configMap('x', { a: '1' }), deployment('web')]

class World {
  readonly hub: TestHub
  readonly site: AgentUnderTest
  readonly fixture: PeerFixture
  private number = 0

  constructor(hub: TestHub, site: AgentUnderTest, fixture: PeerFixture) {
    this.hub = hub
    this.site = site
    this.fixture = fixture
  }

  static async create(fixture: PeerFixture, options: Parameters<typeof joined>[0] = {}): Promise<World> {
    const { hub, site } = await joined(options)
    const world = new World(hub, site, fixture)
    await peerObjects(site.cluster.client, fixture, OBJECTS)
    return world
  }

  async step(
    step: HandoverRule['step'],
    more: Partial<HandoverRule> = {},
    objects = OBJECTS,
    others: Readonly<Record<string, TestBundle>> = {},
  ): Promise<void> {
    this.number += 1
    const since = `2026-11-16T08:00:0${this.number}Z`
    const handover = { from: this.fixture.name, step, acceptDifferences: false, since, ...more }
    const bundles = { [BUNDLE]: { generation: 1, objects }, ...others }
    await this.hub.assign('store-1', bundles, { rules: { trustVersion: 1, handover } })
    await this.hub.clock.runUntil(() => this.reported()?.since === since, { withinMs: 60_000, what: `step ${step}` })
  }

  async until(state: 'Complete' | 'Failed' | 'Working'): Promise<NonNullable<ReturnType<World['reported']>>> {
    const holds = () => this.reported()?.state === state
    await this.hub.clock.runUntil(holds, { withinMs: 180_000, what: state }).catch((caught: unknown) => {
      throw new Error(`last: ${JSON.stringify(this.reported())}`, { cause: caught })
    })
    return this.reported()!
  }

  reported() {
    return this.site.agent().report().handover
  }

  async get(kind: keyof typeof PEER_TYPES, name: string, namespace = 'default'): Promise<UnknownObject | undefined> {
    const type: ResourceType = PEER_TYPES[kind]
    const key = type.scope === 'Cluster' ? { name } : { name, namespace }
    return this.site.cluster.client.get<UnknownObject>(type, key).catch((caught) => {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    })
  }

  /** Everything of the other system and of the bundle, without versions, to compare before and after. */
  async state(): Promise<unknown> {
    const found: unknown[] = []
    for (const type of Object.values(PEER_TYPES)) {
      const page = await this.site.cluster.client.list<UnknownObject>(type).catch(() => undefined)
      for (const { metadata, status: _status, ...rest } of page?.items ?? []) {
        if (metadata.namespace === 'flotilla-agent' || metadata.namespace?.startsWith('kube-')) continue
        const {
          resourceVersion: _version,
          managedFields = [],
          generation: _generation,
          annotations = {},
          ...kept
        } = metadata
        const { 'deployment.kubernetes.io/revision': _revision, ...others } = annotations
        const managers = managedFields
          .map(({ manager }) => manager)
          .filter((one) => !one.startsWith('flotilla-handover'))
        found.push({ ...rest, ...kept, annotations: others, managers: [...new Set(managers)].toSorted() })
      }
    }
    return found
  }

  async pods(): Promise<readonly unknown[]> {
    const web = await this.get('Deployment', 'web')
    const revision = web?.metadata.annotations?.['deployment.kubernetes.io/revision']
    return [web?.metadata.uid, revision, JSON.stringify(web?.['spec'])]
  }
}

const replicasOf = (object: UnknownObject | undefined) =>
  (object?.['spec'] as { replicas?: number } | undefined)?.replicas

for (const fixture of PEER_FIXTURES) {
  describe(`a handover from ${fixture.name}`, () => {
    it('takes the cluster over without a new pod, and the end leaves nothing that could delete an object', async () => {
      const world = await World.create(fixture)
      const pods = await world.pods()
      await world.step('Compare')
      const compared = await world.until('Complete')
      assert.deepEqual([compared.objects, compared.differing, compared.left], [2, 0, 0], JSON.stringify(compared))
      for (const { namespace, name, kind } of fixture.controllers)
        assert.equal(replicasOf(await world.get(kind, name, namespace)), 1, 'a comparison stops nothing')

      await world.step('Take')
      await world.until('Complete')
      for (const { namespace, name, kind } of fixture.controllers)
        assert.equal(replicasOf(await world.get(kind, name, namespace)), 0, name)
      for (const { kind, name, namespace, finalizer } of fixture.records) {
        const record = await world.get(kind, name, namespace)
        assert.ok(record, `${name} stays until the last step`)
        assert.ok(!(record.metadata.finalizers ?? []).some((one) => one === finalizer), 'disarmed')
      }
      for (const object of [await world.get('ConfigMap', 'x'), await world.get('Deployment', 'web')]) {
        assert.deepEqual(
          (object?.metadata.ownerReferences ?? []).filter(({ kind }) => kind === 'AppliedManifestWork'),
          [],
        )
        assert.ok(object?.metadata.managedFields?.some(({ manager }) => manager === `flotilla:${BUNDLE}`))
      }
      assert.deepEqual(await world.pods(), pods, 'no pod restarts')
      const isReported = async () => {
        const { spec } = await world.hub.client.get(ClusterReport, { name: 'store-1' })
        return spec.handover?.step === 'Take' && spec.handover.state === 'Complete'
      }
      await world.hub.clock.runUntil(isReported, { withinMs: 60_000, what: 'the report on the hub' })

      await world.step('Finish')
      await world.until('Complete')
      const web = (await world.get('Deployment', 'web'))!
      for (const mark of fixture.marks) {
        const { labels = {}, annotations = {} } = web.metadata
        assert.ok(!(mark in labels) && !(mark in annotations), `${mark} is removed`)
      }
      assert.ok(!web.metadata.managedFields?.some(({ manager }) => manager === fixture.manager), fixture.manager)
      for (const { kind, name, namespace, isRemoved } of fixture.records)
        assert.equal((await world.get(kind, name, namespace)) === undefined, isRemoved, name)
      assert.deepEqual(await world.pods(), pods, 'no pod restarts')
      // Whatever is removed of the other system from now on deletes no object.
      for (const { kind, name, namespace } of fixture.records) {
        const type: ResourceType = PEER_TYPES[kind]
        const key = type.scope === 'Cluster' ? { name } : { name, namespace: namespace ?? 'default' }
        await world.site.cluster.client.delete(type, key).catch(() => {})
      }
      await world.hub.clock.advance(120_000)
      assert.deepEqual(await world.pods(), pods)
      assert.ok(await world.get('ConfigMap', 'x'))
    })

    it('goes back to what was there, also after a restart of the agent', async () => {
      const world = await World.create(fixture)
      await world.hub.clock.advance(10_000)
      const before = await world.state()
      const pods = await world.pods()
      await world.step('Compare')
      await world.until('Complete')
      await world.step('Take')
      await world.until('Complete')
      await world.site.stop()
      await world.site.start()
      await world.until('Complete')
      await world.step('Undo')
      await world.until('Complete')
      assert.deepEqual(await world.state(), before)
      assert.deepEqual(await world.pods(), pods)
      // Forward again: the comparison is made anew.
      await world.step('Compare')
      await world.until('Complete')
      await world.step('Take')
      await world.until('Complete')
      assert.deepEqual(await world.pods(), pods)
    })
  })
}

describe('a handover', () => {
  const ocm = PEER_FIXTURES.find(({ name }) => name === 'ocm')!
  const flux = PEER_FIXTURES.find(({ name }) => name === 'flux')!

  it('fails where the other system has no controllers, unless a person has stopped them', async () => {
    const world = await World.create({ ...ocm, controllers: [] })
    await world.step('Take')
    const { message } = await world.until('Failed')
    assert.match(
      message ?? '',
      /no controllers of Open Cluster Management; stop Open Cluster Management .*--peer-stopped/,
    )
    const x = await world.get('ConfigMap', 'x')
    assert.ok(!x?.metadata.managedFields?.some(({ manager }) => manager.startsWith('flotilla:')), 'nothing was taken')
    assert.match(
      world.site.agent().report().bundles[0]?.message ?? '',
      /^handover from ocm: the cluster has no controllers/,
    )
    await world.step('Take', { peerStopped: true })
    await world.until('Complete')
  })

  it('stops no controllers that manage other clusters, too', async () => {
    const world = await World.create(flux)
    await world.site.cluster.client.create(PEER_TYPES.Kustomization, {
      apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
      kind: 'Kustomization',
      metadata: { name: 'store-2', namespace: 'flux-system' },
      spec: { kubeConfig: { secretRef: { name: 'store-2' } } },
    })
    await world.step('Take')
    const { message } = await world.until('Failed')
    assert.match(message ?? '', /^Kustomization flux-system\/store-2 manages another cluster/)
    for (const { namespace, name, kind } of flux.controllers)
      assert.equal(replicasOf(await world.get(kind, name, namespace)), 1)
  })

  it('leaves records alone whose objects no bundle has, and says which', async () => {
    const world = await World.create(ocm)
    const objects = [configMap('x', { a: '1' })]
    await world.step('Compare', {}, objects)
    const compared = await world.until('Complete')
    assert.deepEqual([compared.left, compared.leftObjects], [1, ['deployments.apps default/web']])
    await world.step('Take', {}, objects)
    await world.until('Complete')
    const [record] = ocm.records
    const work = await world.get(record!.kind, record!.name)
    assert.ok(work?.metadata.finalizers?.includes(record!.finalizer!), 'the record still guards the Deployment')
    assert.equal((await world.get('Deployment', 'web'))?.metadata.ownerReferences?.length, 1)
    assert.equal((await world.get('ConfigMap', 'x'))?.metadata.ownerReferences, undefined)
    await world.step('Finish', {}, objects)
    await world.until('Complete')
    assert.ok(await world.get(record!.kind, record!.name), 'and it stays')
  })

  it('stops controllers that come back, and holds its bundles meanwhile', async () => {
    const world = await World.create(ocm)
    await world.step('Take')
    await world.until('Complete')
    const [, agent] = ocm.controllers
    const key = { namespace: agent!.namespace, name: agent!.name }
    await world.site.cluster.client.patch(PEER_TYPES.Deployment, key, {
      type: 'merge',
      body: { spec: { replicas: 2 } },
    })
    await world.hub.clock.advance(60_000)
    const stopped = await world.get('Deployment', key.name, key.namespace)
    assert.equal(replicasOf(stopped), 0)
    assert.match(stopped?.metadata.annotations?.[HANDOVER_ANNOTATION] ?? '', /"value":1/, 'the first number counts')
    await world.until('Complete')
  })

  it('keeps what a bundle created when the cluster goes back, and asks again about what the other system changed', async () => {
    const world = await World.create(ocm)
    const objects = [...OBJECTS, configMap('new', { a: '1' })]
    await world.step('Compare', {}, objects)
    assert.equal((await world.until('Complete')).differing, 1, 'an object does not exist')
    await world.step('Take', { acceptDifferences: true }, objects)
    await world.until('Complete')
    assert.ok(await world.get('ConfigMap', 'new'))
    await world.step('Undo', {}, objects)
    await world.until('Complete')
    assert.ok(await world.get('ConfigMap', 'new'), 'no object is deleted on the way back')
    const x = { namespace: 'default', name: 'x' }
    const body = { data: { a: '7' } }
    await world.site.cluster.client.patch(PEER_TYPES.ConfigMap, x, { type: 'merge', body }, { fieldManager: 'work' })
    await world.step('Take', {}, objects)
    assert.match(
      (await world.until('Failed')).message ?? '',
      /ConfigMap default\/x: the object existed before the bundle/,
    )
    assert.deepEqual((await world.get('ConfigMap', 'x'))?.['data'], { a: '7' })
    await world.step('Take', { acceptDifferences: true }, objects)
    await world.until('Complete')
    assert.deepEqual((await world.get('ConfigMap', 'x'))?.['data'], { a: '1' })
  })

  it('gives no object back to a record that is gone: the cluster would delete the object', async () => {
    const world = await World.create(ocm)
    await world.step('Take')
    await world.until('Complete')
    assert.ok(await world.get('ConfigMap', 'x'))
    for (const { name } of ocm.records) await world.site.cluster.client.delete(PEER_TYPES.AppliedManifestWork, { name })
    await world.step('Undo')
    await world.until('Complete')
    for (const object of [await world.get('ConfigMap', 'x'), await world.get('Deployment', 'web')]) {
      assert.ok(object)
      assert.deepEqual(object.metadata.ownerReferences ?? [], [])
      assert.equal(object.metadata.annotations?.[HANDOVER_ANNOTATION], undefined)
    }
  })

  it('runs no install hooks when a cluster that went back is taken over again', async () => {
    const world = await World.create(ocm)
    const objects = [...OBJECTS, configMap('new', { a: '1' }), hookJob('migrate', { 'helm.sh/hook': 'pre-install' })]
    const jobs = () => world.site.door.writes.filter((write) => /^POST .*\/jobs$/.test(write)).length
    await world.step('Take', { acceptDifferences: true }, objects)
    await world.until('Complete')
    assert.equal(jobs(), 0)
    await world.step('Undo', {}, objects)
    await world.until('Complete')
    assert.ok(await world.get('ConfigMap', 'new'))
    await world.step('Take', { acceptDifferences: true }, objects)
    await world.until('Complete')
    assert.equal(jobs(), 0)
  })

  it('runs no install hooks of a bundle that took nothing over, only because the cluster went back and over again', async () => {
    const world = await World.create(ocm)
    const objects = [configMap('own', { a: '1' }), hookJob('migrate', { 'helm.sh/hook': 'pre-install' })]
    const others = { 'default/own': { generation: 1, objects } }
    const jobs = () => world.site.door.writes.filter((write) => /^POST .*\/jobs$/.test(write)).length
    await world.step('Take', { acceptDifferences: true }, OBJECTS, others)
    await world.until('Complete')
    assert.equal(jobs(), 1, 'the bundle is new')
    await world.step('Undo', {}, OBJECTS, others)
    await world.until('Complete')
    await world.step('Take', { acceptDifferences: true }, OBJECTS, others)
    await world.until('Complete')
    assert.equal(jobs(), 1)
  })

  it('goes back also while a bundle cannot be compared', async () => {
    const world = await World.create(ocm, { ceiling: { executors: ['shop/*'] } })
    const options = { executor: { namespace: 'kube-system', name: 'admin' } }
    const refused = { 'default/refused': { generation: 1, objects: [configMap('y', { a: '1' })], options } }
    await world.step('Take', {}, OBJECTS, refused)
    assert.match((await world.until('Failed')).message ?? '', /default\/refused: .*does not allow executor/)
    for (const { namespace, name, kind } of ocm.controllers)
      assert.equal(replicasOf(await world.get(kind, name, namespace)), 0)
    await world.step('Undo', {}, OBJECTS, refused)
    await world.until('Complete')
    for (const { namespace, name, kind } of ocm.controllers)
      assert.equal(replicasOf(await world.get(kind, name, namespace)), 1)
    const x = await world.get('ConfigMap', 'x')
    assert.ok(!x?.metadata.managedFields?.some(({ manager }) => manager.startsWith('flotilla:')))
  })

  it('disarms a record after no object has it as owner: a record that is being deleted goes at once', async () => {
    const namespaces = ['open-cluster-management', 'open-cluster-management-agent']
    const world = await World.create(ocm, { ceiling: { namespaces } })
    const [record] = ocm.records
    await world.site.cluster.client.delete(PEER_TYPES.AppliedManifestWork, { name: record!.name })
    await world.step('Take')
    assert.match((await world.until('Failed')).message ?? '', /does not allow namespace default/)
    const work = await world.get(record!.kind, record!.name)
    assert.ok(work?.metadata.finalizers?.includes(record!.finalizer!), 'its objects still have it as owner')
  })

  it('changes nothing where the local limits do not allow the rights of the agent', async () => {
    const world = await World.create(ocm, { ceiling: { ownRights: false } })
    await world.step('Take')
    const { message } = await world.until('Failed')
    assert.match(message ?? '', /Deployment open-cluster-management\/klusterlet: .*ownRights: false/)
    for (const { namespace, name, kind } of ocm.controllers)
      assert.equal(replicasOf(await world.get(kind, name, namespace)), 1)
  })

  it('changes nothing outside of the local limits, and says so', async () => {
    const world = await World.create(ocm, { ceiling: { namespaces: ['default'] } })
    await world.step('Compare')
    await world.until('Complete')
    await world.step('Take')
    const { message } = await world.until('Failed')
    assert.match(message ?? '', /open-cluster-management\/klusterlet/)
    assert.equal(replicasOf(await world.get('Deployment', 'klusterlet', 'open-cluster-management')), 1)
    const manager = `flotilla:${BUNDLE}`
    assert.ok(!(await world.get('ConfigMap', 'x'))?.metadata.managedFields?.some((entry) => entry.manager === manager))
  })
})
