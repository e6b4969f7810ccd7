// Tested by src/agent/documents/terminal-document.contract.test.ts
/** The document that the agent follows: on disk with its envelope, and marked in the cluster before its first use. */
import type { Digest } from '../../core/crypto/digest.ts'
import { toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import type { ClusterDocument } from '../../wire/document/cluster-document.ts'
import type { AcceptedDocument } from '../../wire/document/document-chain.ts'
import type { TrustedKey } from '../../wire/trust/envelope.ts'
import type { VerifiedTrust } from '../../wire/trust/trust-bundle.ts'
import type { ClusterState } from '../cluster/cluster-state.ts'
import type { AgentStorage } from '../storage/storage.ts'
import { readDocument, writeDocument } from './document-file.ts'

/** A verified document and its digest. */
export interface CurrentDocument {
  readonly document: ClusterDocument
  readonly digest: Digest
}

/** Ports of the stored document. */
export interface StoredDocumentPorts {
  readonly storage: AgentStorage
  readonly state: ClusterState
  readonly log: Logger
  readonly root: () => Promise<TrustedKey | undefined>
}

/** Creates the stored document; nothing is read before `load`. */
export function createStoredDocument({ storage, state, log, root }: StoredDocumentPorts) {
  let current: CurrentDocument | undefined
  let envelope: Uint8Array | undefined
  let held: AcceptedDocument | undefined
  let markedDigest: Digest | undefined
  let loadedFor: string | undefined

  async function readDisk() {
    const key = await root()
    return key && readDocument(storage, key)
  }

  return {
    /** The newest accepted document, whether or not its mark is written. */
    newest: () => (current && envelope ? { ...current, envelope } : undefined),
    /** The document to run; undefined until its mark is written. */
    current: () => (current && markedDigest === current.digest ? current : undefined),
    /** Epoch, revision and digest of the newest document that this cluster accepted, on disk or by the mark. */
    held: () => held,
    isLoaded: (clusterId: string) => loadedFor === clusterId,
    /** Reads disk and mark once the cluster id is known; the newer of the two counts. */
    async load(clusterId: string, signal: AbortSignal): Promise<void> {
      const mark = await state.readMark(clusterId, signal)
      const disk = await readDisk().catch((caught: unknown) => {
        log.warn({ err: toError(caught) }, 'the document on disk is not usable; waiting for the hub')
        return undefined
      })
      const mine = disk?.document.clusterId === clusterId ? disk : undefined
      if (mine && (!mark || isAtLeast(mine.document, mark))) {
        current = mine
        envelope = mine.envelope
        held = acceptedOf(mine)
      } else {
        held = mark
      }
      markedDigest = mark?.digest
      loadedFor = clusterId
    },
    async keep(bytes: Uint8Array, incoming: CurrentDocument, trust: VerifiedTrust): Promise<void> {
      await writeDocument(storage, bytes, trust)
      current = incoming
      envelope = bytes
      held = acceptedOf(incoming)
      log.info({ epoch: held.epoch, revision: held.revision }, 'document accepted')
    },
    /** Writes the mark before the first use of a document: a restored disk must not bring an older document back. */
    async mark(clusterId: string): Promise<void> {
      if (!current || !held || markedDigest === held.digest) return
      const next = held
      await state.writeMark(clusterId, next).catch((caught: unknown) => {
        // Only a new read tells whether the mark was written after all, and by which agent.
        loadedFor = undefined
        throw caught
      })
      markedDigest = next.digest
    },
    /** The cluster may have been restored: disk and mark are read again. */
    reload(): void {
      loadedFor = undefined
    },
  }
}

function acceptedOf({ document, digest }: CurrentDocument): AcceptedDocument {
  return { epoch: document.epoch, revision: document.revision, digest }
}

function isAtLeast(document: ClusterDocument, mark: AcceptedDocument): boolean {
  return document.epoch > mark.epoch || (document.epoch === mark.epoch && document.revision >= mark.revision)
}
