// Tested by src/wire/evidence/verify-evidence.test.ts
/** The trust bundles and documents of an evidence file: their signatures, and whether they tell one history. */
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { ClusterDocument } from '../document/cluster-document.ts'
import { openDocument } from '../document/signed-document.ts'
import { trustedKey } from '../trust/envelope.ts'
import type { TrustedKey } from '../trust/envelope.ts'
import { acceptTrust, readPublicKey, writePublicKey } from '../trust/trust-bundle.ts'
import type { VerifiedTrust } from '../trust/trust-bundle.ts'
import { checkValue, WireError } from '../validate.ts'
import { DocumentRecord, readExact, TrustRecord } from './evidence-record.ts'

interface KnownDocument {
  readonly document: ClusterDocument
  readonly digest: Digest
}

/** Walks trust bundles from the root key on. All records must tell one history. */
export function createTrustVerifier(root: Digest) {
  const byVersion = new Map<number, Digest>()
  const signers = new Map<Digest, TrustedKey>()
  return {
    read(value: unknown): void {
      const { root: spki, envelopes } = checkValue(TrustRecord, value, 'trust')
      const key = readKey(spki)
      if (key.keyId !== root)
        throw new WireError('UnknownSigner', `trust bundles are of root key ${key.keyId}, not of ${root}`)
      let held: VerifiedTrust | undefined
      for (const envelope of envelopes) {
        held = acceptTrust(key, held, readExact(envelope))
        const { version } = held.bundle
        if ((byVersion.get(version) ?? held.digest) !== held.digest)
          throw new WireError('Malformed', `the root key signed two trust bundles with version ${version}`)
        byVersion.set(version, held.digest)
        for (const signer of held.signers) signers.set(signer.keyId, signer)
      }
    },
    signers: () => [...signers.values()],
    versions: () => [...byVersion.keys()].toSorted((a, b) => a - b),
  }
}

/** Opens documents, which signers of the trust bundles signed. */
export function createDocumentVerifier(signers: () => readonly TrustedKey[]) {
  const documents = new Map<Digest, KnownDocument>()
  const sorted = (): KnownDocument[] =>
    [...documents.values()].toSorted(
      (a, b) => a.document.epoch - b.document.epoch || a.document.revision - b.document.revision,
    )
  return {
    read(value: unknown): void {
      const { clusterId, envelope } = checkValue(DocumentRecord, value, 'document')
      const bytes = readExact(envelope)
      const { document } = openDocument(bytes, signers())
      if (document.clusterId !== clusterId)
        throw new WireError('Malformed', `document of cluster ${document.clusterId} is filed as one of ${clusterId}`)
      documents.set(digestOf(bytes), { document, digest: digestOf(bytes) })
    },
    has: (digest: Digest): boolean => documents.has(digest),
    /** Whether a document names this key; a document that names another key for the cluster is a contradiction. */
    confirmsKey(clusterId: string, key: Digest): boolean {
      const own = [...documents.values()].filter(({ document }) => document.clusterId === clusterId)
      const naming = own.filter(({ document }) => document.identity !== undefined)
      const against = naming.find(({ document }) => document.identity !== key)?.document
      if (!against) return naming.length > 0
      const names = `document revision ${against.revision} names ${against.identity}`
      throw new WireError('UnknownSigner', `report is signed by ${key}; ${names}`)
    },
    all: () => sorted().map(({ document: { epoch, revision }, digest }) => ({ epoch, revision, digest })),
    judge: () => judgeChain(sorted()),
  }
}

/** A public key in its one form. */
export function readKey(spki: string): TrustedKey {
  const key = readPublicKey(spki)
  if (writePublicKey(key) === spki) return trustedKey(key)
  throw new WireError('Malformed', 'public key is not plain base64')
}

/** Documents of the same cluster and epoch must follow each other; numbers between them that are absent are gaps. */
function judgeChain(documents: readonly KnownDocument[]): {
  readonly contradictions: readonly string[]
  readonly gaps: readonly string[]
} {
  const contradictions: string[] = []
  const gaps: string[] = []
  const chains = Map.groupBy(documents, ({ document }) => `${document.clusterId} ${document.epoch}`)
  for (const [{ document, digest }, before] of [...chains.values()].flatMap(withPredecessors)) {
    const { epoch, revision } = document
    const distance = revision - before.document.revision
    if (distance === 0)
      contradictions.push(`two documents have epoch ${epoch} revision ${revision}: ${before.digest} and ${digest}`)
    else if (distance > 1)
      gaps.push(
        `documents of epoch ${epoch}, revision ${before.document.revision + 1} to ${revision - 1}, are not in the file`,
      )
    else if (document.previous !== before.digest)
      contradictions.push(
        `document epoch ${epoch} revision ${revision} does not follow revision ${revision - 1} (${before.digest})`,
      )
  }
  return { contradictions, gaps }
}

function withPredecessors<T>(chain: readonly T[]): (readonly [item: T, before: T])[] {
  return chain.slice(1).map((item, place) => [item, chain[place]!] as const)
}
