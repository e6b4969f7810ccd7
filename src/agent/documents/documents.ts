// Tested by src/agent/documents/terminal-document.contract.test.ts
/**
 * The document that this cluster follows: fetched, verified, checked against the chain, stored on disk and marked in
 * the cluster.
 */
import type { Digest } from '../../core/crypto/digest.ts'
import { VERSION } from '../../core/version.ts'
import { acceptDocument } from '../../wire/document/document-chain.ts'
import type { ChainRefusal } from '../../wire/document/document-chain.ts'
import { FEATURES, openDocument } from '../../wire/document/signed-document.ts'
import type { HeadFrame } from '../../wire/link/frames.ts'
import type { VerifiedTrust } from '../../wire/trust/trust-bundle.ts'
import { WireError } from '../../wire/validate.ts'
import type { HubApi } from '../link/hub-api.ts'
import { createRefusalRecord } from './refusal-record.ts'
import type { SetEntry } from './sealed-content.ts'
import { createStoredDocument } from './stored-document.ts'
import type { CurrentDocument, StoredDocumentPorts } from './stored-document.ts'

/** Ports of documents. */
export interface DocumentPorts extends StoredDocumentPorts {
  readonly hub: () => HubApi | undefined
  readonly trust: () => VerifiedTrust | undefined
  readonly clusterId: () => string | undefined
}

const RESTORED_HUB_REASONS: readonly string[] = [
  'OldRevision',
  'OldEpoch',
  'Equivocation',
  'BrokenChain',
] satisfies ChainRefusal[]

interface Incoming {
  readonly clusterId: string
  readonly trust: VerifiedTrust
  readonly hub: HubApi | undefined
  readonly signal: AbortSignal
}

/** Creates the documents of a cluster; `refresh` brings them up to date. */
export function createDocuments(ports: DocumentPorts) {
  const log = ports.log.child({ part: 'documents' })
  const stored = createStoredDocument({ ...ports, log })
  const refusals = createRefusalRecord(ports.storage, log)
  let wanted: HeadFrame | undefined
  let offered: Uint8Array | undefined

  async function fetchNewest(clusterId: string, signal: AbortSignal): Promise<void> {
    const hub = ports.hub()
    const trust = ports.trust()
    const base = stored.newest()
    if (!hub || !trust || !wanted || wanted.document === base?.digest) return
    const asked = wanted
    await consider(await hub.document(base, signal), { clusterId, trust, hub, signal })
    // A newer head may have arrived meanwhile; this head is answered, with an accepted or a refused document.
    if (wanted === asked) wanted = undefined
  }

  /** A document that came without a link is verified in the same way. */
  async function takeOffered(clusterId: string, signal: AbortSignal): Promise<void> {
    const trust = ports.trust()
    const envelope = offered
    if (!trust || !envelope) return
    offered = undefined
    await consider(envelope, { clusterId, trust, hub: ports.hub(), signal })
  }

  async function consider(envelope: Uint8Array, { clusterId, trust, hub, signal }: Incoming): Promise<void> {
    const incoming = open(envelope, trust)
    const { epoch, minAgentVersion } = trust.bundle
    const context = { clusterId, epoch, features: FEATURES, agentVersion: VERSION, minAgentVersion }
    const decision = acceptDocument(stored.held(), incoming, context)
    if (decision.kind === 'Refuse') {
      const { document, digest } = incoming
      const what = { epoch: document.epoch, revision: document.revision, document: digest }
      refusals.refuse(decision.reason, decision.message, what)
      if (hub && RESTORED_HUB_REASONS.includes(decision.reason)) await showHeld(hub, signal)
      // The trust bundle that proves the epoch comes with the next beat: the agent asks again until then.
      if (decision.reason === 'UnprovenEpoch') throw new Error(decision.message)
    } else {
      // A document that is marked already is stored too: after the loss of a disk only the mark is left.
      if (stored.newest()?.digest !== incoming.digest) await stored.keep(envelope, incoming, trust)
      refusals.clear()
    }
  }

  /**
   * A hub that was restored from an old backup gets the document that it signed since, and checks its own signature.
   */
  async function showHeld(hub: HubApi, signal: AbortSignal): Promise<void> {
    const newest = stored.newest()
    if (!newest) return
    await hub.held(newest.envelope, signal)
    const { epoch, revision } = newest.document
    log.warn({ epoch, revision }, 'the hub has an older document than it signed; the agent sent it the newer document')
  }

  function open(envelope: Uint8Array, trust: VerifiedTrust): CurrentDocument {
    try {
      return openDocument(envelope, trust.signers)
    } catch (caught) {
      // The agent asks again later: the next trust bundle may name a new signer.
      if (caught instanceof WireError) refusals.refuse(caught.reason, `document refused: ${caught.message}`)
      throw caught
    }
  }

  return {
    /** The hub announced a head; `refresh` fetches it. */
    want(head: HeadFrame): void {
      wanted = head
    },
    /** A document that came without a link; `refresh` verifies it. */
    offer(envelope: Uint8Array): void {
      offered = envelope
    },
    /** Loads, fetches and marks; throws when a step is not possible now, and can be called again. */
    async refresh(signal: AbortSignal): Promise<void> {
      const clusterId = ports.clusterId()
      if (clusterId === undefined) return
      if (!stored.isLoaded(clusterId)) {
        await stored.load(clusterId, signal)
        await refusals.load()
      }
      try {
        await takeOffered(clusterId, signal)
        await fetchNewest(clusterId, signal)
      } finally {
        await refusals.save()
      }
      await stored.mark(clusterId)
    },
    reload: stored.reload,
    current: stored.current,
    held: stored.held,
    /** The entry of the current document that has a set. */
    entryOf(set: Digest): SetEntry | undefined {
      const current = stored.current()
      const entry = current?.document.content.entries.find((candidate) => candidate.set === set)
      return current && entry && { bundle: entry.bundle, document: current.digest, sealed: entry.sealed }
    },
    /** Why the newest document was refused. */
    refusal: refusals.current,
  }
}

/** The documents of a cluster. */
export type Documents = ReturnType<typeof createDocuments>
