/** The agent's identity: its keys, the hub it joined, its certificate and its trust bundle, as files. */
import type { Static } from 'typebox'
import { compact } from '../../core/compact.ts'
import { fromBase64, publicKeyOf, utf8, base64 } from '../../core/bytes.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { NewKeyPair } from '../../core/crypto/key-pair.ts'
import { Secret } from '../../core/secret.ts'
import { Type } from '../../core/schema/typebox.ts'
import { createSigningRequest, parseCertificate, wasIssuedBy } from '../../core/crypto/x509.ts'
import { keyIdOf } from '../../wire/trust/envelope.ts'
import type { Signer, TrustedKey } from '../../wire/trust/envelope.ts'
import { parseJoinCode } from '../../wire/trust/join-code.ts'
import type { JoinCode } from '../../wire/trust/join-code.ts'
import { acceptTrust, readPublicKey, writePublicKey } from '../../wire/trust/trust-bundle.ts'
import type { VerifiedTrust } from '../../wire/trust/trust-bundle.ts'
import { parseJson, WireError } from '../../wire/validate.ts'
import { LINK_TIMING } from '../timing.ts'
import { AGENT_FILES } from '../storage/storage.ts'
import type { AgentStorage } from '../storage/storage.ts'

const Key = Type.String({ minLength: 1 })
const DigestText = Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' })

const IdentitySchema = Type.Object({
  root: DigestText,
  endpoints: Type.Array(Type.String(), { minItems: 1 }),
  /** The secret is empty once the agent has a certificate. */
  token: Type.Object({ name: Type.String(), secret: Type.String() }),
  clusterName: Type.Optional(Type.String()),
  /** PKCS #8 PEM. */
  identityKey: Key,
  sealingKey: Key,
  /** Renewals of the certificate since the sealing key was made. */
  sealingKeyRenewals: Type.Optional(Type.Integer({ minimum: 0 })),
  /** Former sealing keys, for values that are still sealed to them. */
  olderSealingKeys: Type.Optional(Type.Array(Key, { maxItems: 16 })),
  /** Issued by the hub at enrolment. */
  clusterId: Type.Optional(Type.String()),
})

/** The agent's keys and its hub, created at the first start and kept for good. */
export type Identity = Static<typeof IdentitySchema>

const TransportSchema = Type.Object({
  certificate: Type.String(),
  privateKey: Key,
  /** Milliseconds since 1970. */
  renewAt: Type.Number(),
})

/** The agent's certificate, its key, and the time of the next renewal. */
export type TransportIdentity = Static<typeof TransportSchema>

const TrustFile = Type.Object({ root: Type.String(), envelope: Type.String() })

const limits = (what: string) => ({ what, maxBytes: 1024 * 1024 })

/** Reads the identity, or creates it from a join code. Throws for a join code of another hub. */
export async function loadIdentity(
  storage: AgentStorage,
  options: { readonly joinCode?: string; readonly clusterName?: string; readonly newKeyPair: NewKeyPair },
): Promise<Identity> {
  const code = options.joinCode === undefined ? undefined : parseJoinCode(options.joinCode)
  const known = await readIdentity(storage)
  if (known) return await rename(storage, code ? await adopt(storage, known, code) : known, options.clusterName)
  if (!code)
    throw new Error(
      'this agent has not joined a hub yet; start it with --join and the code from "flotilla cluster add"',
    )
  return await createIdentity(storage, code, options)
}

/** The stored identity; undefined before the first start. */
export async function readIdentity(storage: AgentStorage): Promise<Identity | undefined> {
  const bytes = await storage.read(AGENT_FILES.identity)
  return bytes && parseJson(IdentitySchema, bytes, limits(AGENT_FILES.identity))
}

/** Creates new keys for a hub, and stores them. */
export async function createIdentity(
  storage: AgentStorage,
  { root, endpoints, token }: JoinCode,
  { newKeyPair, clusterName }: { readonly newKeyPair: NewKeyPair; readonly clusterName?: string },
): Promise<Identity> {
  const identity: Identity = {
    root,
    endpoints: [...endpoints],
    token,
    ...compact({ clusterName }),
    identityKey: newKeyPair('ed25519').privateKey,
    sealingKey: newKeyPair('x25519').privateKey,
  }
  await saveIdentity(storage, identity)
  return identity
}

// A newer join code of the same hub replaces token and addresses, for example after the token expired. Keys and id
// stay.
async function adopt(storage: AgentStorage, identity: Identity, code: JoinCode): Promise<Identity> {
  if (identity.root !== code.root) {
    throw new WireError(
      'UnknownSigner',
      `this agent joined the hub with root ${identity.root}, the join code is for ${code.root}; use another --data directory for another hub`,
    )
  }
  if (identity.token.secret === code.token.secret) return identity
  // The manifest of an agent keeps its join code. The agent needs the code again only without a certificate.
  const isSpent = identity.token.name === code.token.name && identity.token.secret === ''
  if (isSpent && (await loadTransport(storage))) return identity
  const next = { ...identity, endpoints: [...code.endpoints], token: code.token }
  await saveIdentity(storage, next)
  return next
}

/** Takes another name for the cluster until the hub has enrolled it, for example after a refused first try. */
async function rename(storage: AgentStorage, identity: Identity, clusterName: string | undefined): Promise<Identity> {
  const isSame = clusterName === undefined || clusterName === identity.clusterName
  if (isSame || identity.clusterId !== undefined) return identity
  const next = { ...identity, clusterName }
  await saveIdentity(storage, next)
  return next
}

export async function saveIdentity(storage: AgentStorage, identity: Identity): Promise<void> {
  await storage.write(AGENT_FILES.identity, utf8(JSON.stringify(identity)))
}

/** The identity after the first certificate: renewals need no token, and a token of many clusters is a risk here. */
export function withoutJoinToken(identity: Identity): Identity {
  return identity.token.secret === '' ? identity : { ...identity, token: { ...identity.token, secret: '' } }
}

/** The signer of enrolment and renewal requests. */
export function identitySigner(identity: Identity): Signer {
  return { keyId: keyIdOf(publicKeyOf(identity.identityKey)), privateKey: identity.identityKey }
}

/** The public keys, as the hub records them. */
export function publicKeysOf(identity: Identity): { readonly identityKey: string; readonly sealingKey: string } {
  return {
    identityKey: writePublicKey(publicKeyOf(identity.identityKey)),
    sealingKey: writePublicKey(publicKeyOf(identity.sealingKey)),
  }
}

/**
 * A certificate is valid for two weeks and renewed after two thirds of them: a sealing key lasts about three months.
 */
export const RENEWALS_PER_SEALING_KEY = 10
const MOST_OLDER_KEYS = 16

/** The keys that open secret values, newest first. */
export function sealingKeys({ sealingKey, olderSealingKeys = [] }: Identity): Secret<string>[] {
  return [sealingKey, ...olderSealingKeys].map((key) => new Secret(key))
}

/** Facts for the decision about sealing keys at a renewal. */
export interface SealingKeyFacts {
  /** True when a sealed value may need the key. */
  readonly isUsed: (key: Digest) => boolean
  /** The key (SPKI, base64) that the document asks the agent to replace. */
  readonly retired: string | undefined
}

/**
 * The identity for the next renewal. It has a new sealing key when the document asks for it, and after a number of
 * renewals. The previous key stays, for a hub that records the new key late or is restored from a backup. Of older
 * keys, the keys in use stay.
 */
export function identityToRenew(
  identity: Identity,
  newKeyPair: NewKeyPair,
  { isUsed, retired }: SealingKeyFacts,
): Identity {
  const isAsked = retired !== undefined && retired === publicKeysOf(identity).sealingKey
  const isDue = isAsked || (identity.sealingKeyRenewals ?? 0) >= RENEWALS_PER_SEALING_KEY
  const older = [...(isDue ? [identity.sealingKey] : []), ...(identity.olderSealingKeys ?? [])]
  const kept = older.filter((key, index) => index === 0 || isUsed(keyIdOf(publicKeyOf(key))))
  if (!isDue) return kept.length === older.length ? identity : { ...identity, olderSealingKeys: kept }
  const sealingKey = newKeyPair('x25519').privateKey
  return { ...identity, sealingKey, sealingKeyRenewals: 0, olderSealingKeys: kept.slice(0, MOST_OLDER_KEYS) }
}

/** True when no renewal has announced the sealing key, which replaced another key: the hub may not have recorded it. */
export function isSealingKeyUnheard({ sealingKeyRenewals = 0, olderSealingKeys = [] }: Identity): boolean {
  return sealingKeyRenewals === 0 && olderSealingKeys.length > 0
}

/** The identity after a renewal that announced its sealing key. */
export function identityRenewed(identity: Identity): Identity {
  return { ...identity, sealingKeyRenewals: (identity.sealingKeyRenewals ?? 0) + 1 }
}

/** The stored certificate; undefined before the first issue. */
export async function loadTransport(storage: AgentStorage): Promise<TransportIdentity | undefined> {
  const bytes = await storage.read(AGENT_FILES.transport)
  return bytes && parseJson(TransportSchema, bytes, limits(AGENT_FILES.transport))
}

/** A new TLS key, and a signing request for it. */
export function newRequest(
  newKeyPair: NewKeyPair,
  clusterId: string,
): { readonly privateKey: string; readonly csr: string } {
  const { privateKey } = newKeyPair('p256')
  return {
    privateKey,
    csr: createSigningRequest({ privateKey, subject: { commonName: clusterId, organizations: [] } }),
  }
}

/** Verifies and stores a certificate from the hub. */
export async function acceptCertificate(
  storage: AgentStorage,
  issued: { readonly certificate: string; readonly privateKey: string; readonly clusterId: string },
  context: { readonly trust: VerifiedTrust; readonly now: number },
): Promise<TransportIdentity> {
  const { certificate, privateKey, clusterId } = issued
  const read = parseCertificate(certificate)
  if (read.subject.commonName !== clusterId)
    throw new WireError('Malformed', 'the hub issued a certificate for another cluster')
  if (read.publicKey !== publicKeyOf(privateKey))
    throw new WireError('Malformed', 'the hub issued a certificate for another key')
  if (!context.trust.bundle.transportCas.some((ca) => wasIssuedBy(certificate, ca))) {
    throw new WireError('UnknownSigner', 'the hub issued a certificate by a CA that is not in the trust bundle')
  }
  const renewAt = context.now + Math.max(0, (read.notAfter - context.now) * LINK_TIMING.renewAfterShare)
  const transport: TransportIdentity = { certificate, privateKey, renewAt }
  await storage.write(AGENT_FILES.transport, utf8(JSON.stringify(transport)))
  return transport
}

/** The stored trust bundle, verified again by the pinned root. */
export async function loadTrustFile(
  storage: AgentStorage,
  root: Digest,
): Promise<{ root: TrustedKey; trust: VerifiedTrust } | undefined> {
  const bytes = await storage.read(AGENT_FILES.trust)
  if (!bytes) return undefined
  const file = parseJson(TrustFile, bytes, limits(AGENT_FILES.trust))
  const publicKey = readPublicKey(file.root)
  const key: TrustedKey = { keyId: keyIdOf(publicKey), publicKey }
  if (key.keyId !== root) return undefined
  return { root: key, trust: acceptTrust(key, undefined, fromBase64(file.envelope)) }
}

/** Stores the newest trust bundle. */
export async function saveTrust(storage: AgentStorage, root: TrustedKey, envelope: Uint8Array): Promise<void> {
  const file = { root: writePublicKey(root.publicKey), envelope: base64(envelope) }
  await storage.write(AGENT_FILES.trust, utf8(JSON.stringify(file)))
}
