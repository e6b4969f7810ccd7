/** A Bundle of Fleet that a person writes: from its files to what each cluster should have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { base64, utf8 } from '../../../core/bytes.ts'
import { gzipSync } from 'node:zlib'
import { findCondition } from '../../../core/conditions.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Source } from '../../../kinds/native/source.ts'
import type { FetchContext } from '../../../source/fetch-request.ts'
import { fetchInline } from '../../../source/inline/inline-files.ts'
import { build, buildBundle, buildCluster, configMapManifest } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { FleetBundle } from '../kinds.ts'

const PROD = { matchLabels: { env: 'prod' } }
const configMap = (value: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {v: "${value}"}\n`
const CHART = [
  { name: 'Chart.yaml', content: 'apiVersion: v2\nname: web\nversion: 1.0.0\n' },
  { name: 'values.yaml', content: 'replicas: 1\n' },
  {
    name: 'templates/cm.yaml',
    content:
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {v: "{{ .Values.replicas }} {{ .Values.where }}"}\n',
  },
]

async function world(t: TestContext) {
  const hub = await startControllersHome(['fleet'])
  t.after(() => hub.close())
  hub.serveSources((request) =>
    fetchInline(request.spec.inline!, { ...request, blobs: hub.blobs } as unknown as FetchContext),
  )
  for (const [name, env] of Object.entries({ c1: 'prod', c2: 'dev' })) {
    await hub.create(buildCluster(name, { labels: { env } }), Cluster)
    await hub.report(name, 'Ready')
  }
  const settle = async () => {
    for (let round = 0; round < 5; round++) {
      await hub.clock.advance(20_000)
      for (const { metadata } of (await hub.client.list(Cluster)).items) await hub.report(metadata.name, 'Ready')
    }
    await hub.clock.advance(20_000)
  }
  const create = async (spec: FleetBundle['spec'], name = 'web', metadata: object = {}) => {
    await hub.create(build(FleetBundle, `fleet-default/${name}`, { spec }, metadata), FleetBundle)
    await settle()
  }
  const patch = async (spec: object, name = 'web') => {
    const body = { spec }
    await hub.client.patch(FleetBundle, { namespace: 'fleet-default', name }, { type: 'merge', body })
    await settle()
  }
  const parse = async (digest: `sha256:${string}`) =>
    JSON.parse(new TextDecoder().decode(await hub.blobs.get(digest))) as unknown
  const valueOn = async (cluster: string) => {
    const entry = (await hub.find(Assignment, cluster))?.spec.entries[0]
    if (!entry) return undefined
    const { objects } = (await parse(entry.set)) as { objects: { digest: `sha256:${string}` }[] }
    return ((await parse(objects[0]!.digest)) as { data: { v: string } }).data.v
  }
  const row = (name = 'web') => hub.client.get(FleetBundle, { namespace: 'fleet-default', name })
  return { hub, create, patch, settle, valueOn, row }
}

test('a written Bundle delivers its files, follows a change, and is removed with its objects', async (t) => {
  const { hub, create, patch, settle, valueOn, row } = await world(t)
  await create({
    resources: [{ name: 'cm.yaml', content: configMap('1') }],
    targets: [{ clusterSelector: PROD }],
  })
  assert.deepEqual([await valueOn('c1'), await valueOn('c2')], ['1', undefined])
  const { status } = await row()
  assert.deepEqual([status?.display?.readyClusters, status?.display?.state], ['1/1', 'Ready'])
  assert.equal(findCondition(status?.conditions, 'Ready')?.status, 'True')
  assert.equal(findCondition(status?.conditions, 'Exact')?.status, 'True')
  assert.deepEqual(status?.findings, undefined)

  const content = base64(new Uint8Array(gzipSync(utf8(configMap('2')))))
  await patch({ resources: [{ name: 'cm.yaml', content, encoding: 'base64+gz' }], targets: [{ clusterSelector: {} }] })
  assert.deepEqual([await valueOn('c1'), await valueOn('c2')], ['2', '2'])

  await hub.client.delete(FleetBundle, { namespace: 'fleet-default', name: 'web' })
  await settle()
  assert.deepEqual([await valueOn('c1'), await valueOn('c2')], [undefined, undefined])
  assert.deepEqual((await hub.client.list(Source, { namespace: 'fleet-default' })).items, [])
})

test('targets of a written Bundle customize as in Fleet, with and without restrictions', async (t) => {
  const { create, patch, valueOn } = await world(t)
  const custom = (where: string, more: object) => ({ helm: { values: { where } }, ...more })
  // C8: without restrictions, the first target that matches selects the cluster and customizes it.
  await create({
    resources: CHART,
    helm: { values: { replicas: 3, where: 'base' } },
    targets: [custom('prod', { clusterSelector: PROD }), custom('second', { clusterSelector: {} })],
  })
  assert.deepEqual([await valueOn('c1'), await valueOn('c2')], ['3 prod', '3 second'])
  // With restrictions, the last targets select, and those before them only customize.
  await patch({
    targets: [custom('prod', { clusterSelector: PROD }), { name: 'all', clusterSelector: {} }],
    targetRestrictions: [{ name: 'all', clusterSelector: {} }],
  })
  assert.deepEqual([await valueOn('c1'), await valueOn('c2')], ['3 prod', '3 base'])
})

test('a written Bundle that cannot be read keeps what is delivered', async (t) => {
  const { hub, create, patch, valueOn, row } = await world(t)
  await create({ resources: [{ name: 'cm.yaml', content: configMap('1') }], targets: [{ clusterSelector: {} }] })
  await patch({ valuesHash: 'abc' })
  assert.match((await row()).status?.display?.message ?? '', /valuesHash says that the values are in a Secret/)
  assert.equal(await valueOn('c1'), '1')
  await patch({ valuesHash: null, resources: [] })
  assert.match((await row()).status?.display?.message ?? '', /resources has no file .* Nothing that is delivered/)
  assert.equal(await valueOn('c1'), '1')
  await patch({ resources: [{ name: 'cm.yaml', content: 'x', encoding: 'base64+gz' }] })
  assert.match((await row()).status?.display?.message ?? '', /"cm.yaml" of spec.inline.files is not base64 of gzip/)
  assert.equal(await valueOn('c1'), '1')

  await hub.create(buildBundle('fleet-default/other', { manifests: configMapManifest('a', {}) }), Bundle)
  await create({ resources: [{ name: 'cm.yaml', content: configMap('1') }] }, 'other')
  assert.match((await row('other')).status?.display?.message ?? '', /Bundle other .*was not made for this Bundle/)
})

test('a Bundle without targets reaches no cluster, a paused one waits, and those that Fleet made are left', async (t) => {
  const { hub, create, patch, valueOn, row } = await world(t)
  const resources = [{ name: 'cm.yaml', content: configMap('1') }]
  await create({ resources })
  assert.equal(await valueOn('c1'), undefined)
  assert.equal(findCondition((await row()).status?.conditions, 'Ready')?.message, 'No cluster is reached yet.')
  await create({ resources, paused: true, targets: [{ clusterSelector: {} }] }, 'later')
  assert.equal(await valueOn('c1'), undefined)
  const { display } = (await row('later')).status ?? {}
  assert.deepEqual([display?.readyClusters, display?.state], ['0/2', 'Pending'])
  await patch({ paused: false }, 'later')
  assert.equal(await valueOn('c1'), '1')

  const labels = { 'fleet.cattle.io/repo-name': 'apps' }
  await create({ resources, targets: [{ clusterSelector: {} }] }, 'apps-web', { labels })
  assert.match((await row('apps-web')).status?.display?.message ?? '', /Fleet made this Bundle for GitRepo apps/)
  await create({ resources, targets: [{ clusterSelector: {} }] }, 'fleet-agent-c1')
  assert.match((await row('fleet-agent-c1')).status?.display?.message ?? '', /the agent of Fleet.*flotilla cluster add/)
  assert.equal(await hub.find(Bundle, 'fleet-default/apps-web'), undefined)
  assert.equal(await hub.find(Bundle, 'fleet-default/fleet-agent-c1'), undefined)
})
