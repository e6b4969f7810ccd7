/** `policy dryrun` with its files, streams and exit codes. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { base64, utf8 } from '../../../core/bytes.ts'
import { keyPairFromSeed } from '../../../core/crypto/key-pair.ts'
import { selfSignedCa } from '../../../core/crypto/x509.ts'
import { runPolicy } from './run-policy.fixture.ts'

const POLICY = `apiVersion: policy.open-cluster-management.io/v1
kind: ConfigurationPolicy
metadata: {name: p}
spec:
  remediationAction: enforce
  object-templates:
  - complianceType: musthave
    recordDiff: InStatus
    objectDefinition:
      {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}, data: {k: v}}
`
const KEY = keyPairFromSeed('p256', new Uint8Array(48).fill(1))
const CERTIFICATE = selfSignedCa({
  privateKey: KEY.privateKey,
  subject: { commonName: 'x', organizations: [] },
  serial: new Uint8Array(16).fill(1),
  notBefore: Date.parse('2026-01-01T00:00:00Z'),
  notAfter: Date.parse('2026-01-31T00:00:00Z'),
})
const OBJECT = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: V}\n'
const GOOD = OBJECT.replace('k: V', 'k: v')

function setUp(t: TestContext): (name: string, text: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'policy-dryrun-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return (name, text) => {
    const file = join(folder, name)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, text)
    return file
  }
}

test('a violation prints its difference and exits with 2', async (t) => {
  const file = setUp(t)
  const args = ['dryrun', '-p', file('p.yaml', POLICY), file('o.yaml', OBJECT)]
  const plain = await runPolicy([...args, '--no-colors'])
  assert.deepEqual(plain, {
    exit: 2,
    stdout:
      '# Diffs:\nv1 ConfigMap default/a:\n--- default/a : existing\n+++ default/a : updated\n@@ -1,8 +1,8 @@\n apiVersion: v1\n data:\n-  k: V\n+  k: v\n kind: ConfigMap\n metadata:\n   name: a\n   namespace: default\n \n# Compliance messages:\nNonCompliant; violation - configmaps [a] found but not as specified in namespace default\n',
    stderr: 'Error: policy is NonCompliant\n',
  })
  assert.match((await runPolicy(args)).stdout, /\u001b\[31m- {2}k: V\u001b\[0m\n\u001b\[32m\+ {2}k: v/)
  assert.match((await runPolicy([...args, '--print-diffs=false'])).stdout, /^# Compliance messages:/)
})

test('objects come from files, directories and standard input', async (t) => {
  const file = setUp(t)
  const policy = file('p.yaml', POLICY)
  file('objects/a.yaml', GOOD)
  file('objects/below/b.yaml', 'not: read')
  for (const [args, stdin] of [
    [[file('o.yaml', GOOD)], undefined],
    [[join(file('objects/a.yaml', GOOD), '..')], undefined],
    [[], GOOD],
    [['-'], GOOD],
  ] as const) {
    assert.equal((await runPolicy(['dryrun', '-p', policy, ...args], { stdin })).exit, 0)
  }
  assert.equal((await runPolicy(['dryrun', '-p', policy], { stdin: GOOD, stdinIsTTY: true })).exit, 2)
})

test('status and messages are written to files', async (t) => {
  const file = setUp(t)
  const [status, messages] = [file('s', ''), file('m', '')]
  const ended = await runPolicy(
    ['dryrun', '-p', file('p.yaml', POLICY), '--status-path', status, `--messages-path=${messages}`],
    { stdin: GOOD },
  )
  assert.equal(ended.stdout, '# Diffs:\nv1 ConfigMap default/a:\n\n')
  assert.match(
    readFileSync(status, 'utf8'),
    /^compliancyDetails:\n- Compliant: Compliant\n[^]*\ncompliant: Compliant\n/,
  )
  assert.match(readFileSync(messages, 'utf8'), /^Compliant; notification - configmaps \[a\] found as specified/)
})

test('a wanted status is compared, and other kinds come from a file', async (t) => {
  const file = setUp(t)
  const want = file('w.yaml', 'compliant: Compliant\n')
  const policy = file('p.yaml', POLICY)
  const ended = await runPolicy(['dryrun', '-p', policy, '-c', want, '--no-colors'], { stdin: GOOD })
  assert.match(
    ended.stdout,
    /^# Status compare:\n\.compliant: 'Compliant' does match 'Compliant'\n Expected status matches/,
  )
  const map = file('map.yaml', '- {group: "", version: v1, kind: ConfigMap, plural: maps, scope: namespace}\n')
  const other = await runPolicy(['dryrun', '-p', policy], { stdin: GOOD, variables: { DRYRUN_MAPPINGS_FILE: map } })
  assert.match(other.stdout, /maps \[a\] found as specified/)
})

test('what cannot be run exits with 1 and says why', async (t) => {
  const file = setUp(t)
  const policy = file('p.yaml', POLICY)
  const gone = join(policy, '..', 'gone')
  const empty = file('w.yaml', 'relatedObjects: []\n')
  for (const [args, stderr] of [
    [[], 'Error: required flag(s) "policy" not set\n'],
    [['-p', policy, '--bogus'], 'Error: unknown flag: --bogus\n'],
    [['-p', gone], `Error: unable to read input policy: open ${gone}: no such file or directory\n`],
    [
      ['-p', policy, gone],
      `Error: unable to read input resources: could not open file ${gone}: stat ${gone}: no such file or directory\n`,
    ],
    [
      ['-p', policy, '-c', empty, file('o.yaml', GOOD)],
      'Error: unable to compare desired status: the list .relatedObjects of the desired status is empty: remove it or give it items\n',
    ],
  ] as const) {
    const ended = await runPolicy(['dryrun', ...args])
    assert.deepEqual({ exit: ended.exit, stderr: ended.stderr }, { exit: 1, stderr })
  }
})

test('certificates that expire soon are listed, and one that cannot be read is told', async (t) => {
  const file = setUp(t)
  const policy = file(
    'p.yaml',
    'apiVersion: policy.open-cluster-management.io/v1\nkind: CertificatePolicy\nmetadata: {name: c}\nspec:\n  namespaceSelector: {include: [default]}\n  minimumDuration: 24h\n',
  )
  const text = base64(utf8(CERTIFICATE))
  const secrets = file(
    's.yaml',
    `apiVersion: v1\nkind: Secret\nmetadata: {name: web}\ndata: {tls.crt: ${text}}\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: junk}\ndata: {tls.crt: eA==}\n`,
  )
  const args = ['certificates', '-p', policy, secrets, '--now']
  const early = await runPolicy([...args, '2026-01-01T00:00:00Z'])
  assert.deepEqual([early.exit, early.stdout], [0, 'Compliant; All evaluated certificates are compliant\n'])
  assert.match(early.stderr, /Secret default\/junk: the certificate cannot be read and was not evaluated/)
  const late = await runPolicy([...args, '2026-01-30T12:00:00Z'])
  assert.equal(late.exit, 2)
  assert.match(
    late.stdout,
    /^NAMESPACE +CERTIFICATE +SECRET +EXPIRES +PROBLEM\ndefault +web +web +2026-01-31T00:00:00Z +expires\n/,
  )
  assert.match(late.stdout, /\nNonCompliant; 1 certificates expire in less than 24h0m0s: default:web\n$/)
  const none = await runPolicy(['certificates', '-p', file('q.yaml', POLICY)])
  assert.deepEqual(
    [none.exit, none.stderr],
    [1, 'Error: the input has no CertificatePolicy: give a CertificatePolicy, or a Policy with one\n'],
  )
})
