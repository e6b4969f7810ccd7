import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, utf8 } from '../../core/bytes.ts'
import { keyPairFromSeed } from '../../core/crypto/key-pair.ts'
import { issueCertificate, selfSignedCa } from '../../core/crypto/x509.ts'
import { evaluateCertificates } from './evaluate-certificates.ts'
import type { CertificateResult } from './evaluate-certificates.ts'
import { goValue, textAt } from './go-value.ts'
import type { GoObject } from './go-value.ts'
import type { PolicyCluster } from './policy-ports.ts'
import { labelsOf } from './select-labels.ts'

const HOUR = 3_600_000
const NOW = 1_767_225_600_000 // 2026-01-01T00:00:00Z
const key = (n: number) => keyPairFromSeed('p256', new Uint8Array(48).fill(n))
const serial = new Uint8Array(16).fill(3)
const subject = { commonName: 'x', organizations: [] }

/** PEM of a certificate that began 100 hours ago. */
function pem(hoursLeft: number, { isCa = false, sans = ['a.example.com'] } = {}): string {
  const times = { notBefore: NOW - 100 * HOUR, notAfter: NOW + hoursLeft * HOUR }
  const { privateKey, publicKey } = key(1)
  const ca = selfSignedCa({ privateKey, subject, serial, ...times })
  if (isCa) return ca
  return issueCertificate({
    subject,
    publicKey,
    serial,
    kind: 'server',
    sans,
    ...times,
    issuer: { certificate: ca, privateKey },
  })
}

const secret = (name: string, text: string, labels: object = {}, field = 'tls.crt') => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'a', labels },
  data: { [field]: base64(utf8(text)) },
})

function evaluate(spec: object, ...secrets: readonly object[]): CertificateResult {
  const objects = secrets.map((one) => goValue(one) as GoObject)
  const cluster = {
    namespaces: () => [{ name: 'a', labels: {}, isTerminating: false }],
    list: (_: unknown, namespace: string, matches: (labels: Record<string, string>) => boolean) =>
      objects.filter((one) => textAt(one, 'metadata', 'namespace') === namespace && matches(labelsOf(one))),
  } as unknown as PolicyCluster
  const policy = goValue({ spec: { namespaceSelector: { include: ['a'] }, ...spec } }) as GoObject
  const matches = (pattern: string, text: string) => (pattern === '(' ? undefined : new RegExp(pattern).test(text))
  return evaluateCertificates({ policy, cluster, now: NOW, matches })
}

function messageOf(result: CertificateResult): string {
  return 'problem' in result ? result.problem : result.message
}

test('certificates that expire soon violate the policy', () => {
  assert.equal(messageOf(evaluate({}, secret('good', pem(700)))), 'Compliant; All evaluated certificates are compliant')
  const soon = evaluate({}, secret('soon', pem(600)), secret('good', pem(700)))
  assert.equal(messageOf(soon), 'NonCompliant; 1 certificates expire in less than 672h0m0s: a:soon\n')
  assert.match(messageOf(evaluate({ minimumDuration: '800h' }, secret('good', pem(700)))), /less than 800h0m0s: a:good/)
  assert.match(messageOf(evaluate({ minimumDuration: '30m' }, secret('gone', pem(-1)))), /less than 30m0s: a:gone/)
})

test('a CA has limits of its own', () => {
  const ca = secret('ca', pem(700, { isCa: true }))
  assert.match(
    messageOf(evaluate({ minimumCADuration: '1000h' }, ca)),
    / 1 CA certificates expire in less than 1000h0m0s/,
  )
  assert.match(
    messageOf(evaluate({ maximumCADuration: '10h' }, ca)),
    / 1 CA certificates exceed the maximum duration of 10h/,
  )
  assert.match(
    messageOf(evaluate({ maximumDuration: '799h' }, ca)),
    / 1 certificates exceed the maximum duration of 799h/,
  )
})

test('names are compared with patterns, addresses are not', () => {
  const one = secret('x', pem(700, { sans: ['a.example.com', '1.2.3.4'] }))
  assert.match(messageOf(evaluate({ allowedSANPattern: 'example\\.com$' }, one)), /^Compliant/)
  assert.match(
    messageOf(evaluate({ allowedSANPattern: 'example\\.org$' }, one)),
    /do not match pattern Allowed: example/,
  )
  assert.match(messageOf(evaluate({ disallowedSANPattern: '^a' }, one)), /pattern {2}Disallowed: \^a: a:x/)
})

test('labels select Secrets, name the key and the certificate', () => {
  const labels = { certificate_key_name: 'crt', 'certificate-name': 'web', is: 'cert' }
  const result = evaluate({ labelSelector: { is: 'cert' } }, secret('x', pem(1), labels, 'crt'), secret('y', pem(1)))
  assert.ok('findings' in result)
  assert.deepEqual(
    result.findings.map(({ name, secret: own, expires }) => ({ name, own, expires })),
    [{ name: 'web', own: 'x', expires: '2026-01-01T01:00:00Z' }],
  )
})

test('what cannot be read is told and never counted', () => {
  const result = evaluate({}, secret('junk', 'no certificate'), { ...secret('x', ''), data: {} })
  assert.ok('unreadable' in result)
  assert.deepEqual([result.compliant, result.unreadable], [true, ['a/junk']])
})

test('a policy that cannot be evaluated says why', () => {
  assert.match(messageOf(evaluate({ minimumDuration: '3 days' })), /spec.minimumDuration: invalid duration "3 days"/)
  assert.match(messageOf(evaluate({ allowedSANPattern: '(' })), /spec.allowedSANPattern: invalid regular expression/)
  assert.match(messageOf(evaluate({ namespaceSelector: { include: ['['] } })), /syntax error in pattern/)
  assert.match(messageOf(evaluate({ namespaceSelector: {} })), /No namespaces matched the namespace selector\.$/)
})
