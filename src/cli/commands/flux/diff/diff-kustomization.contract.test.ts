/** flotilla flux diff kustomization as a user who may edit one namespace, against the real API server in memory. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { base64, fromBase64, fromUtf8, utf8 } from '../../../../core/bytes.ts'
import { digestOf } from '../../../../core/crypto/digest.ts'
import { systemClock } from '../../../../core/time/system-clock.ts'
import { compileKustomization, readKustomization } from '../../../../dialects/flux/compile/compile-kustomization.ts'
import { DIALECT_BUILDERS } from '../../../../dialects/dialect-builders.ts'
import { Kustomization } from '../../../../dialects/flux/kinds.ts'
import { installDialects } from '../../../../hub/home/dialects.ts'
import { ensureNamespace } from '../../../../hub/home/hub-info.ts'
import { ConfigMap, Secret } from '../../../../kinds/builtin/core.ts'
import { RoleBinding } from '../../../../kinds/builtin/rbac.ts'
import type { BundleStateName } from '../../../../kinds/fields/states.ts'
import type { UnknownObject } from '../../../../kinds/meta.ts'
import { Assignment } from '../../../../kinds/native/assignment.ts'
import { Bundle } from '../../../../kinds/native/bundle.ts'
import { ClusterReport } from '../../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../../kinds/native/cluster.ts'
import { PlacementDecision } from '../../../../kinds/native/placement-decision.ts'
import { Placement } from '../../../../kinds/native/placement.ts'
import { clusterInputsOf } from '../../../../plan/release/variants.ts'
import { renderVariants } from '../../../../render/bundle/render-variants.ts'
import { toBlobs } from '../../../../render/render-result.ts'
import { extractSecretData } from '../../../../render/secret-values.ts'
import { build, buildCluster, buildPlacement } from '../../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorReport } from '../../../../testing/hub/cli-hub.ts'
import { objectSetBytes } from '../../../../wire/document/signed-document.ts'
import { ENTROPY, recipeFor } from '../../../repository/bundle-recipe.ts'
import { fluxDiff } from './diff-kustomization.ts'
import type { FluxDiffFlags } from './diff-kustomization.ts'

const NS = 'flux-system'
const { signal } = new AbortController()
const cm = (name: string, value: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: apps}\ndata: {v: "${value}"}\n`
const secret = (value: string): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: apps}\nstringData: {word: "${value}"}\n`

type Files = Readonly<Record<string, string>>

/** A clone with one commit. */
function clone(t: TestContext, files: Files) {
  const root = mkdtempSync(join(tmpdir(), 'flux-diff-'))
  t.after(() => rmSync(root, { recursive: true }))
  const write = (all: Files) => {
    for (const [path, text] of Object.entries(all)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args])
      .toString()
      .trim()
  git('init', '--quiet', '--initial-branch=main')
  write(files)
  git('add', '.')
  git('commit', '--quiet', '-m', 'first')
  return { root, write, remove: (path: string) => rmSync(join(root, path)), commit: git('rev-parse', 'HEAD') }
}

interface WorldOptions {
  readonly spec?: Record<string, unknown>
  readonly clusters?: Readonly<Record<string, BundleStateName>>
  readonly annotations?: Record<string, string>
  readonly role?: 'edit' | 'view'
}

/** A Kustomization `apps` of the first commit on all clusters, and a user with a role in its namespace. */
async function world(t: TestContext, files: Files, options: WorldOptions = {}) {
  const { spec = {}, clusters = { c1: 'Ready' }, annotations = {}, role = 'edit' } = options
  const repository = clone(t, files)
  const hub = createCliHub(t, { dialects: ['flux'] })
  const { client } = hub
  await installDialects(['flux'], { client, clock: systemClock, signal })
  await ensureNamespace(client, NS)
  const sourceRef = { kind: 'GitRepository', name: 'fleet' }
  const own = { spec: { interval: '1m', path: './apps', prune: true, sourceRef, ...spec } }
  const object = await client.create(Kustomization, build(Kustomization, `${NS}/apps`, own, { annotations }))
  await client.create(Placement, buildPlacement(`${NS}/stores`))
  const decisions = Object.keys(clusters).map((cluster) => ({ cluster, reason: '', state: 'Selected' as const }))
  const page = { placement: 'stores', placementGeneration: 1, page: 0, pages: 1, decisions }
  await client.create(PlacementDecision, build(PlacementDecision, `${NS}/stores-0`, { spec: page }))
  for (const name of Object.keys(clusters)) {
    await client.create(Cluster, buildCluster(name, { labels: { region: `in-${name}` } }))
  }
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role }
  const subjects = [{ kind: 'User', name: 'jane', apiGroup: 'rbac.authorization.k8s.io' }]
  await client.create(RoleBinding, build(RoleBinding, `${NS}/jane`, { roleRef, subjects }))

  const revision = `main@sha1:${repository.commit}`
  /** What the hub and its agents do with the first commit. */
  const deliver = async (states: Readonly<Record<string, BundleStateName>> = clusters): Promise<void> => {
    const { spec: read } = readKustomization(object)
    const secrets = (await client.list(Secret, { namespace: NS })).items
    const placed = { target: { placement: 'stores' }, source: { include: [], ignore: '' }, configMaps: {} }
    const names = secrets.map(({ metadata }) => metadata.name)
    const allowsSecrets = annotations['flotilla.dev/secrets'] === 'Allow'
    const bundle = compileKustomization(object, read, { ...placed, secrets: names, allowsSecrets }).at(-1)!
      .object as Bundle
    const made = await client.create(Bundle, bundle)
    await client.update(Bundle, { ...made, status: { sourceRevision: revision } }, { subresource: 'status' })
    const all = await Promise.all(Object.keys(states).map((name) => client.get(Cluster, { name })))
    const recipe = recipeFor(bundle, { overrides: [], sources: [] }, (_kind, name) => {
      const data = secrets.find(({ metadata }) => metadata.name === name)?.data ?? {}
      return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, fromUtf8(fromBase64(value))]))
    })
    const bytes = new Map(Object.entries(files).map(([path, text]) => [path, utf8(text)]))
    const { variants } = renderVariants(
      { recipe, clusters: all.map(clusterInputsOf), frozen: {} },
      { files: bytes, entropy: ENTROPY, builders: DIALECT_BUILDERS },
    )
    for (const { clusters: names, result } of variants) {
      assert.ok(result.ok === true, JSON.stringify(result))
      for (const name of names) await give(name, result.objects, states[name]!)
    }
  }
  const give = async (name: string, objects: readonly UnknownObject[], state: BundleStateName): Promise<void> => {
    const blobs = toBlobs(objects.map((one) => extractSecretData(one).object))
    const listed = blobs.map(({ bytes: _bytes, ...one }) => one)
    const set = await hub.blobs.put(objectSetBytes({ format: 'flotilla.dev/set/v1', objects: listed }))
    const row = { bundle: `${NS}/kustomization-apps`, generation: 1, set }
    const known = { clusterId: `c-${name}`, epoch: 1, revision: 1 }
    const entries = [{ ...row, rollout: `${NS}/kustomization-apps-g1` }]
    await client.create(Assignment, build(Assignment, name, { spec: { ...known, document: set, entries } }))
    const label = 'ConfigMap apps/web'
    const drift = state === 'Drifted' ? [{ object: label, fields: ['.data.v'], since: '2026-11-16T00:00:00Z' }] : []
    const counts = state === 'Drifted' ? { Ready: blobs.length - 1, Drifted: 1 } : { [state]: blobs.length }
    const named = state === 'Drifted' ? [{ object: label, state, message: '.data.v' }] : []
    const report = { ...row, state, objects: named, objectCounts: counts, ...(drift.length > 0 && { drift }) }
    const received = { ...known, receivedAt: '2026-11-16T00:00:00Z', bundles: [report] }
    await client.create(ClusterReport, build(ClusterReport, name, { spec: received }))
  }
  const run = async (flags: FluxDiffFlags = {}) => {
    const input = { connection: hub.connectionOf('jane'), terminal: hub.terminal, signal }
    hub.taken()
    const code = await fluxDiff('apps', { ...input, flags: { path: join(repository.root, 'apps'), ...flags } })
    return { code, ...hub.taken() }
  }
  const refused = async (flags: FluxDiffFlags = {}) => await expectErrorReport(run(flags))
  return { hub, client, repository, deliver, run, refused }
}

const APPS = { 'apps/web.yaml': cm('web', '1'), 'apps/db.yaml': cm('db', '1') }

test('objects are created, changed and deleted, in the words of flux', async (t) => {
  const { repository, deliver, run } = await world(t, APPS)
  await deliver()
  assert.deepEqual(await run(), { code: 0, out: '', err: '' })

  repository.write({ 'apps/web.yaml': cm('web', '2'), 'apps/new.yaml': cm('new', '1') })
  repository.remove('apps/db.yaml')
  const found = await run()
  assert.equal(
    found.out,
    `► ConfigMap/apps/new created
► ConfigMap/apps/web drifted

data.v
  ± value change
    - 1
    + 2

► ConfigMap/apps/db deleted
`,
  )
  assert.equal(found.code, 1)
  assert.equal(found.err, '✗ identified at least one change, exiting with non-zero exit code\n')
})

test('a file with the Kustomization is used instead of the object of the hub', async (t) => {
  const { repository, deliver, run, refused } = await world(t, APPS)
  await deliver()
  const file = join(repository.root, 'ks.yaml')
  const kustomization = (name: string, prune: boolean, more = '') =>
    `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: ${name}, namespace: ${NS}${more}}\n` +
    `spec: {interval: 1m, path: ./apps, prune: ${prune}, namePrefix: a-, sourceRef: {kind: GitRepository, name: fleet}}\n`
  repository.write({ 'ks.yaml': kustomization('apps', true) })
  const actions = (out: string) => out.match(/^► .*$/gm)
  assert.deepEqual(actions((await run({ kustomizationFile: file })).out), [
    '► ConfigMap/apps/a-db created',
    '► ConfigMap/apps/a-web created',
    '► ConfigMap/apps/db deleted',
    '► ConfigMap/apps/web deleted',
  ])
  repository.write({ 'ks.yaml': kustomization('apps', false) })
  assert.deepEqual(actions((await run({ kustomizationFile: file })).out), [
    '► ConfigMap/apps/a-db created',
    '► ConfigMap/apps/a-web created',
  ])
  repository.write({ 'ks.yaml': kustomization('other', false) })
  assert.match((await refused({ kustomizationFile: file })).what, /failed find kustomization with name 'apps'/)
  repository.write({ 'ks.yaml': kustomization('apps', true, ', annotations: {flotilla.dev/placement: elsewhere}') })
  const elsewhere = await refused({ kustomizationFile: file })
  assert.match(elsewhere.what, /delivered to Placement stores, and the file names Placement elsewhere/)
  assert.equal(elsewhere.exitCode, 2)
})

test('without a clone of the delivered commit objects are compared by their digests', async (t) => {
  const { hub, repository, deliver, run } = await world(t, APPS)
  await deliver()
  rmSync(join(repository.root, '.git'), { recursive: true })
  assert.equal((await run()).code, 0)
  repository.write({ 'apps/web.yaml': cm('web', '2') })
  repository.remove('apps/db.yaml')
  const { code, out, err } = await run()
  assert.deepEqual([code, out], [2, '► ConfigMap/apps/web drifted\n► ConfigMap/apps/db deleted\n'])
  assert.match(err, /not compared: c1: you may not list overrides, and one could make the difference/)
  const admin = { connection: hub.connection, terminal: hub.terminal, signal }
  assert.equal(await fluxDiff('apps', { ...admin, flags: { path: join(repository.root, 'apps') } }), 1)
  assert.match(err, /the fields of 1 object are not shown: the directory is in no clone of git/)
  assert.match(err, /annotation kustomize.toolkit.fluxcd.io\/prune: disabled are not deleted/)
})

test('clusters with the same changes are one group, with what was changed in the cluster', async (t) => {
  const { repository, deliver, run } = await world(t, APPS, { clusters: { c1: 'Ready', c2: 'Ready', c3: 'Drifted' } })
  await deliver()
  const drifted = await run()
  assert.equal(drifted.out, '# c3 (1 cluster)\n► ConfigMap/apps/web drifted\n\nchanged in the cluster: .data.v\n\n')
  assert.equal(drifted.code, 1)
  repository.write({ 'apps/db.yaml': cm('db', '2') })
  assert.match(
    (await run()).out,
    /^# c1, c2 \(2 clusters\)\n► ConfigMap\/apps\/db drifted\n[^#]*\n# c3 \(1 cluster\)\n/,
  )
})

test('values of Secrets are compared with the clone and never shown; without it they are not compared', async (t) => {
  const files = { ...APPS, 'apps/secret.yaml': secret('alpha') }
  const { repository, deliver, run } = await world(t, files, { annotations: { 'flotilla.dev/secrets': 'Allow' } })
  await deliver()
  assert.deepEqual(await run(), { code: 0, out: '', err: '' })
  repository.write({ 'apps/secret.yaml': secret('omega') })
  const { code, out, err } = await run()
  assert.equal(code, 1)
  assert.match(out, /^► Secret\/apps\/login drifted\n\n.*\*{5} \(before\)\n.*\*{5} \(after\)/ms)
  assert.doesNotMatch(out + err, /alpha|omega|b21lZ2E|YWxwaGE/)
  rmSync(join(repository.root, '.git'), { recursive: true })
  const without = await run()
  assert.equal(without.code, 2)
  assert.equal(without.err, '! not compared: c1: the values of Secret/apps/login\n')
})

test('values of Secrets in variables decide, and are not shown', async (t) => {
  const files = { 'apps/web.yaml': cm('web', '${word} 1') }
  const spec = { postBuild: { substituteFrom: [{ kind: 'Secret', name: 'vars' }] } }
  const { client, repository, deliver, run } = await world(t, files, { spec })
  const data = { word: base64(utf8('hush')) }
  const vars = await client.create(Secret, build(Secret, `${NS}/vars`, { data }))
  await deliver()
  assert.deepEqual(await run(), { code: 0, out: '', err: '' })
  repository.write({ 'apps/web.yaml': cm('web', '${word} 2') })
  const { code, out, err } = await run()
  assert.equal(code, 1)
  assert.match(out, /data\.v\n.*\(word of Secret vars\) 1\n.*\(word of Secret vars\) 2/s)
  assert.doesNotMatch(out + err, /hush/)
  repository.write({ 'apps/web.yaml': cm('web', '${word} 1') })
  await client.update(Secret, { ...vars, data: { word: base64(utf8('loud')) } })
  const changed = await run()
  assert.match(changed.out, /^► ConfigMap\/apps\/web drifted\n$/, 'the hub delivers the changed value within a minute')
  assert.doesNotMatch(changed.out + changed.err, /hush|loud/)
})

test('a build that reads labels of clusters is not compared for a user who may not list clusters', async (t) => {
  const spec = { postBuild: { substitute: { x: 'y' } } }
  const { hub, repository, deliver, run } = await world(
    t,
    { 'apps/web.yaml': cm('web', '${CLUSTER_LABEL_region}') },
    { spec },
  )
  await deliver()
  const { code, err } = await run()
  assert.equal(code, 2)
  assert.match(err, /not compared: c1: the build reads labels of clusters, and you may not list clusters/)
  const admin = { connection: hub.connection, terminal: hub.terminal, signal }
  const flags = { path: join(repository.root, 'apps') }
  assert.equal(await fluxDiff('apps', { ...admin, flags }), 0)
})

test('a user with the role view compares, but for variables of Secrets', async (t) => {
  const { client, deliver, run } = await world(t, APPS, { role: 'view' })
  await deliver()
  assert.equal((await run()).code, 0)
  const from = [{ kind: 'Secret', name: 'vars' }]
  const found = await client.get(Kustomization, { namespace: NS, name: 'apps' })
  await client.update(Kustomization, { ...found, spec: { ...found.spec, postBuild: { substituteFrom: from } } })
  await client.create(Secret, build(Secret, `${NS}/vars`, { data: {} }))
  const report = await expectErrorReport(run())
  assert.match(
    report.what,
    /not compared: the build has variables from Secret flux-system\/vars, which you may not read/,
  )
  assert.equal(report.exitCode, 2)
})

test('what fails is not compared', async (t) => {
  const { repository, deliver, run, refused } = await world(t, APPS)
  await deliver()
  repository.write({ 'apps/kustomization.yaml': 'resources: [missing.yaml]\n' })
  const broken = await run()
  assert.equal(broken.code, 2)
  assert.match(broken.err, /not compared: c1: kustomize build failed: .*missing\.yaml/)
  const { what, exitCode } = await refused({ path: '/nowhere' })
  assert.deepEqual([what, exitCode], ['invalid resource path "/nowhere"', 2])
})

test('content that the hub does not store is not taken for nothing', async (t) => {
  const { client, deliver, run } = await world(t, APPS)
  await deliver()
  const set = digestOf('gone')
  const assignment = await client.get(Assignment, { name: 'c1' })
  const report = await client.get(ClusterReport, { name: 'c1' })
  const entries = assignment.spec.entries.map((entry) => ({ ...entry, set }))
  await client.update(Assignment, { ...assignment, spec: { ...assignment.spec, entries } })
  const bundles = report.spec.bundles.map((row) => ({ ...row, set }))
  await client.update(ClusterReport, { ...report, spec: { ...report.spec, bundles } })
  assert.deepEqual(await run(), {
    code: 2,
    out: '',
    err: '! not compared: c1: the hub does not store the objects that it delivers\n',
  })
})

test('objects of Flux in the build are compared with those that the hub follows', async (t) => {
  const nested = (path: string): string =>
    `apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: inner, namespace: ${NS}}\n` +
    `spec: {interval: 1m, path: ${path}, prune: true, sourceRef: {kind: GitRepository, name: fleet}}\n`
  const files = { ...APPS, 'apps/inner.yaml': nested('./inner'), 'inner/cm.yaml': cm('inner', '1') }
  const { client, repository, deliver, run, refused } = await world(t, files)
  await deliver()
  const created = await run()
  assert.deepEqual([created.code, created.out], [1, '► Kustomization/flux-system/inner created\n'])
  const { previewNested } = await import('../../../../dialects/flux/compile/preview-kustomization.ts')
  const parent = await client.get(Kustomization, { namespace: NS, name: 'apps' })
  const spec = { interval: '1m', path: './inner', prune: true, sourceRef: { kind: 'GitRepository', name: 'fleet' } }
  const labels = {
    'kustomize.toolkit.fluxcd.io/name': 'apps',
    'kustomize.toolkit.fluxcd.io/namespace': NS,
  }
  const built = {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: 'inner', namespace: NS, labels },
    spec,
  }
  const [written] = previewNested(parent, [built], () => undefined, 'stores').nested
  await client.create(Kustomization, written!.object as Kustomization)
  assert.deepEqual(await run(), { code: 0, out: '', err: '' })
  repository.write({ 'apps/inner.yaml': nested('./other') })
  assert.match(
    (await run()).out,
    /^► Kustomization\/flux-system\/inner drifted\n\nspec\.path\n {2}± value change\n {4}- \.\/inner\n {4}\+ \.\/other\n/,
  )
  repository.write({ 'apps/inner.yaml': nested('./inner') })
  assert.match((await refused({ recursive: true })).what, /cannot get local path for GitRepository\/flux-system\/fleet/)
  const localSources = [`GitRepository/${NS}/fleet=${repository.root}`]
  const recursive = await run({ recursive: true, localSources })
  assert.match(recursive.out, /^📁 Kustomization\/flux-system\/inner changed\n/)
  assert.match(recursive.out, /► ConfigMap\/apps\/inner created/)
})

test('variables of ConfigMaps are those of the hub', async (t) => {
  const spec = { postBuild: { substituteFrom: [{ kind: 'ConfigMap', name: 'vars' }] } }
  const { client, run } = await world(
    t,
    { 'apps/web.yaml': cm('web', '${word}') },
    {
      spec,
      annotations: { 'flotilla.dev/placement': 'stores' },
    },
  )
  await client.create(ConfigMap, build(ConfigMap, `${NS}/vars`, { data: { word: 'x' } }))
  const { code, out } = await run()
  assert.deepEqual([code, out], [1, '► ConfigMap/apps/web created\n'], 'nothing is deployed yet')
})
