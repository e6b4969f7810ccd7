/** Projects on the controllers: what they refuse is frozen, nothing is ever removed, and conditions name the line. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import type { Condition } from '../kinds/meta.ts'
import { Namespace } from '../kinds/builtin/core.ts'
import { Assignment } from '../kinds/native/assignment.ts'
import { Bundle } from '../kinds/native/bundle.ts'
import { ClusterSetBinding } from '../kinds/native/cluster-set-binding.ts'
import { ClusterSet } from '../kinds/native/cluster-set.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { Placement } from '../kinds/native/placement.ts'
import { Project } from '../kinds/native/project.ts'
import { Release } from '../kinds/native/release.ts'
import { Rollout } from '../kinds/native/rollout.ts'
import { Source } from '../kinds/native/source.ts'
import { parseObjectSet } from '../wire/document/signed-document.ts'
import { build, buildBundle, buildCluster, buildPlacement, configMapManifest } from '../testing/fixtures/builders.ts'
import { buildProject } from '../testing/fixtures/projects.ts'
import { startControllersHome } from '../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../testing/hub/controllers-home.ts'

const NO_PROJECT =
  'Namespace shop has no Project, so nothing of it is fetched, rendered or placed. Add it to one: flotilla project add NAME --namespace shop'
const SECRET = `apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: web, namespace: default }\n`

async function world(t: TestContext, clusters: readonly string[], spec?: Project['spec']): Promise<ControllersHome> {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  await hub.client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  for (const name of clusters) {
    await hub.create(buildCluster(name, { labels: { tier: 'store', 'flotilla.dev/cluster-set': name } }), Cluster)
    await hub.report(name, 'Ready')
  }
  if (spec) await hub.create(buildProject('shop', ['shop'], spec), Project)
  await hub.create(buildPlacement('shop/everywhere', { tier: 'store' }), Placement)
  await hub.create(
    buildBundle('shop/hello', { manifests: configMapManifest('hello', { a: '1' }), rollout: { concurrency: 1 } }),
    Bundle,
  )
  await hub.clock.advance(3000)
  return hub
}

async function condition<T extends { status?: { conditions?: Condition[] } }>(found: Promise<T | undefined>) {
  const ready = (await found)?.status?.conditions?.find(({ type }) => type === 'Ready')
  return ready ? `${ready.status} ${ready.reason}: ${ready.message}` : '-'
}

const bundleReady = (hub: ControllersHome) => condition(hub.find(Bundle, 'shop/hello'))
const placementReady = (hub: ControllersHome) => condition(hub.find(Placement, 'shop/everywhere'))

async function setProject(hub: ControllersHome, spec: Project['spec']): Promise<void> {
  const present = await hub.client.get(Project, { name: 'shop' })
  await hub.client.update(Project, { ...present, spec: { ...present.spec, ...spec } })
  await hub.clock.advance(3000)
}

async function edit(hub: ControllersHome, spec: Partial<Bundle['spec']>): Promise<void> {
  const bundle = await hub.client.get(Bundle, { namespace: 'shop', name: 'hello' })
  await hub.client.update(Bundle, { ...bundle, spec: { ...bundle.spec, ...spec } })
  await hub.clock.advance(3000)
}

/** Entries and tombstones of the clusters' documents. */
async function held(hub: ControllersHome, clusters: readonly string[]): Promise<string[]> {
  const found = await Promise.all(clusters.map((name) => hub.find(Assignment, name)))
  return found.map((one) => {
    const entries = (one?.spec.entries ?? []).map(({ bundle, generation }) => `${bundle}@${generation}`)
    return [...entries, ...(one?.spec.tombstones ?? []).map(({ bundle }) => `-${bundle}`)].join(' ')
  })
}

test('a namespace without a Project brings and places nothing, and says how to change that', async (t) => {
  const hub = await world(t, ['a'])
  await hub.create(build(Source, 'shop/apps', { spec: { git: { url: 'https://x/y' }, interval: '1m' } }), Source)
  await hub.clock.advance(3000)
  assert.equal(
    await condition(hub.find(Source, 'shop/apps')),
    `False NoProject: ${NO_PROJECT} The Source is not fetched; Bundles keep using the last artifact.`,
  )
  assert.equal(hub.fetches.length, 0)
  assert.equal(
    await bundleReady(hub),
    `False NoProject: ${NO_PROJECT} Nothing of the Bundle is rendered or delivered; clusters keep what they run.`,
  )
  assert.equal(await placementReady(hub), `False NoProject: ${NO_PROJECT} No cluster is selected.`)
  assert.equal(hub.rendered(), 0)
  assert.deepEqual(await held(hub, ['a']), [''])

  await hub.create(buildProject('shop', ['shop']), Project)
  await hub.clock.advance(3000)
  assert.deepEqual(await held(hub, ['a']), ['shop/hello@1'])
  assert.ok(hub.fetches.length > 0)
})

test('taking the Project away freezes: what runs stays, a change waits, and giving it back delivers the change', async (t) => {
  const hub = await world(t, ['a', 'b'], {})
  await hub.report('a', 'Ready')
  await hub.clock.advance(3000)
  await hub.report('b', 'Ready')
  await hub.clock.advance(3000)
  assert.deepEqual(await held(hub, ['a', 'b']), ['shop/hello@1', 'shop/hello@1'])
  await hub.client.delete(Project, { name: 'shop' })
  await hub.clock.advance(3000)
  assert.match(await bundleReady(hub), /^False NoProject: /)
  assert.match(await placementReady(hub), /The last decisions stay in force, and their clusters receive no change\.$/)
  await edit(hub, { manifests: configMapManifest('hello', { a: '2' }) })
  await hub.clock.advance(120_000)
  assert.deepEqual(await held(hub, ['a', 'b']), ['shop/hello@1', 'shop/hello@1'])

  await hub.create(buildProject('shop', ['shop']), Project)
  await hub.clock.advance(3000)
  assert.deepEqual(await held(hub, ['a', 'b']), ['shop/hello@2', 'shop/hello@1'])
  await hub.create(buildProject('also', ['shop']), Project)
  await hub.report('a', 'Ready')
  await hub.clock.advance(3000)
  assert.match(await bundleReady(hub), /^False SeveralProjects: Namespace shop is in .* \(also, shop\)/)
  assert.deepEqual(await held(hub, ['a', 'b']), ['shop/hello@2', 'shop/hello@1'])
})

test('a Project that changes in the middle of a rollout stops it, and the Rollout says why', async (t) => {
  const hub = await world(t, ['a', 'b'], {})
  assert.deepEqual(await held(hub, ['a', 'b']), ['shop/hello@1', ''])
  await setProject(hub, { kinds: ['Secret'] })
  assert.equal(
    await bundleReady(hub),
    'False ProjectFreezes: Project shop: spec.kinds does not list ConfigMap. Release hello-g1 is frozen: clusters keep what they run and receive no change.',
  )
  await hub.report('a', 'Ready')
  await hub.clock.advance(120_000)
  assert.deepEqual(await held(hub, ['a', 'b']), ['shop/hello@1', ''])
  const rollout = await hub.find(Rollout, 'shop/hello-g1')
  const ready = rollout?.status?.conditions?.find(({ type }) => type === 'Ready')
  assert.equal(ready?.message, '1 of 2 ready; b is frozen or on hold and is admitted afterwards.')
  await setProject(hub, { kinds: ['ConfigMap'] })
  assert.deepEqual(await held(hub, ['a', 'b']), ['shop/hello@1', 'shop/hello@1'])
})

test('content of a kind or namespace that the Project does not list is not released', async (t) => {
  const hub = await world(t, ['a'], { kinds: ['ConfigMap'], targetNamespaces: ['default'] })
  assert.deepEqual(await held(hub, ['a']), ['shop/hello@1'])
  await edit(hub, { manifests: SECRET })
  assert.equal(
    await bundleReady(hub),
    'False ProjectRefuses: Project shop: spec.kinds does not list apps/Deployment. The content is not released; clusters keep what they run.',
  )
  await edit(hub, { manifests: configMapManifest('hello', {}, 'kube-system') })
  assert.match(
    await bundleReady(hub),
    /spec\.targetNamespaces does not list kube-system \(ConfigMap kube-system\/hello\)/,
  )
  assert.equal((await hub.client.list(Release, { namespace: 'shop' })).items.length, 1)
  await hub.report('a', 'Ready')
  await edit(hub, { manifests: configMapManifest('hello', { a: '3' }) })
  assert.match((await held(hub, ['a']))[0]!, /^shop\/hello@\d+$/)
  assert.notEqual((await held(hub, ['a']))[0], 'shop/hello@1')
})

test('content runs as the executor of the Project, and an executor or plan that is not listed is refused', async (t) => {
  const hub = await world(t, ['a'], { executors: { default: 'sys/deployer' } })
  const set = (await hub.find(Release, 'shop/hello-g1'))!.spec.bundles[0]!.set
  const { options } = parseObjectSet((await hub.blobs.get(set))!)
  assert.deepEqual(options?.executor, { namespace: 'sys', name: 'deployer' })
  await edit(hub, { executor: { namespace: 'kube-system', name: 'root' } })
  assert.match(await bundleReady(hub), /spec\.executors\.allowed does not list kube-system\/root/)
  await setProject(hub, { executors: {}, plans: ['slow'] })
  await edit(hub, { executor: { namespace: 'sys', name: 'x' } })
  assert.match(await bundleReady(hub), /spec\.plans lists slow, and the Bundle names no spec\.rollout\.plan\./)
  assert.deepEqual(await held(hub, ['a']), ['shop/hello@1'])
})

test('a Placement selects from the sets of its Project alone; a narrower Project freezes what is selected', async (t) => {
  const hub = await world(t, ['a', 'b', 'c'], { clusterSets: ['a', 'b'] })
  for (const name of ['a', 'b', 'c']) {
    await hub.create(build(ClusterSet, name, { spec: { access: 'Bound' } }), ClusterSet)
  }
  await hub.clock.advance(3000)
  assert.deepEqual(await held(hub, ['a', 'b', 'c']), ['', '', ''])
  for (const name of ['a', 'b', 'c']) {
    await hub.create(build(ClusterSetBinding, `shop/${name}`, { spec: { clusterSet: name } }), ClusterSetBinding)
  }
  await hub.clock.advance(3000)
  for (const name of ['a', 'b']) {
    await hub.report(name, 'Ready')
    await hub.clock.advance(3000)
  }
  assert.deepEqual(await held(hub, ['a', 'b', 'c']), ['shop/hello@1', 'shop/hello@1', ''])

  await setProject(hub, { clusterSets: ['a'] })
  assert.match(
    await placementReady(hub),
    /^False ProjectFreezes: Project shop: spec\.clusterSets lists no bound or open ClusterSet with b, which the Placement selects\./,
  )
  await edit(hub, { manifests: configMapManifest('hello', { a: '2' }) })
  await hub.report('a', 'Ready')
  await hub.clock.advance(120_000)
  assert.deepEqual(await held(hub, ['a', 'b', 'c']), ['shop/hello@2', 'shop/hello@1', ''])

  const placement = await hub.client.get(Placement, { namespace: 'shop', name: 'everywhere' })
  await hub.client.update(Placement, { ...placement, spec: { ...placement.spec, clusterSets: ['c'] } })
  await hub.clock.advance(3000)
  assert.match(await placementReady(hub), /^False ProjectRefuses: Project shop: spec\.clusterSets does not list c\./)
  assert.deepEqual(await held(hub, ['a', 'b', 'c']), ['shop/hello@2', 'shop/hello@1', ''])
})

test('quotas refuse the newest objects, renderings wait, and the status shows usage and refusals', async (t) => {
  const hub = await world(t, ['a'], { quotas: { bundles: 1, rendersPerMinute: 1 } })
  await hub.create(buildBundle('shop/second', { manifests: configMapManifest('second', {}) }), Bundle)
  await hub.clock.advance(3000)
  assert.match(
    await condition(hub.find(Bundle, 'shop/second')),
    /^False ProjectRefuses: Project shop: spec\.quotas\.bundles is 1, and older Bundles use it up\./,
  )
  const { status } = (await hub.find(Project, 'shop'))!
  assert.deepEqual(status?.usage, { bundles: 2, sources: 0, bytes: 0 })
  assert.deepEqual(
    status?.refused?.map(({ kind, object }) => `${kind} ${object}`),
    ['Bundle shop/second'],
  )
  assert.equal(await condition(hub.find(Project, 'shop')), 'True Active: The Project refuses 1 of its objects.')

  await edit(hub, { manifests: configMapManifest('hello', { a: '2' }) })
  assert.match(await bundleReady(hub), /^False RenderQuota: Project shop: spec\.quotas\.rendersPerMinute is 1/)
  await hub.report('a', 'Ready')
  await hub.clock.advance(61_000)
  assert.deepEqual(await held(hub, ['a']), ['shop/hello@2'])
  await hub.client.delete(Bundle, { namespace: 'shop', name: 'hello' })
  await hub.clock.advance(61_000)
  assert.doesNotMatch(await condition(hub.find(Bundle, 'shop/second')), /quotas/)
  assert.equal((await hub.find(Project, 'shop'))?.status?.refused, undefined)
})
