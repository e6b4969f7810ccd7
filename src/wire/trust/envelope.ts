/**
 * Signed envelopes: opaque payload bytes, a payload type and one Ed25519 signature over both, in the form of DSSE
 * (github.com/secure-systems-lab/dsse). The signature covers the type, so that nothing signed for one purpose passes
 * for another, and the bytes as they are, so that no two readers can read them differently.
 */
import { base64, concatBytes, fromBase64, publicKeyDer, sign, utf8, verify } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Type } from '../../core/schema/typebox.ts'
import { LIMITS } from '../limits.ts'
import { parseJson, WireError } from '../validate.ts'

/** What is signed on this wire. */
export const PAYLOAD = {
  document: 'application/vnd.flotilla.document.v1+json',
  trust: 'application/vnd.flotilla.trust.v1+json',
  enrol: 'application/vnd.flotilla.enrol.v1+json',
  renew: 'application/vnd.flotilla.renew.v1+json',
  last: 'application/vnd.flotilla.last.v1+json',
  report: 'application/vnd.flotilla.report-statement.v1+json',
  audit: 'application/vnd.flotilla.audit-checkpoint.v1+json',
} as const

/** One of the payload types. */
export type PayloadType = (typeof PAYLOAD)[keyof typeof PAYLOAD]

/** A key that signs. */
export interface Signer {
  readonly keyId: Digest
  /** PKCS #8 PEM. */
  readonly privateKey: string
}

/** A key that is trusted to have signed. */
export interface TrustedKey {
  readonly keyId: Digest
  /** SPKI PEM. */
  readonly publicKey: string
}

const Envelope = Type.Object(
  {
    payloadType: Type.String({ maxLength: 128 }),
    payload: Type.String({ maxLength: 2 * LIMITS.documentBytes }),
    signatures: Type.Array(
      Type.Object(
        { keyid: Type.String({ maxLength: 128 }), sig: Type.String({ maxLength: 256 }) },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: 1 },
    ),
  },
  { additionalProperties: false },
)

/** The id of a public key (SPKI PEM): the digest of its DER. */
export function keyIdOf(publicKey: string): Digest {
  return digestOf(publicKeyDer(publicKey))
}

/** A trusted key from its SPKI PEM. */
export function trustedKey(publicKey: string): TrustedKey {
  return { keyId: keyIdOf(publicKey), publicKey }
}

/** Signs a payload and returns the envelope's bytes. */
export function signEnvelope(signer: Signer, payloadType: PayloadType, payload: Uint8Array): Uint8Array {
  const signature = sign(signer.privateKey, preAuthEncoding(payloadType, payload))
  const signatures = [{ keyid: signer.keyId, sig: base64(signature) }]
  return utf8(JSON.stringify({ payloadType, payload: base64(payload), signatures }))
}

/** The payload of an envelope that one of the trusted keys signed as this type; a WireError otherwise. */
export function openEnvelope(
  bytes: Uint8Array,
  payloadType: PayloadType,
  trusted: readonly TrustedKey[],
): { readonly payload: Uint8Array; readonly keyId: Digest } {
  const envelope = parseJson(Envelope, bytes, { what: 'envelope', maxBytes: 2 * LIMITS.documentBytes })
  if (envelope.payloadType !== payloadType) {
    throw new WireError('WrongType', `envelope holds ${envelope.payloadType}, expected ${payloadType}`)
  }
  const signature = envelope.signatures[0]!
  const key = trusted.find((candidate) => candidate.keyId === signature.keyid)
  if (!key) throw new WireError('UnknownSigner', `envelope is signed by ${signature.keyid}, which is not trusted`)
  const payload = strictBase64(envelope.payload, 'payload')
  if (!verify(key.publicKey, preAuthEncoding(payloadType, payload), strictBase64(signature.sig, 'signature'))) {
    throw new WireError('BadSignature', `envelope's signature by ${key.keyId} does not match its payload`)
  }
  return { payload, keyId: key.keyId }
}

/**
 * The payload of an envelope whose signature was NOT checked: only for finding out which key should have signed it,
 * as in enrolment, where the payload names the key. Call `openEnvelope` with that key next.
 */
export function unverifiedPayload(bytes: Uint8Array, maxBytes: number = LIMITS.requestBytes): Uint8Array {
  const envelope = parseJson(Envelope, bytes, { what: 'envelope', maxBytes })
  return strictBase64(envelope.payload, 'payload')
}

/** An envelope with its payload as it is, for differences: in base64 one byte more moves everything behind it. */
export function unwrapEnvelope(bytes: Uint8Array): Uint8Array {
  const { payload, ...head } = parseJson(Envelope, bytes, { what: 'envelope', maxBytes: 2 * LIMITS.documentBytes })
  return concatBytes([utf8(`${JSON.stringify(head)}\n`), strictBase64(payload, 'payload')])
}

/** The envelope of what `unwrapEnvelope` made, byte for byte. */
export function wrapEnvelope(bytes: Uint8Array): Uint8Array {
  const end = bytes.indexOf(0x0a)
  if (end < 0) throw new WireError('Malformed', 'envelope has no payload')
  const limits = { what: 'envelope', maxBytes: LIMITS.documentBytes }
  const { payloadType, signatures } = parseJson(Type.Omit(Envelope, ['payload']), bytes.subarray(0, end), limits)
  return utf8(JSON.stringify({ payloadType, payload: base64(bytes.subarray(end + 1)), signatures }))
}

/** DSSE's PAE: lengths before type and body leave one way to read the signed bytes. */
function preAuthEncoding(payloadType: string, payload: Uint8Array): Uint8Array {
  const head = `DSSEv1 ${utf8(payloadType).byteLength} ${payloadType} ${payload.byteLength} `
  return concatBytes([utf8(head), payload])
}

function strictBase64(text: string, what: string): Uint8Array {
  const bytes = fromBase64(text)
  if (base64(bytes) !== text) throw new WireError('Malformed', `envelope's ${what} is not plain base64`)
  return bytes
}
