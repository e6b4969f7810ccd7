/** Deliveries over a real embedded API in virtual time; the test plays the agent. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Namespace } from '../../kinds/builtin/core.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { REMOVAL_FINALIZER } from '../../kinds/native/bundle.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Delivery } from '../../kinds/native/delivery.ts'
import { Project } from '../../kinds/native/project.ts'
import { build, buildCluster } from '../../testing/fixtures/builders.ts'
import { buildProject } from '../../testing/fixtures/projects.ts'
import { startControllersHome } from '../../testing/hub/controllers-home.ts'
import { shopObjects, storeObjects } from '../../testing/simulation/shop-delivery.ts'
import { parseObjectSet } from '../../wire/document/signed-document.ts'

const MOST = 500

test('the 501st entry of a cluster is a condition on its Delivery, and follows when there is room', async () => {
  const hub = await startControllersHome()
  const set = await storeObjects(hub.blobs, shopObjects())
  await hub.create(buildCluster('a'), Cluster)
  await hub.clock.advance(1000)
  const finalizers = [REMOVAL_FINALIZER]
  for (let nth = 0; nth <= MOST; nth++) {
    const name = `default/d-${String(nth).padStart(3, '0')}`
    await hub.create(build(Delivery, name, { spec: { set, clusters: ['a'] } }, { finalizers }), Delivery)
  }
  await hub.clock.advance(10_000)
  const entries = async () => (await hub.find(Assignment, 'a'))!.spec.entries.map(({ bundle }) => bundle)
  assert.equal((await entries()).length, MOST)
  const { requires } = await hub.documentOf('a')
  assert.ok(requires.includes('delivery/v1'))

  const listed = async () => (await hub.client.list(Delivery, { namespace: 'default' })).items
  const isRefused = ({ status }: Delivery) =>
    status?.conditions?.some(({ type, reason }) => type === 'Admitted' && reason === 'ClusterFull')
  assert.equal((await listed()).filter(isRefused).length, 1, 'without any report of the cluster')
  await hub.report('a', 'Ready')
  await hub.clock.advance(60_000)
  const deliveries = await listed()
  const refused = deliveries.filter(isRefused)
  assert.equal(refused.length, 1)
  const [left] = refused
  const message = left!.status!.conditions!.find(({ type }) => type === 'Admitted')!.message
  assert.match(message, /^The document of cluster a has 500 entries, the maximum; /)
  const ready = deliveries.filter(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  )
  assert.equal(ready.length, MOST)

  const gone = deliveries.find(({ metadata }) => metadata.name !== left!.metadata.name)!
  await hub.client.delete(Delivery, { namespace: 'default', name: gone.metadata.name })
  await hub.clock.advance(10_000)
  const generation = gone.status!.revision!.generation
  const bundle = `default/delivery:${gone.metadata.name}`
  await hub.report('a', 'Ready', undefined, [{ bundle, generation, state: 'Removed' }])
  await hub.clock.advance(60_000)
  const now = await entries()
  assert.ok(now.includes(`default/delivery:${left!.metadata.name}`), 'the freed entry is used')
  assert.equal(now.includes(bundle), false)
  assert.equal(await hub.find(Delivery, `default/${gone.metadata.name}`), undefined, 'the receipt is stored')
  await hub.close()
})

test('a Delivery needs a Project, but in the namespace of its cluster; without it, what runs stays', async () => {
  const hub = await startControllersHome()
  const set = await storeObjects(hub.blobs, shopObjects())
  for (const name of ['a', 'b']) await hub.create(buildCluster(name), Cluster)
  await hub.clock.advance(1000)
  for (const name of ['nowhere', 'a', 'b']) await hub.create(build(Namespace, name, {}), Namespace)
  for (const name of ['nowhere/x', 'a/own', 'b/foreign'])
    await hub.create(build(Delivery, name, { spec: { set, clusters: ['a'] } }), Delivery)
  await hub.clock.advance(10_000)
  const entries = async () => (await hub.find(Assignment, 'a'))?.spec.entries.map(({ bundle }) => bundle)
  const admitted = async (name: string) =>
    (await hub.find(Delivery, name))!.status!.conditions!.find(({ type }) => type === 'Admitted')!
  assert.deepEqual(await entries(), ['a/delivery:own'])
  for (const name of ['nowhere/x', 'b/foreign']) {
    const { reason, message } = await admitted(name)
    assert.equal(reason, 'ProjectRefuses')
    assert.match(message, /^Frozen on cluster a: Namespace \w+ has no Project, .* flotilla project add /)
  }

  await hub.create(buildProject('team', ['nowhere']), Project)
  await hub.clock.advance(10_000)
  assert.deepEqual(await entries(), ['a/delivery:own', 'nowhere/delivery:x'])
  assert.equal((await admitted('nowhere/x')).reason, 'Admitted')
  const before = (await hub.find(Assignment, 'a'))!.spec.entries
  await hub.client.delete(Project, { name: 'team' })
  await hub.clock.advance(60_000)
  assert.deepEqual((await hub.find(Assignment, 'a'))!.spec.entries, before, 'what runs stays')

  await hub.create(buildProject('sets', ['nowhere'], { clusterSets: ['other'] }), Project)
  const next = await storeObjects(hub.blobs, shopObjects().slice(0, 1))
  const { spec, ...delivery } = (await hub.find(Delivery, 'nowhere/x'))!
  await hub.client.update(Delivery, { ...delivery, spec: { ...spec, set: next } })
  await hub.clock.advance(10_000)
  assert.match((await admitted('nowhere/x')).message, /Project sets: spec\.clusterSets lists no ClusterSet with a\./)
  assert.deepEqual((await hub.find(Assignment, 'a'))!.spec.entries, before)
  await hub.close()
})

test('a Delivery runs as the executor of its Project, where it names none', async () => {
  const hub = await startControllersHome()
  const set = await storeObjects(hub.blobs, shopObjects())
  await hub.create(buildCluster('a'), Cluster)
  await hub.create(build(Namespace, 'shop', {}), Namespace)
  const own = { namespace: 'shop', name: 'own' }
  const executors = { default: 'sys/deployer', allowed: ['shop/own'], ownRights: false }
  await hub.create(buildProject('team', ['shop'], { executors }), Project)
  await hub.clock.advance(1000)
  await hub.create(build(Delivery, 'shop/plain', { spec: { set, clusters: ['a'] } }), Delivery)
  const named = { spec: { set, clusters: ['a'], options: { executor: own } } }
  await hub.create(build(Delivery, 'shop/named', named), Delivery)
  await hub.clock.advance(10_000)
  const ran = async () => {
    const { entries = [] } = (await hub.find(Assignment, 'a'))?.spec ?? {}
    const sets = await Promise.all(entries.map(async (entry) => parseObjectSet((await hub.blobs.get(entry.set))!)))
    return sets.map(({ options }, nth) => [entries[nth]!.bundle, options?.executor?.name])
  }
  assert.deepEqual(await ran(), [
    ['shop/delivery:named', 'own'],
    ['shop/delivery:plain', 'deployer'],
  ])
  const present = (await hub.find(Project, 'team'))!
  const changed = { ...executors, default: 'sys/other' }
  await hub.client.update(Project, { ...present, spec: { ...present.spec, executors: changed } })
  await hub.clock.advance(10_000)
  assert.deepEqual(await ran(), [
    ['shop/delivery:named', 'own'],
    ['shop/delivery:plain', 'other'],
  ])
  await hub.close()
})

test('content that a Delivery had days ago is stored again when it returns', async () => {
  const hub = await startControllersHome()
  await hub.create(buildCluster('a'), Cluster)
  await hub.clock.advance(1000)
  const options = { namespaces: { create: true } }
  const deliver = async (count: number) => {
    const set = await storeObjects(hub.blobs, shopObjects().slice(0, count))
    const found = await hub.find(Delivery, 'default/x')
    if (!found) {
      await hub.create(build(Delivery, 'default/x', { spec: { set, clusters: ['a'], options } }), Delivery)
    } else await hub.client.update(Delivery, { ...found, spec: { ...found.spec, set } })
    await hub.clock.advance(10_000)
    return (await hub.find(Assignment, 'a'))!.spec.entries[0]!.set
  }
  const first = await deliver(1)
  assert.notEqual(await deliver(2), first)
  // As the collector deletes what nothing has named for a day.
  await hub.clock.advance(24 * 3_600_000)
  await hub.blobs.delete(first)
  assert.equal(await deliver(1), first)
  assert.equal(await hub.blobs.has(first), true)
  await hub.close()
})
