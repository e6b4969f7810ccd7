/**
 * The lab of three stores as its users type it: Secrets, Clusters of Fleet and a GitRepo, on the real controllers in
 * virtual time. The agents that the hub runs are played by the test.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import { findCondition } from '../../../core/conditions.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Namespace, Secret } from '../../../kinds/builtin/core.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Project } from '../../../kinds/native/project.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { everythingAllowed } from '../../../plan/projects/project-of.ts'
import { storeFiles } from '../../../source/store-files.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { FleetCluster, GitRepo } from '../kinds.ts'

const LAB = resolve(import.meta.dirname, '../../../../test/labs/three-stores')
const FILES = [
  'baseline/fleet.yaml',
  'baseline/config.yaml',
  'baseline/namespace.yaml',
  'baseline/overlays/constrained-network/config_patch.yaml',
]
const STORES = ['store-budapest', 'store-prague', 'store-lisbon'] as const
const WORKSPACE = 'clusters'

const read = (file: string): string => readFileSync(join(LAB, file), 'utf8')
const objectsOf = <T>(file: string): T[] => readYaml(read(file), { file }).map(({ value }) => value as T)

const KUBECONFIG = JSON.stringify({
  'current-context': 'a',
  contexts: [{ name: 'a', context: { cluster: 'c', user: 'u' } }],
  clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443' } }],
  users: [{ name: 'u', user: { token: 't' } }],
})

async function world(t: TestContext) {
  const running = new Map<string, string>()
  const hub = await startControllersHome(['fleet'], undefined, {
    keysOf: async (name) => {
      const { identityKey, sealingKey } = buildCluster(name).spec
      return { identityKey, sealingKey }
    },
    run: ({ name, credential }) => void running.set(name, credential.server),
    stop: (name) => void running.delete(name),
    forget: (name) => void running.delete(name),
    stateOf: () => ({ reason: 'Running', message: 'Runs.' }),
    onChange: () => () => {},
  })
  t.after(() => hub.close())
  let tip = { commit: 'c1', files: Object.fromEntries(FILES.map((file) => [file, read(join('repo', file))])) }
  hub.serveSources(async ({ previous, spec }) => {
    if (previous?.commit === tip.commit) return { kind: 'Same' }
    const bytes = new Map(Object.entries(tip.files).map(([path, text]) => [path, utf8(text)]))
    const stored = await storeFiles(bytes, spec, hub.blobs)
    const { commit } = tip
    return { kind: 'New', artifact: { ...stored, revision: `main@sha1:${commit}`, commit, fetchedBytes: 1, from: 'x' } }
  })
  await hub.create(build(Namespace, WORKSPACE, {}), Namespace)
  // The one set-up besides what the lab has: `flotilla project add clusters`.
  await hub.create(build(Project, WORKSPACE, { spec: everythingAllowed([WORKSPACE]) }), Project)
  const settle = async (rounds = 8) => {
    for (let round = 0; round < rounds; round++) {
      await hub.clock.advance(20_000)
      for (const { metadata, spec } of (await hub.client.list(Cluster)).items)
        if (spec.id !== '') await hub.report(metadata.name, 'Ready')
    }
  }
  const face = (name: string, namespace = WORKSPACE) => hub.client.get(FleetCluster, { namespace, name })
  const label = async (name: string, labels: Record<string, string | null>) =>
    await hub.client.patch(
      FleetCluster,
      { namespace: WORKSPACE, name },
      { type: 'merge', body: { metadata: { labels } } },
    )
  const setOf = async (name: string) => (await hub.find(Assignment, name))?.spec.entries[0]?.set
  const commit = (name: string, config: string) => {
    tip = { commit: name, files: { ...tip.files, 'baseline/config.yaml': config } }
  }
  return { hub, running, settle, face, label, setOf, commit }
}

const secretOf = (store: string) =>
  build(Secret, `${WORKSPACE}/${store}-kubeconfig`, { data: { value: Buffer.from(KUBECONFIG).toString('base64') } })

test('the lab of three stores: clusters, overlay, partitions, relabelling and a frozen store', async (t) => {
  const { hub, running, settle, face, label, setOf, commit } = await world(t)
  for (const store of STORES) await hub.create(secretOf(store), Secret)
  for (const cluster of objectsOf<FleetCluster>('stores.yaml')) await hub.create(cluster, FleetCluster)
  for (const repo of objectsOf<GitRepo>('gitrepo-example.yaml')) await hub.create(repo, GitRepo)
  await settle()
  const clusters = (await hub.client.list(Cluster)).items
  assert.deepEqual(
    clusters.map(({ metadata, spec }) => [metadata.name, spec.kubeconfigSecret?.name, spec.accepted]),
    STORES.toSorted().map((store) => [store, `${store}-kubeconfig`, true]),
  )
  assert.deepEqual([...running.keys()].toSorted(), [...STORES].toSorted())
  const sets = await Promise.all(STORES.map(setOf))
  assert.ok(sets.every((set) => set !== undefined))
  assert.notEqual(sets[0], sets[1], 'the overlay is for the first ring')
  assert.equal(sets[1], sets[2])
  const { status } = await face('store-budapest')
  assert.deepEqual(
    [status?.display?.readyBundles, status?.display?.state, status?.cluster],
    ['1/1', 'Ready', 'store-budapest'],
  )

  // A frozen store keeps what it has; the other rings go on, and it follows when it is released.
  await label('store-lisbon', { maintenance: 'frozen' })
  await settle(2)
  assert.equal((await hub.client.get(Cluster, { name: 'store-lisbon' })).metadata.labels?.['maintenance'], 'frozen')
  assert.match(
    findCondition((await face('store-lisbon')).status?.conditions, 'Ready')?.message ?? '',
    /^The cluster is frozen by its label maintenance=frozen\. End this with/,
  )
  commit('c2', read('repo/baseline/config.yaml').replace('2026.05.25', '2026.06.01'))
  await settle()
  assert.notEqual(await setOf('store-budapest'), sets[0])
  assert.notEqual(await setOf('store-prague'), sets[1])
  assert.equal(await setOf('store-lisbon'), sets[2], 'frozen')
  const passed = (await hub.client.list(Rollout, { namespace: WORKSPACE })).items.map(({ status }) =>
    (status?.rings ?? []).flatMap(({ name, passedAt }) => (passedAt ? [`${passedAt} ${name}`] : [])),
  )
  for (const rings of passed) assert.deepEqual(rings, rings.toSorted(), 'the partitions in order')
  await label('store-lisbon', { maintenance: null })
  await settle()
  assert.equal(await setOf('store-lisbon'), await setOf('store-prague'))

  // A store that moves to the first ring gets its overlay; also by its label in flotilla.dev.
  const body = { metadata: { labels: { 'rollout-ring': 'retail-region-1' } } }
  await hub.client.patch(Cluster, { name: 'store-lisbon' }, { type: 'merge', body })
  await settle()
  assert.equal((await face('store-lisbon')).metadata.labels?.['rollout-ring'], 'retail-region-1')
  assert.equal(await setOf('store-lisbon'), await setOf('store-budapest'))
  const before = hub.writes.length
  await hub.clock.advance(300_000)
  assert.deepEqual(
    hub.writes.slice(before).filter((write) => !write.includes('/leases/')),
    [],
    'then nothing is written',
  )
})

test('a second cluster of a name, a Secret elsewhere, fields without effect, and a deletion that removes nothing', async (t) => {
  const { hub, running, settle, face } = await world(t)
  const cluster = (key: string, spec: NonNullable<FleetCluster['spec']>) =>
    hub.create(build(FleetCluster, key, { spec }), FleetCluster)
  await hub.create(secretOf('a'), Secret)
  await hub.create({ ...secretOf('a'), metadata: { namespace: 'fleet-default', name: 'a-kubeconfig' } }, Secret)
  await cluster('clusters/a', { kubeConfigSecret: 'a-kubeconfig', clientID: 'x' })
  await settle(2)
  await cluster('fleet-default/a', { kubeConfigSecret: 'a-kubeconfig' })
  await cluster('fleet-default/b', { kubeConfigSecret: 'a-kubeconfig', kubeConfigSecretNamespace: 'clusters' })
  await settle(2)
  assert.equal((await face('a', 'fleet-default')).status?.cluster, 'fleet-default-a')
  assert.deepEqual([...running.keys()].toSorted(), ['a', 'fleet-default-a'])
  assert.match((await face('a')).status?.findings?.join() ?? '', /clientID has no effect/)
  const elsewhere = await face('b', 'fleet-default')
  assert.match(elsewhere.status?.findings?.join() ?? '', /kubeConfigSecretNamespace clusters is refused/)
  assert.deepEqual([elsewhere.status?.cluster, elsewhere.status?.display?.state], [undefined, 'WaitCheckIn'])
  await hub.client.delete(FleetCluster, { namespace: 'clusters', name: 'a' })
  await settle(1)
  assert.equal(await hub.find(FleetCluster, 'clusters/a'), undefined)
  assert.equal((await hub.client.get(Cluster, { name: 'a' })).spec.decommission?.policy, 'Orphan')
})
