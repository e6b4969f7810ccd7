/** Repositories with a directory per cluster, as `flux bootstrap` makes them, under the role of the controllers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { storeFiles } from '../../../source/store-files.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { GitRepository, Kustomization } from '../kinds.ts'

const NS = 'flux-system'
type Files = Readonly<Record<string, string>>

const cm = (name: string, value: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: apps}\ndata: {v: "${value}"}\n`
const kustomization = (name: string, path: string, more = ''): string =>
  `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: ${name}, namespace: flux-system}\n` +
  `spec:\n  interval: 10m\n  prune: true\n  path: ${path}\n  sourceRef: {kind: GitRepository, name: flux-system}\n${more}`
const sync = (cluster: string): string =>
  `apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {name: flux-system, namespace: flux-system}\n` +
  `spec: {interval: 1m, url: "ssh://git@github.com/example/fleet", ref: {branch: main}}\n---\n` +
  kustomization('flux-system', `./clusters/${cluster}`)

/** The layout of flux2-kustomize-helm-example, without charts. */
const tree = (cluster: string): Files => ({
  [`clusters/${cluster}/flux-system/gotk-sync.yaml`]: sync(cluster),
  [`clusters/${cluster}/infrastructure.yaml`]: kustomization('infrastructure', './infrastructure'),
  [`clusters/${cluster}/apps.yaml`]: kustomization(
    'apps',
    `./apps/${cluster}`,
    '  dependsOn: [{name: infrastructure}]\n  postBuild: {substituteStrategy: Always}\n',
  ),
  [`apps/${cluster}/cm.yaml`]: cm('app', `${cluster} in \${CLUSTER_NAME}`),
})

const FILES: Files = { ...tree('production'), ...tree('staging'), 'infrastructure/cm.yaml': cm('infra', '1') }

async function world(t: TestContext, { files = FILES, path = 'clusters' } = {}) {
  const hub = await startControllersHome(['flux'])
  t.after(() => hub.close())
  let tip = { commit: 'c1', files }
  hub.serveSources(async ({ previous, spec }) => {
    if (previous?.commit === tip.commit) return { kind: 'Same' }
    const bytes = new Map(Object.entries(tip.files).map(([name, text]) => [name, utf8(text)]))
    const stored = await storeFiles(bytes, spec, hub.blobs)
    const revision = `main@sha1:${tip.commit}`
    return { kind: 'New', artifact: { ...stored, revision, commit: tip.commit, fetchedBytes: 1, from: 'x' } }
  })
  await hub.create(buildCluster('production'), Cluster)
  const settle = async () => {
    for (let round = 0; round < 12; round++) {
      await hub.clock.advance(20_000)
      for (const { metadata } of (await hub.client.list(Cluster)).items) await hub.report(metadata.name, 'Ready')
    }
    await hub.clock.advance(20_000)
  }
  const spec = { interval: '1m', url: 'https://git.example.com/fleet', ref: { branch: 'main' } }
  const annotations = { 'flotilla.dev/clusters': path }
  await hub.create(build(GitRepository, `${NS}/fleet`, { spec }, { annotations }), GitRepository)
  await settle()
  return {
    hub,
    settle,
    push: async (commit: string, next: Files) => {
      tip = { commit, files: next }
      await settle()
    },
    names: async () => (await hub.client.list(Kustomization)).items.map(({ metadata }) => metadata.name).sort(),
    findings: async () => (await hub.find(GitRepository, `${NS}/fleet`))?.status?.findings ?? [],
    ready: async (name: string) => {
      const found = await hub.find(Kustomization, `${NS}/${name}`)
      const one = found?.status?.conditions?.find(({ type }) => type === 'Ready')
      return one ? `${one.status} ${one.reason}: ${one.message}` : '-'
    },
    /** `cluster: bundle name value label`. */
    delivered: async () => {
      const rows: string[] = []
      const parse = async (digest: `sha256:${string}`) =>
        JSON.parse(new TextDecoder().decode(await hub.blobs.get(digest))) as never
      for (const { metadata, spec: assigned } of (await hub.client.list(Assignment)).items) {
        for (const { bundle, set } of assigned.entries) {
          const { objects } = (await parse(set)) as { objects: { digest: `sha256:${string}` }[] }
          for (const { digest } of objects) {
            const object = (await parse(digest)) as {
              metadata: { name: string; labels: Record<string, string> }
              data: { v: string }
            }
            const owner = object.metadata.labels['kustomize.toolkit.fluxcd.io/name']
            rows.push(`${metadata.name}: ${bundle.split('/')[1]} ${object.metadata.name}=${object.data.v} of ${owner}`)
          }
        }
      }
      return rows.sort()
    },
  }
}

const PRODUCTION = [
  'production: kustomization-production.apps app=production in production of apps',
  'production: kustomization-production.infrastructure infra=1 of infrastructure',
]
const STAGING = PRODUCTION.map((row) => row.replaceAll('production', 'staging'))

test('each directory goes to the Cluster of its name, with the owners that Flux names', async (t) => {
  const { hub, settle, names, findings, ready, delivered } = await world(t)
  assert.deepEqual(await names(), ['production.apps', 'production.flux-system', 'production.infrastructure'])
  assert.deepEqual(await findings(), ['no Cluster has the name of these directories of clusters: staging'])
  assert.deepEqual(await delivered(), PRODUCTION)
  assert.equal(await ready('production.apps'), 'True ReconciliationSucceeded: Applied revision: main@sha1:c1')
  await hub.create(buildCluster('staging'), Cluster)
  await settle()
  assert.deepEqual(await findings(), [])
  assert.deepEqual(await delivered(), [...PRODUCTION, ...STAGING])
  assert.deepEqual(hub.rights.denied, [])
  const repositories = (await hub.client.list(GitRepository)).items
  assert.deepEqual(
    repositories.map(({ metadata }) => metadata.name),
    ['fleet'],
    'the one of gotk-sync is this one',
  )
  const apps = await hub.find(Kustomization, `${NS}/production.apps`)
  assert.deepEqual(apps?.spec['dependsOn'], [{ name: 'production.infrastructure' }])
  assert.deepEqual(apps?.spec['sourceRef'], { kind: 'GitRepository', name: 'fleet' })
})

test('a directory that leaves the repository takes nothing away, and neither does the GitRepository', async (t) => {
  const { hub, settle, push, ready, delivered } = await world(t)
  const { 'infrastructure/cm.yaml': infra } = FILES
  await push('c2', { 'infrastructure/cm.yaml': infra!, 'clusters/other/cm.yaml': cm('x', '1') })
  assert.deepEqual(await delivered(), PRODUCTION)
  assert.match(await ready('production.apps'), /path not found/)
  await hub.client.delete(GitRepository, { namespace: NS, name: 'fleet' })
  await settle()
  assert.deepEqual(await delivered(), PRODUCTION)
})

test('a change of one tree reaches its cluster alone', async (t) => {
  const { hub, settle, push, delivered } = await world(t)
  await hub.create(buildCluster('staging'), Cluster)
  await settle()
  await push('c2', { ...FILES, 'apps/staging/cm.yaml': cm('app', '2') })
  const changed = STAGING.map((row) => row.replace('app=staging in staging', 'app=2'))
  assert.deepEqual(await delivered(), [...PRODUCTION, ...changed])
})

test('an annotation without directories is a finding', async (t) => {
  const { findings, names } = await world(t, { path: './nothing/' })
  assert.deepEqual(await names(), [])
  assert.deepEqual(await findings(), [
    'annotation flotilla.dev/clusters is "./nothing/", and the repository has no directory there',
  ])
})

test('the content of a repository cannot choose another cluster', async (t) => {
  const foreign = kustomization('evil', './infrastructure').replace(
    'namespace: flux-system}',
    'namespace: flux-system, annotations: {flotilla.dev/cluster-tree: fleet/staging}}',
  )
  const files = { ...FILES, 'clusters/production/evil.yaml': foreign }
  const { hub, settle, delivered } = await world(t, { files })
  await hub.create(buildCluster('staging'), Cluster)
  await settle()
  assert.ok(!(await delivered()).some((row) => row.startsWith('staging') && row.includes('evil')))
  assert.ok((await delivered()).includes('production: kustomization-production.evil infra=1 of evil'))
  assert.equal((await hub.find(Bundle, `${NS}/kustomization-evil`)) === undefined, true)
})
