/** How far a deletion reaches, and what a person is asked, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../../core/crypto/digest.ts'
import { ensureNamespace } from '../../../hub/home/hub-info.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle, REMOVAL_FINALIZER } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Source } from '../../../kinds/native/source.ts'
import { shrinkToken } from '../../../plan/placement/shrink-guard.ts'
import { build, buildBundle, buildCluster, configMapManifest } from '../../../testing/fixtures/builders.ts'
import { createCliHub } from '../../../testing/hub/cli-hub.ts'
import { deleteObjects } from './delete.ts'

async function* nothing(): AsyncIterable<Uint8Array> {}

async function started(t: { after(fn: () => Promise<void>): void }, clusters: readonly string[], spec: object = {}) {
  const hub = createCliHub(t, { tty: true, namespace: 'ns' })
  const { client, connection, terminal } = hub
  const said = Object.assign(hub.said, { questions: [] as string[] })
  await ensureNamespace(client, 'ns')
  const manifests = configMapManifest('hello', {})
  const bundle = await client.create(Bundle, buildBundle('ns/hello', { manifests, ...spec }))
  // As the hub does it: the object stays until the removal is written down.
  await client.update(Bundle, { ...bundle, metadata: { ...bundle.metadata, finalizers: [REMOVAL_FINALIZER] } })
  for (const name of clusters) {
    const entries = [{ bundle: 'ns/hello', generation: 1, set: digestOf('x'), rollout: 'ns/hello-g1' }]
    const document = digestOf(name)
    await client.create(
      Assignment,
      build(Assignment, name, { spec: { clusterId: name, epoch: 1, revision: 1, document, entries } }),
    )
  }
  const run = (flags: object, answer: boolean) =>
    deleteObjects(['bundle', 'hello'], {
      connection,
      terminal,
      flags,
      stdin: nothing(),
      confirm: async (question) => (said.questions.push(`y/N ${question}`), answer),
      confirmName: async (question, name) => (said.questions.push(`type ${name}: ${question}`), answer),
    })
  return { said, run, bundle: () => client.get(Bundle, { namespace: 'ns', name: 'hello' }) }
}

test('a Bundle on several clusters says from which it goes, and wants its name typed', async (t) => {
  const { said, run, bundle } = await started(t, ['a', 'b', 'c', 'd'])
  await assert.rejects(run({}, false), /cancelled; nothing was deleted/)
  assert.match(
    said.err,
    /bundle "hello" is removed from 4 clusters \(a, b, c and 1 more\), ring by ring, with its objects; namespaces, CRDs and volumes are kept unless/,
  )
  assert.deepEqual(said.questions, ['type hello: delete bundle.flotilla.dev/hello in namespace "ns"?'])
  assert.equal((await bundle()).metadata.deletionTimestamp, undefined)

  await run({}, true)
  const { metadata } = await bundle()
  assert.ok(metadata.deletionTimestamp)
  const token = shrinkToken({ generation: 0, dropped: ['a', 'b', 'c', 'd'] })
  assert.equal(
    metadata.annotations?.['flotilla.dev/release-drop'],
    token,
    'the guard does not hold a confirmed removal',
  )
})

test('--yes says how far it reaches and lets the hub ask about a large removal', async (t) => {
  const { said, run, bundle } = await started(t, ['a'], { delete: { bundleDeleted: 'Orphan' } })
  await run({ yes: true }, false)
  assert.match(said.err, /bundle "hello" is orphaned on 1 cluster \(a\), ring by ring; its objects stay/)
  assert.equal((await bundle()).metadata.annotations, undefined)
  assert.match(said.err, /flotilla get rollouts -n ns {3}# hello-removal-…; a large removal waits until it is resumed/)
  assert.deepEqual(said.questions, [])
})

test('a Bundle that runs nowhere is a plain question', async (t) => {
  const { said, run } = await started(t, [])
  await run({}, true)
  assert.match(said.err, /bundle "hello" runs on no cluster/)
  assert.deepEqual(said.questions, ['y/N delete bundle.flotilla.dev/hello in namespace "ns"?'])
})

test('a Cluster, a Placement and a Source say what stays without them', async (t) => {
  const hub = createCliHub(t, { tty: true, namespace: 'ns' })
  const { client, connection, terminal, taken } = hub
  await ensureNamespace(client, 'ns')
  await client.create(Cluster, buildCluster('store-1'))
  await client.create(Placement, build(Placement, 'ns/stores', { spec: { clusterSelector: {} } }))
  await client.create(Source, build(Source, 'ns/fleet', { spec: { git: { url: 'https://git.example/fleet' } } }))
  const source = { name: 'fleet', path: 'shop' }
  await client.create(Bundle, buildBundle('ns/shop', { placement: 'stores', source }))
  const ask = async (...words: string[]) => {
    const asked: string[] = []
    const confirm = async (question: string) => (asked.push(question), false)
    await assert.rejects(
      deleteObjects(words, { connection, terminal, flags: {}, stdin: nothing(), confirm }),
      /cancelled/,
    )
    return `${taken().err}${asked.join()}`
  }
  assert.match(
    await ask('cluster', 'store-1'),
    /cluster "store-1" is deleted and its agent loses access; 0 bundles stay on the cluster/,
  )
  assert.match(
    await ask('placement', 'stores'),
    /placement "stores" places 1 bundle \(shop\) on 0 clusters; running workloads stay and are repaired, new releases reach no cluster/,
  )
  assert.match(
    await ask('source', 'fleet'),
    /source "fleet" provides 1 bundle \(shop\); running workloads stay and are repaired, no new releases are made\ndelete source/,
  )
})
