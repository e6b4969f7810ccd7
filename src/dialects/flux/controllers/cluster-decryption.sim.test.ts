/** Kustomizations whose keys are in the clusters: what the hub reads, delivers and refuses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { base64, utf8 } from '../../../core/bytes.ts'
import { Namespace, Secret } from '../../../kinds/builtin/core.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { readIdentities } from '../../../render/sops/age.ts'
import { storeFiles } from '../../../source/store-files.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { AGE_KEY, encryptSops } from '../../../testing/sops/encrypt-sops.ts'
import { GitRepository, Kustomization } from '../kinds.ts'

const NS = 'flux-system'
const CANARY = 'plaintext-canary-4711'
const [IDENTITY] = readIdentities(AGE_KEY)
const AGENT = { 'flotilla.dev/decryption': 'Agent' }

const encrypted = (object: Readonly<Record<string, unknown>>, fields?: string[]): string =>
  encryptSops(object, IDENTITY!.recipient, fields)
const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'db', namespace: 'apps' },
  stringData: { password: CANARY },
}
const CONFIG = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm', namespace: 'apps' }, data: { v: CANARY } }

interface Options {
  readonly files: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly ofNamespace?: Readonly<Record<string, string>>
  readonly spec?: Readonly<Record<string, unknown>>
}

async function world(t: TestContext, { files, annotations = AGENT, ofNamespace = {}, spec = {} }: Options) {
  const hub = await startControllersHome(['flux'])
  t.after(() => hub.close())
  hub.serveSources(async ({ previous, spec: source }) => {
    if (previous) return { kind: 'Same' }
    const bytes = new Map(Object.entries(files).map(([path, text]) => [path, utf8(text)]))
    const stored = await storeFiles(bytes, source, hub.blobs)
    return {
      kind: 'New',
      artifact: { ...stored, revision: 'main@sha1:c1', commit: 'c1', fetchedBytes: 1, from: 'x' },
    }
  })
  await hub.create(buildCluster('c1'), Cluster)
  await hub.report('c1', 'Ready')
  await hub.create(build(Placement, `${NS}/all`, { spec: { clusterSelector: {} } }), Placement)
  const annotate = async (added: Readonly<Record<string, string>>) => {
    const found = (await hub.find(Namespace, NS))!
    const metadata = { ...found.metadata, annotations: { 'flotilla.dev/placement': 'all', ...added } }
    await hub.client.update(Namespace, { ...found, metadata })
  }
  await annotate(ofNamespace)
  const source = { interval: '1m', url: 'https://git.example.com/fleet', ref: { branch: 'main' } }
  await hub.create(build(GitRepository, `${NS}/fleet`, { spec: source }), GitRepository)
  const decryption = { provider: 'sops', secretRef: { name: 'sops-keys' } }
  const own = {
    interval: '10m',
    prune: true,
    path: './',
    sourceRef: { kind: 'GitRepository', name: 'fleet' },
    decryption,
  }
  await hub.create(build(Kustomization, `${NS}/apps`, { spec: { ...own, ...spec } }, { annotations }), Kustomization)
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
    annotate,
    ready: async () => {
      const one = (await hub.find(Kustomization, `${NS}/apps`))?.status?.conditions?.find(
        ({ type }) => type === 'Ready',
      )
      return `${one?.status} ${one?.reason}: ${one?.message}`
    },
    decryption: async () => (await hub.find(Bundle, `${NS}/kustomization-apps`))?.spec.decryption,
    entries: async () => (await hub.find(Assignment, 'c1'))?.spec.entries.length ?? 0,
    stored: async () => {
      const texts: string[] = []
      for await (const digest of hub.blobs.list())
        texts.push(Buffer.from((await hub.blobs.get(digest))!).toString('latin1'))
      return texts.join('\n')
    },
  }
}

test('with keys in the clusters, the hub has no key, and delivers the encrypted Secret to agents that can decrypt', async (t) => {
  const { ready, hub, decryption, entries, stored } = await world(t, { files: { 'secret.yaml': encrypted(SECRET) } })
  assert.equal(await hub.find(Secret, `${NS}/sops-keys`), undefined)
  assert.equal(await ready(), 'True ReconciliationSucceeded: Applied revision: main@sha1:c1')
  assert.deepEqual(await decryption(), { at: 'Agent', secret: 'sops-keys' })
  assert.equal(await entries(), 1)
  assert.deepEqual(hub.rights.denied, [])
  const all = await stored()
  assert.match(all, /"requires":\[[^\]]*"decrypt\/v1"/)
  assert.ok(all.includes('ENC[AES256_GCM'))
  assert.ok(!all.includes(CANARY))
  // The hub knows files, not objects.
  assert.equal((await hub.find(Kustomization, `${NS}/apps`))?.status?.inventory, undefined)
})

test('a build without encrypted content is delivered as objects', async (t) => {
  const { ready, hub, stored } = await world(t, { files: { 'map.yaml': JSON.stringify(CONFIG) } })
  assert.equal(await ready(), 'True ReconciliationSucceeded: Applied revision: main@sha1:c1')
  assert.doesNotMatch(await stored(), /decrypt\/v1/)
  assert.equal((await hub.find(Kustomization, `${NS}/apps`))?.status?.inventory?.entries.length, 1)
})

test('the annotation of the Namespace holds for its Kustomizations; their own annotation wins', async (t) => {
  const files = { 'secret.yaml': encrypted(SECRET) }
  const { decryption, annotate, settle } = await world(t, { files, annotations: {}, ofNamespace: AGENT })
  assert.equal((await decryption())?.at, 'Agent')
  await annotate({})
  await settle()
  assert.deepEqual(await decryption(), { secret: 'sops-keys' })
  const own = await world(t, { files, annotations: { 'flotilla.dev/decryption': 'Hub' }, ofNamespace: AGENT })
  assert.equal((await own.decryption())?.at, undefined)
  assert.match(await own.ready(), /^False BuildFailed: .*secrets "sops-keys" not found/)
})

const readable = { ...SECRET, metadata: { name: 'open', namespace: 'apps' }, stringData: { password: 'readable' } }
const variables = encrypted({ data: `A=${CANARY}\n` }, ['data'])
const refused: [what: string, options: Options, message: RegExp][] = [
  [
    'an encrypted object that is no Secret',
    { files: { 'map.yaml': encrypted(CONFIG) } },
    /ConfigMap\.v1\.\[noGrp\]\/m': the object is encrypted and is no Secret/,
  ],
  [
    'an encrypted file of variables',
    {
      files: {
        'kustomization.yaml': 'secretGenerator:\n- name: gen\n  namespace: apps\n  envs: [v.json]\n',
        'v.json': variables,
      },
    },
    /file of variables v\.json is encrypted, and an agent decrypts objects and whole files of Secrets: let the hub decrypt it/,
  ],
  [
    'an encrypted patch',
    {
      files: {
        'kustomization.yaml': 'resources: [s.yaml]\npatches:\n- path: p.json\n',
        's.yaml': JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: SECRET.metadata }),
        'p.json': encrypted(SECRET),
      },
    },
    /patch p\.json is encrypted/,
  ],
  [
    'a readable Secret beside an encrypted one',
    { files: { 's.yaml': encrypted(SECRET), 'open.yaml': JSON.stringify(readable) } },
    /Secret open has its content \(password\) in the repository/,
  ],
  [
    'a readable Secret, also where readable Secrets are allowed',
    {
      files: { 's.yaml': encrypted(SECRET), 'open.yaml': JSON.stringify(readable) },
      annotations: { ...AGENT, 'flotilla.dev/secrets': 'Allow' },
    },
    /Secret open has readable values, and what a cluster decrypts travels as it is written/,
  ],
  [
    'another value of the annotation',
    { files: { 's.yaml': encrypted(SECRET) }, annotations: { 'flotilla.dev/decryption': 'agent' } },
    /BadAnnotation: annotation flotilla\.dev\/decryption is "agent"; use Hub or Agent/,
  ],
]
for (const [what, options, message] of refused) {
  test(`${what} is refused`, async (t) => {
    const { ready, entries, stored } = await world(t, options)
    assert.match(await ready(), message)
    assert.match(await ready(), /^False /)
    assert.equal(await entries(), 0)
    assert.ok(!(await stored()).includes(`"password":"${CANARY}"`))
  })
}

test('a value of a Secret of the hub is not delivered beside what agents decrypt', async (t) => {
  const postBuild = { substituteFrom: [{ kind: 'Secret', name: 'values' }] }
  const { hub, settle, ready, entries } = await world(t, {
    files: { 's.yaml': encrypted(SECRET) },
    spec: { postBuild },
  })
  const labels = { 'flotilla.dev/input': 'allowed' }
  await hub.create(build(Secret, `${NS}/values`, { data: { V: base64(utf8(CANARY)) } }, { labels }), Secret)
  await settle()
  assert.match(await ready(), /is a Secret of the hub, and with decryption\.at Agent it would leave the hub unsealed/)
  assert.equal(await entries(), 0)
})
