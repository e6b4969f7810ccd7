/** Who this agent is: keys made once, the hub it joined, the certificate it has now. */
import { Type } from 'typebox'
import type { Static } from 'typebox'
import { fromBase64, publicKeyOf, utf8, base64 } from '../core/bytes.ts'
import type { Digest } from '../core/digest.ts'
import type { NewKeyPair } from '../core/keys.ts'
import { Secret } from '../core/secret.ts'
import { createSigningRequest, parseCertificate, wasIssuedBy } from '../core/x509.ts'
import { keyIdOf } from '../wire/envelope.ts'
import type { Signer, TrustedKey } from '../wire/envelope.ts'
import { parseJoinCode } from '../wire/join-code.ts'
import type { JoinCode } from '../wire/join-code.ts'
import { acceptTrust, readPublicKey, writePublicKey } from '../wire/trust.ts'
import type { VerifiedTrust } from '../wire/trust.ts'
import { parseJson, WireError } from '../wire/validate.ts'
import { AGENT_FILES } from './storage.ts'
import type { AgentStorage } from './storage.ts'

const Key = Type.String({ minLength: 1 })
const DigestText = Type.Unsafe<Digest>({ type: 'string', pattern: '^sha256:[0-9a-f]{64}$' })

const IdentitySchema = Type.Object({
  root: DigestText,
  endpoints: Type.Array(Type.String(), { minItems: 1 }),
  token: Type.Object({ name: Type.String(), secret: Type.String() }),
  clusterName: Type.Optional(Type.String()),
  /** PKCS #8 PEM. */
  identityKey: Key,
  sealingKey: Key,
  /** Issued by the hub at the first answer. */
  clusterId: Type.Optional(Type.String()),
})

/** What is made once and kept. */
export type Identity = Static<typeof IdentitySchema>

const TransportSchema = Type.Object({
  certificate: Type.String(),
  privateKey: Key,
  /** Milliseconds since 1970. */
  renewAt: Type.Number(),
})

/** The certificate of this agent, its key, and when to renew it. */
export type TransportIdentity = Static<typeof TransportSchema>

const TrustFile = Type.Object({ root: Type.String(), envelope: Type.String() })

const limits = (what: string) => ({ what, maxBytes: 1024 * 1024 })

/** Reads the identity, or makes it from a join code; a code of another hub than the one joined is refused. */
export async function loadIdentity(
  storage: AgentStorage,
  options: { readonly joinCode?: string; readonly clusterName?: string; readonly newKeyPair: NewKeyPair },
): Promise<Identity> {
  const code = options.joinCode === undefined ? undefined : parseJoinCode(options.joinCode)
  const bytes = await storage.read(AGENT_FILES.identity)
  if (bytes) {
    const identity = parseJson(IdentitySchema, bytes, limits(AGENT_FILES.identity))
    return code ? await adopt(storage, identity, code) : identity
  }
  if (!code)
    throw new Error(
      'this agent has not joined a hub yet; start it with --join and the code from "flotilla cluster add"',
    )
  const identity: Identity = {
    root: code.root,
    endpoints: [...code.endpoints],
    token: code.token,
    ...(options.clusterName === undefined ? {} : { clusterName: options.clusterName }),
    identityKey: options.newKeyPair('ed25519').privateKey,
    sealingKey: options.newKeyPair('x25519').privateKey,
  }
  await saveIdentity(storage, identity)
  return identity
}

// The same hub's newer code replaces token and addresses, as after an expired token; keys and id stay.
async function adopt(storage: AgentStorage, identity: Identity, code: JoinCode): Promise<Identity> {
  if (identity.root !== code.root) {
    throw new WireError(
      'UnknownSigner',
      `this agent joined the hub with root ${identity.root}, the join code is for ${code.root}; use another --data directory for another hub`,
    )
  }
  if (identity.token.secret === code.token.secret) return identity
  const next = { ...identity, endpoints: [...code.endpoints], token: code.token }
  await saveIdentity(storage, next)
  return next
}

/** Keeps the identity. */
export async function saveIdentity(storage: AgentStorage, identity: Identity): Promise<void> {
  await storage.write(AGENT_FILES.identity, utf8(JSON.stringify(identity)))
}

/** The identity key as a signer of enrol and renew requests. */
export function identitySigner(identity: Identity): Signer {
  return { keyId: keyIdOf(publicKeyOf(identity.identityKey)), privateKey: identity.identityKey }
}

/** The public halves as the hub records them. */
export function publicKeysOf(identity: Identity): { readonly identityKey: string; readonly sealingKey: string } {
  return {
    identityKey: writePublicKey(publicKeyOf(identity.identityKey)),
    sealingKey: writePublicKey(publicKeyOf(identity.sealingKey)),
  }
}

/** The keys that open secret values, newest first. */
export function sealingKeys(identity: Identity): Secret<string>[] {
  return [new Secret(identity.sealingKey)]
}

/** The certificate of the last start, if it was ever issued. */
export async function loadTransport(storage: AgentStorage): Promise<TransportIdentity | undefined> {
  const bytes = await storage.read(AGENT_FILES.transport)
  return bytes && parseJson(TransportSchema, bytes, limits(AGENT_FILES.transport))
}

/** A fresh TLS key and the request to sign it. */
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

/** Checks a certificate the hub answered with and keeps it. */
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
    throw new WireError('UnknownSigner', 'the hub issued a certificate by a CA that the root does not name')
  }
  const renewAt = context.now + Math.max(0, (read.notAfter - context.now) * (2 / 3))
  const transport: TransportIdentity = { certificate, privateKey, renewAt }
  await storage.write(AGENT_FILES.transport, utf8(JSON.stringify(transport)))
  return transport
}

/** The trust of the last start, verified again from the pinned root. */
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

/** Keeps the newest trust bundle. */
export async function saveTrust(storage: AgentStorage, root: TrustedKey, envelope: Uint8Array): Promise<void> {
  const file = { root: writePublicKey(root.publicKey), envelope: base64(envelope) }
  await storage.write(AGENT_FILES.trust, utf8(JSON.stringify(file)))
}
