/**
 * HelmReleases as users write them, from their charts to what each cluster should have, on the real controllers in
 * virtual time.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import { digestOf } from '../../../core/crypto/digest.ts'
import { ConfigMap, Namespace, Secret } from '../../../kinds/builtin/core.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { Source } from '../../../kinds/native/source.ts'
import { storeFiles } from '../../../source/store-files.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { GitRepository, Kustomization } from '../kinds.ts'
import { HelmRelease } from '../release/release-kind.ts'
import { HelmChart, HelmRepository, OCIRepository } from '../source-kinds.ts'

type Spec = Record<string, unknown>
type Files = Readonly<Record<string, string>>

const NS = 'flux-system'
const CHART: Files = {
  'Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\nappVersion: "7"\n',
  'values.yaml': 'word: chart\n',
  'values-prod.yaml': 'word: prod\n',
  'crds/crd.yaml':
    'apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.com}\n',
  'templates/cm.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {word: {{ .Values.word | quote }}, chart: {{ .Chart.Version | quote }}}\n',
  'templates/test.yaml':
    'apiVersion: v1\nkind: Pod\nmetadata: {name: try, annotations: {helm.sh/hook: test}}\nspec: {containers: []}\n',
}

async function world(t: TestContext) {
  const hub = await startControllersHome(['flux'])
  t.after(() => hub.close())
  let chart = { version: '1.0.0', files: CHART }
  let tree: Files = {}
  hub.serveSources(async ({ spec, previous }) => {
    const files = spec.helm?.index
      ? { 'charts.json': '{}' }
      : spec.git
        ? {
            ...tree,
            ...Object.fromEntries(Object.entries(chart.files).map(([path, text]) => [`charts/web/${path}`, text])),
          }
        : chart.files
    const stored = await storeFiles(
      new Map(Object.entries(files).map(([path, text]) => [path, utf8(text)])),
      spec,
      hub.blobs,
    )
    const revision = spec.git ? `main@sha1:${stored.digest.slice(7, 20)}` : `${chart.version}@${stored.digest}`
    if (previous?.revision === revision) return { kind: 'Same' }
    return { kind: 'New', artifact: { ...stored, revision, commit: stored.digest, fetchedBytes: 1, from: 'x' } }
  })
  for (const name of ['c1', 'c2']) {
    await hub.create(buildCluster(name, {}), Cluster)
    await hub.report(name, 'Ready')
  }
  const settle = async (state: 'Ready' | 'Failed' | 'Progressing' = 'Ready', message?: string) => {
    for (let round = 0; round < 4; round++) {
      await hub.clock.advance(20_000)
      for (const { metadata } of (await hub.client.list(Cluster)).items) await hub.report(metadata.name, state, message)
    }
    await hub.clock.advance(20_000)
  }
  await hub.create(build(Placement, `${NS}/all`, { spec: { clusterSelector: {} } }), Placement)
  const place = async () => {
    const found = (await hub.find(Namespace, NS))!
    const annotations = { 'flotilla.dev/placement': 'all' }
    await hub.client.update(Namespace, { ...found, metadata: { ...found.metadata, annotations } })
  }
  const repository = async () =>
    await hub.create(
      build(HelmRepository, `${NS}/stable`, { spec: { url: 'https://charts.example.com', interval: '1m' } }),
      HelmRepository,
    )
  const release = async (name: string, spec: Spec = {}) => {
    const sourceRef = { kind: 'HelmRepository', name: 'stable' }
    const chartSpec = { chart: 'web', version: '*', interval: '1m', sourceRef }
    const own = 'chartRef' in spec ? {} : { chart: { spec: chartSpec } }
    await hub.create(build(HelmRelease, `${NS}/${name}`, { spec: { interval: '10m', ...own, ...spec } }), HelmRelease)
  }
  const edit = async (name: string, spec: Spec) => {
    const found = (await hub.find(HelmRelease, `${NS}/${name}`))!
    await hub.client.update(HelmRelease, { ...found, spec: { ...found.spec, ...spec } })
  }
  const status = async (name: string) => (await hub.find(HelmRelease, `${NS}/${name}`))?.status
  const condition = async (name: string, type = 'Ready') => {
    const one = (await status(name))?.conditions?.find((found) => found.type === type)
    return one ? `${one.status} ${one.reason}: ${one.message}` : '-'
  }
  /** The objects that a cluster should have for a release. */
  const objects = async (name: string, cluster = 'c1'): Promise<UnknownObject[]> => {
    const parse = async (digest: `sha256:${string}`) =>
      JSON.parse(new TextDecoder().decode(await hub.blobs.get(digest))) as never
    const assignment = (await hub.client.list(Assignment)).items.find(({ metadata }) => metadata.name === cluster)
    const entry = assignment?.spec.entries.find(({ bundle }) => bundle === `${NS}/helmrelease-${name}`)
    if (!entry) return []
    type Digested = { readonly digest: `sha256:${string}` }
    const { objects: listed, hooks = [] } = (await parse(entry.set)) as { objects: Digested[]; hooks?: Digested[] }
    return await Promise.all([...listed, ...hooks].map(async ({ digest }) => (await parse(digest)) as UnknownObject))
  }
  const config = async (name: string) =>
    (await objects(name)).find(({ kind }) => kind === 'ConfigMap') as
      | (UnknownObject & { data: Record<string, string> })
      | undefined
  const bundle = async (name: string) => (await hub.find(Bundle, `${NS}/helmrelease-${name}`))?.spec
  return {
    hub,
    settle,
    place,
    repository,
    release,
    edit,
    status,
    condition,
    objects,
    config,
    bundle,
    publish: (version: string, files: Files = {}) => {
      const about = CHART['Chart.yaml']!.replace('1.0.0', version)
      chart = { version, files: { ...CHART, 'Chart.yaml': about, ...files } }
    },
    push: (next: Files) => (tree = next),
  }
}

test('an unedited HelmRelease is delivered, and its status is as in Flux', async (t) => {
  const { hub, settle, place, repository, release, status, condition, objects, config, publish } = await world(t)
  await release('web', { values: { word: 'inline' } })
  await settle()
  assert.match(await condition('web'), /^False SourceNotReady: HelmChart 'flux-system\/flux-system-web' is not ready: /)
  await repository()
  await settle()
  assert.match(await condition('web'), /^False NoCluster: no cluster is named: set the annotation/)
  await place()
  await settle()
  const done = 'Helm install succeeded for release flux-system/web.v1 with chart web@1.0.0 on 2 clusters'
  assert.equal(await condition('web'), `True InstallSucceeded: ${done}`)
  assert.equal(await condition('web', 'Released'), `True InstallSucceeded: ${done}`)
  assert.equal(await condition('web', 'TestSuccess'), '-')
  assert.deepEqual((await config('web'))?.data, { word: 'inline', chart: '1.0.0' })
  assert.deepEqual((await config('web'))?.metadata.labels, {
    'helm.toolkit.fluxcd.io/name': 'web',
    'helm.toolkit.fluxcd.io/namespace': NS,
  })
  assert.equal((await config('web'))?.metadata.namespace, NS)
  const first = (await status('web'))!
  assert.deepEqual(
    [first.helmChart, first.lastAttemptedRevision, first.lastAttemptedReleaseAction, first.storageNamespace],
    [`${NS}/flux-system-web`, '1.0.0', 'install', NS],
  )
  assert.equal(first.lastAttemptedConfigDigest, digestOf('word: inline\n'))
  assert.deepEqual(first.clusters, { total: 2, ready: 2 })
  const [snapshot] = first.history!
  assert.deepEqual(
    [snapshot?.name, snapshot?.version, snapshot?.chartVersion, snapshot?.appVersion, snapshot?.status],
    ['web', 1, '1.0.0', '7', 'deployed'],
  )
  const crd = (await objects('web')).find(({ kind }) => kind === 'CustomResourceDefinition')
  assert.equal(crd?.metadata.annotations?.['flotilla.dev/apply'], 'CreateOnly')
  assert.equal((await objects('web')).length, 2, 'tests are not delivered unless they are enabled')

  publish('1.1.0')
  await settle()
  await settle()
  assert.equal(
    await condition('web'),
    'True UpgradeSucceeded: Helm upgrade succeeded for release flux-system/web.v2 with chart web@1.1.0 on 2 clusters',
  )
  assert.deepEqual(
    (await status('web'))?.history?.map((one) => `${one.version} ${one.chartVersion} ${one.status}`),
    ['2 1.1.0 deployed', '1 1.0.0 superseded'],
  )
  hub.writes.length = 0
  await hub.clock.advance(600_000)
  assert.deepEqual(
    hub.writes.filter((write) => /fluxcd|bundles|placements\//.test(write)),
    [],
    'then writes stop',
  )
})

test('names, namespaces and options of the release', async (t) => {
  const { settle, place, repository, release, config, bundle } = await world(t)
  await place()
  await repository()
  await release('web', {
    targetNamespace: 'shop',
    timeout: '3m',
    serviceAccountName: 'deployer',
    commonMetadata: { labels: { team: 'a' }, annotations: { note: 'b' } },
    driftDetection: {
      mode: 'enabled',
      ignore: [{ paths: ['/spec/replicas'], target: { kind: 'Deployment', name: '.*' } }],
    },
    install: { createNamespace: true, remediation: { retries: 3, remediateLastFailure: true } },
    upgrade: { force: true, crds: 'CreateReplace', remediation: { retries: 2 } },
    uninstall: { deletionPropagation: 'foreground' },
  })
  await release(`long-${'x'.repeat(60)}`, {})
  await release('plain', { releaseName: 'other' })
  await settle()
  const made = await config('web')
  assert.deepEqual([made?.metadata.name, made?.metadata.namespace], ['shop-web', 'shop'])
  assert.deepEqual([made?.metadata.labels?.['team'], made?.metadata.annotations?.['note']], ['a', 'b'])
  const spec = (await bundle('web'))!
  assert.deepEqual(spec.apply, { force: true, timeout: '3m', immutable: 'Recreate' })
  assert.deepEqual(spec.drift, { mode: 'Correct' })
  assert.deepEqual(spec.ignore, [{ kind: 'Deployment', name: '*', pointers: ['/spec/replicas'] }])
  assert.deepEqual(spec.namespaces, { create: true })
  assert.deepEqual(spec.remediation, { retries: 2, install: 'Uninstall', upgrade: 'RollBack' })
  assert.deepEqual(spec.executor, { namespace: NS, name: 'deployer' })
  assert.deepEqual(spec.delete, {
    removed: 'Delete',
    unplaced: 'Delete',
    bundleDeleted: 'Delete',
    propagation: 'Foreground',
  })
  assert.equal((await config('plain'))?.metadata.name, 'other')
  assert.deepEqual((await bundle('plain'))?.drift, { mode: 'Ignore' }, 'as in Flux, drift is not looked at')
  const long = (await config(`long-${'x'.repeat(60)}`))?.metadata.name ?? ''
  assert.match(long, /^long-x{35}-[0-9a-f]{12}$/)
})

test('values of ConfigMaps and Secrets, in the order of Flux; another tenant is not read', async (t) => {
  const { hub, settle, place, repository, release, edit, status, condition, config } = await world(t)
  await place()
  await repository()
  const data = (text: string) => Buffer.from(text).toString('base64')
  await hub.create(build(ConfigMap, `${NS}/values`, { data: { 'values.yaml': 'word: map\n' } }), ConfigMap)
  await hub.create(build(Namespace, 'other', {}), Namespace)
  await hub.create(build(Secret, 'other/secret', { data: { word: data('stolen') } }), Secret)
  await release('web', { valuesFrom: [{ kind: 'ConfigMap', name: 'values' }] })
  await settle()
  assert.equal((await config('web'))?.data['word'], 'map')
  assert.equal((await status('web'))?.lastAttemptedConfigDigest, digestOf('word: map\n'))
  const secret = { kind: 'Secret', name: 'secret', valuesKey: 'word', targetPath: 'word' }
  await edit('web', { valuesFrom: [{ kind: 'ConfigMap', name: 'values' }, secret] })
  await settle()
  assert.match(await condition('web'), /^False UpgradeFailed: .*could not resolve Secret chart values reference/)
  await hub.create(build(Secret, `${NS}/secret`, { data: { word: data('hidden') } }), Secret)
  await settle()
  assert.match(await condition('web'), /flotilla\.dev\/input=allowed/)
  assert.equal((await config('web'))?.data['word'], 'map', 'what is delivered stays')
  const found = await hub.client.get(Secret, { namespace: NS, name: 'secret' })
  const labels = { 'flotilla.dev/input': 'allowed' }
  await hub.client.update(Secret, { ...found, metadata: { ...found.metadata, labels } })
  await settle()
  await settle()
  assert.match(await condition('web'), /^True UpgradeSucceeded/)
  const after = (await status('web'))!
  assert.equal(after.lastAttemptedConfigDigest, undefined)
  assert.ok(!JSON.stringify([after, await hub.client.list(Bundle)]).includes('hidden'))
  await edit('web', { valuesFrom: [{ kind: 'ConfigMap', name: 'missing' }] })
  await settle()
  assert.match(
    await condition('web'),
    /^False ValuesError: could not resolve ConfigMap chart values reference 'flux-system\/missing' with key 'values\.yaml': configmaps "missing" not found/,
  )
})

test('post renderers change objects; tests run as hooks when they are enabled', async (t) => {
  const { settle, place, repository, release, condition, objects, config } = await world(t)
  await place()
  await repository()
  const patch = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {added: yes please}\n'
  await release('web', { postRenderers: [{ kustomize: { patches: [{ patch }] } }], test: { enable: true } })
  await settle()
  assert.equal((await config('web'))?.data['added'], 'yes please')
  const pod = (await objects('web')).find(({ kind }) => kind === 'Pod')
  assert.equal(pod?.metadata.annotations?.['helm.sh/hook'], 'post-install,post-upgrade')
  assert.equal(
    await condition('web', 'TestSuccess'),
    'True TestSucceeded: Helm test succeeded for release flux-system/web.v1 with chart web@1.0.0 on 2 clusters',
  )
  await release('filtered', { test: { enable: true, filters: [{ name: 'try', exclude: true }] } })
  await release('wrong', { postRenderers: [{ kustomize: { patches: [{ patch: 'kind: [' }] } }] })
  await settle()
  assert.equal(
    (await objects('filtered')).some(({ kind }) => kind === 'Pod'),
    false,
  )
  assert.match(
    await condition('wrong'),
    /^False InstallFailed: Helm install failed for release flux-system\/wrong with/,
  )
})

test('a failed upgrade and its remediation are told', async (t) => {
  const { settle, place, repository, release, edit, status, condition } = await world(t)
  await place()
  await repository()
  await release('web', { upgrade: { remediation: { retries: 1 } } })
  await settle()
  await edit('web', { values: { word: 'bad' } })
  await settle('Failed', 'rolled back to the previous set: Deployment web is not healthy')
  assert.match(
    await condition('web', 'Released'),
    /^False UpgradeFailed: Helm upgrade failed for release flux-system\/web with chart web@1\.0\.0: /,
  )
  assert.match(
    await condition('web', 'Remediated'),
    /^True RollbackSucceeded: Helm rollback to previous release flux-system\/web\.v1 with chart web@1\.0\.0 succeeded: /,
  )
  assert.match(await condition('web'), /^False RollbackSucceeded/)
  assert.deepEqual(
    (await status('web'))?.history?.map(({ version, status: state }) => `${version} ${state}`),
    ['2 failed', '1 deployed'],
  )
  await edit('web', { values: { word: 'good' } })
  await settle()
  assert.match(await condition('web'), /^True UpgradeSucceeded: .*web\.v3/)
  assert.equal(await condition('web', 'Remediated'), '-')
})

test('charts of a GitRepository and an OCIRepository; values files; a broken chart takes nothing away', async (t) => {
  const { hub, settle, place, repository, release, condition, config, publish } = await world(t)
  await place()
  await repository()
  const git = { url: 'https://git.example.com/fleet', interval: '1m', ref: { branch: 'main' } }
  await hub.create(build(GitRepository, `${NS}/fleet`, { spec: git }), GitRepository)
  const oci = { url: 'oci://ghcr.io/team/web', interval: '1m' }
  await hub.create(build(OCIRepository, `${NS}/web`, { spec: oci }), OCIRepository)
  const sourceRef = { kind: 'GitRepository', name: 'fleet' }
  const chart = {
    chart: './charts/web',
    sourceRef,
    reconcileStrategy: 'Revision',
    valuesFiles: ['charts/web/values-prod.yaml'],
  }
  await release('git', { chart: { spec: chart } })
  await release('oci', { chartRef: { kind: 'OCIRepository', name: 'web' } })
  await release('files', {
    chart: {
      spec: { chart: 'web', sourceRef: { kind: 'HelmRepository', name: 'stable' }, valuesFiles: ['values-prod.yaml'] },
    },
  })
  await settle()
  await settle()
  assert.match((await config('git'))?.data['chart'] ?? '', /^1\.0\.0\+sha256:[0-9a-f]{5}\.1$/)
  assert.equal((await config('git'))?.data['word'], 'prod')
  assert.match(await condition('oci'), /^True InstallSucceeded: .* with chart web@1\.0\.0 on 2 clusters/)
  assert.deepEqual((await config('files'))?.data, { word: 'prod', chart: '1.0.0+1' })
  const before = await config('oci')
  publish('1.2.0', { 'templates/cm.yaml': '{{ fail "no" }}' })
  await settle()
  await settle()
  assert.match(await condition('oci'), /^False UpgradeFailed: Helm upgrade failed for release .*no/)
  assert.deepEqual(await config('oci'), before)
})

test('dependencies, suspension and deletion', async (t) => {
  const { hub, settle, place, repository, release, edit, condition, bundle, config } = await world(t)
  await place()
  await repository()
  await release('app', { dependsOn: [{ name: 'base' }] })
  await settle()
  assert.match(
    await condition('app'),
    /^False DependencyNotReady: dependency 'flux-system\/base' not found: helmreleases/,
  )
  await release('base')
  await settle()
  assert.match(await condition('app'), /^True InstallSucceeded/)
  assert.deepEqual((await bundle('app'))?.dependsOn, [{ bundle: `${NS}/helmrelease-base` }])
  await edit('app', { suspend: true })
  await settle()
  assert.equal((await bundle('app'))?.suspend, true)
  await edit('app', { values: { word: 'later' } })
  await settle()
  assert.equal((await config('app'))?.data['word'], 'chart')
  for (const name of ['app', 'base']) await hub.client.delete(HelmRelease, { namespace: NS, name })
  await settle()
  const removals = (await hub.client.list(Rollout)).items.flatMap(({ spec }) => spec.removal ?? [])
  assert.deepEqual(
    removals.map(({ bundle: name, policy }) => `${name} ${policy}`).sort(),
    ['helmrelease-app Orphan', 'helmrelease-base Delete'],
    'Flux removes nothing of a suspended release',
  )
  assert.deepEqual((await hub.client.list(HelmRelease)).items, [])
  assert.deepEqual((await hub.client.list(HelmChart)).items, [])
  assert.deepEqual(
    (await hub.client.list(Source)).items.map(({ metadata }) => metadata.name),
    ['helmrepository-stable'],
  )
})

test('what is not served is refused by name', async (t) => {
  const { place, release, settle, condition } = await world(t)
  await place()
  const sourceRef = { kind: 'HelmRepository', name: 'stable', namespace: 'other' }
  await release('elsewhere', { chart: { spec: { chart: 'web', sourceRef } } })
  await release('both', { chart: { spec: { chart: 'web', sourceRef } }, chartRef: { kind: 'HelmChart', name: 'x' } })
  await release('external', { chartRef: { kind: 'ExternalArtifact', name: 'x' } })
  await release('exprs', { healthCheckExprs: [{ kind: 'X' }] })
  await release('signed', { chart: { spec: { chart: 'web', sourceRef, verify: { provider: 'cosign' } } } })
  await settle()
  assert.match(await condition('elsewhere'), /^False AccessDenied: can't access .*other.*cross-namespace references/)
  assert.match(await condition('both'), /^False Refused: spec\.chart or spec\.chartRef is required, and not both/)
  assert.match(await condition('external'), /^False Refused: spec\.chartRef\.kind is "ExternalArtifact"/)
  assert.match(await condition('exprs'), /^False Refused: spec\.healthCheckExprs: .*expression Current not specified/)
  assert.match(await condition('signed'), /^False Refused: spec\.chart\.spec\.verify is refused/)
})

test('a HelmRelease and its repository in the build of a Kustomization are followed, also of another namespace', async (t) => {
  const { hub, place, settle, push, config, condition } = await world(t)
  await place()
  push({
    'apps/release.yaml': [
      'apiVersion: source.toolkit.fluxcd.io/v1beta2\nkind: HelmRepository\nmetadata: {name: web, namespace: shop}\nspec: {url: "https://charts.example.com", interval: 5m}\n',
      'apiVersion: helm.toolkit.fluxcd.io/v2beta2\nkind: HelmRelease\nmetadata: {name: web, namespace: shop}\nspec:\n  interval: 5m\n  releaseName: shop\n  chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: web}}}\n  install: {createNamespace: true}\n',
    ].join('---\n'),
  })
  const git = { url: 'https://git.example.com/fleet', interval: '1m', ref: { branch: 'main' } }
  await hub.create(build(GitRepository, `${NS}/fleet`, { spec: git }), GitRepository)
  const spec = { interval: '10m', prune: true, path: './apps', sourceRef: { kind: 'GitRepository', name: 'fleet' } }
  await hub.create(build(Kustomization, `${NS}/apps`, { spec }), Kustomization)
  await settle()
  await settle()
  assert.match(await condition('shop.web'), /^True InstallSucceeded: .*release shop\/shop\.v1 with chart web@1\.0\.0/)
  const made = await config('shop.web')
  assert.deepEqual([made?.metadata.name, made?.metadata.namespace], ['shop', 'shop'])
  assert.equal(made?.metadata.labels?.['helm.toolkit.fluxcd.io/namespace'], 'shop')
  const release = await hub.find(HelmRelease, `${NS}/shop.web`)
  assert.equal(release?.metadata.annotations?.['flotilla.dev/nested-from'], 'shop/web')
  assert.notEqual(await hub.find(HelmRepository, `${NS}/shop.web`), undefined)
})
