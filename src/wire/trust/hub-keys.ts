/**
 * The hub's own keys: made once at first start, kept as named texts that the hub writes to files of its own choosing
 * (0600).
 * `root.key` is needed only to sign a new trust bundle; people are advised to move it away, and the rest works
 * without it.
 */
import type { KeyPair } from '../../core/bytes.ts'
import { base64, fromBase64, publicKeyOf } from '../../core/bytes.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { NewKeyPair } from '../../core/crypto/key-pair.ts'
import { formatTime } from '../../core/time/time.ts'
import { issueCertificate, parseCertificate, selfSignedCa } from '../../core/crypto/x509.ts'
import type { CertificateAndKey } from '../../core/crypto/x509.ts'
import { keyIdOf, trustedKey } from './envelope.ts'
import type { Signer, TrustedKey } from './envelope.ts'
import { acceptTrust, signTrustBundle, writePublicKey } from './trust-bundle.ts'
import type { TrustBundle, VerifiedTrust } from './trust-bundle.ts'
import { WireError } from '../validate.ts'

/** Names of the hub's key files. */
export const TRUST_FILES = {
  root: 'root.key',
  rootPublic: 'root.pub',
  signer: 'signer.key',
  caKey: 'transport-ca.key',
  caCertificate: 'transport-ca.crt',
  /** An envelope (base64) per line, oldest first. */
  bundles: 'trust-bundles',
} as const

/** The hub's trust, ready to use. */
export interface HubTrust {
  readonly root: TrustedKey
  /** Absent when a person moved it away. */
  readonly rootSigner: Signer | undefined
  /** Signs documents. */
  readonly signer: Signer
  /** Signs gateways' and agents' certificates; nothing else may trust it. */
  readonly transportCa: CertificateAndKey
  /** Every version, oldest first. */
  readonly envelopes: readonly Uint8Array[]
  readonly newest: VerifiedTrust
}

/** What the first trust bundle says, and what it takes to make it. */
export interface NewTrust {
  readonly newKeyPair: NewKeyPair
  readonly now: number
  /** 16 random bytes for the CA's serial. */
  readonly serial: Uint8Array
  readonly endpoints: readonly string[]
  readonly minAgentVersion: string
}

const YEAR_MS = 365 * 86_400_000
// Clocks of sites are wrong by hours: a certificate is valid from a day before it was made.
const SKEW_MS = 86_400_000

/** Makes all keys and the first trust bundle: file name → text. */
export function createTrust(options: NewTrust): Record<string, string> {
  const root = options.newKeyPair('ed25519')
  const signer = options.newKeyPair('ed25519')
  const ca = createTransportCa(options)
  const bundle: TrustBundle = {
    format: 'flotilla.dev/trust/v1',
    version: 1,
    epoch: 1,
    issuedAt: formatTime(options.now),
    signers: [writePublicKey(signer.publicKey)],
    transportCas: [ca.certificate],
    endpoints: [...options.endpoints],
    minAgentVersion: options.minAgentVersion,
  }
  return {
    [TRUST_FILES.root]: root.privateKey,
    [TRUST_FILES.rootPublic]: root.publicKey,
    [TRUST_FILES.signer]: signer.privateKey,
    [TRUST_FILES.caKey]: ca.privateKey,
    [TRUST_FILES.caCertificate]: ca.certificate,
    [TRUST_FILES.bundles]: `${base64(signTrustBundle(signerOf(root), bundle))}\n`,
  }
}

/** Reads what `createTrust` made; a missing file other than the root key is an error that names it. */
export function loadTrust(read: (name: string) => string | undefined): HubTrust {
  const need = (name: string): string => {
    const text = read(name)
    if (text === undefined)
      throw new Error(`trust: ${name} is missing; restore it from a backup of the hub's directory`)
    return text
  }
  const root = trustedKey(need(TRUST_FILES.rootPublic))
  const rootKey = read(TRUST_FILES.root)
  const signerKey = need(TRUST_FILES.signer)
  const envelopes = need(TRUST_FILES.bundles)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => fromBase64(line))
  let newest: VerifiedTrust | undefined
  for (const envelope of envelopes) newest = acceptTrust(root, newest, envelope)
  if (!newest) throw new Error(`trust: ${TRUST_FILES.bundles} holds no trust bundle`)
  const signer: Signer = { keyId: keyIdOf(publicKeyOf(signerKey)), privateKey: signerKey }
  if (!newest.signers.some((key) => key.keyId === signer.keyId)) {
    throw new Error(`trust: ${TRUST_FILES.signer} is not a signer of trust version ${newest.bundle.version}`)
  }
  const caKey = need(TRUST_FILES.caKey)
  const caCertificate = need(TRUST_FILES.caCertificate)
  if (parseCertificate(caCertificate).publicKey !== publicKeyOf(caKey)) {
    throw new Error(
      `trust: ${TRUST_FILES.caKey} does not belong to ${TRUST_FILES.caCertificate}; put both files that end in .old back in their places`,
    )
  }
  return {
    root,
    rootSigner: rootKey === undefined ? undefined : { keyId: keyIdOf(publicKeyOf(rootKey)), privateKey: rootKey },
    signer,
    transportCa: { certificate: caCertificate, privateKey: caKey },
    envelopes,
    newest,
  }
}

/**
 * The next version of the trust bundle with some fields changed: the new text of `TRUST_FILES.bundles`. Needs the
 * root key.
 */
export function amendTrust(
  trust: HubTrust,
  changes: Partial<Omit<TrustBundle, 'format' | 'previous' | 'issuedAt'>>,
  now: number,
): string {
  if (!trust.rootSigner) {
    throw new WireError(
      'UnknownSigner',
      `the root key is not here; bring ${TRUST_FILES.root} back to sign a new trust bundle`,
    )
  }
  const { bundle, digest } = trust.newest
  const next: TrustBundle = {
    ...bundle,
    version: bundle.version + 1,
    ...changes,
    previous: digest,
    issuedAt: formatTime(now),
  }
  const lines = [...trust.envelopes, signTrustBundle(trust.rootSigner, next)].map((envelope) => base64(envelope))
  return `${lines.join('\n')}\n`
}

/** A new transport CA. */
export function createTransportCa(options: Pick<NewTrust, 'newKeyPair' | 'now' | 'serial'>): CertificateAndKey {
  const { privateKey } = options.newKeyPair('p256')
  const certificate = selfSignedCa({
    privateKey,
    subject: { commonName: 'flotilla transport CA', organizations: ['flotilla'] },
    serial: options.serial,
    notBefore: options.now - SKEW_MS,
    notAfter: options.now + 20 * YEAR_MS,
  })
  return { certificate, privateKey }
}

/** The organisation every agent's certificate has, so that it cannot pass for anything else. */
export const AGENT_ORGANIZATION = 'flotilla:agents'

/** How long an agent's certificate lives; it renews after two thirds. */
const AGENT_CERTIFICATE_MS = 14 * 86_400_000

/** What an issued certificate is remembered by. */
export interface IssuedCertificate {
  readonly certificate: string
  readonly notAfter: number
  readonly fingerprint: Digest
}

/** A certificate for a cluster's agent: the common name is the cluster id, whole. */
export function issueAgentCertificate(
  ca: CertificateAndKey,
  request: {
    readonly clusterId: string
    readonly publicKey: string
    readonly serial: Uint8Array
    readonly now: number
  },
): IssuedCertificate {
  const certificate = issueCertificate({
    issuer: ca,
    subject: { commonName: request.clusterId, organizations: [AGENT_ORGANIZATION] },
    publicKey: request.publicKey,
    serial: request.serial,
    notBefore: request.now - SKEW_MS,
    notAfter: request.now + AGENT_CERTIFICATE_MS,
    kind: 'client',
  })
  const { notAfter, fingerprint } = parseCertificate(certificate)
  return { certificate, notAfter, fingerprint }
}

/** A gateway's certificate for its host names and addresses. */
export function issueGatewayCertificate(
  ca: CertificateAndKey,
  request: {
    readonly publicKey: string
    readonly sans: readonly string[]
    readonly serial: Uint8Array
    readonly now: number
  },
): string {
  return issueCertificate({
    issuer: ca,
    subject: { commonName: 'flotilla gateway', organizations: ['flotilla'] },
    publicKey: request.publicKey,
    sans: request.sans,
    serial: request.serial,
    notBefore: request.now - SKEW_MS,
    notAfter: request.now + YEAR_MS,
    kind: 'server',
  })
}

/** A key pair as a signer. */
export function signerOf(pair: KeyPair): Signer {
  return { keyId: keyIdOf(pair.publicKey), privateKey: pair.privateKey }
}
