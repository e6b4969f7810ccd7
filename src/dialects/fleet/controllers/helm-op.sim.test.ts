/** A HelmOp as users write it, from its chart to what each cluster should have, on the real controllers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import { findCondition } from '../../../core/conditions.ts'
import { Secret } from '../../../kinds/builtin/core.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Source } from '../../../kinds/native/source.ts'
import { URLS_ANNOTATION } from '../../../source/credentials.ts'
import { storeFiles } from '../../../source/store-files.ts'
import { build, buildBundle, buildCluster, configMapManifest } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { FleetBundle, HelmOp } from '../kinds.ts'

const chart = (version: string): Readonly<Record<string, string>> => ({
  'Chart.yaml': `apiVersion: v2\nname: web\nversion: ${version}\n`,
  'values.yaml': 'replicas: 1\n',
  'templates/cm.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {v: "{{ .Chart.Version }} {{ .Values.replicas }}"}\n',
})

async function world(t: TestContext) {
  const hub = await startControllersHome(['fleet'])
  t.after(() => hub.close())
  let version = '1.2.0'
  hub.serveSources(async ({ previous, spec }) => {
    const revision = `${version}@sha256:${version}`
    if (previous?.revision === revision) return { kind: 'Same' }
    const bytes = new Map(Object.entries(chart(version)).map(([path, text]) => [path, utf8(text)]))
    const stored = await storeFiles(bytes, spec, hub.blobs)
    return { kind: 'New', artifact: { ...stored, revision, commit: version, fetchedBytes: 1, from: 'x' } }
  })
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
  const create = async (spec: HelmOp['spec'], name = 'web') => {
    await hub.create(build(HelmOp, `fleet-default/${name}`, { spec }), HelmOp)
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
  const publish = async (next: string) => {
    version = next
    await settle()
  }
  const op = (name = 'web') => hub.client.get(HelmOp, { namespace: 'fleet-default', name })
  return { hub, create, settle, valueOn, publish, op }
}

const REPO = { repo: 'https://charts.example.com', chart: 'web', version: '~1.2' }
const TARGETS = [
  { name: 'prod', clusterSelector: { matchLabels: { env: 'prod' } }, helm: { values: { replicas: 3 } } },
  { clusterSelector: {} },
]

test('a HelmOp delivers its chart, follows new versions, and is removed with its objects', async (t) => {
  const { hub, create, settle, valueOn, publish, op } = await world(t)
  await hub.create(
    build(Secret, 'fleet-default/charts', {
      type: 'kubernetes.io/basic-auth',
      data: { username: 'YQ==', password: 'Yg==' },
    }),
    Secret,
  )
  await create({ helm: REPO, targets: TARGETS, pollingInterval: '30s', helmSecretName: 'charts' })
  assert.deepEqual([await valueOn('c1'), await valueOn('c2')], ['1.2.0 3', '1.2.0 1'])
  const { status } = await op()
  assert.deepEqual(
    [status?.version, status?.display?.readyBundleDeployments, status?.display?.state],
    ['1.2.0', '2/2', 'Ready'],
  )
  assert.equal(findCondition(status?.conditions, 'Ready')?.status, 'True')
  const row = await hub.client.get(FleetBundle, { namespace: 'fleet-default', name: 'web' })
  assert.equal(row.status?.display?.readyClusters, '2/2')
  // The Secret is bound to the server of the chart, and to no other.
  const secret = await hub.client.get(Secret, { namespace: 'fleet-default', name: 'charts' })
  assert.equal(secret.metadata.annotations?.[URLS_ANNOTATION], 'https://charts.example.com/')
  const [source] = (await hub.client.list(Source, { namespace: 'fleet-default' })).items
  assert.deepEqual([source?.spec.interval, source?.spec.credentials], ['30s', 'charts'])

  await publish('1.2.1')
  assert.deepEqual([await valueOn('c1'), await valueOn('c2')], ['1.2.1 3', '1.2.1 1'])
  assert.equal((await op()).status?.version, '1.2.1')

  await hub.client.delete(HelmOp, { namespace: 'fleet-default', name: 'web' })
  await settle()
  assert.deepEqual(
    (await hub.client.list(Source, { namespace: 'fleet-default' })).items.map(({ metadata }) => metadata.name),
    [],
  )
})

test('a HelmOp that cannot be read keeps what is delivered, and a name that is taken is said', async (t) => {
  const { hub, create, valueOn, op } = await world(t)
  await create({ helm: REPO, targets: [{ clusterSelector: {} }] })
  await hub.client.patch(
    HelmOp,
    { namespace: 'fleet-default', name: 'web' },
    { type: 'merge', body: { spec: { helm: { repo: null } } } },
  )
  await hub.clock.advance(60_000)
  const { status } = await op()
  assert.match(status?.display?.message ?? '', /helm\.chart must be a chart of helm\.repo.*Nothing that is delivered/)
  assert.equal(status?.display?.state, 'ErrApplied')
  assert.equal(await valueOn('c1'), '1.2.0 1')

  await hub.create(buildBundle('fleet-default/other', { manifests: configMapManifest('a', {}) }), Bundle)
  await create({ helm: REPO }, 'other')
  assert.match((await op('other')).status?.display?.message ?? '', /Bundle other .*was not made for this HelmOp/)
})
