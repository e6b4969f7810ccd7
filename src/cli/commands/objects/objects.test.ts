/** get, apply, delete and cluster against the real API server in memory. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../../core/time/system-clock.ts'
import { ensureNamespace, publishHubInfo, SYSTEM_NAMESPACE } from '../../../hub/home/hub-info.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { JoinToken } from '../../../kinds/native/join-token.ts'
import { buildPlacement } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorReport } from '../../../testing/hub/cli-hub.ts'
import { parseJoinCode, tokenHash } from '../../../wire/trust/join-code.ts'
import { apply } from './apply.ts'
import { clusterAccept } from '../cluster/acceptance.ts'
import { clusterAdd } from '../cluster/add.ts'
import { deleteObjects } from './delete.ts'
import { get } from './get.ts'
import type { GetFlags } from './read-objects.ts'

async function* nothing(): AsyncIterable<Uint8Array> {}

async function* textOf(text: string): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(text)
}

function started(t: { after(fn: () => Promise<void>): void }) {
  const { client, connection, terminal, taken } = createCliHub(t)
  const run = {
    get: async (words: string[], flags: Partial<GetFlags> = {}, signal = new AbortController().signal) => {
      await get(words, { connection, terminal, signal, flags: { output: 'table', headers: true, ...flags } })
      return taken()
    },
    apply: async (text: string, flags: object = {}) => {
      await apply({
        connection,
        terminal,
        stdin: textOf(text),
        flags: { filename: ['-'], fieldManager: 'test', ...flags },
      })
      return taken()
    },
    delete: async (words: string[], flags: object = {}) => {
      const confirm = async () => false
      await deleteObjects(words, { connection, terminal, flags, stdin: nothing(), confirm })
      return taken()
    },
  }
  return { ...run, connection, terminal, client, taken }
}

const PLACEMENTS = `
apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: { name: north, labels: { a: b } }
spec: { clusterSelector: {} }
---
apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: { name: south, namespace: kube-public }
spec: { clusterSelector: {} }
`

function clusterOf(name: string): Cluster {
  const key = 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE='
  return {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: {
      id: `c-${name}`,
      accepted: false,
      identityKey: key,
      sealingKey: key,
      checkInSeconds: 30,
      offlineAfterSeconds: 120,
    },
  }
}

test('apply says what it applied, and get finds it by every name of its kind', async (t) => {
  const hub = started(t)
  assert.equal(
    (await hub.apply(PLACEMENTS)).out,
    'placement.flotilla.dev/north created\nplacement.flotilla.dev/south created\n',
  )
  const changed = PLACEMENTS.replace('a: b', 'a: c')
  assert.equal(
    (await hub.apply(changed)).out,
    'placement.flotilla.dev/north configured\nplacement.flotilla.dev/south unchanged\n',
  )
  await hub.apply(PLACEMENTS)
  for (const word of [
    'placements',
    'placement',
    'Placement',
    'fpl',
    'placements.flotilla.dev',
    'placement.v1alpha1.flotilla.dev',
  ]) {
    assert.equal((await hub.get([word], { output: 'name' })).out, 'placement.flotilla.dev/north\n', word)
  }
  const all = await hub.get(['placements'], { allNamespaces: true, headers: false })
  assert.match(all.out, /^default {7}north .*\nkube-public {3}south /)
  assert.match(
    (await hub.get(['fpl/north', 'ns/default'])).out,
    /^NAME .*\nplacement\.flotilla\.dev\/north .*\n\nNAME .*\nnamespace\/default /,
  )
  assert.match((await hub.get(['fpl'], { selector: 'a=c' })).err, /^No resources found in default namespace\.\n$/)
})

test('objects that are named one by one are one table, and what is missing is told after them', async (t) => {
  const hub = started(t)
  for (const name of ['a', 'a-long-name']) await hub.client.create(Cluster, clusterOf(name))
  const { out } = await hub.get(['clusters', 'a', 'a-long-name'])
  const [head = '', ...rows] = out.trimEnd().split('\n')
  assert.deepEqual(
    rows.map((row) => row.slice(0, head.indexOf('STATE')).trimEnd()),
    ['a', 'a-long-name'],
  )
  assert.equal((await expectErrorReport(hub.get(['clusters', 'a', 'a-long-nmae']))).todo, 'did you mean "a-long-name"?')
  assert.match(hub.taken().out, /^NAME .*\na /)
})

test('objects are printed as the API has them, without managedFields unless asked for', async (t) => {
  const hub = started(t)
  await hub.apply(PLACEMENTS)
  const one = JSON.parse((await hub.get(['fpl', 'north'], { output: 'json' })).out) as Placement
  assert.equal(one.kind, 'Placement')
  assert.equal(one.metadata.managedFields, undefined)
  const list = JSON.parse((await hub.get(['fpl'], { output: 'json', showManagedFields: true })).out) as {
    kind: string
    items: { kind: string; metadata: { managedFields?: unknown[] } }[]
  }
  assert.equal(list.kind, 'List')
  assert.equal(list.items[0]?.kind, 'Placement')
  assert.equal(list.items[0]?.metadata.managedFields?.length, 1)
  assert.match(
    (await hub.get(['fpl'], { output: 'yaml' })).out,
    /^apiVersion: v1\nitems:\n- apiVersion: flotilla.dev\/v1alpha1\n/,
  )
  assert.equal((await hub.get(['fpl', 'north'], { output: 'jsonpath={.metadata.name}' })).out, 'north')
})

test('a table can be cut, continued, chosen by state, sorted and taken as CSV', async (t) => {
  const hub = started(t)
  for (const [name, state] of [
    ['a', 'Failed'],
    ['b', 'Ready'],
    ['c', 'Offline'],
  ] as const) {
    const made = await hub.client.create(Cluster, clusterOf(name))
    await hub.client.update(Cluster, { ...made, status: { state } }, { subresource: 'status' })
  }
  const names = ({ out }: { out: string }) => out.match(/^\w+/gm)
  const first = await hub.get(['clusters'], { limit: '2', headers: false })
  assert.deepEqual(names(first), ['a', 'b'])
  const token = /^more rows: --continue (\S+)\n$/.exec(first.err)?.[1]
  assert.deepEqual(names(await hub.get(['clusters'], { continue: token!, headers: false })), ['c'])
  const unhealthy = await hub.get(['clusters'], { state: 'offline,failed', sortBy: 'state', headers: false })
  assert.deepEqual([names(unhealthy), unhealthy.err], [['a', 'c'], 'showing 2 of 3\n'])
  const none = await hub.get(['clusters'], { state: 'drifted' })
  assert.deepEqual([none.out, none.err], ['', 'showing 0 of 3; the states are Failed, Offline, Ready\n'])
  const objects = await hub.get(['clusters'], { limit: '2', output: 'name' })
  assert.deepEqual(objects.out.split('\n'), ['cluster.flotilla.dev/a', 'cluster.flotilla.dev/b', ''])
  assert.match(objects.err, /^more rows: --continue \S+\n$/)
  const more = { continue: /--continue (\S+)/.exec(objects.err)![1]!, output: 'name' }
  assert.equal((await hub.get(['clusters'], more)).out, 'cluster.flotilla.dev/c\n')
  const chosen = await hub.get(['clusters'], { state: 'offline,failed', sortBy: 'state', output: 'json' })
  const { items } = JSON.parse(chosen.out) as { items: Cluster[] }
  assert.deepEqual(
    items.map(({ kind, metadata, status }) => [kind, metadata.name, status?.state]),
    [
      ['Cluster', 'a', 'Failed'],
      ['Cluster', 'c', 'Offline'],
    ],
  )
  assert.match((await hub.get(['clusters', 'c'], { output: 'csv' })).out, /^NAME,STATE,.*\r\nc,Offline,/)
  assert.equal(
    (await expectErrorReport(hub.get(['clusters'], { limit: '0' }))).what,
    'invalid --limit "0": must be a whole number of at least 1',
  )
})

test('watch prints what there is, then every change, until it is told to stop', async (t) => {
  const hub = started(t)
  await hub.apply(PLACEMENTS)
  const stop = new AbortController()
  const watching = hub.get(['fpl'], { watch: true, headers: false }, stop.signal)
  let text = ''
  const until = async (word: string) => {
    for (let looks = 0; !text.includes(word); looks++) {
      assert.ok(looks < 2_000, `${word} was never printed`)
      await systemClock.sleep(5)
      text += hub.taken().out
    }
  }
  try {
    await until('north')
    await hub.client.create(Placement, buildPlacement('default/east'))
    await until('east')
    assert.match(text, /^north .*\neast /)
  } finally {
    stop.abort()
    await watching.catch(() => {}) // a watch ends by being cut
  }
})

test('what is not there is told with the nearest name', async (t) => {
  const hub = started(t)
  await hub.apply(PLACEMENTS)
  assert.deepEqual(await expectErrorReport(hub.get(['fpl', 'nroth'])), {
    exitCode: 3,
    what: 'placement "nroth" not found in namespace "default"',

    todo: 'did you mean "north"?',
  })
  const kind = await expectErrorReport(hub.get(['clutser']))
  assert.deepEqual([kind.exitCode, kind.todo], [2, 'did you mean "cluster"?'])
  const output = await expectErrorReport(hub.get(['fpl'], { output: 'jsn' }))
  assert.deepEqual([output.exitCode, output.todo], [2, 'did you mean "json"?'])
})

test('what cannot be applied is told with its place in the file', async (t) => {
  const hub = started(t)
  const noName = await expectErrorReport(hub.apply('apiVersion: v1\nkind: ConfigMap\n'))
  assert.deepEqual([noName.exitCode, noName.where], [2, 'stdin, line 1'])
  const noKind = await expectErrorReport(
    hub.apply('---\napiVersion: flotilla.dev/v1alpha1\nkind: Bundel\nmetadata: { name: x }\n'),
  )
  assert.deepEqual([noKind.exitCode, noKind.todo], [2, 'did you mean "Bundle"?'])
  const invalid = await expectErrorReport(
    hub.apply('apiVersion: flotilla.dev/v1alpha1\nkind: Bundle\nmetadata: { name: x }\nspec: { manifests: "" }\n'),
  )
  assert.equal(invalid.exitCode, 1)
  assert.match(invalid.what, /spec\.placement: Required value/)
  const notYaml = await expectErrorReport(hub.apply('a: [\n'))
  assert.equal(notYaml.exitCode, 2)
  assert.match(notYaml.why ?? '', /^stdin: line /)
})

test('apply takes directories, and warns of a Bundle whose Placement does not exist', async (t) => {
  const hub = started(t)
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-apply-'))
  t.after(async () => rmSync(folder, { recursive: true }))
  const empty = await expectErrorReport(hub.apply('', { filename: [folder] }))
  assert.deepEqual([empty.exitCode, empty.what], [2, 'the directory has no .yaml, .yml or .json files'])
  writeFileSync(join(folder, 'a.yaml'), PLACEMENTS)
  const bundle = { apiVersion: 'flotilla.dev/v1alpha1', kind: 'Bundle', metadata: { name: 'web' } }
  writeFileSync(join(folder, 'b.json'), JSON.stringify({ ...bundle, spec: { placement: 'nroth', manifests: '' } }))
  writeFileSync(join(folder, 'notes.txt'), 'a: [')
  const { out, err } = await hub.apply('', { filename: [folder] })
  assert.match(out, /north created\n.*south created\nbundle\.flotilla\.dev\/web created\n$/)
  assert.match(
    err,
    /Placement "nroth" of Bundle "web" does not exist in namespace "default"; the Bundle reaches no cluster; did you mean "?north/,
  )
})

test('a server dry run stores nothing, and a conflict is refused until it is forced', async (t) => {
  const hub = started(t)
  assert.match((await hub.apply(PLACEMENTS, { dryRun: 'server' })).out, /created \(server dry run\)\n$/)
  assert.match((await hub.apply(PLACEMENTS, { dryRun: true })).out, /created \(server dry run\)\n$/)
  assert.match((await hub.get(['fpl'])).err, /No resources found/)
  await hub.apply(PLACEMENTS)
  const other = PLACEMENTS.replace('clusterSelector: {}', 'clusterSelector: { matchLabels: { x: z } }').replace(
    'a: b',
    'a: c',
  )
  assert.equal((await expectErrorReport(hub.apply(other, { fieldManager: 'other' }))).exitCode, 5)
  await hub.apply(other, { fieldManager: 'other', forceConflicts: true })
})

test('delete asks, and accepts --yes if stdin is not a terminal', async (t) => {
  const hub = started(t)
  await hub.apply(PLACEMENTS)
  const asked = await expectErrorReport(hub.delete(['fpl', 'north']))
  assert.deepEqual([asked.exitCode, asked.todo], [2, 'pass --yes to confirm'])
  assert.equal((await hub.delete(['fpl/north'], { yes: true })).out, 'placement.flotilla.dev/north deleted\n')
  for (const flags of [{ yes: true }, {}]) {
    const gone = await expectErrorReport(hub.delete(['fpl', 'north'], flags))
    assert.deepEqual(
      [gone.exitCode, gone.what],
      [3, 'placement "north" not found in namespace "default"'],
      'no confirmation for a missing object',
    )
  }
  assert.equal((await hub.delete(['fpl', 'north'], { yes: true, ignoreNotFound: true })).out, '')
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-cli-'))
  t.after(async () => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'p.yaml'), PLACEMENTS)
  const flags = { yes: true, ignoreNotFound: true, filename: [join(folder, 'p.yaml')] }
  assert.equal((await hub.delete([], flags)).out, 'placement.flotilla.dev/south deleted\n')
})

const ROOT = `sha256:${'0'.repeat(64)}` as const
const ADD = { accept: 'auto', expires: '24h', output: 'json' }

test('cluster add makes a token bound to the name, whose secret only the code has', async (t) => {
  const hub = started(t)
  const input = { connection: hub.connection, terminal: hub.terminal }
  assert.match((await expectErrorReport(clusterAdd('store-1', input, ADD))).what, /no hub uses this API/)
  await ensureNamespace(hub.client, SYSTEM_NAMESPACE)
  const info = { endpoints: ['https://hub.example:7444'], root: ROOT }
  await publishHubInfo(hub.client, { ...info, agentBundle: ROOT })
  await clusterAdd('store-1', input, { ...ADD, label: ['tier=store', 'a=b,c=d'] })
  const added = JSON.parse(hub.taken().out) as Record<'code' | 'command' | 'manifest' | 'token', string>
  const code = parseJoinCode(added.code)
  assert.deepEqual({ endpoints: code.endpoints, root: code.root }, info)
  assert.match(added.manifest, /^ {2}name: flotilla-agent$/m)
  const token = await hub.client.get(JoinToken, { name: code.token.name })
  assert.equal(token.spec.tokenHash, tokenHash(code.token.secret))
  assert.deepEqual(
    { cluster: token.spec.clusterName, labels: token.spec.labels, accept: token.spec.accept, uses: token.spec.uses },
    { cluster: 'store-1', labels: { tier: 'store', a: 'b', c: 'd' }, accept: 'Auto', uses: 1 },
  )
  await clusterAdd('store-2', input, { ...ADD, output: 'text', accept: 'manual' })
  const { out, err } = hub.taken()
  assert.match(
    out,
    /^flotilla agent run --join flotilla1\.\S+ --kubeconfig ~\/\.kube\/config --data \.\/agent-[a-z0-9-]+\n$/,
  )
  assert.match(err, /► flotilla cluster accept store-2\n$/)
})

test('cluster add and accept refuse what cannot be', async (t) => {
  const hub = started(t)
  const input = {
    connection: hub.connection,
    terminal: hub.terminal,
    flags: {},
    confirm: async () => true,
  }
  const accepting = { ...input, flags: {}, confirm: async () => false }
  assert.equal((await expectErrorReport(clusterAdd('Store_1', input, ADD))).exitCode, 2)
  await hub.client.create(Cluster, clusterOf('store-1'))
  assert.equal((await expectErrorReport(clusterAdd('store-1', input, ADD))).exitCode, 5)
  const unknown = await expectErrorReport(clusterAccept('stor-1', accepting))
  assert.deepEqual(
    [unknown.exitCode, unknown.why, unknown.todo],
    [3, 'waiting for acceptance: store-1', 'did you mean "store-1"?'],
  )
  await clusterAccept('store-1', accepting)
  assert.equal((await hub.client.get(Cluster, { name: 'store-1' })).spec.accepted, true)
  await clusterAccept('store-1', accepting)
  assert.match(hub.taken().err, /is already accepted\n$/)
})
