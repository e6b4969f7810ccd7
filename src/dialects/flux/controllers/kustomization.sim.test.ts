/**
 * GitRepositories and Kustomizations as users write them, from their commits to what each cluster should have, on the
 * real controllers in virtual time.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import { ConfigMap, Namespace, Secret } from '../../../kinds/builtin/core.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { Source } from '../../../kinds/native/source.ts'
import { selectionOf } from '../../../source/fetch-request.ts'
import { storeFiles } from '../../../source/store-files.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { GitRepository, Kustomization } from '../kinds.ts'
import { Bucket, OCIRepository } from '../source-kinds.ts'

type Files = Readonly<Record<string, string>>
type Spec = Record<string, unknown>

const NS = 'flux-system'
const cm = (name: string, value: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: apps}\ndata: {v: "${value}"}\n`

const FILES: Files = {
  'apps/cm.yaml': cm('web', '1'),
  'base/cm.yaml': cm('base', '1'),
  'other/cm.yaml': cm('other', '1'),
}

async function world(t: TestContext, files: Files = FILES) {
  const hub = await startControllersHome(['flux'])
  t.after(() => hub.close())
  let tip = { commit: 'c1', files }
  hub.serveSources(async ({ previous, spec, keyring }) => {
    if (spec.git?.url.includes('missing')) {
      return { kind: 'Failed', reason: 'RepositoryNotFound', message: 'There is no repository.', retry: true }
    }
    if (previous?.commit === tip.commit && previous.selection === selectionOf(spec)) return { kind: 'Same' }
    const bytes = new Map(Object.entries(tip.files).map(([path, text]) => [path, utf8(text)]))
    const stored = await storeFiles(bytes, spec, hub.blobs)
    const name = spec.git?.ref?.name ?? spec.git?.ref?.branch ?? 'x'
    return {
      kind: 'New',
      artifact: {
        ...stored,
        revision: `${name}@sha1:${tip.commit}`,
        commit: tip.commit,
        fetchedBytes: 1,
        from: 'x',
        ...(spec.git?.verify && keyring !== undefined ? { verified: `commit ${tip.commit} with key ${keyring}` } : {}),
      },
    }
  })
  for (const [name, env] of Object.entries({ c1: 'prod', c2: 'dev' })) {
    await hub.create(buildCluster(name, { labels: { env, 'example.com/zone': `zone-${name}` } }), Cluster)
    await hub.report(name, 'Ready')
  }
  const settle = async (state: 'Ready' | 'Failed' = 'Ready') => {
    for (let round = 0; round < 4; round++) {
      await hub.clock.advance(20_000)
      for (const { metadata } of (await hub.client.list(Cluster)).items) await hub.report(metadata.name, state)
    }
    await hub.clock.advance(20_000)
  }
  const annotate = async (annotations: Record<string, string>) => {
    const found = (await hub.find(Namespace, NS))!
    await hub.client.update(Namespace, { ...found, metadata: { ...found.metadata, annotations } })
  }
  const place = async () => {
    await hub.create(build(Placement, `${NS}/all`, { spec: { clusterSelector: {} } }), Placement)
    await annotate({ 'flotilla.dev/placement': 'all' })
  }
  const repository = async (spec: Spec = {}, name = 'fleet', annotations: Record<string, string> = {}) =>
    await hub.create(
      build(
        GitRepository,
        `${NS}/${name}`,
        { spec: { interval: '1m', url: 'https://git.example.com/fleet', ref: { branch: 'main' }, ...spec } },
        { annotations },
      ),
      GitRepository,
    )
  const kustomization = async (name: string, spec: Spec = {}, annotations: Record<string, string> = {}) =>
    await hub.create(
      build(
        Kustomization,
        `${NS}/${name}`,
        {
          spec: {
            interval: '10m',
            prune: true,
            wait: true,
            path: './apps',
            sourceRef: { kind: 'GitRepository', name: 'fleet' },
            ...spec,
          },
        },
        { annotations },
      ),
      Kustomization,
    )
  const edit = async (name: string, spec: Spec) => {
    const found = (await hub.find(Kustomization, `${NS}/${name}`))!
    await hub.client.update(Kustomization, { ...found, spec: { ...found.spec, ...spec } })
    await settle()
  }
  const start = (commit: string, next: Files): void => {
    tip = { commit, files: next }
  }
  const push = async (commit: string, next: Files) => {
    start(commit, next)
    await settle()
  }
  /** What each cluster should have: `bundle: namespace/name value`. */
  const delivered = async (): Promise<Record<string, string[]>> => {
    const rows: Record<string, string[]> = {}
    const parse = async (digest: `sha256:${string}`) =>
      JSON.parse(new TextDecoder().decode(await hub.blobs.get(digest))) as unknown
    for (const { metadata, spec } of (await hub.client.list(Assignment)).items) {
      for (const { bundle, set } of spec.entries) {
        const { objects } = (await parse(set)) as { objects: { digest: `sha256:${string}` }[] }
        for (const { digest } of objects) {
          const object = (await parse(digest)) as { metadata: { name: string; namespace: string }; data: { v: string } }
          const row = `${bundle.split('/')[1]}: ${object.metadata.namespace}/${object.metadata.name} ${object.data.v}`
          rows[metadata.name] = [...(rows[metadata.name] ?? []), row].sort()
        }
      }
    }
    return rows
  }
  const status = async (name: string) => (await hub.find(Kustomization, `${NS}/${name}`))?.status
  const ready = async (name: string, kind: typeof Kustomization | typeof GitRepository = Kustomization) => {
    const found = await hub.find(kind, `${NS}/${name}`)
    const one = found?.status?.conditions?.find(({ type }) => type === 'Ready')
    return one ? `${one.status} ${one.reason}: ${one.message}` : '-'
  }
  return { hub, settle, annotate, place, repository, kustomization, edit, start, push, delivered, status, ready }
}

test('an unedited GitRepository and Kustomization deliver to clusters, and their status is as in Flux', async (t) => {
  const { hub, place, repository, kustomization, settle, delivered, status, ready } = await world(t)
  await place()
  await repository()
  await kustomization('apps')
  await settle()
  const row = 'kustomization-apps: apps/web 1'
  assert.deepEqual(await delivered(), { c1: [row], c2: [row] })
  const repo = await hub.find(GitRepository, `${NS}/fleet`)
  assert.equal(repo?.status?.artifact?.revision, 'main@sha1:c1')
  assert.match(repo?.status?.artifact?.digest ?? '', /^sha256:[0-9a-f]{64}$/)
  assert.equal(await ready('fleet', GitRepository), "True Succeeded: stored artifact for revision 'main@sha1:c1'")
  assert.equal(await ready('apps'), 'True ReconciliationSucceeded: Applied revision: main@sha1:c1 on 2 clusters')
  const shown = await status('apps')
  assert.deepEqual(
    [shown?.lastAppliedRevision, shown?.lastAttemptedRevision, shown?.clusters, shown?.observedGeneration],
    ['main@sha1:c1', 'main@sha1:c1', { total: 2, ready: 2 }, 1],
  )
  assert.deepEqual(shown?.inventory?.entries, [{ id: 'apps_web__ConfigMap', v: 'v1' }])
  const applied = hub.writes.filter((write) => /^PATCH .*(bundles|sources)\/[^/]*$/.test(write))
  assert.equal(applied.length, 2, 'the Source and the Bundle are written once')
  hub.writes.length = 0
  await hub.clock.advance(600_000)
  const writes = hub.writes.filter((write) => write.includes('fluxcd') || write.includes('bundles'))
  assert.deepEqual(writes, [], 'nothing is written while nothing changes')
})

test('the history has the results of the last contents, and Healthy is there while objects are waited for', async (t) => {
  const { hub, place, repository, kustomization, settle, push, edit, status, ready } = await world(t)
  await place()
  await repository()
  await kustomization('apps')
  await settle()
  const condition = async (type: string) => {
    const one = (await status('apps'))?.conditions?.find((found) => found.type === type)
    return one && `${one.status} ${one.reason}: ${one.message}`
  }
  const results = async () =>
    (await status('apps'))?.history?.map(
      ({ lastReconciledStatus, metadata, totalReconciliations }) =>
        `${lastReconciledStatus} ${metadata.revision} ${totalReconciliations}`,
    )
  assert.deepEqual(await results(), ['ReconciliationSucceeded main@sha1:c1 1'])
  assert.match((await status('apps'))?.history?.[0]?.digest ?? '', /^sha256:[0-9a-f]{64}$/)
  assert.equal(await condition('Healthy'), 'True Succeeded: Health check passed')
  await push('c2', { 'apps/cm.yaml': cm('web', '2') })
  await settle('Failed')
  assert.match(await ready('apps'), /^False HealthCheckFailed/)
  assert.match((await condition('Healthy')) ?? '', /^False HealthCheckFailed: Health check failed: /)
  await settle()
  await push('c3', { 'apps/cm.yaml': 'kind: [' })
  assert.match(await ready('apps'), /^False BuildFailed/)
  assert.deepEqual((await results())?.at(-1), 'ReconciliationSucceeded main@sha1:c1 1')
  assert.ok((await results())?.includes('HealthCheckFailed main@sha1:c2 1'))
  assert.ok(!(await results())?.join().includes('c3'), 'content that could not be built has no entry')
  await edit('apps', { wait: false })
  assert.equal(await condition('Healthy'), undefined)
  hub.writes.length = 0
  await hub.clock.advance(600_000)
  assert.deepEqual(
    hub.writes.filter((write) => write.includes('fluxcd')),
    [],
    'no entry while nothing changes',
  )
})

test('while clusters become ready, counts are saved up, and Reconciling stays', async (t) => {
  const { hub, place, repository, kustomization, settle, status, start } = await world(t)
  for (let at = 3; at <= 12; at++) await hub.create(buildCluster(`c${at}`), Cluster)
  await place()
  await repository()
  await kustomization('apps')
  await settle()
  start('c2', { 'apps/cm.yaml': cm('web', '2') })
  hub.writes.length = 0
  const seen: string[] = []
  for (let second = 0; second < 80; second++) {
    await hub.clock.advance(1000)
    // Clusters become ready one after the other.
    if (second >= 65) await hub.report(`c${second - 64}`, 'Ready')
    const conditions = (await status('apps'))?.conditions ?? []
    const of = (type: string) => conditions.find((one) => one.type === type)?.status
    seen.push(`${of('Ready')} ${of('Reconciling')}`)
  }
  assert.deepEqual([...new Set(seen)], ['True undefined', 'Unknown True'])
  const writes = hub.writes.filter((write) => /kustomizations\/apps\/status/.test(write)).length
  assert.ok(writes >= 4 && writes <= 8, `${writes} writes of the status for 12 clusters`)
})

test('a missing source, then a missing dependency, then a missing cluster is named', async (t) => {
  const { place, repository, kustomization, settle, ready, delivered } = await world(t)
  await kustomization('apps', { dependsOn: [{ name: 'base' }] })
  await settle()
  assert.equal(await ready('apps'), "False ArtifactFailed: Source 'GitRepository/fleet' not found")
  await repository()
  await settle()
  assert.equal(
    await ready('apps'),
    `False DependencyNotReady: dependency 'flux-system/base' not found: kustomizations.kustomize.toolkit.fluxcd.io "base" not found`,
  )
  await kustomization('base', { path: './base' })
  await settle()
  assert.match(
    await ready('base'),
    /^False NoCluster: no cluster is named: set the annotation flotilla\.dev\/placement/,
  )
  assert.equal(await ready('apps'), "False DependencyNotReady: dependency 'flux-system/base' is not ready")
  assert.deepEqual(await delivered(), {})
  await place()
  await settle()
  assert.match(await ready('base'), /^True/)
  await settle()
  assert.match(await ready('apps'), /^True/)
})

test('facts of the cluster and objects of the hub are variables', async (t) => {
  const files = {
    'apps/cm.yaml': cm(
      'web',
      '${CLUSTER_NAME} ${CLUSTER_LABEL_env} ${CLUSTER_LABEL_example_com_zone} ${color} ${word}',
    ),
  }
  const { hub, place, repository, kustomization, settle, delivered, ready, status } = await world(t, files)
  await place()
  await repository()
  const from = [
    { kind: 'ConfigMap', name: 'vars' },
    { kind: 'Secret', name: 'words' },
    { kind: 'ConfigMap', name: 'none', optional: true },
  ]
  await kustomization('apps', { postBuild: { substituteFrom: from } })
  await settle()
  assert.match(await ready('apps'), /^False BuildFailed: .*configmaps "vars" not found/)
  await hub.create(build(ConfigMap, `${NS}/vars`, { data: { color: 'red' } }), ConfigMap)
  const data = { word: Buffer.from('hello').toString('base64') }
  const labels = { 'flotilla.dev/input': 'allowed' }
  await hub.create(build(Secret, `${NS}/words`, { data }, { labels }), Secret)
  await settle()
  await settle()
  assert.deepEqual(await delivered(), {
    c1: ['kustomization-apps: apps/web c1 prod zone-c1 red hello'],
    c2: ['kustomization-apps: apps/web c2 dev zone-c2 red hello'],
  })
  assert.equal((await status('apps'))?.inventory, undefined, 'contents differ between clusters')
  const bundle = await hub.find(Bundle, `${NS}/kustomization-apps`)
  assert.equal(JSON.stringify(bundle).includes('hello'), false, 'the Bundle has no value of the Secret')
})

test('a sparse checkout stores its directories, and the status says so', async (t) => {
  const { hub, place, repository, kustomization, settle, ready } = await world(t)
  await place()
  await repository({ sparseCheckout: ['apps', './base/'] })
  await kustomization('apps', { path: './other' })
  await settle()
  const repo = await hub.find(GitRepository, `${NS}/fleet`)
  assert.deepEqual(repo?.status?.observedSparseCheckout, ['apps', './base/'])
  assert.equal(repo?.status?.artifact?.size, Buffer.byteLength(FILES['apps/cm.yaml']! + FILES['base/cm.yaml']!))
  const source = await hub.find(Source, `${NS}/gitrepository-fleet`)
  assert.deepEqual([source?.spec.paths, source?.status?.artifact?.files], [['apps', 'base'], 2])
  assert.match(await ready('apps'), /^False BuildFailed: .*kustomization path not found: stat other: no such file/)
})

test('a broken commit and a missing directory take nothing away; suspend and resume', async (t) => {
  const { hub, place, repository, kustomization, settle, push, edit, delivered, ready, status } = await world(t)
  await place()
  await repository()
  await kustomization('apps')
  await settle()
  const before = await delivered()
  await push('c2', { 'apps/cm.yaml': 'kind: [' })
  assert.match(await ready('apps'), /^False BuildFailed:/)
  assert.deepEqual(await delivered(), before)
  assert.equal((await status('apps'))?.lastAppliedRevision, 'main@sha1:c1')
  await push('c3', { 'other/cm.yaml': cm('other', '1') })
  assert.match(await ready('apps'), /^False BuildFailed: .*path not found/)
  assert.deepEqual(await delivered(), before)
  await edit('apps', { suspend: true })
  await push('c4', { 'apps/cm.yaml': cm('web', '4') })
  assert.deepEqual(await delivered(), before, 'a suspended Kustomization follows no commit')
  const bundle = await hub.find(Bundle, `${NS}/kustomization-apps`)
  assert.equal(bundle?.status?.conditions?.find(({ type }) => type === 'Suspended')?.status, 'True')
  await edit('apps', { suspend: false })
  assert.deepEqual((await delivered())['c1'], ['kustomization-apps: apps/web 4'])
  assert.equal(await ready('apps'), 'True ReconciliationSucceeded: Applied revision: main@sha1:c4 on 2 clusters')
})

test('Ready is never True for a generation whose content is not delivered', async (t) => {
  const { hub, place, repository, kustomization, settle, edit, delivered, ready, status } = await world(t)
  await place()
  await repository()
  await kustomization('apps')
  await settle()
  assert.match(await ready('apps'), /^True/)
  const data = { word: Buffer.from('hello').toString('base64') }
  await hub.create(build(Secret, `${NS}/words`, { data }), Secret)
  await edit('apps', { path: './other', postBuild: { substituteFrom: [{ kind: 'Secret', name: 'words' }] } })
  assert.deepEqual((await delivered())['c1'], ['kustomization-apps: apps/web 1'])
  assert.match(await ready('apps'), /^False BuildFailed: .*flotilla\.dev\/input=allowed/)
  assert.equal((await status('apps'))?.observedGeneration, 2)
  // The first status of a new generation is not that of the earlier Bundle.
  await hub.clock.advance(120_000)
  const found = (await hub.find(Kustomization, `${NS}/apps`))!
  const { postBuild: _postBuild, ...spec } = found.spec
  await hub.client.update(Kustomization, {
    ...found,
    spec: { ...spec, path: './apps', commonMetadata: { labels: { a: 'b' } } },
  })
  const seen = new Set<string>()
  for (let look = 0; look < 10; look++) {
    await hub.clock.advance(100)
    if ((await status('apps'))?.observedGeneration === 3) seen.add((await ready('apps')).replace(/:.*/, ''))
  }
  assert.deepEqual([...seen], ['Unknown Progressing'], 'no cluster has reported yet')
  await settle()
  assert.match(await ready('apps'), /^True/)
})

test('a write that the API refuses is said in the status', async (t) => {
  const { place, repository, kustomization, settle, push, ready } = await world(t)
  await place()
  await repository()
  await kustomization('apps')
  await settle()
  const whole = '{interval: 1m, prune: true, path: ./base, sourceRef: {kind: GitRepository, name: fleet}}'
  const child = (spec: string) => ({ ...FILES, 'apps/child.yaml': flux('kustomize Kustomization child', spec) })
  await push('c2', child('{interval: 1m, prune: true}'))
  assert.match(await ready('apps'), /^False Refused: Kustomization child cannot be written: .*sourceRef/)
  await push('c3', child(whole))
  assert.match(await ready('apps'), /^True .*main@sha1:c3/)
})

test('changes of compiled objects by other clients are undone', async (t) => {
  const { hub, repository, kustomization, settle, delivered, ready } = await world(t)
  const secret = { namespace: NS, name: 'c1', key: 'value' }
  const cluster = (await hub.find(Cluster, 'c1'))!
  await hub.client.update(Cluster, { ...cluster, spec: { ...cluster.spec, kubeconfigSecret: secret } })
  await repository()
  await kustomization('apps', { kubeConfig: { secretRef: { name: 'c1' } } })
  await settle()
  assert.deepEqual(await delivered(), { c1: ['kustomization-apps: apps/web 1'] })
  const key = { namespace: NS, name: 'kustomization-apps' }
  const placement = await hub.client.get(Placement, key)
  await hub.client.update(Placement, {
    ...placement,
    spec: { clusterSelector: { matchExpressions: [{ key: 'env', operator: 'Exists' }] } },
  })
  const bundle = await hub.client.get(Bundle, key)
  await hub.client.update(Bundle, {
    ...bundle,
    spec: { ...bundle.spec, ignore: [{ kind: 'ConfigMap', pointers: ['/data'] }] },
  })
  await settle()
  assert.deepEqual((await hub.client.get(Placement, key)).spec, placement.spec)
  assert.deepEqual((await hub.client.get(Bundle, key)).spec, bundle.spec)
  assert.match(await ready('apps'), /^True/)
  hub.writes.length = 0
  await hub.clock.advance(600_000)
  assert.deepEqual(
    hub.writes.filter((write) => /fluxcd|bundles|placements\//.test(write)),
    [],
  )
})

test('deleting follows the present policy of a Kustomization, also while it cannot be compiled', async (t) => {
  const { hub, place, repository, kustomization, edit, settle, delivered, ready } = await world(t)
  await place()
  await repository()
  const names = ['gone', 'kept', 'missing', 'refused', 'suspended']
  for (const name of names) {
    await kustomization(name, { commonMetadata: { labels: { a: name } }, namePrefix: `${name}-` })
  }
  await settle()
  assert.equal((await delivered())['c1']?.length, names.length)
  const policyOf = async (name: string) =>
    (await hub.find(Bundle, `${NS}/kustomization-${name}`))?.spec.delete?.bundleDeleted
  await edit('refused', { decryption: { provider: 'vault' }, deletionPolicy: 'Orphan' })
  assert.match(await ready('refused'), /^False Refused/)
  await edit('suspended', { suspend: true })
  await hub.client.delete(GitRepository, { namespace: NS, name: 'fleet' })
  await settle()
  await edit('missing', { deletionPolicy: 'Orphan' })
  assert.match(await ready('missing'), /^False ArtifactFailed/)
  const policies = await Promise.all(names.map(policyOf))
  assert.deepEqual(policies, ['Delete', 'Delete', 'Orphan', 'Orphan', 'Orphan'])
  // A suspended Bundle gets the policy again when the object was resumed without a source in between.
  await edit('suspended', { suspend: false })
  assert.equal(await policyOf('suspended'), 'Delete')
  await edit('suspended', { suspend: true })
  assert.equal(await policyOf('suspended'), 'Orphan')
  // The change and the deletion come together, and no pass is in between.
  const found = (await hub.find(Kustomization, `${NS}/kept`))!
  await hub.client.update(Kustomization, { ...found, spec: { ...found.spec, prune: false } })
  for (const name of names) await hub.client.delete(Kustomization, { namespace: NS, name })
  await settle()
  const removals = (await hub.client.list(Rollout)).items.flatMap(({ spec }) => spec.removal ?? [])
  assert.deepEqual(
    removals.map(({ bundle, policy }) => `${bundle} ${policy}`).sort(),
    names.map((name) => `kustomization-${name} ${name === 'gone' ? 'Delete' : 'Orphan'}`),
  )
  assert.deepEqual((await hub.client.list(Kustomization)).items, [])
})

/** An object of Flux: `group kind name`, and its namespace. */
const flux = (object: string, spec: string, namespace = NS): string => {
  const [group, kind, name] = object.split(' ')
  return `apiVersion: ${group}.toolkit.fluxcd.io/v1\nkind: ${kind}\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec: ${spec}\n`
}

test('a bootstrapped repository is followed: nested objects stay on the hub, for the clusters of their parent', async (t) => {
  const part =
    'labels: {app.kubernetes.io/part-of: flux, app.kubernetes.io/instance: flux-system, app.kubernetes.io/version: v2.9.0}'
  const source = 'sourceRef: {kind: GitRepository, name: fleet}'
  const child = flux('kustomize Kustomization apps', `{interval: 1m, prune: true, wait: true, path: ./apps, ${source}}`)
  const { hub, place, repository, kustomization, settle, push, delivered, ready, status } = await world(t, {
    ...FILES,
    'clusters/prod/gotk-components.yaml': `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: source-controller, namespace: flux-system, ${part}}\n`,
    'clusters/prod/gotk-sync.yaml': [
      flux('source GitRepository fleet', '{interval: 1m, url: x}'),
      flux('kustomize Kustomization root', `{interval: 1m, prune: true, path: ./clusters/prod, ${source}}`),
    ].join('---\n'),
    'clusters/prod/apps.yaml': [
      child,
      flux('notification Alert alert', '{}'),
      flux('kustomize Kustomization tenant', '{interval: 1m}', 'elsewhere'),
    ].join('---\n'),
  })
  await place()
  await repository()
  await kustomization('root', { path: './clusters/prod' })
  await settle()
  await settle()
  assert.deepEqual(await delivered(), {
    c1: ['kustomization-apps: apps/web 1'],
    c2: ['kustomization-apps: apps/web 1'],
  })
  assert.equal(await ready('root'), 'True ReconciliationSucceeded: Applied revision: main@sha1:c1')
  assert.equal(await ready('apps'), 'True ReconciliationSucceeded: Applied revision: main@sha1:c1 on 2 clusters')
  assert.deepEqual((await status('root'))?.findings, [
    'Alert alert of the build is left out: the kind is not served',
    'Kustomization tenant of the build is left out: it is for namespace elsewhere, and nested objects stay in namespace flux-system',
    'the installation of Flux in the build (gotk-components) is left out: clusters need no Flux',
  ])
  const apps = await hub.find(Kustomization, `${NS}/apps`)
  assert.deepEqual(
    [apps?.metadata.annotations?.['flotilla.dev/nested-in'], apps?.metadata.annotations?.['flotilla.dev/placement']],
    ['root', 'all'],
  )
  const repo = await hub.find(GitRepository, `${NS}/fleet`)
  assert.equal(repo?.spec['url'], 'https://git.example.com/fleet', 'the object that is there already stays as it is')
  // An object that leaves the build stays: absence is never deletion.
  await push('c2', { ...FILES, 'clusters/prod/cm.yaml': cm('root', '2') })
  assert.deepEqual((await delivered())['c1'], ['kustomization-apps: apps/web 1', 'kustomization-root: apps/root 2'])
  assert.notEqual(await hub.find(Kustomization, `${NS}/apps`), undefined)
  // So it does when the outer Kustomization is deleted, although that one prunes.
  await hub.client.delete(Kustomization, { namespace: NS, name: 'root' })
  await settle()
  assert.equal(await hub.find(Kustomization, `${NS}/root`), undefined)
  assert.deepEqual((await delivered())['c1'], ['kustomization-apps: apps/web 1'])
  await kustomization('root', { path: './clusters/prod' })
  await push('c3', { ...FILES, 'clusters/prod/apps.yaml': child.replace('./apps', './other') })
  const followed = await hub.find(Kustomization, `${NS}/apps`)
  assert.deepEqual([followed?.spec['path'], (await status('root'))?.findings], ['./other', undefined])
})

test('nested objects that are different for each cluster are left out', async (t) => {
  const { place, repository, kustomization, settle, status, delivered } = await world(t, {
    'apps/cm.yaml': cm('web', '1'),
    'apps/child.yaml': flux('kustomize Kustomization child', '{path: "./${CLUSTER_NAME}"}'),
  })
  await place()
  await repository()
  await kustomization('apps', { postBuild: { substituteStrategy: 'Always' } })
  await settle()
  assert.deepEqual((await delivered())['c1'], ['kustomization-apps: apps/web 1'])
  assert.deepEqual((await status('apps'))?.findings, [
    'objects of Flux in the build are left out: they are different for each cluster',
  ])
})

test('a commit that drops objects waits for the guard, and a person lets it through', async (t) => {
  const four = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`apps/${name}.yaml`, cm(name, '1')]))
  const { hub, place, repository, kustomization, settle, push, delivered, ready, status } = await world(t, four)
  await place()
  await repository()
  await kustomization('apps')
  await settle()
  const before = await delivered()
  assert.equal(before['c1']?.length, 4)
  await push('c2', { 'apps/a.yaml': cm('a', '2') })
  assert.deepEqual(await delivered(), before)
  assert.match(await ready('apps'), /^False ReconciliationFailed: .*3 of 4/)
  assert.equal((await status('apps'))?.lastAppliedRevision, 'main@sha1:c1')
  const token = (await hub.find(Bundle, `${NS}/kustomization-apps`))?.status?.held?.token ?? ''
  const found = (await hub.find(Kustomization, `${NS}/apps`))!
  const annotations = { ...found.metadata.annotations, 'flotilla.dev/release-drop': token }
  await hub.client.update(Kustomization, { ...found, metadata: { ...found.metadata, annotations } })
  await settle()
  assert.deepEqual((await delivered())['c1'], ['kustomization-apps: apps/a 2'])
  assert.equal((await status('apps'))?.lastAppliedRevision, 'main@sha1:c2')
})

test('a Kustomization of an OCIRepository is built from its artifact, without ignored files', async (t) => {
  const { hub, place, kustomization, settle, push, delivered, ready, status } = await world(t, {
    ...FILES,
    'apps/left-out.yaml': cm('left-out', '1'),
  })
  await place()
  const sourceRef = { kind: 'OCIRepository', name: 'fleet' }
  await kustomization('apps', { sourceRef })
  await settle()
  assert.equal(await ready('apps'), "False ArtifactFailed: Source 'OCIRepository/fleet' not found")
  const spec = { interval: '1m', url: 'oci://ghcr.io/team/fleet', ignore: 'left-out.yaml' }
  await hub.create(build(OCIRepository, `${NS}/fleet`, { spec }), OCIRepository)
  await settle()
  assert.deepEqual((await delivered())['c1'], ['kustomization-apps: apps/web 1'])
  assert.equal((await status('apps'))?.lastAppliedRevision, 'x@sha1:c1')
  await push('c2', { 'apps/cm.yaml': cm('web', '2') })
  assert.deepEqual((await delivered())['c1'], ['kustomization-apps: apps/web 2'])
  assert.match(await ready('apps'), /^True .*x@sha1:c2/)
})

test('what is not served is refused by name', async (t) => {
  const { place, repository, kustomization, settle, ready } = await world(t)
  await place()
  await repository({ provider: 'azure' })
  await repository({ url: 'https://git.example.com/missing' }, 'missing')
  await kustomization('elsewhere', { sourceRef: { kind: 'GitRepository', name: 'fleet', namespace: 'other' } })
  await kustomization('bucket', { sourceRef: { kind: 'ExternalArtifact', name: 'fleet' } })
  await kustomization('sops', { decryption: { provider: 'vault' } })
  await kustomization('waits', { sourceRef: { kind: 'GitRepository', name: 'missing' } })
  await settle()
  assert.match(await ready('fleet', GitRepository), /^False Refused: spec\.provider is "azure", which is not served/)
  assert.match(
    await ready('missing', GitRepository),
    /^False GitOperationFailed: failed to checkout and determine revision: There is no repository/,
  )
  assert.equal(
    await ready('elsewhere'),
    "False AccessDenied: can't access 'GitRepository/other/fleet', cross-namespace references have been blocked",
  )
  assert.match(
    await ready('bucket'),
    /^False Refused: spec\.sourceRef\.kind is "ExternalArtifact", and only GitRepository, OCIRepository and Bucket are served/,
  )
  assert.match(await ready('sops'), /^False Refused: spec\.decryption\.provider is "vault"; only sops is supported/)
  assert.match(await ready('waits'), /^False ArtifactFailed: Source artifact not found, retrying in 30s: failed to/)
})

test('a verified GitRepository says what was signed, until it need not be signed', async (t) => {
  const { hub, repository, settle } = await world(t)
  const data = { 'author.asc': Buffer.from('KEY').toString('base64') }
  await hub.create(build(Secret, `${NS}/keys`, { data }), Secret)
  await repository({ verify: { mode: 'HEAD', secretRef: { name: 'keys' } } })
  await settle()
  const found = (await hub.find(GitRepository, `${NS}/fleet`))!
  const verified = (status: GitRepository['status']) =>
    status?.conditions?.find(({ type }) => type === 'SourceVerified')
  const { status, reason, message } = verified(found.status)!
  assert.deepEqual(
    [status, reason, message, found.status?.sourceVerificationMode],
    ['True', 'Succeeded', 'verified signature of commit c1 with key KEY', 'HEAD'],
  )
  const { verify: _verify, ...spec } = found.spec
  await hub.client.update(GitRepository, { ...found, spec })
  await settle()
  const now = (await hub.find(GitRepository, `${NS}/fleet`))!.status
  assert.deepEqual([verified(now), now?.sourceVerificationMode], [undefined, undefined])
})

test('objects of Flux inside a build count for wait, and for what depends on it', async (t) => {
  const ks = (name: string, spec: string) =>
    flux(
      `kustomize Kustomization ${name}`,
      `{interval: 1m, prune: true, ${spec} sourceRef: {kind: GitRepository, name: fleet}}`,
    )
  const { hub, place, repository, kustomization, settle, delivered, ready, status } = await world(t, {
    ...FILES,
    // A build with objects of Flux alone, one of which cannot be fetched.
    'infra/flux.yaml': [
      flux('source GitRepository infra', '{interval: 1m, url: "https://git.example.com/missing"}'),
      ks('controllers', 'wait: true, path: ./base,'),
    ].join('---\n'),
    'quick/flux.yaml': flux('source GitRepository slow', '{interval: 1m, url: "https://git.example.com/missing"}'),
  })
  await place()
  await repository()
  await kustomization('infra', { path: './infra' })
  await kustomization('quick', { path: './quick', wait: false })
  await kustomization('after-infra', { path: './apps', dependsOn: [{ name: 'infra' }] })
  await kustomization('after-quick', { path: './other', dependsOn: [{ name: 'quick' }] })
  await settle()
  await settle()
  const waiting = 'Unknown Progressing: Running health checks: waiting for GitRepository/flux-system/infra (failed to'
  assert.ok((await ready('infra')).startsWith(waiting), await ready('infra'))
  assert.equal((await status('infra'))?.lastAppliedRevision, undefined)
  assert.equal(await ready('quick'), 'True ReconciliationSucceeded: Applied revision: main@sha1:c1')
  const bundle = async (name: string) => (await hub.find(Bundle, `${NS}/kustomization-${name}`))?.spec.dependsOn
  assert.deepEqual(await bundle('after-infra'), [{ bundle: `${NS}/kustomization-controllers` }])
  assert.equal(await bundle('after-quick'), undefined, 'a build of objects of Flux alone has no Bundle to wait for')
  assert.deepEqual((await delivered())['c1'], [
    'kustomization-after-infra: apps/web 1',
    'kustomization-after-quick: apps/other 1',
    'kustomization-controllers: apps/base 1',
  ])
  assert.equal(await ready('after-quick'), 'True ReconciliationSucceeded: Applied revision: main@sha1:c1 on 2 clusters')
  const infra = (await hub.find(GitRepository, `${NS}/infra`))!
  await hub.client.update(GitRepository, { ...infra, spec: { ...infra.spec, url: 'https://git.example.com/infra' } })
  await settle()
  assert.equal(await ready('infra'), 'True ReconciliationSucceeded: Applied revision: main@sha1:c1')
  assert.equal((await status('infra'))?.lastAppliedRevision, 'main@sha1:c1')
})

test('a nested object that cannot become ready fails a Kustomization that waits for it', async (t) => {
  const { place, repository, kustomization, settle, ready } = await world(t, {
    ...FILES,
    'infra/flux.yaml': flux('source GitRepository cloud', '{interval: 1m, url: "https://git/x", provider: azure}'),
  })
  await place()
  await repository()
  await kustomization('infra', { path: './infra' })
  await settle()
  assert.match(
    await ready('infra'),
    /^False HealthCheckFailed: health check failed: GitRepository\/flux-system\/cloud \(spec\.provider is "azure"/,
  )
})

test('a Bucket is a source, without default patterns and with the file at its root', async (t) => {
  const { hub, place, kustomization, settle, delivered } = await world(t, {
    ...FILES,
    '.sourceignore': 'apps/skip.yaml\n',
    'apps/skip.yaml': cm('skip', '1'),
    'apps/.sourceignore': 'cm.yaml\n',
    // Flux's default patterns would leave it out of a GitRepository.
    'apps/.github/workflows/cm.yaml': cm('workflow', '1'),
    'apps/kustomization.yaml': 'resources: [cm.yaml, .github/workflows/cm.yaml]\n',
  })
  await place()
  const spec = {
    interval: '1m',
    endpoint: 'minio.example.com:9000',
    bucketName: 'fleet',
    prefix: '/apps',
    region: 'eu',
  }
  await hub.create(build(Bucket, `${NS}/files`, { spec: { ...spec, secretRef: { name: 'keys' } } }), Bucket)
  await settle()
  const source = async () => (await hub.find(Source, `${NS}/bucket-files`))?.spec
  const s3 = { url: 'https://minio.example.com:9000/fleet', prefix: 'apps', region: 'eu' }
  assert.deepEqual((await source())?.s3, s3)
  assert.equal((await source())?.credentials, 'keys')
  const data = { accesskey: 'YQ==', secretkey: 'Yg==' }
  const annotations = { 'flotilla.dev/urls': 'https://minio.example.com:9000/fleet' }
  await hub.create(build(Secret, `${NS}/keys`, { data }, { annotations }), Secret)
  await kustomization('web', { sourceRef: { kind: 'Bucket', name: 'files' } })
  await hub.clock.advance(600_000)
  await settle()
  await settle()
  assert.deepEqual((await delivered())['c1'], ['kustomization-web: apps/web 1', 'kustomization-web: apps/workflow 1'])
  const found = (await hub.find(Bucket, `${NS}/files`))!
  const condition = found.status?.conditions?.find(({ type }) => type === 'Ready')
  assert.deepEqual(
    [condition?.status, condition?.reason, condition?.message],
    ['True', 'Succeeded', "stored artifact: revision 'x@sha1:c1'"],
  )
  const refused = async (name: string, change: Spec) => {
    await hub.create(build(Bucket, `${NS}/${name}`, { spec: { ...spec, ...change } }), Bucket)
    await hub.clock.advance(5000)
    const ready = (await hub.find(Bucket, `${NS}/${name}`))?.status?.conditions?.find(({ type }) => type === 'Ready')
    return `${ready?.reason}: ${ready?.message}`
  }
  assert.match(await refused('cloud', { provider: 'aws' }), /^Refused: spec\.provider is "aws", which is not served/)
  assert.match(await refused('url', { endpoint: 'https://minio' }), /^Refused: spec\.endpoint is "https:\/\/minio"/)
  assert.match(await refused('name', { bucketName: '../x' }), /^Refused: spec\.bucketName is "\.\.\/x"/)
  assert.match(await refused('sts', { sts: { provider: 'aws', endpoint: 'x' } }), /^Refused: spec\.sts is refused/)
})
