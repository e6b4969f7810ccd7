/**
 * From a chart's Secret to what each cluster can open: for those that are there, one that joins later, and one with a
 * new key.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { collectBlobs } from '../../blobs/collector.ts'
import { base64, fromBase64, fromUtf8, utf8 } from '../../core/bytes.ts'
import { keyPairFromSeed } from '../../core/crypto/key-pair.ts'
import { silentLogger } from '../../core/log.ts'
import { Secret } from '../../core/secret.ts'
import { blobRoots } from '../../hub/home/blob-roots.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Secret as SecretKind } from '../../kinds/builtin/core.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Release } from '../../kinds/native/release.ts'
import { Source } from '../../kinds/native/source.ts'
import { storeFiles } from '../../source/store-files.ts'
import { build, buildCluster, buildPlacement } from '../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../testing/hub/controllers-home.ts'
import { openSealedValue, parseSealed } from '../../wire/document/sealed-values.ts'
import { parseObjectSet } from '../../wire/document/signed-document.ts'
import { writePublicKey } from '../../wire/trust/trust-bundle.ts'

const BUNDLE = 'default/db'
const SLOT = 'v1 Secret shop/db'
const CHART = {
  'db/Chart.yaml': 'apiVersion: v2\nname: db\nversion: 1.0.0\n',
  'db/templates/all.yaml': `apiVersion: v1
kind: Secret
metadata: {name: db, namespace: shop}
stringData:
  password: {{ randAlphaNum 32 }}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: db, namespace: shop}
data: {greeting: {{ .Values.greeting | default "hello" }}}
`,
}
const pair = (n: number) => keyPairFromSeed('x25519', new Uint8Array(48).fill(n))

async function world(t: TestContext) {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  hub.serveSources(async ({ previous, spec }) => {
    if (previous) return { kind: 'Same' }
    const files = new Map(Object.entries(CHART).map(([path, text]) => [path, utf8(text)]))
    const artifact = { ...(await storeFiles(files, spec, hub.blobs)), revision: 'main@sha1:c1', commit: 'c1' }
    return { kind: 'New', artifact: { ...artifact, fetchedBytes: 1, from: 'x' } }
  })
  const join = async (name: string, key: number) => {
    const sealingKey = writePublicKey(pair(key).publicKey)
    await hub.create(buildCluster(name, { labels: { tier: 'store' }, spec: { sealingKey } }), Cluster)
    await hub.report(name, 'Ready')
  }
  const settle = async () => {
    for (let round = 0; round < 3; round++) {
      await hub.clock.advance(8000)
      for (const { metadata } of (await hub.client.list(Cluster)).items) await hub.report(metadata.name, 'Ready')
    }
    await hub.clock.advance(8000)
  }
  await join('one', 1)
  await join('two', 2)
  await hub.create(buildPlacement('default/everywhere', { tier: 'store' }), Placement)
  await hub.create(build(Source, 'default/apps', { spec: { git: { url: 'https://x/y' }, interval: '10s' } }), Source)
  const spec = { placement: 'everywhere', source: { name: 'apps', path: 'db' }, rollout: { concurrency: 10 } }
  await hub.create(build(Bundle, BUNDLE, { spec }), Bundle)
  await settle()

  const entryOf = async (name: string) => (await hub.client.get(Assignment, { name })).spec.entries[0]!
  /** What a cluster reads of its sealed values with a key. */
  const read = async (name: string, key: number, as = name): Promise<string> => {
    const { sealed, set } = await entryOf(name)
    const { values } = parseObjectSet((await hub.blobs.get(set))!)
    const context = { clusterId: `c-${as}`, bundle: BUNDLE, values: values! }
    const kept = parseSealed((await hub.blobs.get(sealed!.values))!)
    const opened = openSealedValue(kept, context, SLOT, [new Secret(pair(key).privateKey)])
    return fromUtf8(fromBase64((JSON.parse(fromUtf8(opened.reveal())) as { password: string }).password))
  }
  const revisions = async () => (await hub.client.list(Assignment)).items.map(({ spec: { revision } }) => revision)
  return { hub, join, settle, entryOf, read, revisions }
}

test("a chart's Secret reaches each cluster sealed, and the hub keeps it for one that joins later", async (t) => {
  const { hub, join, settle, entryOf, read, revisions } = await world(t)
  const password = await read('one', 1)
  assert.match(password, /^[A-Za-z0-9]{32}$/)
  assert.equal(await read('two', 2), password)
  const [one, two] = [await entryOf('one'), await entryOf('two')]
  assert.equal(one.set, two.set)
  assert.notEqual(one.sealed?.values, two.sealed?.values)
  assert.deepEqual((await hub.documentOf('one')).requires, ['sets/v1', 'sealed/v1'])
  assert.equal((await hub.documentOf('one')).content.entries[0]?.sealed, one.sealed?.values)
  await assert.rejects(read('one', 2), /which this agent does not have/)
  await assert.rejects(read('one', 1, 'two'), /do not open: they were made for another place/)

  await join('later', 3)
  await settle()
  assert.equal(await read('later', 3), password)
  assert.deepEqual(await revisions(), [1, 1, 1])
  assert.equal((await hub.client.list(Release)).items.length, 1)

  for await (const digest of hub.blobs.list()) {
    const text = fromUtf8((await hub.blobs.get(digest))!)
    assert.ok(!text.includes(password) && !text.includes(base64(utf8(password))), text)
  }
})

test('nothing is released, signed or sealed again by a restart, nor by content that leaves the values alone', async (t) => {
  const { hub, settle, entryOf, revisions } = await world(t)
  const before = await entryOf('one')
  await hub.restart()
  await settle()
  assert.deepEqual(await revisions(), [1, 1])
  const bundle = (await hub.find(Bundle, BUNDLE))!
  await hub.client.update(Bundle, { ...bundle, spec: { ...bundle.spec, helm: { values: { greeting: 'moin' } } } })
  await settle()
  const after = await entryOf('one')
  assert.deepEqual(await revisions(), [2, 2])
  assert.notEqual(after.set, before.set)
  assert.deepEqual(after.sealed, before.sealed)
})

test('a new sealing key seals again, for that cluster alone', async (t) => {
  const { hub, join, settle, read, revisions, entryOf } = await world(t)
  const password = await read('one', 1)
  const before = await entryOf('one')
  const cluster = (await hub.find(Cluster, 'one'))!
  const sealingKey = writePublicKey(pair(9).publicKey)
  await hub.client.update(Cluster, { ...cluster, spec: { ...cluster.spec, sealingKey } })
  await settle()
  assert.equal(await read('one', 9), password)
  await assert.rejects(read('one', 1), /which this agent does not have/)
  assert.deepEqual(await revisions(), [2, 1])
  const { sealed: _sealed, ...rest } = await entryOf('one')
  const { sealed: _before, ...was } = before
  assert.deepEqual(rest, was)

  // The collector reaches what is sealed, and what the hub keeps to seal it again, from Assignments and Releases.
  const { clock, blobs, client } = hub
  const stray = await blobs.put(utf8('sealed for a cluster that is gone'))
  const roots = (signal: AbortSignal) => blobRoots(client, signal)
  await collectBlobs({ blobs, roots, clock, log: silentLogger, graceMs: -1 }, new AbortController().signal)
  assert.equal(await blobs.has(stray), false)
  assert.equal(await read('one', 9), password)
  assert.equal(await read('two', 2), password)
  await join('later', 3)
  await settle()
  assert.equal(await read('later', 3), password)
})

test('values whose key is gone stop that bundle where it is, say so, and hold nothing else up', async (t) => {
  const { hub, join, settle } = await world(t)
  const at = { namespace: 'default', name: 'db-values-key' }
  const kept = await hub.client.get(SecretKind, at)
  await hub.client.delete(SecretKind, at)
  await hub.restart()
  const manifests = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: shop}\n'
  const spec = { placement: 'everywhere', manifests, rollout: { concurrency: 10 } }
  await hub.create(build(Bundle, 'default/other', { spec }), Bundle)
  await join('later', 3)
  await settle()
  const bundles = async () =>
    (await hub.client.get(Assignment, { name: 'later' })).spec.entries.map(({ bundle }) => bundle)
  assert.deepEqual(await bundles(), ['default/other'])
  const said = (await hub.find(Cluster, 'later'))?.status?.conditions?.find(({ type }) => type === 'Assigned')
  assert.equal(
    `${said?.status} ${said?.reason}: ${said?.message}`,
    'False ValuesUnreadable: The secret values of bundle default/db cannot be read: Secret default/db-values-key with their key is not the one they were kept with. Clusters keep what they run; restore it from a backup, or edit the Bundle to render it anew.',
  )
  const { apiVersion, kind, data } = kept
  await hub.client.create(SecretKind, { apiVersion, kind, metadata: at, data })
  await hub.clock.advance(120_000)
  assert.deepEqual(await bundles(), [BUNDLE, 'default/other'])
})
