/** cluster add with all its terms, accept, reject and revoke, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ensureNamespace, publishHubInfo, SYSTEM_NAMESPACE } from '../../../hub/home/hub-info.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { JoinToken } from '../../../kinds/native/join-token.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorReport } from '../../../testing/hub/cli-hub.ts'
import { clusterAccept, clusterReject, clusterRevoke } from './acceptance.ts'
import { clusterAdd } from './add.ts'

const ROOT = `sha256:${'0'.repeat(64)}` as const

async function started(t: { after(fn: () => Promise<void>): void }, more: { tty?: boolean; says?: boolean } = {}) {
  const { client, connection, terminal, said } = createCliHub(t, more)
  const asked: string[] = []
  const confirm = async (question: string) => {
    asked.push(question)
    return more.says ?? false
  }
  await ensureNamespace(client, SYSTEM_NAMESPACE)
  await publishHubInfo(client, { endpoints: ['https://hub.example:7444'], root: ROOT, agentBundle: ROOT })
  const base = { connection, terminal }
  return { client, said, asked, base, input: { ...base, flags: {}, confirm } }
}

test('a token says all its terms', async (t) => {
  const { client, said, base } = await started(t)
  await clusterAdd(undefined, base, {
    pattern: 'store-*',
    uses: '40',
    accept: 'networks',
    acceptFrom: ['10.8.0.0/16,10.9.0.0/16'],
    network: ['10.0.0.0/8', '2001:db8::/32'],
    label: ['tier=store'],
    expires: '7d',
    output: 'json',
  })
  const added = JSON.parse(said.out) as Record<string, string>
  assert.equal(
    added['command'],
    `flotilla agent run --join ${added['code']} --name NAME --kubeconfig ~/.kube/config --data ./agent-NAME`,
  )
  // One manifest for all of them: each cluster says its own name.
  assert.match(added['manifest']!, /name: FLOTILLA_NAME\n\s+valueFrom:\n\s+configMapKeyRef:/)
  assert.match(added['token']!, /^store-[a-z0-9]{5}$/)
  const { tokenHash: _, expiresAt: __, ...spec } = (await client.get(JoinToken, { name: added['token']! })).spec
  assert.deepEqual(spec, {
    namePattern: 'store-*',
    uses: 40,
    accept: 'Networks',
    acceptNetworks: ['10.8.0.0/16', '10.9.0.0/16'],
    networks: ['10.0.0.0/8', '2001:db8::/32'],
    labels: { tier: 'store' },
  })
})

test('a manifest has the image of the agent if the hub names one, and else fetches the bundle', async (t) => {
  const { client, said, base } = await started(t)
  const manifest = async () => {
    said.out = ''
    await clusterAdd('store-1', base, { expires: '1h', output: 'manifest' })
    return said.out
  }
  assert.match(await manifest(), /image: node:26-slim/)
  const info = { endpoints: ['https://hub.example:7444'], root: ROOT }
  await publishHubInfo(client, { ...info, agentImage: 'registry.example.com/flotilla-agent:1' })
  const ofImage = await manifest()
  assert.match(ofImage, /image: registry\.example\.com\/flotilla-agent:1/)
  assert.doesNotMatch(ofImage, /initContainers|node:26|agent\.mjs/)
  // A hub that names no image any more takes back what it said.
  await publishHubInfo(client, info)
  assert.match((await expectErrorReport(manifest())).what, /names no image of the agent/)
})

test('a manifest can be piped, with the rights its profile says', async (t) => {
  const { said, base } = await started(t)
  const manifest = async (flags: object) => {
    said.out = ''
    await clusterAdd('store-1', base, { expires: '1h', output: 'manifest', ...flags })
    return said.out
  }
  assert.match(await manifest({}), /kind: ClusterRoleBinding[^]*name: cluster-admin/)
  const namespaced = await manifest({ profile: 'namespaced', agentNamespace: ['shop', 'web'] })
  assert.doesNotMatch(namespaced, /cluster-admin/)
  for (const namespace of ['shop', 'web']) assert.match(namespaced, new RegExp(`namespace: ${namespace}$`, 'm'))
  const readOnly = await manifest({ profile: 'read-only' })
  assert.doesNotMatch(readOnly, /cluster-admin|name: admin$/m)
  assert.match(readOnly, /name: view$/m)
})

test('terms that make no sense are refused before anything is made', async (t) => {
  const { client, base } = await started(t)
  const add = (name: string | undefined, flags: object) =>
    expectErrorReport(clusterAdd(name, base, { expires: '1h', output: 'json', ...flags }))
  const table: [string | undefined, object, RegExp][] = [
    [undefined, {}, /missing argument NAME/],
    ['a', { pattern: 'a*' }, /NAME and --pattern/],
    [undefined, { pattern: 'A/*' }, /--pattern/],
    [undefined, { pattern: 'a*', accept: 'auto' }, /--accept=auto/],
    ['a', { accept: 'networks' }, /--accept-from/],
    ['a', { acceptFrom: ['10.0.0.0/8'] }, /--accept-from/],
    ['a', { network: ['10.0.0.1/8'] }, /--network "10\.0\.0\.1\/8"/],
    ['a', { uses: '2' }, /--uses/],
    [undefined, { pattern: 'a*', uses: '0' }, /--uses/],
    ['a', { profile: 'namespaced' }, /--agent-namespace/],
    ['a', { expires: 'soon' }, /--expires/],
    ['a', { label: ['x'] }, /--label/],
  ]
  for (const [name, flags, what] of table) {
    const report = await add(name, flags)
    assert.equal(report.exitCode, 2, JSON.stringify(flags))
    assert.match(report.what, what)
  }
  assert.equal((await client.list(JoinToken)).items.length, 0)
})

test('revoke says whom it cuts off and asks; --yes does not ask; accept asks to take it back', async (t) => {
  const { client, input } = await started(t)
  await client.create(Cluster, buildCluster('store-1'))
  const entries = [{ bundle: 'ns/b', generation: 1, set: ROOT, rollout: 'ns/r' }]
  const spec = { clusterId: 'c-store-1', epoch: 1, revision: 1, document: ROOT, entries }
  await client.create(Assignment, build(Assignment, 'store-1', { spec }))
  const refused = await expectErrorReport(clusterRevoke('store-1', input))
  assert.deepEqual([refused.exitCode, refused.todo], [2, 'pass --yes to confirm'])
  assert.match(
    refused.what,
    /^revoke cluster "store-1": .* its 1 Bundle receives no changes, and its workloads continue to run$/,
  )
  assert.equal((await client.get(Cluster, { name: 'store-1' })).spec.accepted, true)

  await clusterRevoke('store-1', { ...input, flags: { yes: true, reason: 'stolen' } })
  const revoked = (await client.get(Cluster, { name: 'store-1' })).spec
  assert.deepEqual([revoked.accepted, revoked.refused?.verdict, revoked.refused?.reason], [false, 'Revoked', 'stolen'])
  assert.match((await expectErrorReport(clusterAccept('store-1', input))).what, /was revoked .* ago \(stolen\)/)
  await clusterAccept('store-1', { ...input, flags: { yes: true } })
  const again = (await client.get(Cluster, { name: 'store-1' })).spec
  assert.deepEqual([again.accepted, again.refused], [true, undefined])
})

test('a person who says no changes nothing', async (t) => {
  const { client, input, asked } = await started(t, { tty: true, says: false })
  await client.create(Cluster, buildCluster('store-1'))
  assert.match((await expectErrorReport(clusterRevoke('store-1', input))).what, /cancelled; nothing was changed/)
  assert.match(asked[0] ?? '', /its 0 Bundles receive no changes.*Continue\?$/)
  assert.equal((await client.get(Cluster, { name: 'store-1' })).spec.accepted, true)
})

test('reject is for pending clusters and revoke for accepted ones', async (t) => {
  const { client, input, said } = await started(t)
  await client.create(Cluster, buildCluster('new', { spec: { accepted: false } }))
  await client.create(Cluster, buildCluster('old'))
  assert.match((await expectErrorReport(clusterReject('old', input))).todo ?? '', /cluster revoke old"$/)
  assert.match((await expectErrorReport(clusterRevoke('new', input))).todo ?? '', /cluster reject new"$/)
  await clusterReject('new', { ...input, flags: { reason: 'who is this?' } })
  const { refused } = (await client.get(Cluster, { name: 'new' })).spec
  assert.deepEqual([refused?.verdict, refused?.reason], ['Rejected', 'who is this?'])
  await clusterReject('new', input)
  assert.match(said.err, /is already rejected\n$/)
})
