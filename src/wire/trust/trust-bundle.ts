/**
 * The TrustBundle: which keys, CAs and addresses are the hub's, numbered and signed by the root that a join code
 * pins. Every version is kept and names the one before it, so that an agent away for two years walks forward one
 * signature at a time.
 */
import type { Static } from 'typebox'
import { base64, fromBase64, publicKeyDer, publicKeyPem, utf8 } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Type } from '../../core/schema/typebox.ts'
import { keyIdOf, openEnvelope, PAYLOAD, signEnvelope, trustedKey, unverifiedPayload } from './envelope.ts'
import type { Signer, TrustedKey } from './envelope.ts'
import { checkEndpoint } from './join-code.ts'
import { LIMITS } from '../limits.ts'
import { parseJson, WireError } from '../validate.ts'

const DigestText = Type.String({ pattern: '^sha256:[0-9a-f]{64}$' })

const TrustBundleSchema = Type.Object(
  {
    format: Type.Literal('flotilla.dev/trust/v1'),
    version: Type.Integer({ minimum: 1 }),
    /** Digest of the envelope of the version before. */
    previous: Type.Optional(DigestText),
    /** The timeline documents must be of; a new one needs the root key. */
    epoch: Type.Integer({ minimum: 1 }),
    issuedAt: Type.String({ maxLength: 40 }),
    /** SPKI, base64: who signs documents. */
    signers: Type.Array(Type.String({ maxLength: 1024 }), { minItems: 1, maxItems: 8 }),
    /** PEM: who signs the gateways' and agents' certificates. */
    transportCas: Type.Array(Type.String({ maxLength: 8192 }), { minItems: 1, maxItems: 8 }),
    endpoints: Type.Array(Type.String({ maxLength: 512 }), { minItems: 1, maxItems: 8 }),
    minAgentVersion: Type.String({ maxLength: 64 }),
  },
  // A later version may say more; what an agent must not ignore gets a new format.
  { additionalProperties: true },
)

/** What the root says about the hub. */
export type TrustBundle = Static<typeof TrustBundleSchema>

/** A trust bundle whose signature was checked, with the digest of its envelope. */
export interface VerifiedTrust {
  readonly bundle: TrustBundle
  readonly digest: Digest
  /** The signed bytes themselves. */
  readonly envelope: Uint8Array
  readonly signers: readonly TrustedKey[]
}

/** Signs a trust bundle with the root. */
export function signTrustBundle(root: Signer, bundle: TrustBundle): Uint8Array {
  return signEnvelope(root, PAYLOAD.trust, utf8(JSON.stringify(bundle)))
}

/** The root's public key (SPKI, base64) as the pinned fingerprint demands it. */
export function verifyRoot(pinned: Digest, spkiBase64: string): TrustedKey {
  const publicKey = readPublicKey(spkiBase64)
  if (keyIdOf(publicKey) !== pinned) {
    throw new WireError(
      'UnknownSigner',
      `the hub's root key is ${keyIdOf(publicKey)}, but the join code pins ${pinned}: this is not the hub that made the code`,
    )
  }
  return trustedKey(publicKey)
}

/** Opens one version; it must be newer than `held` and follow it when consecutive. */
export function acceptTrust(root: TrustedKey, held: VerifiedTrust | undefined, envelope: Uint8Array): VerifiedTrust {
  const { payload } = openEnvelope(envelope, PAYLOAD.trust, [root])
  const bundle = parseJson(TrustBundleSchema, payload, { what: 'trust bundle', maxBytes: LIMITS.trustBytes })
  for (const endpoint of bundle.endpoints) checkEndpoint(endpoint)
  if (held) {
    if (bundle.version <= held.bundle.version) {
      throw new WireError('Malformed', `trust version ${bundle.version} is not newer than ${held.bundle.version}`)
    }
    if (bundle.epoch < held.bundle.epoch) {
      throw new WireError('Malformed', `trust version ${bundle.version} goes back to epoch ${bundle.epoch}`)
    }
    if (bundle.version === held.bundle.version + 1 && bundle.previous !== held.digest) {
      throw new WireError(
        'Malformed',
        `trust version ${bundle.version} does not follow the version ${held.bundle.version} held here`,
      )
    }
  }
  const signers = bundle.signers.map((spki) => trustedKey(readPublicKey(spki)))
  return { bundle, digest: digestOf(envelope), envelope, signers }
}

/** Every key that some version of the trust ever named as a signer; for documents of the past. */
export function allSignerKeys({ envelopes }: { readonly envelopes: readonly Uint8Array[] }): TrustedKey[] {
  const limits = { what: 'trust bundle', maxBytes: LIMITS.trustBytes }
  const all = envelopes.flatMap(
    (envelope) => parseJson(TrustBundleSchema, unverifiedPayload(envelope, LIMITS.trustBytes), limits).signers,
  )
  return [...new Set(all)].map((spki) => trustedKey(readPublicKey(spki)))
}

const versions = new WeakMap<Uint8Array, number>()

/** The version of an envelope of our own. They rise, but not always by one: a new timeline leaves room. */
export function trustVersionOf(envelope: Uint8Array): number {
  const known = versions.get(envelope)
  if (known !== undefined) return known
  const limits = { what: 'trust bundle', maxBytes: LIMITS.trustBytes }
  const { version } = parseJson(TrustBundleSchema, unverifiedPayload(envelope, LIMITS.trustBytes), limits)
  versions.set(envelope, version)
  return version
}

/** SPKI PEM of base64 DER; a WireError when it is no key. */
export function readPublicKey(spkiBase64: string): string {
  try {
    return publicKeyPem(fromBase64(spkiBase64))
  } catch {
    throw new WireError('Malformed', 'public key is not SPKI in base64')
  }
}

/** Base64 SPKI of a PEM public key, as kinds and frames carry keys. */
export function writePublicKey(publicKey: string): string {
  return base64(publicKeyDer(publicKey))
}
