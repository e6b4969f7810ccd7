/** cluster add with the kubeconfig of a cluster, against the real API server in memory. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { ensureNamespace, SYSTEM_NAMESPACE } from '../../../hub/home/hub-info.ts'
import { Secret } from '../../../kinds/builtin/core.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorReport } from '../../../testing/hub/cli-hub.ts'
import { clusterAddPushed, isHubKubeconfig } from './add-pushed.ts'
import { refuseTaken } from './add-terms.ts'

const CANARY = 'c4n4ry'
// Nothing listens there.
const SERVER = 'https://127.0.0.1:9'

const kubeconfig = (context: string, user: object, cluster: object = {}) =>
  JSON.stringify({
    'current-context': context,
    contexts: [
      { name: context, context: { cluster: 'c', user: 'u' } },
      { name: 'other', context: { cluster: 'c', user: 'other' } },
    ],
    clusters: [{ name: 'c', cluster: { server: SERVER, ...cluster } }],
    users: [
      { name: 'u', user },
      { name: 'other', user: { token: 'of-another-cluster' } },
    ],
  })

async function started(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { client, connection, terminal, said } = createCliHub(t)
  await ensureNamespace(client, SYSTEM_NAMESPACE)
  const file = (text: string, name = 'kubeconfig'): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  return { client, said, input: { connection, terminal }, file }
}

test('one context goes into a Secret, with its files inline; the Cluster names it', async (t) => {
  const { client, said, input, file } = await started(t)
  file(CANARY, 'token')
  const named = { file: file(kubeconfig('store', { tokenFile: 'token' })) }
  await clusterAddPushed('store-1', input, named, { label: ['tier=store'], output: 'text' })
  const secret = await client.get(Secret, { namespace: 'flotilla-system', name: 'store-1-kubeconfig' })
  const stored = Buffer.from(secret.data?.['value'] ?? '', 'base64').toString()
  assert.match(stored, new RegExp(CANARY))
  assert.doesNotMatch(stored, /of-another-cluster/)
  const { metadata, spec } = await client.get(Cluster, { name: 'store-1' })
  assert.deepEqual(metadata.labels, { tier: 'store' })
  assert.deepEqual(
    [spec.accepted, spec.id, spec.kubeconfigSecret],
    [true, '', { namespace: 'flotilla-system', name: 'store-1-kubeconfig', key: 'value' }],
  )
  assert.match(said.err, /The hub connects to https:\/\/127\.0\.0\.1:9 and creates the account/)
  assert.doesNotMatch(said.out + said.err, new RegExp(CANARY))
})

test('what cannot be used is refused before anything is made', async (t) => {
  const { client, input, file } = await started(t)
  const token = { token: CANARY }
  const table: [string, string, Record<string, unknown>, RegExp][] = [
    ['a', kubeconfig('s', { exec: { command: 'aws' } }), {}, /"exec", which is not supported/],
    ['a', kubeconfig('s', token, { 'insecure-skip-tls-verify': true }), {}, /insecure-skip-tls-verify/],
    ['a', kubeconfig('s', { tokenFile: '/missing' }), {}, /\/missing, which cannot be read/],
    ['A_B', kubeconfig('s', token), {}, /invalid cluster name/],
    ['a', kubeconfig('s', token), { accept: 'manual' }, /--accept cannot be combined with the kubeconfig of a cluster/],
    ['a', kubeconfig('s', token), { acceptFrom: ['10.0.0.0/8'] }, /--accept-from cannot/],
    ['a', kubeconfig('s', token), { output: 'manifest' }, /-o manifest cannot/],
  ]
  for (const [name, text, flags, message] of table) {
    const report = await expectErrorReport(clusterAddPushed(name, input, { file: file(text) }, flags))
    assert.match(`${report.what} ${report.why}`, message)
  }
  assert.deepEqual((await client.list(Secret, { namespace: 'flotilla-system' })).items, [])
})

test('D22: a name that exists advises to decommission, and never to delete the Cluster', async () => {
  const found = (spec: Partial<Cluster['spec']>) =>
    expectErrorReport(refuseTaken('a', { get: async () => buildCluster('a', { spec }) as never }))
  const joined = await found({})
  assert.match(joined.todo ?? '', /^choose another name; .* "flotilla cluster decommission a --orphan"$/)
  const pushed = await found({ kubeconfigSecret: { namespace: 'flotilla-system', name: 'a', key: 'value' } })
  assert.match(pushed.todo ?? '', /"flotilla cluster add a --take-over"$/)
  for (const { todo } of [joined, pushed]) assert.doesNotMatch(todo ?? '', /delete/)
})

test('a name or a Secret that exists stays as it is', async (t) => {
  const { client, input, file } = await started(t)
  const named = { file: file(kubeconfig('s', { token: CANARY })) }
  await clusterAddPushed('a', input, named, {})
  assert.match((await expectErrorReport(clusterAddPushed('a', input, named, {}))).what, /cluster "a" already exists/)
  await client.delete(Cluster, { name: 'a' })
  const report = await expectErrorReport(clusterAddPushed('a', input, named, {}))
  assert.match(report.what, /Secret flotilla-system\/a-kubeconfig already exists/)
})

test('the kubeconfig of a hub is not the kubeconfig of a cluster', async (t) => {
  const { file } = await started(t)
  assert.equal(await isHubKubeconfig({ file: file(kubeconfig('flotilla', { token: CANARY })) }), true)
  assert.equal(await isHubKubeconfig({ file: file(kubeconfig('store', { token: CANARY })) }), false, 'it is away')
})
