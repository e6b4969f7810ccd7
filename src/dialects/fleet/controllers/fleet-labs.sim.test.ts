/**
 * The labs of courses about Rancher Fleet, with their files as they are written: a baseline for a part of the fleet, a
 * platform of stores in partitions, and regions with values of their own. The clusters' agents are played by the test.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { fromUtf8, utf8 } from '../../../core/bytes.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { storeFiles } from '../../../source/store-files.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { ClusterGroup, FleetBundle, GitRepo } from '../kinds.ts'

const LABS = resolve(import.meta.dirname, '../../../../test/labs')
const lab = (file: string): string => readFileSync(join(LABS, file), 'utf8')

type Files = Readonly<Record<string, string>>

async function world(t: TestContext, clusters: Readonly<Record<string, Record<string, string>>>) {
  const hub = await startControllersHome(['fleet'])
  t.after(() => hub.close())
  const tips = new Map<string, { readonly commit: string; readonly files: Files }>()
  hub.serveSources(async ({ previous, spec }) => {
    const { commit, files } = tips.get(spec.git?.url ?? '')!
    if (previous?.commit === commit) return { kind: 'Same' }
    const bytes = new Map(Object.entries(files).map(([path, text]) => [path, utf8(text)]))
    const stored = await storeFiles(bytes, spec, hub.blobs)
    const revision = `${spec.git?.ref?.branch}@sha1:${commit}`
    return { kind: 'New', artifact: { ...stored, revision, commit, fetchedBytes: 1, from: 'x' } }
  })
  for (const [name, labels] of Object.entries(clusters)) {
    await hub.create(buildCluster(name, { labels }), Cluster)
    await hub.report(name, 'Ready')
  }
  const settle = async (states: Readonly<Record<string, 'Failed' | 'Progressing'>> = {}, rounds = 10) => {
    for (let round = 0; round < rounds; round++) {
      await hub.clock.advance(20_000)
      for (const name of Object.keys(clusters)) await hub.report(name, states[name] ?? 'Ready', 'as the test says')
    }
    await hub.clock.advance(20_000)
  }
  const parse = async (digest: `sha256:${string}`) => JSON.parse(fromUtf8((await hub.blobs.get(digest))!)) as unknown
  /** The data of the ConfigMaps that each cluster should have. */
  const delivered = async (): Promise<Record<string, Record<string, string>>> => {
    const rows: Record<string, Record<string, string>> = {}
    for (const { metadata, spec } of (await hub.client.list(Assignment)).items) {
      for (const { set } of spec.entries) {
        const { objects } = (await parse(set)) as { objects: { digest: `sha256:${string}` }[] }
        for (const { digest } of objects) {
          const { data } = (await parse(digest)) as { data?: Record<string, string> }
          rows[metadata.name] = { ...rows[metadata.name], ...data }
        }
      }
    }
    return rows
  }
  const push = (url: string, commit: string, files: Files) => void tips.set(url, { commit, files })
  /** Applies the GitRepo of a lab as it is written. */
  const apply = async (file: string): Promise<GitRepo> => {
    const [document] = readYaml(lab(file), { file })
    return await hub.create(document!.value as GitRepo, GitRepo)
  }
  const shown = async (name: string) => {
    const { status } = await hub.client.get(GitRepo, { namespace: 'fleet-default', name })
    return { ...status?.display, ready: status?.conditions?.find(({ type }) => type === 'Ready')?.message }
  }
  return { hub, settle, delivered, push, apply, shown }
}

const configMap = (data: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: baseline }\ndata: ${data}\n`
/** A chart that prints its values. */
const chart = (folder: string, values: string): Files => ({
  [`${folder}/Chart.yaml`]: 'apiVersion: v2\nname: app\nversion: 1.0.0\n',
  [`${folder}/values.yaml`]: values,
  [`${folder}/templates/cm.yaml`]: configMap('{ values: {{ omit .Values "global" | toJson | quote }} }'),
})
const valuesOf = (row: Record<string, string> | undefined): Record<string, unknown> =>
  JSON.parse(row?.['values'] ?? '{}') as Record<string, unknown>

test('a baseline for a part of the fleet: only the selected clusters, and only those of a missing overlay fail', async (t) => {
  const { hub, settle, delivered, push, apply, shown } = await world(t, {
    'metal-1': { env: 'production', hardware: 'bare-metal' },
    'cloud-1': { env: 'production', hardware: 'virtual' },
    'dev-1': { env: 'dev', hardware: 'bare-metal' },
  })
  const url = 'https://github.com/example/platform-fleet.git'
  push(url, 'c1', {
    'baseline/cm.yaml': configMap('{ v: "1" }'),
    'baseline/fleet.yaml': 'defaultNamespace: monitoring\n',
  })
  await apply('000-gitrepo-platform-baseline.yaml')
  await settle()
  assert.deepEqual(await delivered(), { 'metal-1': { v: '1' } })
  assert.deepEqual(await shown('platform-baseline'), {
    readyBundleDeployments: '1/1',
    state: 'Ready',
    ready: '1 bundle ready on 1 clusters.',
  })

  // The fleet.yaml of the lab names an overlay that is not there: nothing is taken away, and the message names it.
  const fleetYaml = lab('000-lab2/baseline/fleet.yaml')
  push(url, 'c2', { 'baseline/cm.yaml': configMap('{ v: "2" }'), 'baseline/fleet.yaml': fleetYaml })
  await settle()
  assert.deepEqual(await delivered(), { 'metal-1': { v: '1' } })
  const failed = await shown('platform-baseline')
  assert.deepEqual([failed.state, failed.readyBundleDeployments], ['ErrApplied', '1/1'])
  assert.match(failed.ready ?? '', /"baseline\/overlays\/production" holds none\. Clusters keep what they run\.$/)

  // With clusters of other environments, only those of production fail.
  const key = { namespace: 'fleet-default', name: 'platform-baseline' }
  const body = { spec: { targets: [{ name: 'all', clusterSelector: {} }] } }
  await hub.client.patch(GitRepo, key, { type: 'merge', body })
  await settle()
  const rows = await delivered()
  assert.deepEqual([rows['dev-1'], rows['metal-1']], [{ v: '2' }, { v: '1' }])
  const partly = await shown('platform-baseline')
  assert.equal(partly.readyBundleDeployments, '1/3')
  const sentence = /^ErrApplied\(2\) \[.*Not for cloud-1, metal-1: .*"baseline\/overlays\/production" holds none\./
  assert.match(partly.ready ?? '', sentence)
  const [row] = (await hub.client.list(FleetBundle)).items
  assert.deepEqual(row?.status?.summary, { desiredReady: 3, ready: 1, errApplied: 2 })
  assert.match(row?.status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '', sentence)

  // The overlay arrives.
  push(url, 'c3', {
    'baseline/cm.yaml': configMap('{ v: "2" }'),
    'baseline/fleet.yaml': fleetYaml,
    'baseline/overlays/production/kustomization.yaml': 'resources: [cm.yaml]\n',
    'baseline/overlays/production/cm.yaml': configMap('{ v: production }'),
  })
  await settle()
  assert.deepEqual(await delivered(), {
    'cloud-1': { v: 'production' },
    'dev-1': { v: '2' },
    'metal-1': { v: 'production' },
  })
  assert.equal((await shown('platform-baseline')).ready, '1 bundle ready on 3 clusters.')
})

test('a GitRepo without targets means the group default, and says why it reaches no cluster', async (t) => {
  const { hub, settle, delivered, push, apply, shown } = await world(t, { one: { env: 'production' } })
  push('https://github.com/rancher/fleet-examples', 'c1', { 'multi-cluster/helm/cm.yaml': configMap('{ v: "1" }') })
  await apply('000-lab2/gitrepo.yaml')
  await settle()
  const none = /^No cluster is selected: a GitRepo without targets selects the clusters of ClusterGroup default in/
  const { ready, readyBundleDeployments } = await shown('platform-baseline')
  assert.match(ready ?? '', none)
  assert.match(ready ?? '', /fleet-default, which does not exist\.$/)
  assert.deepEqual([readyBundleDeployments, await delivered()], ['0/0', {}])
  const group = (labels: object) => build(ClusterGroup, 'fleet-default/default', { spec: { selector: { ...labels } } })
  await hub.create(group({ matchLabels: { env: 'none' } }), ClusterGroup)
  await settle()
  assert.match((await shown('platform-baseline')).ready ?? '', /fleet-default, which selects no cluster\.$/)
  const body = { spec: { selector: { matchLabels: { env: 'production' } } } }
  await hub.client.patch(ClusterGroup, { namespace: 'fleet-default', name: 'default' }, { type: 'merge', body })
  await settle()
  assert.deepEqual(await delivered(), { one: { v: '1' } })
})

test('a GitRepo of fleet-local without targets reaches the cluster that is chosen for this workspace', async (t) => {
  const { hub, settle, delivered, push } = await world(t, {
    local: { 'fleet.cattle.io/workspace': 'fleet-local', name: 'local' },
    elsewhere: { name: 'local' },
  })
  const url = 'https://github.com/rancher/fleet-examples'
  push(url, 'c1', { 'simple/cm.yaml': configMap('{ v: "1" }') })
  const spec = { repo: url, branch: 'master', paths: ['simple'] }
  await hub.create(build(GitRepo, 'fleet-local/simple', { spec }), GitRepo)
  await settle()
  const { status } = await hub.client.get(GitRepo, { namespace: 'fleet-local', name: 'simple' })
  assert.match(status?.display?.message ?? '', /ClusterGroup default in namespace fleet-local, which does not exist/)
  const selector = { matchLabels: { name: 'local' } }
  await hub.create(build(ClusterGroup, 'fleet-local/default', { spec: { selector } }), ClusterGroup)
  await settle()
  assert.deepEqual(await delivered(), { local: { v: '1' } })
})

test('a platform of stores: partitions in order, and a failure in the first one keeps the others closed', async (t) => {
  const { hub, settle, delivered, push, shown } = await world(t, {
    budapest: { 'rollout-ring': 'retail-region-1', ring: 'canary' },
    prague: { 'rollout-ring': 'retail-region-2', 'network-tier': 'constrained' },
    lisbon: { 'rollout-ring': 'all' },
    oslo: {},
  })
  const url = 'https://git.example/platform.git'
  const files = (release: string): Files => ({
    'store/fleet.yaml': lab('003-store-platform/fleet.yaml'),
    ...chart('store', `release: ${release}\nimage: { tag: "1", registry: registry.central.example/platform }\n`),
  })
  push(url, 'c1', files('one'))
  const spec = { repo: url, branch: 'main', paths: ['store'], targets: [{ clusterSelector: {} }] }
  await hub.create(build(GitRepo, 'fleet-default/stores', { spec }), GitRepo)
  await settle({}, 16)
  const image = (tag: string, registry = 'registry.central.example/platform') => ({ tag, registry })
  const rows = await delivered()
  assert.deepEqual(valuesOf(rows['budapest'])['image'], image('2026.05.25-canary'))
  assert.deepEqual(valuesOf(rows['prague']), {
    release: 'one',
    image: image('1', 'registry.edge.local/platform'),
    sync: { maxParallelDownloads: 1 },
  })
  assert.deepEqual(valuesOf(rows['oslo'])['image'], image('1'))

  const releases = async () =>
    Object.fromEntries(Object.entries(await delivered()).map(([name, row]) => [name, valuesOf(row)['release']]))
  push(url, 'c2', files('two'))
  await settle({ budapest: 'Failed' })
  const before = { lisbon: 'one', oslo: 'one', prague: 'one' }
  assert.deepEqual(await releases(), { budapest: 'two', ...before })
  const { ready } = await shown('stores')
  assert.match(ready ?? '', /^ErrApplied\(1\) \[Cluster budapest: as the test says\]; /)
  await settle({}, 16)
  assert.deepEqual(await releases(), { budapest: 'two', lisbon: 'two', oslo: 'two', prague: 'two' })
  const rollouts = (await hub.client.list(Rollout)).items
  for (const { status } of rollouts) {
    const rings = (status?.rings ?? []).map(({ name }) => name)
    assert.deepEqual(rings, ['ring-1-retail-region-1', 'ring-2-retail-region-2', 'all-remaining-stores', 'rest'])
    const passed = (status?.rings ?? []).map(({ passedAt }) => passedAt ?? '-')
    assert.deepEqual(passed, passed.toSorted())
  }
})

test('regions: values files add up, and a revert in git goes back ring by ring', async (t) => {
  const { settle, delivered, push, apply } = await world(t, {
    'us-1': { env: 'production', region: 'us-east' },
    'eu-1': { env: 'production', region: 'eu-west' },
    'ap-1': { env: 'production', region: 'ap-northeast' },
    'eu-dev': { env: 'dev', region: 'eu-west' },
  })
  const url = 'https://github.com/your-org/gitops-fleet'
  const home = 'clusters/production'
  const files = (version: string, more = ''): Files => ({
    [`${home}/fleet.yaml`]: `${lab('004-fleet-regions.yaml')}${more}`,
    ...chart(`${home}/charts/app`, 'version: chart\nregion: none\n'),
    [`${home}/values.yaml`]: `version: ${version}\ncommon: true\n`,
    ...Object.fromEntries(
      ['us-east', 'eu-west', 'ap-northeast'].map((region) => [`${home}/values-${region}.yaml`, `region: ${region}\n`]),
    ),
    'infra/sizes.yaml': 'size: large\n',
    'apps/README.md': '# Applications\n',
  })
  push(url, 'c1', files('one'))
  await apply('004-gitrepo-fleet-app.yaml')
  await settle()
  const rows = async () =>
    Object.fromEntries(Object.entries(await delivered()).map(([name, row]) => [name, valuesOf(row)]))
  const of = (region: string, version: string) => ({ version, common: true, region })
  assert.deepEqual(await rows(), {
    'ap-1': of('ap-northeast', 'one'),
    'eu-1': of('eu-west', 'one'),
    'us-1': of('us-east', 'one'),
  })

  // A values file of another directory, and partitions by region.
  const partition = (region: string) =>
    `  - { name: ${region}, maxUnavailable: 0, clusterSelector: { matchLabels: { region: ${region} } } }\n`
  const strategy = `rolloutStrategy:\n  partitions:\n${['us-east', 'eu-west', 'ap-northeast'].map(partition).join('')}`
  const outside = (version: string) => {
    const all = files(version, strategy)
    const path = `${home}/fleet.yaml`
    return {
      ...all,
      [path]: all[path]!.replace('    - values.yaml', '    - values.yaml\n    - ../../infra/sizes.yaml'),
    }
  }
  push(url, 'c2', outside('one'))
  await settle({}, 16)
  assert.deepEqual((await rows())['eu-1'], { ...of('eu-west', 'one'), size: 'large' })
  const versions = async () =>
    Object.fromEntries(Object.entries(await rows()).map(([name, values]) => [name, values['version']]))
  push(url, 'c3', outside('two'))
  await settle({}, 16)
  assert.deepEqual(await versions(), { 'ap-1': 'two', 'eu-1': 'two', 'us-1': 'two' })

  push(url, 'c4', outside('one'))
  await settle({ 'us-1': 'Progressing' })
  assert.deepEqual(await versions(), { 'ap-1': 'two', 'eu-1': 'two', 'us-1': 'one' })
  await settle({ 'eu-1': 'Progressing' })
  assert.deepEqual(await versions(), { 'ap-1': 'two', 'eu-1': 'one', 'us-1': 'one' })
  await settle()
  assert.deepEqual(await versions(), { 'ap-1': 'one', 'eu-1': 'one', 'us-1': 'one' })
})
