/** Kustomizations with `spec.decryption`, from their commits to sealed values, under the role of the controllers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { fromUtf8, utf8 } from '../../../core/bytes.ts'
import { Event, Namespace, Secret } from '../../../kinds/builtin/core.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Release } from '../../../kinds/native/release.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { readIdentities } from '../../../render/sops/age.ts'
import { storeFiles } from '../../../source/store-files.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { AGE_KEY, encryptSops, OTHER_AGE_KEY } from '../../../testing/sops/encrypt-sops.ts'
import { readCases } from '../../../../test/recorded/recorded-case.ts'
import { GitRepository, Kustomization } from '../kinds.ts'

const NS = 'flux-system'
const CANARY = 'plaintext-canary-4711'
const [IDENTITY] = readIdentities(AGE_KEY)

const secretFile = (fields: Record<string, unknown> = {}): string =>
  encryptSops(
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'db', namespace: 'apps' },
      stringData: { password: CANARY },
      ...fields,
    },
    IDENTITY!.recipient,
  )

interface Options {
  readonly files: Readonly<Record<string, string>>
  readonly keys?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly decryption?: Readonly<Record<string, unknown>>
  readonly spec?: Readonly<Record<string, unknown>>
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

async function world(t: TestContext, options: Options) {
  const hub = await startControllersHome(['flux'])
  t.after(() => hub.close())
  let tip = { commit: 'c1', files: options.files }
  hub.serveSources(async ({ previous, spec }) => {
    if (previous?.commit === tip.commit) return { kind: 'Same' }
    const bytes = new Map(Object.entries(tip.files).map(([path, text]) => [path, utf8(text)]))
    const stored = await storeFiles(bytes, spec, hub.blobs)
    const revision = `main@sha1:${tip.commit}`
    return { kind: 'New', artifact: { ...stored, revision, commit: tip.commit, fetchedBytes: 1, from: 'x' } }
  })
  await hub.create(buildCluster('c1'), Cluster)
  await hub.report('c1', 'Ready')
  await hub.create(build(Placement, `${NS}/all`, { spec: { clusterSelector: {} } }), Placement)
  const found = (await hub.find(Namespace, NS))!
  const placed = { ...found.metadata, annotations: { 'flotilla.dev/placement': 'all' } }
  await hub.client.update(Namespace, { ...found, metadata: placed })
  const { keys = { 'a.agekey': AGE_KEY }, labels = { 'flotilla.dev/input': 'decryption' } } = options
  const data = Object.fromEntries(Object.entries(keys).map(([key, text]) => [key, base64(text)]))
  await hub.create(build(Secret, `${NS}/sops-keys`, { data }, { labels }), Secret)
  const source = { interval: '1m', url: 'https://git.example.com/fleet', ref: { branch: 'main' } }
  await hub.create(build(GitRepository, `${NS}/fleet`, { spec: source }), GitRepository)
  const spec = {
    interval: '10m',
    prune: true,
    path: './',
    sourceRef: { kind: 'GitRepository', name: 'fleet' },
    decryption: options.decryption ?? { provider: 'sops', secretRef: { name: 'sops-keys' } },
    ...options.spec,
  }
  const { annotations = {} } = options
  await hub.create(build(Kustomization, `${NS}/apps`, { spec }, { annotations }), Kustomization)
  const settle = async () => {
    for (let round = 0; round < 5; round++) {
      await hub.clock.advance(20_000)
      await hub.report('c1', 'Ready')
    }
    await hub.clock.advance(20_000)
  }
  await settle()
  return {
    hub,
    settle,
    push: async (commit: string, files: Readonly<Record<string, string>>) => {
      tip = { commit, files }
      await settle()
    },
    ready: async () => {
      const kustomization = await hub.find(Kustomization, `${NS}/apps`)
      const one = kustomization?.status?.conditions?.find(({ type }) => type === 'Ready')
      return `${one?.status} ${one?.reason}: ${one?.message}`
    },
    delivered: async () => (await hub.find(Assignment, 'c1'))?.spec.entries.length ?? 0,
    /** Everything that the hub has written, besides Secrets: objects, blobs and the documents in them. */
    written: async () => {
      const kinds = [GitRepository, Kustomization, Bundle, Release, Rollout, Assignment, Event]
      const objects = await Promise.all(kinds.map((kind) => hub.client.list(kind as typeof Bundle)))
      const texts = [JSON.stringify(objects)]
      for await (const digest of hub.blobs.list())
        texts.push(Buffer.from((await hub.blobs.get(digest))!).toString('latin1'))
      return texts.join('\n')
    },
  }
}

/** Forms in which a value could stand. */
const forms = (text: string): string[] => [text, base64(text), JSON.stringify(text), encodeURIComponent(text)]

test('a Secret of a repository is decrypted on the hub, sealed for its cluster and written nowhere in the clear', async (t) => {
  const { ready, hub, delivered, written, push } = await world(t, { files: { 'secret.yaml': secretFile() } })
  assert.equal(await ready(), 'True ReconciliationSucceeded: Applied revision: main@sha1:c1')
  assert.equal(await delivered(), 1)
  assert.deepEqual(hub.rights.denied, [])
  const all = await written()
  assert.ok(all.includes('"name":"db"'), 'the object itself is among what was written')
  for (const form of [...forms(CANARY), ...forms(AGE_KEY)]) assert.ok(!all.includes(form), `found ${form}`)
  const release = (await hub.client.list(Release)).items[0]!
  const bundle = (await hub.find(Bundle, `${NS}/kustomization-apps`))!
  assert.deepEqual(bundle.spec.decryption, { secret: 'sops-keys' })
  assert.equal(bundle.status?.release, release.metadata.name)
  // The same value, encrypted again, is no new Release.
  await push('c2', { 'secret.yaml': secretFile() })
  assert.equal((await hub.client.list(Release)).items.length, 1)
  await push('c3', { 'secret.yaml': secretFile({ stringData: { password: 'another-canary-1' } }) })
  assert.equal((await hub.client.list(Release)).items.length, 2)
})

test('sources of generators and data fields are decrypted; their values are not counted as readable', async (t) => {
  const file = encryptSops({ token: CANARY }, IDENTITY!.recipient, ['token'])
  const { ready, written } = await world(t, {
    files: {
      'kustomization.yaml':
        'resources: [s.yaml]\nsecretGenerator:\n- name: gen\n  namespace: apps\n  files: [f.json]\n',
      'f.json': file,
      's.yaml': JSON.stringify({
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'field', namespace: 'apps' },
        data: { 'k.json': base64(file) },
      }),
    },
  })
  assert.equal(await ready(), 'True ReconciliationSucceeded: Applied revision: main@sha1:c1')
  const all = await written()
  for (const form of forms(CANARY)) assert.ok(!all.includes(form), `found ${form}`)
})

test('a readable value beside encrypted ones is refused as in every repository', async (t) => {
  const open = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'open', namespace: 'apps' },
    stringData: { password: 'readable' },
  })
  const { ready } = await world(t, { files: { 'secret.yaml': secretFile(), 'open.yaml': open } })
  assert.match(await ready(), /^False BuildFailed: .*Secret open has its content \(password\) in the repository/)
})

test('a file whose MAC does not fit is refused, unless the object accepts it', async (t) => {
  const changed = secretFile().replace('"namespace": "apps"', '"namespace": "elsewhere"')
  const checked = await world(t, { files: { 'secret.yaml': changed } })
  assert.match(
    await checked.ready(),
    /^False BuildFailed: .*decryption failed for 'Secret\.v1\.\[noGrp\]\/db': secret\.yaml: MAC mismatch/,
  )
  assert.equal(await checked.delivered(), 0)
  const annotations = { 'flotilla.dev/sops-mac': 'Ignore' }
  const ignored = await world(t, { files: { 'secret.yaml': changed }, annotations })
  assert.match(await ignored.ready(), /^True ReconciliationSucceeded/)
})

test('a failed decryption takes nothing away', async (t) => {
  const { ready, push, delivered, hub } = await world(t, { files: { 'secret.yaml': secretFile() } })
  const before = (await hub.find(Assignment, 'c1'))!.spec.entries
  await push('c2', { 'secret.yaml': secretFile().replace('"apps"', '"other"') })
  assert.match(await ready(), /^False BuildFailed: .*MAC mismatch/)
  assert.equal(await delivered(), 1)
  assert.deepEqual((await hub.find(Assignment, 'c1'))!.spec.entries, before)
})

const refused: [what: string, options: Omit<Options, 'files'>, message: RegExp][] = [
  [
    'a key of another recipient',
    { keys: { 'b.agekey': OTHER_AGE_KEY } },
    /age1test: FAILED[\s\S]*incorrect[\s\S]*identity/,
  ],
  ['a key under another name', { keys: { key: AGE_KEY } }, /there is no key[\s\S]*\*\.agekey/],
  ['no secretRef', { decryption: { provider: 'sops' } }, /there is no key[\s\S]*\*\.agekey/],
  [
    'a Secret without the label',
    { labels: {} },
    /Secret sops-keys, which is not given to Bundles; label it flotilla\.dev\/input=decryption/,
  ],
  ['a missing Secret', { decryption: { provider: 'sops', secretRef: { name: 'none' } } }, /secrets "none" not found/],
  [
    'another provider',
    { decryption: { provider: 'vault' } },
    /spec\.decryption\.provider is "vault"; only sops is supported/,
  ],
  [
    'an account of a cloud',
    { decryption: { provider: 'sops', serviceAccountName: 'x' } },
    /it is for key services of clouds/,
  ],
]
for (const [what, options, message] of refused) {
  test(`${what} is a reason in the status`, async (t) => {
    const { ready, delivered } = await world(t, { files: { 'secret.yaml': secretFile() }, ...options })
    assert.match(await ready(), message)
    assert.match(await ready(), /^False /)
    assert.equal(await delivered(), 0)
  })
}

test('the label for decryption gives the Secret to no template', async (t) => {
  const { hub, settle } = await world(t, { files: { 'secret.yaml': secretFile() } })
  const manifests =
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: leak, namespace: apps}\ndata: {v: "${ .Inputs.k }"}\n'
  const inputs = [{ name: 'k', secret: { name: 'sops-keys', key: 'a.agekey' } }]
  const spec = { manifests, placement: 'all', templating: 'Enabled' as const, inputs }
  await hub.create(build(Bundle, `${NS}/leak`, { spec }), Bundle)
  await settle()
  const bundle = await hub.find(Bundle, `${NS}/leak`)
  const ready = bundle?.status?.conditions?.find(({ type }) => type === 'Ready')
  assert.match(ready?.message ?? '', /Secret sops-keys, which is not given to Bundles/)
})

test('an encrypted object that is no Secret is refused: its values would be readable', async (t) => {
  const map = encryptSops(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'apps' }, data: { v: CANARY } },
    IDENTITY!.recipient,
  )
  const { ready, written } = await world(t, { files: { 'map.yaml': map } })
  assert.match(await ready(), /^False BuildFailed: .*the object is encrypted and is no Secret/)
  assert.ok(!(await written()).includes(CANARY))
})

test('an error of the build after a decryption does not repeat what was decrypted', async (t) => {
  // The decrypted text is no list of variables, and the generator repeats what it cannot read.
  const file = encryptSops({ data: `${CANARY} without sign\n` }, IDENTITY!.recipient, ['data'])
  const { ready, written } = await world(t, {
    files: {
      'kustomization.yaml': 'secretGenerator:\n- name: gen\n  namespace: apps\n  envs: [f.json]\n',
      'f.json': file,
    },
  })
  assert.match(await ready(), /^False BuildFailed/)
  assert.ok(!(await ready()).includes(CANARY), await ready())
  assert.ok(!(await written()).includes(CANARY))
})

test('files for OpenPGP are decrypted with a key *.asc', async (t) => {
  const recorded = readCases('flux/sops.jsonl.gz').find(({ id }) => id === 'sops-0085')!
  const [object] = recorded['objects'] as readonly { readonly data: Readonly<Record<string, string>> }[]
  const keys = Object.fromEntries(
    Object.entries(object!.data).map(([key, value]) => [key, fromUtf8(Buffer.from(value, 'base64'))]),
  )
  const files = recorded['files'] as Readonly<Record<string, string>>
  const { ready, delivered } = await world(t, { files, keys })
  assert.equal(await ready(), 'True ReconciliationSucceeded: Applied revision: main@sha1:c1')
  assert.equal(await delivered(), 1)
  const wrong = await world(t, { files, keys: {} })
  assert.match(await wrong.ready(), /there is no private[\s\S]*key \*\.asc/)
})
