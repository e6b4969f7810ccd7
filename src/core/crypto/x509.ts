/** X.509 certificates and signing requests, as much as TLS between hub and agents needs; the rest is refused. */
import { hex, publicKeyDer, publicKeyOf, publicKeyPem, sha256, sign, verify } from '../bytes.ts'
import { digestOf } from './digest.ts'
import type { Digest } from './digest.ts'
import {
  bitString,
  boolean,
  contextTag,
  DerError,
  derReader,
  element,
  objectIdentifier,
  octetString,
  readBits,
  readOid,
  readOnly,
  readText,
  readTime,
  sequence,
  setOf,
  smallInteger,
  TAG,
  time,
  unsignedInteger,
  utf8String,
} from './der.ts'
import type { DerReader } from './der.ts'
import { fromPem, toPem } from './pem.ts'
import { decodeSan, encodeSan } from './subject-alt-names.ts'

/** Object identifiers of certificates, as we write and read them. */
export const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  ed25519: '1.3.101.112',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const

/** Who a certificate is for: Kubernetes reads the common name as the user, organisations as groups. */
export interface Subject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** A certificate and its key, in PEM. */
export interface CertificateAndKey {
  readonly certificate: string
  readonly privateKey: string
}

/** What a certificate may be used for. */
export type CertificateKind = 'ca' | 'server' | 'client'

/** What a new certificate says. Times are milliseconds since 1970. */
export interface CertificateRequest {
  readonly subject: Subject
  /** SPKI PEM. */
  readonly publicKey: string
  /** Random bytes, 8 to 20; the caller draws them. */
  readonly serial: Uint8Array
  readonly notBefore: number
  readonly notAfter: number
  readonly kind: CertificateKind
  /** DNS names, IP addresses and URIs, told apart by their form. */
  readonly sans?: readonly string[]
}

/** What a certificate said. */
export interface Certificate {
  readonly subject: Subject
  readonly issuer: Subject
  /** Lower-case hexadecimal. */
  readonly serial: string
  readonly sans: readonly string[]
  readonly notBefore: number
  readonly notAfter: number
  /** SPKI PEM. */
  readonly publicKey: string
  /** Digest of the DER. */
  readonly fingerprint: Digest
  readonly isCa: boolean
}

/** What a signing request asked for, after its signature was checked. */
export interface SigningRequest {
  readonly subject: Subject
  /** SPKI PEM; the requester proved to hold its private half. */
  readonly publicKey: string
}

/** PEM of a signing request for a key. */
export function createSigningRequest(options: { readonly privateKey: string; readonly subject: Subject }): string {
  const info = sequence(
    smallInteger(0),
    encodeName(options.subject),
    publicKeyDer(publicKeyOf(options.privateKey)),
    element(contextTag(0, 'constructed')),
  )
  return toPem('CERTIFICATE REQUEST', signed(info, options.privateKey))
}

/**
 * Reads an untrusted signing request. Only a common name, organisations and a key may be in it: any attribute (subject
 * alternative names, CA flags, key usages) is refused, so that nothing unexpected can ever be copied into a
 * certificate.
 */
export function parseSigningRequest(pem: string): SigningRequest {
  const [der, ...more] = fromPem('CERTIFICATE REQUEST', pem)
  if (!der || more.length > 0) throw new DerError('expected exactly one CERTIFICATE REQUEST')
  const { body, signature, algorithm } = openSigned(der, 'signing request')
  const reader = readOnly(body, TAG.sequence, 'signing request info')
  if (hex(reader.take(TAG.integer, 'version').content) !== '00') throw new DerError('signing request is not version 1')
  const subject = decodeName(derReader(reader.take(TAG.sequence, 'subject').content))
  const publicKey = readablePublicKey(reader.take(TAG.sequence, 'public key').raw, 'signing request')
  const attributes = reader.takeIf(contextTag(0, 'constructed'))
  if (attributes && attributes.content.byteLength > 0) {
    throw new DerError('signing request carries attributes; only subject and key are allowed')
  }
  reader.end('signing request info')
  if (!isSignedBy(publicKey, { algorithm, body, signature })) {
    throw new DerError('signing request is not signed by the key it names')
  }
  return { subject, publicKey }
}

/** The PEM of a key. OpenSSL has errors of its own for a key that is none. */
function readablePublicKey(spki: Uint8Array, what: string): string {
  try {
    const pem = publicKeyPem(spki)
    publicKeyDer(pem)
    return pem
  } catch (cause) {
    throw new DerError(`${what} has a public key that cannot be read`, { cause })
  }
}

function isSignedBy(
  publicKey: string,
  { algorithm, body, signature }: { algorithm: string; body: Uint8Array; signature: Uint8Array },
): boolean {
  try {
    return algorithm === algorithmOf(publicKey) && verify(publicKey, body, signature)
  } catch {
    return false // a signature that is none
  }
}

/** PEM of a certificate signed by an issuer. */
export function issueCertificate(options: CertificateRequest & { readonly issuer: CertificateAndKey }): string {
  const [issuerDer] = fromPem('CERTIFICATE', options.issuer.certificate)
  if (!issuerDer) throw new DerError('the issuer has no CERTIFICATE')
  const issuer = readCertificate(issuerDer)
  return toPem(
    'CERTIFICATE',
    signed(
      certificateBody(options, { name: issuer.subjectDer, keyId: issuer.keyId, key: options.issuer.privateKey }),
      options.issuer.privateKey,
    ),
  )
}

/** PEM of a CA certificate that signs itself. */
export function selfSignedCa(
  options: Omit<CertificateRequest, 'kind' | 'publicKey' | 'sans'> & { readonly privateKey: string },
): string {
  const publicKey = publicKeyOf(options.privateKey)
  const request: CertificateRequest = { ...options, publicKey, kind: 'ca' }
  const issuer = { name: encodeName(options.subject), keyId: keyIdOf(publicKey), key: options.privateKey }
  return toPem('CERTIFICATE', signed(certificateBody(request, issuer), options.privateKey))
}

/** What the first certificate of a PEM text says; the signature is not checked here. */
export function parseCertificate(pem: string): Certificate {
  const [der] = fromPem('CERTIFICATE', pem)
  if (!der) throw new DerError('there is no CERTIFICATE')
  return readCertificate(der).certificate
}

/** Whether a certificate was signed by this CA certificate; says nothing about time. */
export function wasIssuedBy(pem: string, caPem: string): boolean {
  const [der] = fromPem('CERTIFICATE', pem)
  const [caDer] = fromPem('CERTIFICATE', caPem)
  if (!der || !caDer) return false
  const ca = readCertificate(caDer)
  const read = readCertificate(der)
  if (!ca.certificate.isCa || hex(read.issuerDer) !== hex(ca.subjectDer)) return false
  const { body, signature, algorithm } = openSigned(der, 'certificate')
  return algorithm === algorithmOf(ca.certificate.publicKey) && verify(ca.certificate.publicKey, body, signature)
}

function certificateBody(request: CertificateRequest, issuer: { name: Uint8Array; keyId: Uint8Array; key: string }) {
  return sequence(
    element(contextTag(0, 'constructed'), smallInteger(2)),
    unsignedInteger(serialBytes(request.serial)),
    signatureAlgorithm(issuer.key),
    issuer.name,
    sequence(time(request.notBefore), time(request.notAfter)),
    encodeName(request.subject),
    publicKeyDer(request.publicKey),
    element(contextTag(3, 'constructed'), sequence(...extensionsOf(request, issuer.keyId))),
  )
}

// Positive and not zero, whatever was drawn (RFC 5280, 4.1.2.2).
function serialBytes(drawn: Uint8Array): Uint8Array {
  if (drawn.byteLength < 8 || drawn.byteLength > 20) throw new RangeError('a serial has 8 to 20 random bytes')
  const bytes = drawn.slice()
  bytes[0] = (bytes[0]! & 0x3f) | 0x40
  return bytes
}

function extensionsOf(request: CertificateRequest, issuerKeyId: Uint8Array): Uint8Array[] {
  const isCa = request.kind === 'ca'
  // keyCertSign + cRLSign are bits 5 and 6, digitalSignature is bit 0.
  const usage = isCa ? bitString(Uint8Array.of(0x06), 1) : bitString(Uint8Array.of(0x80), 7)
  const extensions = [
    extension(OID.basicConstraints, sequence(...(isCa ? [boolean(true)] : [])), true),
    extension(OID.keyUsage, usage, true),
    extension(OID.subjectKeyId, octetString(keyIdOf(request.publicKey))),
    extension(OID.authorityKeyId, sequence(element(contextTag(0, 'primitive'), issuerKeyId))),
  ]
  if (!isCa) {
    const purpose = request.kind === 'server' ? OID.serverAuth : OID.clientAuth
    extensions.push(extension(OID.extendedKeyUsage, sequence(objectIdentifier(purpose))))
  }
  const sans = request.sans ?? []
  if (sans.length > 0) extensions.push(extension(OID.subjectAltName, sequence(...sans.map(encodeSan))))
  return extensions
}

function extension(oid: string, value: Uint8Array, critical = false): Uint8Array {
  return sequence(objectIdentifier(oid), ...(critical ? [boolean(true)] : []), octetString(value))
}

// RFC 7093, method 1: the leftmost 160 bits of the key's SHA-256.
function keyIdOf(publicKey: string): Uint8Array {
  const reader = readOnly(publicKeyDer(publicKey), TAG.sequence, 'public key')
  reader.take(TAG.sequence, 'key algorithm')
  return sha256(readBits(reader.take(TAG.bitString, 'key bits').content, 'key bits')).subarray(0, 20)
}

function algorithmOf(publicKey: string): string {
  const reader = readOnly(publicKeyDer(publicKey), TAG.sequence, 'public key')
  const algorithm = derReader(reader.take(TAG.sequence, 'key algorithm').content)
  return readOid(algorithm.take(TAG.oid, 'key algorithm').content) === OID.ed25519 ? OID.ed25519 : OID.ecdsaWithSha256
}

function signatureAlgorithm(privateKey: string): Uint8Array {
  return sequence(objectIdentifier(algorithmOf(publicKeyOf(privateKey))))
}

function signed(body: Uint8Array, privateKey: string): Uint8Array {
  return sequence(body, signatureAlgorithm(privateKey), bitString(sign(privateKey, body)))
}

function openSigned(der: Uint8Array, what: string) {
  const reader = readOnly(der, TAG.sequence, what)
  const body = reader.take(TAG.sequence, `${what} body`).raw
  const algorithm = derReader(reader.take(TAG.sequence, 'signature algorithm').content)
  const oid = readOid(algorithm.take(TAG.oid, 'signature algorithm').content)
  const signature = readBits(reader.take(TAG.bitString, 'signature').content, 'signature')
  reader.end(what)
  return { body, algorithm: oid, signature }
}

/** DER of a name: one organisation after another, then the common name. */
function encodeName(subject: Subject): Uint8Array {
  const attribute = (oid: string, text: string) => setOf(sequence(objectIdentifier(oid), utf8String(text)))
  return sequence(
    ...subject.organizations.map((name) => attribute(OID.organization, name)),
    attribute(OID.commonName, subject.commonName),
  )
}

function decodeName(reader: DerReader): Subject {
  const organizations: string[] = []
  let commonName: string | undefined
  while (!reader.done()) {
    const part = derReader(reader.take(TAG.set, 'name part').content)
    const pair = derReader(part.take(TAG.sequence, 'name part').content)
    // Several values in one part would let "CN=a" and "CN=b" hide in one name.
    part.end('name part')
    const oid = readOid(pair.take(TAG.oid, 'name type').content)
    const text = readText(pair.take(pair.peek() ?? 0, 'name value'), 'name value')
    pair.end('name part')
    if (text === '' || text.length > 256 || text.includes('\0')) throw new DerError('name has an empty or odd value')
    if (oid === OID.organization) organizations.push(text)
    else if (oid !== OID.commonName) throw new DerError(`name has a part that is not allowed (${oid})`)
    else if (commonName !== undefined) throw new DerError('name has two common names')
    else commonName = text
  }
  if (commonName === undefined) throw new DerError('name has no common name')
  return { commonName, organizations }
}

function readCertificate(der: Uint8Array) {
  const { body } = openSigned(der, 'certificate')
  const reader = readOnly(body, TAG.sequence, 'certificate body')
  const version = derReader(reader.take(contextTag(0, 'constructed'), 'version').content)
  if (hex(version.take(TAG.integer, 'version').content) !== '02') throw new DerError('certificate is not version 3')
  const serial = hex(reader.take(TAG.integer, 'serial').content)
  reader.take(TAG.sequence, 'signature algorithm')
  const issuer = reader.take(TAG.sequence, 'issuer')
  const validity = derReader(reader.take(TAG.sequence, 'validity').content)
  const notBefore = readTime(validity, 'notBefore')
  const notAfter = readTime(validity, 'notAfter')
  const subject = reader.take(TAG.sequence, 'subject')
  const publicKey = readablePublicKey(reader.take(TAG.sequence, 'public key').raw, 'certificate')
  const extensions = readExtensions(reader.takeIf(contextTag(3, 'constructed'))?.content)
  reader.end('certificate body')
  const certificate: Certificate = {
    subject: decodeName(derReader(subject.content)),
    issuer: decodeName(derReader(issuer.content)),
    serial,
    sans: readSans(extensions.get(OID.subjectAltName)),
    notBefore,
    notAfter,
    publicKey,
    fingerprint: digestOf(der),
    isCa: readIsCa(extensions.get(OID.basicConstraints)),
  }
  const keyId = extensions.get(OID.subjectKeyId)
  return {
    certificate,
    subjectDer: subject.raw,
    issuerDer: issuer.raw,
    keyId: keyId ? derReader(keyId).take(TAG.octetString, 'key id').content : keyIdOf(publicKey),
  }
}

function readExtensions(content: Uint8Array | undefined): Map<string, Uint8Array> {
  const found = new Map<string, Uint8Array>()
  if (!content) return found
  const list = readOnly(content, TAG.sequence, 'extensions')
  while (!list.done()) {
    const item = derReader(list.take(TAG.sequence, 'extension').content)
    const oid = readOid(item.take(TAG.oid, 'extension').content)
    item.takeIf(TAG.boolean)
    found.set(oid, item.take(TAG.octetString, 'extension').content)
  }
  return found
}

function readIsCa(value: Uint8Array | undefined): boolean {
  if (!value) return false
  return readOnly(value, TAG.sequence, 'basic constraints').takeIf(TAG.boolean)?.content[0] === 0xff
}

function readSans(value: Uint8Array | undefined): string[] {
  if (!value) return []
  const list = readOnly(value, TAG.sequence, 'subject alternative names')
  const sans: string[] = []
  while (!list.done()) sans.push(decodeSan(list.take(list.peek() ?? 0, 'subject alternative name')))
  return sans
}
