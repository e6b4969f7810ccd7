/**
 * Changes of trust that need the root: new signers, new CAs, a new timeline. Each gives the files to write, in the
 * order in which a crash in between harms nothing.
 */
import { publicKeyOf } from '../../core/bytes.ts'
import { keyIdOf } from './envelope.ts'
import type { Signer } from './envelope.ts'
import { amendTrust, createTransportCa, TRUST_FILES } from './hub-keys.ts'
import type { HubTrust, NewTrust } from './hub-keys.ts'
import { writePublicKey } from './trust-bundle.ts'
import { WireError } from '../validate.ts'

/** A file of the key folder and its new text. */
export interface FileChange {
  readonly name: string
  readonly text: string
}

/** What a change of trust needs. */
export interface TrustChange extends Pick<NewTrust, 'newKeyPair' | 'now' | 'serial'> {
  /** The root's private key (PEM), from wherever it is kept. */
  readonly rootKey: string
  /** Revokes the old key at once: for a key that may have leaked. */
  readonly dropOld: boolean
}

// What an agent may remember of the old keys; a bundle has room for eight.
const MOST_OLD = 3
/** A new timeline's trust is far above every version that agents may have seen from the hub's lost future. */
const VERSION_GAP = 1000

/**
 * A new document signer. Documents are signed by it from now on; documents signed before stay good unless the old one
 * is dropped.
 */
export function rotateSigner(trust: HubTrust, change: TrustChange): FileChange[] {
  const next = change.newKeyPair('ed25519')
  const old = change.dropOld ? [] : trust.newest.bundle.signers.slice(0, MOST_OLD)
  const signers = [writePublicKey(next.publicKey), ...old]
  return [
    // What is in use, kept aside: between the two writes after it the old key still signs, and the bundle names it.
    { name: `${TRUST_FILES.signer}.old`, text: trust.signer.privateKey },
    { name: TRUST_FILES.bundles, text: amendTrust(withRoot(trust, change.rootKey), { signers }, change.now) },
    { name: TRUST_FILES.signer, text: next.privateKey },
  ]
}

/**
 * A new transport CA. Certificates are issued by it from now on; agents renew theirs as they run out, or at once when
 * the old one is dropped.
 */
export function rotateCa(trust: HubTrust, change: TrustChange): FileChange[] {
  const next = createTransportCa(change)
  const old = change.dropOld ? [] : trust.newest.bundle.transportCas.slice(0, MOST_OLD)
  const transportCas = [next.certificate, ...old]
  return [
    { name: `${TRUST_FILES.caKey}.old`, text: trust.transportCa.privateKey },
    { name: `${TRUST_FILES.caCertificate}.old`, text: trust.transportCa.certificate },
    { name: TRUST_FILES.bundles, text: amendTrust(withRoot(trust, change.rootKey), { transportCas }, change.now) },
    { name: TRUST_FILES.caKey, text: next.privateKey },
    { name: TRUST_FILES.caCertificate, text: next.certificate },
  ]
}

/**
 * A new timeline: what a person begins after a hub came back from an old state. Agents hold what they run until the
 * hub has caught up with it.
 */
export function newEpoch(trust: HubTrust, change: Pick<TrustChange, 'rootKey' | 'now'>): FileChange[] {
  const { version, epoch } = trust.newest.bundle
  const changes = { epoch: epoch + 1, version: version + VERSION_GAP }
  return [{ name: TRUST_FILES.bundles, text: amendTrust(withRoot(trust, change.rootKey), changes, change.now) }]
}

/** The least version of agents, signed by the root. */
export function setMinAgentVersion(
  trust: HubTrust,
  minAgentVersion: string,
  change: Pick<TrustChange, 'rootKey' | 'now'>,
): FileChange[] {
  return [
    { name: TRUST_FILES.bundles, text: amendTrust(withRoot(trust, change.rootKey), { minAgentVersion }, change.now) },
  ]
}

function withRoot(trust: HubTrust, rootKey: string): HubTrust {
  let rootSigner: Signer
  try {
    rootSigner = { keyId: keyIdOf(publicKeyOf(rootKey)), privateKey: rootKey }
  } catch {
    throw new WireError('Malformed', 'the root key is not a private key in PEM')
  }
  if (rootSigner.keyId !== trust.root.keyId) {
    throw new WireError(
      'UnknownSigner',
      `this is the root key ${rootSigner.keyId}; the agents of this hub believe ${trust.root.keyId} only`,
    )
  }
  return { ...trust, rootSigner }
}
