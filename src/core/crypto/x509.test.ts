import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, it } from 'node:test'
import { connect, createServer } from 'node:tls'
import type { KeyPair } from '../bytes.ts'
import { hex, sign, utf8 } from '../bytes.ts'
import { bitString, contextTag, derReader, element, objectIdentifier, octetString, sequence, TAG } from './der.ts'
import { keyPairFromSeed } from './key-pair.ts'
import type { KeyType } from './key-pair.ts'
import { fromPem, toPem } from './pem.ts'
import {
  createSigningRequest,
  issueCertificate,
  parseCertificate,
  parseSigningRequest,
  selfSignedCa,
  wasIssuedBy,
} from './x509.ts'
import type { CertificateRequest } from './x509.ts'

const YEAR = 365 * 86_400_000
const START = 1_767_225_600_000 // 2026-01-01T00:00:00Z
const keyOf = (type: KeyType, n: number): KeyPair => keyPairFromSeed(type, new Uint8Array(48).fill(n))
const serial = (n: number) => new Uint8Array(16).fill(n)

function makeCa(n = 1, type: KeyType = 'p256') {
  const { privateKey } = keyOf(type, n)
  const subject = { commonName: `test CA ${n}`, organizations: ['flotilla'] }
  const certificate = selfSignedCa({
    privateKey,
    subject,
    serial: serial(n),
    notBefore: START,
    notAfter: START + 30 * YEAR,
  })
  return { certificate, privateKey }
}

function leaf(overrides: Partial<CertificateRequest> = {}): CertificateRequest {
  return {
    subject: { commonName: 'prod1', organizations: ['a', 'b'] },
    publicKey: keyOf('p256', 9).publicKey,
    serial: serial(0xff),
    notBefore: START,
    notAfter: START + YEAR,
    kind: 'client',
    ...overrides,
  }
}

describe('certificates', () => {
  for (const type of ['p256', 'ed25519'] as const) {
    it(`are what Node's own parser reads, with ${type} keys`, () => {
      const ca = makeCa(1, type)
      const sans = ['hub.example', '127.0.0.1', '::1', 'fd00::1:2', 'https://hub.example/x']
      const pem = issueCertificate({
        issuer: ca,
        ...leaf({ kind: 'server', sans, publicKey: keyOf(type, 9).publicKey }),
      })
      const node = new X509Certificate(pem)
      assert.equal(node.subject, 'O=a\nO=b\nCN=prod1')
      assert.equal(node.issuer, 'O=flotilla\nCN=test CA 1')
      assert.equal(
        node.subjectAltName,
        'DNS:hub.example, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:FD00:0:0:0:0:0:1:2, URI:https://hub.example/x',
      )
      assert.equal(node.validFromDate.getTime(), START)
      assert.equal(node.validToDate.getTime(), START + YEAR)
      const caNode = new X509Certificate(ca.certificate)
      assert.ok(caNode.ca && !node.ca)
      assert.ok(node.checkIssued(caNode) && node.verify(caNode.publicKey))
      // Past 2049 the time has another form.
      assert.equal(caNode.validToDate.getTime(), START + 30 * YEAR)

      const read = parseCertificate(pem)
      assert.deepEqual(read.subject, { commonName: 'prod1', organizations: ['a', 'b'] })
      assert.deepEqual(read.sans, sans)
      assert.equal(read.notAfter, START + YEAR)
      assert.equal(read.fingerprint, `sha256:${node.fingerprint256.replaceAll(':', '').toLowerCase()}`)
      assert.equal(read.serial, node.serialNumber.toLowerCase())
      assert.equal(read.isCa, false)
      assert.equal(read.publicKey, keyOf(type, 9).publicKey)
    })
  }

  it('know their issuer', () => {
    const pem = issueCertificate({ issuer: makeCa(1), ...leaf() })
    assert.ok(wasIssuedBy(pem, makeCa(1).certificate))
    assert.ok(!wasIssuedBy(pem, makeCa(2).certificate))
    const sameName = { ...makeCa(1), privateKey: keyOf('p256', 3).privateKey }
    assert.ok(!wasIssuedBy(issueCertificate({ issuer: sameName, ...leaf() }), makeCa(1).certificate))
    const notCa = { certificate: pem, privateKey: keyOf('p256', 9).privateKey }
    assert.ok(!wasIssuedBy(issueCertificate({ issuer: notCa, ...leaf() }), pem))
  })

  it('carry a mutual TLS 1.3 handshake', async () => {
    const now = Date.now()
    const times = { notBefore: now - YEAR, notAfter: now + YEAR }
    const ca = makeCa()
    const serverKey = keyOf('p256', 4)
    const cert = issueCertificate({
      issuer: ca,
      ...leaf({ ...times, kind: 'server', publicKey: serverKey.publicKey, sans: ['127.0.0.1'] }),
    })
    const clientCert = issueCertificate({ issuer: ca, ...leaf(times) })
    const common = { ca: ca.certificate, minVersion: 'TLSv1.3' as const }
    const server = createServer({ ...common, cert, key: serverKey.privateKey, requestCert: true })
    server.on('secureConnection', (socket) => socket.end(String(socket.getPeerCertificate().subject.CN)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const address = server.address()
      assert.ok(address !== null && typeof address === 'object')
      const port = address.port
      const client = connect({ ...common, port, host: '127.0.0.1', cert: clientCert, key: keyOf('p256', 9).privateKey })
      let text = ''
      for await (const chunk of client) text += String(chunk)
      assert.equal(text, 'prod1')
    } finally {
      server.close()
    }
  })
})

describe('signing requests', () => {
  const key = keyOf('p256', 5)
  const subject = { commonName: 'prod1', organizations: ['clusters'] }

  it('come back whole', () => {
    const request = parseSigningRequest(createSigningRequest({ privateKey: key.privateKey, subject }))
    assert.deepEqual(request, { subject, publicKey: key.publicKey })
  })

  it('are refused with a reason when anything is odd', () => {
    const [good] = fromPem('CERTIFICATE REQUEST', createSigningRequest({ privateKey: key.privateKey, subject }))
    const outer = derReader(good!)
    const parts = derReader(outer.take(TAG.sequence, 'csr').content)
    const info = derReader(parts.take(TAG.sequence, 'info').content)
    const version = info.take(TAG.integer, 'v').raw
    const name = info.take(TAG.sequence, 'name').raw
    const spki = info.take(TAG.sequence, 'spki').raw
    const resign = (body: Uint8Array, privateKey = key.privateKey) =>
      toPem(
        'CERTIFICATE REQUEST',
        sequence(body, sequence(objectIdentifier('1.2.840.10045.4.3.2')), bitString(sign(privateKey, body))),
      )
    const none = element(contextTag(0, 'constructed'))
    const cn = (oid: string, text: string, tag: number = TAG.utf8String) =>
      sequence(objectIdentifier(oid), element(tag, utf8(text)))
    const named = (...sets: Uint8Array[]) => resign(sequence(version, sequence(...sets), spki, none))
    const CN = '2.5.4.3'
    const flipped = good!.slice()
    flipped[flipped.length - 1]! ^= 1
    const cases: Record<string, [string, RegExp]> = {
      'no request': ['hello', /exactly one/],
      'two requests': [toPem('CERTIFICATE REQUEST', good!) + toPem('CERTIFICATE REQUEST', good!), /exactly one/],
      'broken signature': [toPem('CERTIFICATE REQUEST', flipped), /not signed by the key/],
      'signed by another key': [
        resign(sequence(version, name, spki, none), keyOf('p256', 6).privateKey),
        /not signed by the key/,
      ],
      'an attribute': [
        resign(
          sequence(version, name, spki, element(contextTag(0, 'constructed'), sequence(objectIdentifier('1.2.3')))),
        ),
        /carries attributes/,
      ],
      'F25: a key that is none': [
        resign(
          sequence(version, name, sequence(sequence(objectIdentifier('1.2.3')), bitString(Uint8Array.of(1))), none),
        ),
        /public key that cannot be read/,
      ],
      'trailing bytes': [toPem('CERTIFICATE REQUEST', Uint8Array.of(...good!, 0)), /too many/],
      'two common names': [named(element(TAG.set, cn(CN, 'a')), element(TAG.set, cn(CN, 'b'))), /two common names/],
      'two values in one part': [named(element(TAG.set, cn(CN, 'a'), cn(CN, 'b'))), /too many/],
      'no common name': [named(element(TAG.set, cn('2.5.4.10', 'a'))), /no common name/],
      'an organisational unit': [
        named(element(TAG.set, cn(CN, 'a')), element(TAG.set, cn('2.5.4.11', 'x'))),
        /not allowed/,
      ],
      'an empty name': [named(element(TAG.set, cn(CN, ''))), /empty/],
      'a zero byte': [named(element(TAG.set, cn(CN, 'prod1\0x'))), /odd/],
      'a BMP string': [named(element(TAG.set, cn(CN, 'ab', 0x1e))), /old kind/],
      'version 2': [resign(sequence(octetString(version), name, spki, none)), /version/],
    }
    for (const [what, [pem, reason]] of Object.entries(cases)) {
      assert.throws(() => parseSigningRequest(pem), reason, what)
    }
  })
})

describe('DER', () => {
  it('refuses lengths that could be written shorter', () => {
    const cases = ['0281 0101', '0280', '02 82 00 81', '0205 01', '1f0100', '02'].map((text) =>
      text.replaceAll(' ', ''),
    )
    for (const text of cases) {
      const bytes = Uint8Array.from(text.match(/../g)!, (pair) => Number.parseInt(pair, 16))
      assert.throws(() => derReader(bytes).take(bytes[0]!, 'it'), /cut short|not in DER|absurd|long-form/, text)
    }
  })

  it('sorts sets and writes long lengths', () => {
    assert.equal(hex(element(4, new Uint8Array(200)).subarray(0, 3)), '0481c8')
    assert.equal(hex(element(4, new Uint8Array(70_000)).subarray(0, 5)), '0483011170')
  })
})

describe('seeded keys', () => {
  it('are the same for the same seed and differ for another', () => {
    for (const type of ['p256', 'ed25519', 'x25519'] as const) {
      assert.equal(keyOf(type, 7).privateKey, keyOf(type, 7).privateKey)
      assert.notEqual(keyOf(type, 7).publicKey, keyOf(type, 8).publicKey)
    }
    assert.throws(() => keyPairFromSeed('p256', new Uint8Array(32)), /48 bytes/)
  })
})
