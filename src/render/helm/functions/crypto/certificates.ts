/** genCA, genSignedCert and the like: X.509 as Go's crypto/x509 writes it, with keys in the forms Sprig prints. */
import type { Entropy } from '../../frozen-random.ts'
import { privateKeyType, publicKeyDer, publicKeyOf, sha256, sign } from '../../../../core/bytes.ts'
import {
  bitString,
  boolean,
  contextTag,
  derReader,
  element,
  nullValue,
  objectIdentifier,
  octetString,
  readOid,
  readOnly,
  sequence,
  setOf,
  smallInteger,
  TAG,
  time,
  unsignedInteger,
} from '../../../../core/crypto/der.ts'
import { fromPem, toPem } from '../../../../core/crypto/pem.ts'
import { OID } from '../../../../core/crypto/x509.ts'
import { GoError, goFunction } from '../../../gotemplate/function.ts'
import type { GoFunction } from '../../../gotemplate/function.ts'
import { formatValue } from '../../../gotemplate/format.ts'
import { fromGoBytes, goBytes, goLength, goQuote } from '../../../gotemplate/go-string.ts'
import { GoStruct } from '../../../gotemplate/value.ts'
import type { GoInt } from '../../../gotemplate/value.ts'
import type { RandomDraws } from '../../frozen-random.ts'
import { decodeBase64 } from './encode.ts'
import { parseIp } from '../go/parse-ip.ts'

interface CertificateAndKey {
  readonly cert: string
  readonly key: string
}

interface Request {
  readonly commonName: string
  readonly ips: readonly Uint8Array[]
  readonly dnsNames: readonly string[]
  readonly days: bigint
  readonly isCa: boolean
}

interface Issuer {
  readonly name: Uint8Array
  readonly keyId: Uint8Array | undefined
  readonly key: string
}

const certificateStruct = ({ cert, key }: CertificateAndKey): GoStruct =>
  new GoStruct('sprig.certificate', [
    ['Cert', cert],
    ['Key', key],
  ])

/** Checks a key given as text; the PEM itself is what signs. */
function readKey(pem: string): string {
  const label = /-----BEGIN ([A-Z ]+)-----/.exec(pem)?.[1]
  if (label === undefined) throw new GoError('no PEM data in input')
  if (label !== 'PRIVATE KEY' && !label.endsWith(' PRIVATE KEY')) {
    throw new GoError(`no private key data in PEM block of type ${label}`)
  }
  if (privateKeyType(pem) === undefined) throw new GoError(`parsing ${label} from PEM: the key cannot be read`)
  return pem
}

function ipList(value: unknown): Uint8Array[] {
  return ((value as unknown[] | null) ?? []).map((item) => {
    if (typeof item !== 'string') throw new GoError(`error parsing ip: ${formatValue(item)} is not a string`)
    const ip = parseIp(item)
    if (!ip) throw new GoError(`error parsing ip: ${item}`)
    return ip
  })
}

function nameList(value: unknown): string[] {
  return ((value as unknown[] | null) ?? []).map((item) => {
    if (typeof item !== 'string') {
      throw new GoError(`error processing alternate dns name: ${formatValue(item)} is not a string`)
    }
    return item
  })
}

function encodeName(commonName: string): Uint8Array {
  if (commonName === '') return sequence()
  if (!commonName.isWellFormed()) throw new GoError('error creating certificate: asn1: string not valid UTF-8')
  const printable = /^[A-Za-z0-9 '()+,\-./:=?*&]*$/.test(commonName)
  const text = element(printable ? TAG.printableString : TAG.utf8String, goBytes(commonName))
  return sequence(setOf(sequence(objectIdentifier(OID.commonName), text)))
}

function encodeDnsName(name: string): Uint8Array {
  if (goLength(name) > name.length || !name.isWellFormed()) {
    throw new GoError(`error creating certificate: x509: ${goQuote(name)} cannot be encoded as an IA5String`)
  }
  return element(contextTag(2, 'primitive'), goBytes(name))
}

function extension(oid: string, value: Uint8Array, critical = false): Uint8Array {
  return sequence(objectIdentifier(oid), ...(critical ? [boolean(true)] : []), octetString(value))
}

function signatureAlgorithm(key: string): Uint8Array {
  switch (privateKeyType(key)) {
    case 'ec':
      return sequence(objectIdentifier('1.2.840.10045.4.3.2'))
    case 'ed25519':
      return sequence(objectIdentifier('1.3.101.112'))
    case 'rsa':
      return sequence(objectIdentifier('1.2.840.113549.1.1.11'), nullValue())
    default:
      throw new GoError('error creating certificate: x509: only RSA, ECDSA and Ed25519 keys supported')
  }
}

/** The bits of a public key, whose hash names it. */
function keyBits(spki: Uint8Array): Uint8Array {
  const reader = readOnly(spki, TAG.sequence, 'public key')
  reader.take(TAG.sequence, 'algorithm')
  return reader.take(TAG.bitString, 'bits').content.subarray(1)
}

function extensions(request: Request, issuer: Issuer, keyId: Uint8Array): Uint8Array[] {
  const usage = request.isCa ? bitString(Uint8Array.of(0xa4), 2) : bitString(Uint8Array.of(0xa0), 5)
  const list = [
    extension(OID.keyUsage, usage, true),
    extension(OID.extendedKeyUsage, sequence(objectIdentifier(OID.serverAuth), objectIdentifier(OID.clientAuth))),
    extension(OID.basicConstraints, request.isCa ? sequence(boolean(true)) : sequence(), true),
  ]
  if (request.isCa) list.push(extension(OID.subjectKeyId, octetString(keyId)))
  if (issuer.keyId) {
    list.push(extension(OID.authorityKeyId, sequence(element(contextTag(0, 'primitive'), issuer.keyId))))
  }
  const names = [
    ...request.dnsNames.map(encodeDnsName),
    ...request.ips.map((ip) => element(contextTag(7, 'primitive'), ip)),
  ]
  if (names.length > 0) {
    // Without a subject this is the only name, and must be understood.
    list.push(extension(OID.subjectAltName, sequence(...names), request.commonName === ''))
  }
  return list
}

const DAY_NANOSECONDS = 86_400_000_000_000n

/** So many days in milliseconds, as Go's nanoseconds in 64 bits have it: they overflow after 292 years. */
function lifetime(days: bigint): number {
  return Number(BigInt.asIntN(64, days * DAY_NANOSECONDS) / 1_000_000n)
}

interface Fresh {
  readonly serial: Uint8Array
  readonly now: number
}

function issue(request: Request, key: string, issuer: Issuer | undefined, fresh: Fresh): CertificateAndKey {
  const spki = publicKeyDer(publicKeyOf(key))
  const keyId = sha256(keyBits(spki)).subarray(0, 20)
  const algorithm = signatureAlgorithm(issuer?.key ?? key)
  const subject = encodeName(request.commonName)
  const signer = issuer ?? { name: subject, keyId: undefined, key }
  const body = sequence(
    element(contextTag(0, 'constructed'), smallInteger(2)),
    unsignedInteger(fresh.serial),
    algorithm,
    signer.name,
    sequence(time(fresh.now), time(fresh.now + lifetime(request.days))),
    subject,
    spki,
    element(contextTag(3, 'constructed'), sequence(...extensions(request, signer, keyId))),
  )
  const certificate = sequence(body, algorithm, bitString(sign(signer.key, body)))
  return { cert: toPem('CERTIFICATE', certificate), key }
}

/** The issuer's name and key id out of its certificate. */
function issuerOf(ca: GoStruct): Issuer {
  const [der] = fromPem('CERTIFICATE', ca.fields.get('Cert') as string)
  if (!der) throw new GoError('unable to decode certificate')
  try {
    const body = derReader(readOnly(der, TAG.sequence, 'certificate').take(TAG.sequence, 'body').content)
    body.takeIf(contextTag(0, 'constructed'))
    body.take(TAG.integer, 'serial')
    body.take(TAG.sequence, 'algorithm')
    body.take(TAG.sequence, 'issuer')
    body.take(TAG.sequence, 'validity')
    const name = body.take(TAG.sequence, 'subject').raw
    body.take(TAG.sequence, 'key')
    return { name, keyId: keyIdOf(body.takeIf(contextTag(3, 'constructed'))?.content), key: signerKey(ca) }
  } catch (error) {
    if (error instanceof GoError) throw error
    throw new GoError(`error parsing certificate: decodedSignerCert.Bytes: ${(error as Error).message}`)
  }
}

function signerKey(ca: GoStruct): string {
  try {
    return readKey(ca.fields.get('Key') as string)
  } catch (error) {
    if (error instanceof GoError) throw new GoError(`error parsing private key: ${error.message}`)
    throw error
  }
}

function keyIdOf(wrapped: Uint8Array | undefined): Uint8Array | undefined {
  if (!wrapped) return undefined
  const list = readOnly(wrapped, TAG.sequence, 'extensions')
  while (!list.done()) {
    const one = derReader(list.take(TAG.sequence, 'extension').content)
    const oid = readOid(one.take(TAG.oid, 'extension id').content)
    one.takeIf(TAG.boolean)
    const { content } = one.take(TAG.octetString, 'extension value')
    if (oid === OID.subjectKeyId) return derReader(content).take(TAG.octetString, 'key id').content
  }
  return undefined
}

function buildCustomCert(cert64: string, key64: string): GoStruct {
  const decode = (text: string, what: string): string => {
    try {
      return fromGoBytes(decodeBase64(text))
    } catch {
      throw new GoError(`unable to decode base64 ${what}`)
    }
  }
  const cert = decode(cert64, 'certificate')
  const key = decode(key64, 'private key')
  if (fromPem('CERTIFICATE', cert).length === 0) throw new GoError('unable to decode certificate')
  try {
    readKey(key)
  } catch (error) {
    if (error instanceof GoError) throw new GoError(`error parsing private key: ${error.message}`)
    throw error
  }
  return certificateStruct({ cert, key })
}

type KeyType = Parameters<Entropy['generateKey']>[0]

const KEY_TYPES: Readonly<Record<string, KeyType>> = {
  '': 'rsa4096',
  rsa: 'rsa4096',
  dsa: 'dsa',
  ecdsa: 'ecdsa',
  ed25519: 'ed25519',
}

/** Certificates and keys; each draw can be frozen. */
export function certificateFunctions(draws: RandomDraws): Record<string, GoFunction> {
  const make = (name: string, request: Request, given: string | undefined, ca?: GoStruct): GoStruct => {
    const key = given === undefined ? undefined : parsedKey(given)
    const issuer = ca ? issuerOf(ca) : undefined
    return certificateStruct(
      draws.draw(name, (entropy) =>
        issue(request, key ?? entropy.generateKey('rsa2048'), issuer, {
          serial: entropy.randomBytes(16),
          now: entropy.now(),
        }),
      ),
    )
  }
  const authority = (args: readonly unknown[]): Request => ({
    commonName: args[0] as string,
    ips: [],
    dnsNames: [],
    days: (args[1] as GoInt).value,
    isCa: true,
  })
  const leaf = (args: readonly unknown[]): Request => ({
    commonName: args[0] as string,
    ips: ipList(args[1]),
    dnsNames: nameList(args[2]),
    days: (args[3] as GoInt).value,
    isCa: false,
  })
  const LEAF = ['string', 'list', 'list', 'int'] as const
  return {
    genPrivateKey: goFunction(['string'], ([type]) => {
      if (!Object.hasOwn(KEY_TYPES, type as string)) return `Unknown type ${String(type)}`
      return draws.draw('genPrivateKey', (entropy) => printedKey(entropy.generateKey(KEY_TYPES[type as string]!)))
    }),
    buildCustomCert: goFunction(['string', 'string'], ([cert, key]) => buildCustomCert(cert as string, key as string)),
    genCA: goFunction(['string', 'int'], (args) => make('genCA', authority(args), undefined)),
    genCAWithKey: goFunction(['string', 'int', 'string'], (args) =>
      make('genCAWithKey', authority(args), args[2] as string),
    ),
    genSelfSignedCert: goFunction(LEAF, (args) => make('genSelfSignedCert', leaf(args), undefined)),
    genSelfSignedCertWithKey: goFunction([...LEAF, 'string'], (args) =>
      make('genSelfSignedCertWithKey', leaf(args), args[4] as string),
    ),
    genSignedCert: goFunction([...LEAF, 'sprig.certificate'], (args) =>
      make('genSignedCert', leaf(args), undefined, args[4] as GoStruct),
    ),
    genSignedCertWithKey: goFunction([...LEAF, 'sprig.certificate', 'string'], (args) =>
      make('genSignedCertWithKey', leaf(args), args[5] as string, args[4] as GoStruct),
    ),
  }
}

function parsedKey(pem: string): string {
  try {
    return readKey(pem)
  } catch (error) {
    if (error instanceof GoError) throw new GoError(`parsing private key: ${error.message}`)
    throw error
  }
}

/** A DSA key in OpenSSL's old form, which Sprig prints; keys of the remaining algorithms stay as they are. */
function printedKey(pem: string): string {
  const [pkcs8] = fromPem('PRIVATE KEY', pem)
  if (!pkcs8 || privateKeyType(pem) !== 'dsa') return pem
  const outer = readOnly(pkcs8, TAG.sequence, 'key')
  outer.take(TAG.integer, 'version')
  const algorithm = derReader(outer.take(TAG.sequence, 'algorithm').content)
  algorithm.take(TAG.oid, 'algorithm')
  const parameters = derReader(algorithm.take(TAG.sequence, 'parameters').content)
  const [p, q, g] = ['p', 'q', 'g'].map((name) => parameters.take(TAG.integer, name).raw)
  const x = outer.take(TAG.octetString, 'x').content
  const spki = readOnly(publicKeyDer(publicKeyOf(pem)), TAG.sequence, 'public key')
  spki.take(TAG.sequence, 'algorithm')
  const y = spki.take(TAG.bitString, 'y').content.subarray(1)
  return toPem('DSA PRIVATE KEY', sequence(smallInteger(0), p!, q!, g!, y, x))
}
