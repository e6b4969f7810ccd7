/** The multi-tenancy lockdown of Flux as lines of a Project: references, accounts, remote bases and keys of others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import { Namespace, Secret } from '../../../kinds/builtin/core.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Project } from '../../../kinds/native/project.ts'
import { readIdentities } from '../../../render/sops/age.ts'
import { storeFiles } from '../../../source/store-files.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { buildProject } from '../../../testing/fixtures/projects.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { AGE_KEY, encryptSops } from '../../../testing/sops/encrypt-sops.ts'
import { parseObjectSet } from '../../../wire/document/signed-document.ts'
import { GitRepository, Kustomization } from '../kinds.ts'

const PLAIN = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: team}\ndata: {v: "1"}\n'

/** The namespace of a tenant with a Project, and one of another tenant with a key. */
async function world(t: TestContext, files: Readonly<Record<string, string>> = { 'cm.yaml': PLAIN }) {
  const hub = await startControllersHome(['flux'])
  t.after(() => hub.close())
  hub.serveSources(async ({ previous, spec }) => {
    if (previous?.commit === 'c1') return { kind: 'Same' }
    const bytes = new Map(Object.entries(files).map(([path, text]) => [path, utf8(text)]))
    const stored = await storeFiles(bytes, spec, hub.blobs)
    return {
      kind: 'New',
      artifact: { ...stored, revision: 'main@sha1:c1', commit: 'c1', fetchedBytes: 1, from: 'x' },
    }
  })
  await hub.create(buildCluster('c1'), Cluster)
  await hub.report('c1', 'Ready')
  const annotations = { 'flotilla.dev/placement': 'all' }
  for (const name of ['team', 'rival']) {
    await hub.create(build(Namespace, name, {}, { annotations }), Namespace)
    const executors = { default: `${name}/deployer` }
    await hub.create(buildProject(name, [name], { executors }), Project)
    await hub.create(build(Placement, `${name}/all`, { spec: { clusterSelector: {} } }), Placement)
    const source = { interval: '1m', url: 'https://git.example.com/fleet', ref: { branch: 'main' } }
    await hub.create(build(GitRepository, `${name}/fleet`, { spec: source }), GitRepository)
  }
  const data = { 'a.agekey': Buffer.from(AGE_KEY).toString('base64') }
  await hub.create(
    build(Secret, 'rival/sops-keys', { data }, { labels: { 'flotilla.dev/input': 'decryption' } }),
    Secret,
  )
  const apply = async (more: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const sourceRef = { kind: 'GitRepository', name: 'fleet' }
    const spec = { interval: '10m', prune: true, path: './', sourceRef, ...more }
    await hub.create(build(Kustomization, 'team/apps', { spec }), Kustomization)
    for (let round = 0; round < 5; round++) {
      await hub.clock.advance(20_000)
      await hub.report('c1', 'Ready')
    }
    await hub.clock.advance(20_000)
    const conditions = (await hub.find(Kustomization, 'team/apps'))?.status?.conditions
    const one = conditions?.find(({ type }) => type === 'Ready')
    return `${one?.status} ${one?.reason}: ${one?.message}`
  }
  const entries = async () => (await hub.find(Assignment, 'c1'))?.spec.entries ?? []
  return { hub, apply, entries }
}

test('objects are applied as the default account of the Project', async (t) => {
  const { apply, hub, entries } = await world(t)
  assert.match(await apply(), /^True ReconciliationSucceeded/)
  const executors = await Promise.all(
    (await entries()).map(async ({ set }) => parseObjectSet((await hub.blobs.get(set))!).options?.executor),
  )
  assert.deepEqual(executors, [{ namespace: 'team', name: 'deployer' }])
})

test('an account that the Project does not list is refused by name', async (t) => {
  const { apply, entries } = await world(t)
  const ready = await apply({ serviceAccountName: 'cluster-admin' })
  assert.match(ready, /^False .*Project team: spec\.executors\.allowed does not list team\/cluster-admin/)
  assert.deepEqual(await entries(), [])
})

const refused: [what: string, spec: Readonly<Record<string, unknown>>, message: RegExp][] = [
  [
    'a source of another namespace',
    { sourceRef: { kind: 'GitRepository', name: 'fleet', namespace: 'rival' } },
    /AccessDenied: can't access 'GitRepository\/rival\/fleet', cross-namespace references have been blocked/,
  ],
  [
    'a dependency of another namespace',
    { dependsOn: [{ name: 'apps', namespace: 'rival' }] },
    /AccessDenied: can't access 'Kustomization\/rival\/apps', cross-namespace references have been blocked/,
  ],
]
for (const [what, spec, message] of refused) {
  test(`${what} is refused`, async (t) => {
    const { apply, entries } = await world(t)
    assert.match(await apply(spec), message)
    assert.deepEqual(await entries(), [])
  })
}

test('a remote base is refused', async (t) => {
  const files = { 'kustomization.yaml': 'resources: ["https://github.com/example/base?ref=main"]\n' }
  const { apply, entries } = await world(t, files)
  assert.match(await apply(), /^False BuildFailed: .*is remote/)
  assert.deepEqual(await entries(), [])
})

test('a decryption key of another namespace is not found', async (t) => {
  const [identity] = readIdentities(AGE_KEY)
  const object = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'stolen', namespace: 'team' },
    stringData: { password: 'of-the-rival' },
  }
  const { apply, entries } = await world(t, { 'secret.yaml': encryptSops(object, identity!.recipient) })
  const secretRef = { name: 'sops-keys', namespace: 'rival' }
  assert.match(
    await apply({ decryption: { provider: 'sops', secretRef } }),
    /^False BuildFailed: .*secrets "sops-keys" not found/,
  )
  assert.deepEqual(await entries(), [])
})
