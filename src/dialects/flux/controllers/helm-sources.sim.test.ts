/** HelmRepositories, HelmCharts and OCIRepositories as users write them, on the real controllers in virtual time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import { digestOf } from '../../../core/crypto/digest.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { Source } from '../../../kinds/native/source.ts'
import { storeFiles } from '../../../source/store-files.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { GitRepository } from '../kinds.ts'
import type { SourceStatus } from '../source-kinds.ts'
import { HelmChart, HelmRepository, OCIRepository } from '../source-kinds.ts'

type Spec = Record<string, unknown>
type Followed = KubeObject & { spec: Spec; status?: SourceStatus }

const NS = 'flux-system'
const INDEX = digestOf('index')
const ARCHIVE = digestOf('archive')
const CHART = { 'Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.2.0\nappVersion: "7"\n', 'values.yaml': '' }

async function world(t: TestContext) {
  const hub = await startControllersHome(['flux'])
  t.after(() => hub.close())
  let failure: string | undefined
  let version = '1.2.0'
  hub.serveSources(async ({ spec, previous }) => {
    if (failure !== undefined) return { kind: 'Failed', reason: 'NotFound', message: failure, retry: true }
    const files: Record<string, string> = spec.git
      ? Object.fromEntries(Object.entries(CHART).map(([path, text]) => [`charts/web/${path}`, text]))
      : CHART
    const stored = await storeFiles(
      new Map(Object.entries(files).map(([path, text]) => [path, utf8(text)])),
      spec,
      hub.blobs,
    )
    const about = spec.git
      ? { revision: 'main@sha1:0123456789abcdef0123456789abcdef01234567', commit: '0123456789abcdef' }
      : spec.helm?.index
        ? { revision: INDEX, commit: INDEX }
        : { revision: `${version}@${ARCHIVE}`, commit: ARCHIVE }
    if (previous?.revision === about.revision) return { kind: 'Same' }
    return { kind: 'New', artifact: { ...stored, ...about, fetchedBytes: 4711, from: 'x' } }
  })
  const create = async (type: Kind<never>, name: string, spec: Spec, annotations: Record<string, string> = {}) => {
    const kind = type as unknown as Kind<Followed>
    await hub.create(build(kind, `${NS}/${name}`, { spec }, { annotations }), kind)
    await hub.clock.advance(5000)
  }
  const found = async (type: Kind<never>, name: string) => await hub.find<Followed>(type, `${NS}/${name}`)
  const ready = async (type: Kind<never>, name: string) => {
    const one = (await found(type, name))?.status?.conditions?.find((condition) => condition.type === 'Ready')
    return one ? `${one.status} ${one.reason}: ${one.message}` : '-'
  }
  const source = async (name: string) => (await hub.find(Source, `${NS}/${name}`))?.spec
  return {
    hub,
    create,
    found,
    ready,
    source,
    fail: (message: string | undefined) => (failure = message),
    publish: (next: string) => (version = next),
  }
}

const Helm = HelmRepository as unknown as Kind<never>
const Chart = HelmChart as unknown as Kind<never>
const Oci = OCIRepository as unknown as Kind<never>
const Git = GitRepository as unknown as Kind<never>

test('a HelmRepository has the digest and size of its index; credentials and certificates are named', async (t) => {
  const { create, found, ready, source, fail, hub } = await world(t)
  await create(Helm, 'web', {
    url: 'https://charts.example.com/stable/',
    interval: '5m',
    secretRef: { name: 'basic' },
    certSecretRef: { name: 'tls' },
  })
  assert.deepEqual(await source('helmrepository-web'), {
    helm: { url: 'https://charts.example.com/stable', index: true, verify: false },
    credentials: 'basic',
    certificates: 'tls',
    interval: '5m0s',
    timeout: '60s',
    suspend: false,
  })
  assert.equal(
    await ready(Helm, 'web'),
    'False IndexationFailed: failed to fetch Helm repository index: spec.credentials names Secret basic, which does not exist. There is no artifact yet.',
  )
  await create(Helm, 'open', { url: 'https://charts.example.com/open' })
  assert.equal(await ready(Helm, 'open'), `True Succeeded: stored artifact: revision '${INDEX}'`)
  const { artifact } = (await found(Helm, 'open'))!.status!
  assert.deepEqual([artifact?.revision, artifact?.digest, artifact?.size], [INDEX, INDEX, 4711])
  fail('there is nothing at this address')
  await hub.clock.advance(300_000)
  assert.match(await ready(Helm, 'open'), /^False IndexationFailed: .*there is nothing at this address/)
  assert.equal((await found(Helm, 'open'))?.status?.artifact?.revision, INDEX, 'the artifact stays')
})

test('what a HelmRepository asks for and the hub does not serve is refused by name', async (t) => {
  const { create, ready, source } = await world(t)
  await create(Helm, 'cloud', { url: 'oci://123.dkr.ecr.aws.com', type: 'oci', provider: 'aws' })
  await create(Helm, 'wrong', { url: 'oci://registry.example.com' })
  await create(Helm, 'kind', { url: 'https://a.example.com', type: 'git' })
  assert.match(await ready(Helm, 'cloud'), /^False Refused: spec\.provider is "aws", which is not served/)
  assert.match(await ready(Helm, 'wrong'), /^False Refused: spec\.url is "oci:.*write an address such as https:/)
  assert.match(await ready(Helm, 'kind'), /^False Refused: spec\.type is "git"; use default or oci/)
  assert.equal(await source('helmrepository-wrong'), undefined)
})

test('a chart of a HelmRepository: range, revision, digest and size of the archive', async (t) => {
  const { create, found, ready, source, publish, hub } = await world(t)
  await create(Chart, 'web', {
    chart: 'web',
    version: '>=1.0.0 <2',
    interval: '1m',
    sourceRef: { kind: 'HelmRepository', name: 'stable' },
  })
  assert.equal(
    await ready(Chart, 'web'),
    'False SourceUnavailable: failed to get source: helmrepositories.source.toolkit.fluxcd.io "stable" not found',
  )
  await create(Helm, 'stable', { url: 'https://charts.example.com', interval: '1m' })
  assert.deepEqual((await source('helmchart-web'))?.helm, {
    url: 'https://charts.example.com',
    chart: 'web',
    version: '>=1.0.0 <2',
    verify: false,
  })
  assert.equal(await ready(Chart, 'web'), "True ChartPullSucceeded: pulled 'web' chart with version '1.2.0'")
  const { artifact, ...status } = (await found(Chart, 'web'))!.status as SourceStatus & Spec
  assert.deepEqual([artifact?.revision, artifact?.digest, artifact?.size], ['1.2.0', ARCHIVE, 4711])
  assert.deepEqual([status['observedChartName'], status['observedSourceArtifactRevision']], ['web', INDEX])
  publish('1.3.0')
  await hub.clock.advance(90_000)
  assert.equal(await ready(Chart, 'web'), "True ChartPullSucceeded: pulled 'web' chart with version '1.3.0'")
  await create(Chart, 'merged', {
    chart: 'web',
    interval: '1m',
    valuesFiles: ['values.yaml', 'values-prod.yaml'],
    sourceRef: { kind: 'HelmRepository', name: 'stable' },
  })
  assert.equal(
    await ready(Chart, 'merged'),
    "True ChartPackageSucceeded: packaged 'web' chart with version '1.3.0+1' and merged values files [values.yaml values-prod.yaml]",
  )
})

test('a chart of a registry is an artifact of its tag or range', async (t) => {
  const { create, ready, source } = await world(t)
  await create(Helm, 'registry', { url: 'oci://ghcr.io/team/charts', type: 'oci' })
  assert.equal(await ready(Helm, 'registry'), '-')
  const chart = async (name: string, version: string | undefined) => {
    const sourceRef = { kind: 'HelmRepository', name: 'registry' }
    await create(Chart, name, { chart: 'web', interval: '1m', sourceRef, ...(version && { version }) })
    return (await source(`helmchart-${name}`))?.oci
  }
  const url = 'oci://ghcr.io/team/charts/web'
  assert.deepEqual(await chart('any', undefined), { url, semver: '*' })
  assert.deepEqual(await chart('range', '1.x'), { url, semver: '1.x' })
  assert.deepEqual(await chart('exact', '1.2.0+b1'), { url, tag: '1.2.0_b1' })
  assert.equal(await ready(Chart, 'any'), "True ChartPullSucceeded: pulled 'web' chart with version '1.2.0'")
})

test('a chart of a GitRepository is read from its Source', async (t) => {
  const { create, found, ready, source } = await world(t)
  const sourceRef = { kind: 'GitRepository', name: 'fleet' }
  await create(Chart, 'web', { chart: './charts/web', interval: '1m', sourceRef })
  assert.match(await ready(Chart, 'web'), /^False SourceUnavailable: .*gitrepositories.*"fleet" not found/)
  await create(Git, 'fleet', { url: 'https://git.example.com/fleet', interval: '1m', ref: { branch: 'main' } })
  assert.equal(await ready(Chart, 'web'), "True ChartPackageSucceeded: packaged 'web' chart with version '1.2.0'")
  assert.equal(await source('helmchart-web'), undefined, 'the repository is not fetched twice')
  await create(Chart, 'each', { chart: 'charts/web', interval: '1m', sourceRef, reconcileStrategy: 'Revision' })
  assert.equal((await found(Chart, 'each'))?.status?.artifact?.revision, '1.2.0+0123456789ab')
  await create(Chart, 'none', { chart: 'charts/none', interval: '1m', sourceRef })
  assert.equal(
    await ready(Chart, 'none'),
    'False ChartPackageError: chart metadata error: there is no charts/none/Chart.yaml in the source',
  )
  await create(Chart, 'bucket', { chart: 'x', interval: '1m', sourceRef: { kind: 'Bucket', name: 'x' } })
  assert.match(await ready(Chart, 'bucket'), /^False Refused: spec\.sourceRef\.kind is "Bucket"; use one of/)
})

test('an OCIRepository follows a digest, a range or a tag', async (t) => {
  const { create, found, ready, source } = await world(t)
  const url = 'oci://ghcr.io/team/manifests'
  const digest = digestOf('manifest')
  const refs: readonly (readonly [Spec | undefined, Spec])[] = [
    [undefined, { url, tag: 'latest' }],
    [
      { tag: 'stable', semver: '1.x' },
      { url, semver: '1.x' },
    ],
    [
      { digest, semver: '1.x' },
      { url, digest },
    ],
  ]
  for (const [at, [ref, oci]] of refs.entries()) {
    await create(Oci, `m${at}`, { url, interval: '1m', ...(ref && { ref }) })
    assert.deepEqual((await source(`ocirepository-m${at}`))?.oci, oci)
  }
  assert.equal(await ready(Oci, 'm0'), `True Succeeded: stored artifact for digest '1.2.0@${ARCHIVE}'`)
  const layerSelector = { mediaType: 'application/vnd.cncf.helm.chart.content.v1.tar+gzip', operation: 'copy' }
  await create(Oci, 'chart', { url, interval: '1m', layerSelector, ignore: '/x', insecure: true })
  assert.deepEqual((await source('ocirepository-chart'))?.oci, {
    url,
    tag: 'latest',
    mediaType: layerSelector.mediaType,
    insecure: true,
  })
  const status = (await found(Oci, 'chart'))?.status as Spec
  assert.deepEqual([status['observedIgnore'], status['observedLayerSelector']], ['/x', layerSelector])
  await create(Oci, 'signed', { url, interval: '1m', verify: { provider: 'cosign' } })
  assert.match(await ready(Oci, 'signed'), /^False Refused: spec\.verify is refused: signatures of cosign/)
  await create(Oci, 'pinned', { url, interval: '1m', ref: { digest: 'sha256:1' } })
  assert.match(await ready(Oci, 'pinned'), /^False Refused: spec\.ref\.digest is "sha256:1"; write sha256:/)
})

test('suspended sources are not fetched, and a request fetches at once', async (t) => {
  const { hub, create, found } = await world(t)
  await create(Helm, 'web', { url: 'https://charts.example.com', suspend: true })
  assert.equal(hub.fetches.length, 0)
  await create(Helm, 'other', { url: 'https://charts.example.com', interval: '10h' })
  const before = hub.fetches.length
  const object = (await found(Helm, 'other'))!
  const annotations = { 'reconcile.fluxcd.io/requestedAt': 'now' }
  await hub.client.update(HelmRepository, { ...object, metadata: { ...object.metadata, annotations } })
  await hub.clock.advance(5000)
  assert.equal(hub.fetches.length, before + 1)
  assert.equal((await found(Helm, 'other'))?.status?.lastHandledReconcileAt, 'now')
})
