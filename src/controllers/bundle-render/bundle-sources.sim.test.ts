/** From a commit to what each cluster should have: who is touched by a change, and who is not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { Assignment } from '../../kinds/assignment.ts'
import { Bundle } from '../../kinds/bundle.ts'
import { Cluster } from '../../kinds/cluster.ts'
import { Override } from '../../kinds/override.ts'
import { Placement } from '../../kinds/placement.ts'
import { Release } from '../../kinds/release.ts'
import { Rollout } from '../../kinds/rollout.ts'
import { Source } from '../../kinds/source.ts'
import { storeFiles } from '../../source/store-files.ts'
import { build, buildCluster, buildPlacement } from '../../testing/builders.ts'
import { startControllersHome } from '../../testing/controllers-home.ts'

type Files = Readonly<Record<string, string>>

const cm = (text: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: app\ndata:\n  v: "${text}"\n`

async function world(t: TestContext, clusters: Readonly<Record<string, Record<string, string>>>, files: Files) {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  let tip = { commit: 'c1', files }
  hub.serveSources(async ({ previous, spec }) => {
    if (previous?.commit === tip.commit) return { kind: 'Same' }
    const bytes = new Map(Object.entries(tip.files).map(([path, text]) => [path, utf8(text)]))
    const stored = await storeFiles(bytes, spec, hub.blobs)
    const revision = `main@sha1:${tip.commit}`
    return { kind: 'New', artifact: { ...stored, revision, commit: tip.commit, fetchedBytes: 1, from: 'x' } }
  })
  const join = async (name: string, labels: Record<string, string>) => {
    await hub.create(buildCluster(name, { labels: { tier: 'store', ...labels } }), Cluster)
    await hub.report(name, 'Ready')
  }
  for (const [name, labels] of Object.entries(clusters)) await join(name, labels)
  await hub.create(buildPlacement('default/everywhere', { tier: 'store' }), Placement)
  await hub.create(build(Source, 'default/apps', { spec: { git: { url: 'https://x/y' }, interval: '10s' } }), Source)
  const bundle = (spec: Partial<Bundle['spec']>, name = 'app') =>
    hub.create(
      build(Bundle, `default/${name}`, {
        spec: { placement: 'everywhere', source: { name: 'apps', path: 'app' }, rollout: { concurrency: 10 }, ...spec },
      }),
      Bundle,
    )
  const settle = async () => {
    for (let round = 0; round < 3; round++) {
      await hub.clock.advance(8000)
      for (const { metadata } of (await hub.client.list(Cluster)).items) await hub.report(metadata.name, 'Ready')
    }
    await hub.clock.advance(8000)
  }
  const push = async (commit: string, next: Files) => {
    tip = { commit, files: next }
    await settle()
  }
  /** Cluster → generation and the data of its ConfigMap. */
  const delivered = async () => {
    const rows: Record<string, string> = {}
    for (const { metadata, spec } of (await hub.client.list(Assignment)).items) {
      for (const { bundle: key, generation, set } of spec.entries) {
        const { objects } = JSON.parse(new TextDecoder().decode(await hub.blobs.get(set))) as {
          objects: { digest: `sha256:${string}` }[]
        }
        const object = JSON.parse(new TextDecoder().decode(await hub.blobs.get(objects[0]!.digest))) as {
          data: { v: string }
        }
        rows[`${metadata.name} ${key.split('/')[1]}`] = `g${generation} ${object.data.v}`
      }
    }
    return rows
  }
  const condition = async (type: string, name = 'app') => {
    const found = (await hub.find(Bundle, `default/${name}`))?.status?.conditions?.find((one) => one.type === type)
    return found ? `${found.status} ${found.reason}: ${found.message}` : '-'
  }
  return { hub, join, bundle, settle, push, delivered, condition }
}

const KUSTOMIZED = (base: string, prod: string): Files => ({
  'app/base/cm.yaml': cm(base),
  'app/base/kustomization.yaml': 'resources: [cm.yaml]\n',
  'app/prod/kustomization.yaml': `resources: [../base]\npatches:\n- patch: |\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: app}\n    data: {v: "${prod}"}\n`,
  'other/x.yaml': cm('x'),
})

const VARIANTS = {
  kustomize: { dir: 'base' },
  variants: [{ name: 'prod', clusterSelector: { matchLabels: { env: 'prod' } }, kustomize: { dir: 'prod' } }],
}

test('a commit reaches the clusters it changes, and only those', async (t) => {
  const fleet = { d1: { env: 'dev' }, d2: { env: 'dev' }, p1: { env: 'prod' } }
  const { hub, bundle, settle, push, delivered, condition } = await world(t, fleet, KUSTOMIZED('one', 'uno'))
  await bundle(VARIANTS)
  await settle()
  assert.deepEqual(await delivered(), { 'd1 app': 'g1 one', 'd2 app': 'g1 one', 'p1 app': 'g1 uno' })
  assert.match(await condition('Rendered'), /^True Rendered: Rendered to up to 1 object, 2 distinct contents\.$/)
  assert.match(await condition('Ready'), /^True RolledOut/)
  const release = await hub.find(Release, 'default/app-g1')
  assert.deepEqual(
    release?.spec.bundles[0]?.variants?.map(({ when }) => when),
    [{ 'labels.env': 'dev' }, { 'labels.env': 'prod' }],
  )
  assert.equal(release?.spec.bundles[0]?.revision, 'main@sha1:c1')

  await push('c2', KUSTOMIZED('one', 'due'))
  assert.deepEqual(await delivered(), { 'd1 app': 'g1 one', 'd2 app': 'g1 one', 'p1 app': 'g2 due' })
  const rollout = await hub.find(Rollout, 'default/app-g2')
  assert.equal(rollout?.status?.phase, 'Completed')

  await push('c3', { ...KUSTOMIZED('one', 'due'), 'other/x.yaml': cm('changed') })
  assert.equal(await hub.find(Release, 'default/app-g3'), undefined, 'nothing of it changed')
  assert.equal((await hub.find(Bundle, 'default/app'))?.status?.sourceRevision, 'main@sha1:c3')
  hub.writes.length = 0
  await hub.clock.advance(120_000)
  assert.deepEqual(hub.writes, [])
})

test('a path outside of the change is not even rendered; a deleted path or a bad commit withdraws nothing', async (t) => {
  const files = { 'app/a.yaml': cm('one'), 'other/b.yaml': cm('b') }
  const { hub, bundle, settle, push, delivered, condition } = await world(t, { c1: {} }, files)
  await bundle({})
  await settle()
  const rendered = hub.rendered()
  await push('c2', { ...files, 'other/b.yaml': cm('changed') })
  assert.equal(hub.rendered(), rendered)
  await push('c3', { 'other/b.yaml': cm('b') })
  assert.match(
    await condition('Rendered'),
    /^False RenderFailed: Cannot render "app" of Source apps at main@sha1:c3: "app" holds no \.yaml/,
  )
  await push('c4', { 'app/a.yaml': 'a: [' })
  assert.match(await condition('Rendered'), /app\/a\.yaml, line 2, column \d+: .* Clusters keep what they run\.$/)
  assert.deepEqual(await delivered(), { 'c1 app': 'g1 one' })
  await push('c5', { 'app/a.yaml': cm('two') })
  assert.deepEqual(await delivered(), { 'c1 app': 'g2 two' })
  assert.match(await condition('Rendered'), /^True Rendered/)
})

test('a missing key fails its cluster alone; another label moves one cluster', async (t) => {
  const files = { 'app/a.yaml': cm('${ .Cluster.Labels.region }') }
  const fleet = { a: { region: 'eu' }, b: { region: 'us' }, c: {} }
  const { hub, join, bundle, settle, delivered, condition } = await world(t, fleet, files)
  await bundle({ templating: 'Enabled' })
  await settle()
  assert.deepEqual(await delivered(), { 'a app': 'g1 eu', 'b app': 'g1 us' })
  assert.match(
    await condition('Rendered'),
    /^True PartlyRendered: .* Not for c: app\/a\.yaml:6:\d+: at <\.Cluster\.Labels\.region>: map has no entry for key "region"\. They keep/,
  )
  const label = async (name: string, labels: Record<string, string>) => {
    const cluster = await hub.client.get(Cluster, { name })
    await hub.client.update(Cluster, {
      ...cluster,
      metadata: { ...cluster.metadata, labels: { tier: 'store', ...labels } },
    })
    await settle()
  }
  await label('c', { region: 'eu' })
  assert.deepEqual(await delivered(), { 'a app': 'g1 eu', 'b app': 'g1 us', 'c app': 'g1 eu' })
  await label('a', { region: 'us' })
  assert.deepEqual(await delivered(), { 'a app': 'g2 us', 'b app': 'g1 us', 'c app': 'g1 eu' })
  await join('d', { region: 'asia' })
  await settle()
  assert.deepEqual(await delivered(), { 'a app': 'g2 us', 'b app': 'g1 us', 'c app': 'g1 eu', 'd app': 'g3 asia' })
  assert.match(await condition('Ready'), /^True RolledOut/)
})

test('an Override changes one cluster until it ends', async (t) => {
  const chart = {
    'app/Chart.yaml': 'apiVersion: v2\nname: app\nversion: 1.0.0\n',
    'app/values.yaml': 'v: one\n',
    'app/templates/cm.yaml': cm('{{ .Values.v }}'),
  }
  const { hub, bundle, settle, delivered } = await world(t, { a: {}, b: {} }, chart)
  await bundle({})
  await settle()
  const { formatTime } = await import('../../core/time.ts')
  const spec = {
    bundle: 'app',
    clusters: ['b'],
    helm: { values: { v: 'fixed' } },
    owner: 'ana',
    reason: 'ticket',
    expiresAt: formatTime(hub.clock.now() + 600_000),
  }
  await hub.create(build(Override, 'default/hot', { spec }), Override)
  await settle()
  assert.deepEqual(await delivered(), { 'a app': 'g1 one', 'b app': 'g2 fixed' })
  await hub.clock.advance(700_000)
  await settle()
  assert.deepEqual(await delivered(), { 'a app': 'g1 one', 'b app': 'g3 one' })
})

test('a source that is not there or not ready is waited for', async (t) => {
  const { hub, bundle, settle, condition } = await world(t, { a: {} }, { 'app/a.yaml': cm('one') })
  await bundle({ source: { name: 'none' } })
  await bundle({ manifests: cm('x') }, 'both')
  await settle()
  assert.equal(await condition('Ready'), 'False SourceNotFound: spec.source names Source none, and there is none.')
  assert.equal(await condition('Ready', 'both'), 'False NoContent: spec must have exactly one of manifests and source.')
  assert.deepEqual((await hub.client.list(Release)).items, [])
})
