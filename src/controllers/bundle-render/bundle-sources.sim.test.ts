/** From a commit to what each cluster should have: who is touched by a change, and who is not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { ConfigMap, Secret } from '../../kinds/builtin/core.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import { Override } from '../../kinds/native/override.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Release } from '../../kinds/native/release.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { Source } from '../../kinds/native/source.ts'
import { storeFiles } from '../../source/store-files.ts'
import { build, buildCluster, buildPlacement } from '../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../testing/hub/controllers-home.ts'

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
    const texts = { author: 'Jo', subject: `Change ${tip.commit}` }
    return { kind: 'New', artifact: { ...stored, revision, commit: tip.commit, fetchedBytes: 1, from: 'x', ...texts } }
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
  assert.deepEqual(release?.spec.bundles[0]?.origin, { from: 'x', author: 'Jo', subject: 'Change c1' })

  await push('c2', KUSTOMIZED('one', 'due'))
  assert.deepEqual(await delivered(), { 'd1 app': 'g1 one', 'd2 app': 'g1 one', 'p1 app': 'g2 due' })
  const rollout = await hub.find(Rollout, 'default/app-g2')
  assert.equal(rollout?.status?.phase, 'Completed')

  await push('c3', { ...KUSTOMIZED('one', 'due'), 'other/x.yaml': cm('changed') })
  assert.equal(await hub.find(Release, 'default/app-g3'), undefined, 'nothing of it changed')
  const { sourceRevision, revision } = (await hub.find(Bundle, 'default/app'))!.status!
  assert.equal(sourceRevision, 'main@sha1:c3')
  assert.deepEqual([revision?.source, revision?.origin?.subject], ['main@sha1:c2', 'Change c2'])
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
  const { formatTime } = await import('../../core/time/time.ts')
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

test('D10: a decision about drift makes no Release and no Rollout, and reaches only its cluster', async (t) => {
  const { hub, bundle, settle, delivered } = await world(t, { a: {}, b: {} }, { 'app/cm.yaml': cm('one') })
  await bundle({})
  await settle()
  const names = async (type: typeof Release | typeof Rollout) =>
    (await hub.client.list<KubeObject>(type)).items.map(({ metadata }) => metadata.name)
  const before = [await names(Release), await names(Rollout), await delivered()]
  const revisionOf = async (name: string) => (await hub.client.get(Assignment, { name })).spec.revision
  const [ofA, ofB] = [await revisionOf('a'), await revisionOf('b')]
  const drift = [{ kind: 'ConfigMap', namespace: 'default', name: 'app', action: 'Revert' as const }]
  const spec = { bundle: 'app', clusters: ['b'], owner: 'ana', reason: 'edited', drift }
  await hub.create(build(Override, 'default/revert', { spec }), Override)
  await hub.clock.advance(60_000)
  await settle()
  assert.deepEqual([await names(Release), await names(Rollout), await delivered()], before)
  assert.deepEqual([await revisionOf('a'), await revisionOf('b')], [ofA, ofB + 1])
  await hub.client.delete(Override, { namespace: 'default', name: 'revert' })
  await hub.clock.advance(60_000)
  assert.deepEqual([await revisionOf('a'), await revisionOf('b')], [ofA, ofB + 2], 'deleting ends it')
})

test('an Override that decides about drift changes nothing else', async (t) => {
  const { hub } = await world(t, { a: {} }, {})
  const object = { kind: 'ConfigMap', namespace: 'default', name: 'app' }
  const spec = { bundle: 'app', owner: 'ana', reason: 'edited' }
  const refused: readonly Partial<Override['spec']>[] = [
    { drift: [{ ...object, action: 'Revert' }] },
    { drift: [{ ...object, action: 'Revert' }], clusters: ['a'], targetNamespace: 'x' },
    { drift: [{ ...object, action: 'Revert' }], clusters: ['a'], clusterSelector: {} },
    { drift: [{ ...object, action: 'Accept' }], clusters: ['a'] },
    { drift: [{ ...object, action: 'Revert', fields: ['.data'] }], clusters: ['a'] },
  ]
  for (const [i, more] of refused.entries()) {
    const creating = hub.client.create(Override, build(Override, `default/o${i}`, { spec: { ...spec, ...more } }))
    await assert.rejects(creating, /an Override with drift names clusters|fields is required with action Accept/)
  }
})

test('a ConfigMap or Secret of the hub that a bundle reads makes a new render when it changes, and none while it does not', async (t) => {
  const { hub, bundle, settle, delivered } = await world(
    t,
    { one: {} },
    { 'app/cm.yaml': cm('${ .Inputs.a }-${ .Inputs.b.p }') },
  )
  const map = await hub.create(build(ConfigMap, 'default/settings', { data: { a: 'blue' } }), ConfigMap)
  const labels = { 'flotilla.dev/input': 'allowed' }
  const secret = await hub.create(build(Secret, 'default/hidden', { data: { p: 'eA==' } }, { labels }), Secret)
  await bundle({
    templating: 'Enabled',
    inputs: [
      { name: 'a', configMap: { name: 'settings', key: 'a' } },
      { name: 'b', secret: { name: 'hidden' } },
    ],
  })
  await settle()
  assert.match((await delivered())['one app'] ?? '', /^g1 blue-/)
  const renders = hub.rendered()
  await hub.clock.advance(300_000)
  assert.equal(hub.rendered(), renders, 'looked at, and not rendered')
  await hub.client.update(ConfigMap, { ...map, data: { a: 'green' } })
  await hub.clock.advance(60_000)
  await settle()
  assert.match((await delivered())['one app'] ?? '', /^g\d+ green-/)
  const before = (await delivered())['one app']
  await hub.client.update(Secret, { ...secret, data: { p: 'eQ==' } })
  await hub.clock.advance(60_000)
  await settle()
  assert.notEqual((await delivered())['one app'], before)
})

test('a source that is not there or not ready is waited for', async (t) => {
  const { hub, bundle, settle, condition } = await world(t, { a: {} }, { 'app/a.yaml': cm('one') })
  await bundle({ source: { name: 'none' } })
  await bundle({ manifests: cm('x') }, 'both')
  await settle()
  assert.equal(await condition('Ready'), 'False SourceNotFound: spec.source names Source none, which does not exist.')
  assert.equal(
    await condition('Ready', 'both'),
    'False NoContent: spec must have exactly one of manifests, manifestsFrom and source.',
  )
  assert.deepEqual((await hub.client.list(Release)).items, [])
})

/** The Releases, oldest first: name and what they carry. */
async function releases(hub: Awaited<ReturnType<typeof world>>['hub']): Promise<string[]> {
  const { items } = await hub.client.list(Release)
  const told = items.map(({ metadata, spec }) => {
    const bundles = spec.bundles.map(({ name, generation }) => `${name}@${generation}`).join(' ')
    const missing = (spec.missing ?? []).map(({ name }) => ` without ${name}`).join('')
    return `${metadata.name}: ${bundles}${missing}`
  })
  return told.sort()
}

test('one commit that changes several bundles is one Release and one Rollout; who cannot be rendered is named', async (t) => {
  const at = (name: string, text: string) => ({ [`${name}/a.yaml`]: cm(text).replace('name: app', `name: ${name}`) })
  const files = { ...at('web', 'one'), ...at('api', 'one'), ...at('db', 'one') }
  const { hub, bundle, settle, push, delivered, condition } = await world(t, { a: {}, b: {} }, files)
  for (const name of ['web', 'api', 'db']) {
    await bundle({ source: { name: 'apps', path: name }, rollout: { concurrency: 1 } }, name)
    await settle()
  }
  assert.deepEqual(await releases(hub), ['api-g1: api@1', 'db-g1: db@1', 'web-g1: web@1'])

  await push('c2', { ...at('web', 'two'), ...at('api', 'two'), ...at('db', 'one') })
  assert.deepEqual((await releases(hub)).slice(0, 2), ['api-g1: api@1', 'apps-c2: api@2 web@2'])
  const rollout = await hub.find(Rollout, 'default/apps-c2')
  assert.equal(rollout?.status?.phase, 'Completed')
  assert.deepEqual(
    rollout?.status?.bundles?.map(({ name, total, ready }) => `${name} ${ready}/${total}`),
    ['api 2/2', 'web 2/2'],
  )
  assert.deepEqual(await delivered(), {
    'a web': 'g2 two',
    'a api': 'g2 two',
    'a db': 'g1 one',
    'b web': 'g2 two',
    'b api': 'g2 two',
    'b db': 'g1 one',
  })
  // Both bundles came in one document.
  assert.equal((await hub.documentOf('a')).revision, 4)
  assert.equal((await hub.find(Bundle, 'default/web'))?.status?.release, 'apps-c2')
  assert.match(await condition('Ready', 'web'), /^True RolledOut/)

  await push('c3', { ...at('web', 'three'), ...at('api', 'three'), 'db/a.yaml': 'a: [' })
  assert.deepEqual((await releases(hub)).slice(2, 3), ['apps-c3: api@3 web@3 without db'])
  const source = await hub.find(Source, 'default/apps')
  const released = source?.status?.conditions?.find(({ type }) => type === 'Released')
  assert.match(
    `${released?.status} ${released?.reason}: ${released?.message}`,
    /^False PartlyReleased: Bundle db is not part of main@sha1:c3: Cannot render "db" of Source apps at main@sha1:c3: db\/a\.yaml, line 2/,
  )
  await push('c4', { ...at('web', 'three'), ...at('api', 'three'), ...at('db', 'four') })
  assert.deepEqual((await releases(hub)).slice(4, 5), ['db-g2: db@2'])
  hub.writes.length = 0
  await hub.clock.advance(300_000)
  assert.deepEqual(hub.writes, [])
  await hub.restart()
  await hub.clock.advance(300_000)
  assert.deepEqual(hub.writes, [])
})

test('a newer commit takes over exactly the bundles it changes; the others go on with the older one', async (t) => {
  const at = (name: string, text: string) => ({ [`${name}/a.yaml`]: cm(text).replace('name: app', `name: ${name}`) })
  const files = { ...at('web', 'one'), ...at('api', 'one') }
  const { hub, bundle, settle, push, delivered } = await world(t, { a: {}, b: {} }, files)
  for (const name of ['web', 'api']) {
    await bundle({ source: { name: 'apps', path: name }, rollout: { concurrency: 1 } }, name)
    await settle()
  }
  const slots = async (name: string) =>
    (await hub.find(Rollout, `default/${name}`))?.status?.admissions?.map((one) => `${one.bundle}@${one.cluster}`)
  // No cluster reports while both commits come: the first holds its slot.
  const quietly = async (commit: string, next: Files) => {
    hub.serveSources(async ({ previous, spec }) => {
      if (previous?.commit === commit) return { kind: 'Same' }
      const bytes = new Map(Object.entries(next).map(([path, text]) => [path, utf8(text)]))
      const stored = await storeFiles(bytes, spec, hub.blobs)
      return { kind: 'New', artifact: { ...stored, revision: commit, commit, fetchedBytes: 1, from: 'x' } }
    })
    await hub.clock.advance(20_000)
  }
  await quietly('c2', { ...at('web', 'two'), ...at('api', 'two') })
  assert.deepEqual(await slots('apps-c2'), ['api@a', 'web@a'])
  await quietly('c3', { ...at('web', 'three'), ...at('api', 'two') })
  const older = await hub.find(Rollout, 'default/apps-c2')
  assert.deepEqual(older?.status?.superseded, [{ bundle: 'web', by: 'web-g3' }])
  assert.deepEqual([await slots('apps-c2'), await slots('web-g3')], [['api@a'], ['web@a']])
  await push('c3', { ...at('web', 'three'), ...at('api', 'two') })
  assert.deepEqual(await delivered(), {
    'a web': 'g3 three',
    'a api': 'g2 two',
    'b web': 'g3 three',
    'b api': 'g2 two',
  })
  for (const name of ['apps-c2', 'web-g3'])
    assert.equal((await hub.find(Rollout, `default/${name}`))?.status?.phase, 'Completed', name)
})
