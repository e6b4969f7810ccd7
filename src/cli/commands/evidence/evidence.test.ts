/** Evidence from the journal of a hub to a verified file, as each kind of user. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { digestOf } from '../../../core/crypto/digest.ts'
import { silentLogger } from '../../../core/log.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { createJournalWriter } from '../../../journal/journal-writer.ts'
import { ClusterRole, ClusterRoleBinding, RoleBinding } from '../../../kinds/builtin/rbac.ts'
import { Namespace } from '../../../kinds/builtin/core.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import { evidenceBuilders } from '../../../testing/fixtures/evidence.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { readExact } from '../../../wire/evidence/evidence-record.ts'
import { evidenceExport } from './export.ts'
import { readLines } from '../../input/read-lines.ts'
import { evidenceVerify } from './verify.ts'

const RBAC = 'rbac.authorization.k8s.io'

/** A hub whose journal has the evidence of two clusters, in two streams. */
async function startHub(t: TestContext) {
  const hub = createCliHub(t)
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-evidence-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { client, blobs } = hub
  const built = evidenceBuilders(1)
  const [first, second] = built.documents(2)
  const digest = digestOf(readExact(first!.envelope))
  const other = { ...built.report(1), cluster: 'store-2', clusterId: 'c-2' }
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'flotilla-system' } }
  await client.create(Namespace, namespace).catch(() => {}) // the hub may have created it
  const ports = { client, blobs, clock: systemClock, ids: systemIds, log: silentLogger, retentionMs: 3_600_000 }
  const streams: [string, object[]][] = [
    ['0', [built.trustRecord(), first!, built.report(1, { document: digest }), other]],
    ['1', [built.trustRecord(), second!, built.report(2, { document: digest }), built.report(2, { document: digest })]],
  ]
  for (const [writer, records] of streams) {
    const journal = createJournalWriter({ ...ports, stream: { purpose: 'evidence', writer } })
    for (const record of records) journal.append({ ...record })
    const life = new AbortController()
    const running = journal.run(life.signal)
    life.abort()
    await running
  }
  const file = join(folder, 'evidence')
  const rootKey = join(folder, 'root')
  writeFileSync(rootKey, built.trust.root.publicKey)
  const verify = (flags: { strict?: boolean; output?: 'json' } = {}, at = rootKey) =>
    evidenceVerify(file, { terminal: hub.terminal, flags: { rootKey: at, ...flags } })
  const subject = (name: string) => [{ kind: 'User', apiGroup: RBAC, name }]
  const bind = (user: string, role: string) =>
    client.create(ClusterRoleBinding, {
      apiVersion: apiVersionOf(ClusterRoleBinding),
      kind: 'ClusterRoleBinding',
      metadata: { name: `${user}-${role.replaceAll(':', '-')}` },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
      subjects: subject(user),
    })
  return { ...hub, built, folder, file, rootKey, verify, bind, subject }
}

describe('flotilla evidence', () => {
  test('exports the evidence of one cluster, which verifies without the hub', async (t) => {
    const hub = await startHub(t)
    await evidenceExport('store-1', { connection: hub.connection, terminal: hub.terminal, flags: {} })
    const { out, err } = hub.taken()
    assert.match(err, /3 reports, 2 documents; verify the file/)
    assert.doesNotMatch(out, /store-2/)
    assert.equal(out.match(/"type":"trust"/g)?.length, 1, 'the same trust bundles are there once')
    writeFileSync(hub.file, out)
    await hub.verify({ strict: true })
    const said = hub.taken()
    assert.match(said.out, /^cluster "store-1", ID c-1; the signatures cover the ID\n/)
    assert.match(said.out, /verified: 3 reports/)
    assert.match(said.err, /the evidence verifies\n/)
    await hub.verify({ output: 'json' })
    const json = JSON.parse(hub.taken().out) as { verified: boolean; reports: { count: number } }
    assert.deepEqual([json.verified, json.reports.count], [true, 3])
  })

  test('verify fails on a changed file, a wrong key and a file that is none', async (t) => {
    const hub = await startHub(t)
    await evidenceExport('store-1', { connection: hub.connection, terminal: hub.terminal, flags: {} })
    const { out } = hub.taken()
    writeFileSync(hub.file, out.replace('\\"agentVersion\\":\\"0.2.0\\"', '\\"agentVersion\\":\\"0.3.0\\"'))
    assert.match(await expectErrorText(hub.verify()), /evidence: the evidence does not verify/)
    assert.match(hub.taken().out, /does not verify: line \d+: report has the digest/)
    writeFileSync(hub.file, out)
    const other = join(hub.folder, 'other')
    writeFileSync(other, evidenceBuilders(5).trust.root.publicKey)
    assert.match(await expectErrorText(hub.verify({}, other)), /does not verify/)
    writeFileSync(other, hub.built.trust.root.keyId)
    await hub.verify({}, other)
    writeFileSync(other, JSON.stringify({ root: hub.built.trust.root }))
    await hub.verify({}, other)
    writeFileSync(other, 'hello')
    assert.match(await expectErrorText(hub.verify({}, other)), /not a root key: must be a public key in PEM/)
    writeFileSync(other, hub.built.identity.privateKey)
    assert.match(
      await expectErrorText(hub.verify({}, other)),
      /this is a private key; verification needs the public key/,
    )
    writeFileSync(hub.file, new Uint8Array([0xff, 0xfe, 0x0a]))
    assert.match(await expectErrorText(hub.verify()), /cannot read line 1/)
    writeFileSync(hub.file, '')
    assert.match(await expectErrorText(hub.verify()), /does not verify/)
  })

  test('since leaves out older reports and keeps what proves the others', async (t) => {
    const hub = await startHub(t)
    const flags = { since: '2026-01-01T00:01:30Z' }
    await evidenceExport('store-1', { connection: hub.connection, terminal: hub.terminal, flags })
    const { out } = hub.taken()
    assert.equal(out.match(/"type":"report"/g)?.length, 2)
    writeFileSync(hub.file, out)
    await hub.verify()
    assert.match(hub.taken().out, /missing: report 1 of agent instance instance0000/)
    const input = (since: string) => ({ connection: hub.connection, terminal: hub.terminal, flags: { since } })
    assert.match(await expectErrorText(evidenceExport('store-1', input('soon'))), /invalid --since "soon"/)
    assert.match(await expectErrorText(evidenceExport('store-1', input('1h'))), /no report of cluster "store-1"/)
    assert.match(
      await expectErrorText(evidenceExport('none', { ...input('1h'), flags: {} })),
      /no report of cluster "none"/,
    )
  })

  test('needs a right of its own: viewers, editors and administrators of namespaces do not have it', async (t) => {
    const hub = await startHub(t)
    const exportAs = (user: string, cluster = 'store-1') =>
      evidenceExport(cluster, { connection: hub.connectionOf(user), terminal: hub.terminal, flags: {} })
    for (const role of ['view', 'edit', 'admin', 'flotilla:approver', 'system:flotilla:gateway']) {
      await hub.bind(`user-of-${role}`, role)
      const refused = await expectErrorText(exportAs(`user-of-${role}`))
      assert.match(refused, /cannot create resource "clusters\/evidence" in API group "view\.flotilla\.dev"/, role)
    }
    await hub.client.create(RoleBinding, {
      apiVersion: apiVersionOf(RoleBinding),
      kind: 'RoleBinding',
      metadata: { name: 'ann', namespace: 'default' },
      roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: hub.subject('ann'),
    })
    assert.match(await expectErrorText(exportAs('ann')), /cannot create resource "clusters\/evidence"/)
    await hub.bind('eve', 'flotilla:auditor')
    await exportAs('eve')
    await hub.client.create(ClusterRole, {
      apiVersion: apiVersionOf(ClusterRole),
      kind: 'ClusterRole',
      metadata: { name: 'one-store' },
      rules: [
        {
          apiGroups: ['view.flotilla.dev'],
          resources: ['clusters/evidence'],
          verbs: ['create'],
          resourceNames: ['store-2'],
        },
      ],
    })
    await hub.bind('bob', 'one-store')
    assert.match(await expectErrorText(exportAs('bob')), /cannot create resource "clusters\/evidence"/)
    await exportAs('bob', 'store-2')
    const read = hub.connection.rest.json({
      method: 'GET',
      path: '/apis/view.flotilla.dev/v1alpha1/clusters/store-1/evidence',
    })
    await assert.rejects(read, /does not allow this method/)
  })
})

test('lines are read over any pieces, and a line without an end is limited', async () => {
  const pieces = (texts: string[]) =>
    (async function* () {
      for (const text of texts) yield new TextEncoder().encode(text)
    })()
  assert.deepEqual(await Array.fromAsync(readLines(pieces(['a\nb', 'c\n', '\nd']))), ['a', 'bc', '', 'd'])
  const endless = (async function* () {
    for (;;) yield new Uint8Array(8 * 1024 * 1024).fill(0x61)
  })()
  await assert.rejects(Array.fromAsync(readLines(endless)), /a line is longer than/)
})
