/** The document this cluster follows: fetched, verified, checked against the chain, kept on disk and marked in the cluster. */
import type { Digest } from '../../core/crypto/digest.ts'
import { toError } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import { VERSION } from '../../core/version.ts'
import { acceptDocument } from '../../wire/document/document-chain.ts'
import type { ChainRefusal, AcceptedDocument } from '../../wire/document/document-chain.ts'
import type { ClusterDocument } from '../../wire/document/cluster-document.ts'
import type { TrustedKey } from '../../wire/trust/envelope.ts'
import type { HeadFrame, Refusal } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import { FEATURES, openDocument } from '../../wire/document/signed-document.ts'
import type { VerifiedTrust } from '../../wire/trust/trust-bundle.ts'
import { WireError } from '../../wire/validate.ts'
import type { ClusterState } from '../cluster/cluster-state.ts'
import { readDocument, readRefusal, writeDocument, writeRefusal } from './document-file.ts'
import type { HubApi } from '../link/hub-api.ts'
import type { AgentStorage } from '../storage/storage.ts'

/** A verified document and its digest. */
export interface CurrentDocument {
  readonly document: ClusterDocument
  readonly digest: Digest
}

/** What documents need. */
export interface DocumentPorts {
  readonly storage: AgentStorage
  readonly state: ClusterState
  readonly log: Logger
  readonly hub: () => HubApi | undefined
  readonly trust: () => VerifiedTrust | undefined
  readonly root: () => Promise<TrustedKey | undefined>
  readonly clusterId: () => string | undefined
}

const OTHER_PASTS: readonly string[] = [
  'OldRevision',
  'OldEpoch',
  'Equivocation',
  'BrokenChain',
] satisfies ChainRefusal[]

/** Keeps the document; `refresh` brings it up to date. */
export function createDocuments(ports: DocumentPorts) {
  const log = ports.log.child({ part: 'documents' })
  let current: CurrentDocument | undefined
  /** The envelope of `current`, the base of the next one. */
  let envelopeHeld: Uint8Array | undefined
  let held: AcceptedDocument | undefined
  let wanted: HeadFrame | undefined
  let offered: Uint8Array | undefined
  let refusal: Refusal | undefined
  let refusalOnDisk: Refusal | undefined
  /** Whether a document was taken or refused since the start; before that, what an earlier start said counts. */
  let isJudged = false
  let loadedFor: string | undefined
  let markedDigest: Digest | undefined

  /** Reads disk and mark once the cluster id is known; the newer of the two is what counts. */
  async function load(clusterId: string, signal: AbortSignal): Promise<void> {
    const mark = await ports.state.readMark(clusterId, signal)
    const disk = await readDisk().catch((caught: unknown) => {
      log.warn({ err: toError(caught) }, 'the document on disk cannot be used; waiting for the hub')
      return undefined
    })
    const mine = disk?.document.clusterId === clusterId ? disk : undefined
    if (mine && (!mark || isAtLeast(mine.document, mark))) {
      current = mine
      envelopeHeld = mine.envelope
      held = heldOf(mine)
    } else {
      held = mark
    }
    markedDigest = mark?.digest
    refusalOnDisk ??= await readRefusal(ports.storage).catch(() => undefined)
    loadedFor = clusterId
  }

  async function readDisk(): Promise<(CurrentDocument & { readonly envelope: Uint8Array }) | undefined> {
    const root = await ports.root()
    return root && readDocument(ports.storage, root)
  }

  /** Whoever looks at this machine sees it, too. */
  async function keepRefusal(): Promise<void> {
    if (!isJudged || jsonEqual(refusal, refusalOnDisk)) return
    await writeRefusal(ports.storage, refusal)
    refusalOnDisk = refusal
  }

  async function fetchNewest(clusterId: string, signal: AbortSignal): Promise<void> {
    const hub = ports.hub()
    const trust = ports.trust()
    if (!hub || !trust || !wanted || wanted.document === current?.digest) return
    const asked = wanted
    const base = current && envelopeHeld ? { digest: current.digest, envelope: envelopeHeld } : undefined
    await consider(await hub.document(base, signal), { clusterId, trust, hub, signal })
    // A newer head may have come meanwhile; this one is dealt with, whatever the answer was.
    if (wanted === asked) wanted = undefined
  }

  /** One that came without a link, and is verified like any other. */
  async function takeOffered(clusterId: string, signal: AbortSignal): Promise<void> {
    const trust = ports.trust()
    const envelope = offered
    if (!trust || !envelope) return
    offered = undefined
    await consider(envelope, { clusterId, trust, hub: ports.hub(), signal })
  }

  async function consider(
    envelope: Uint8Array,
    by: {
      readonly clusterId: string
      readonly trust: VerifiedTrust
      readonly hub: HubApi | undefined
      readonly signal: AbortSignal
    },
  ): Promise<void> {
    const { clusterId, trust, hub, signal } = by
    const incoming = open(envelope, trust)
    const { epoch, minAgentVersion } = trust.bundle
    const context = { clusterId, epoch, features: FEATURES, agentVersion: VERSION, minAgentVersion }
    const decision = acceptDocument(held, incoming, context)
    if (decision.kind === 'Refuse') {
      const { document, digest } = incoming
      refuse(decision.reason, decision.message, {
        epoch: document.epoch,
        revision: document.revision,
        document: digest,
      })
      if (hub && OTHER_PASTS.includes(decision.reason)) await tell(hub, signal)
      // The trust bundle that proves it comes with the next beat: asked for again until then.
      if (decision.reason === 'UnprovenEpoch') throw new Error(decision.message)
    } else {
      // Also the one that is marked already: after a disk was lost, the mark alone is left.
      if (current?.digest !== incoming.digest) await keep(envelope, incoming, trust)
      refusal = undefined
      isJudged = true
    }
  }

  /** A hub with another past was restored from an old state: it is shown what it signed since, and can check its own signature. */
  async function tell(hub: HubApi, signal: AbortSignal): Promise<void> {
    if (!current || !envelopeHeld) return
    await hub.held(envelopeHeld, signal)
    log.warn({ epoch: current.document.epoch, revision: current.document.revision }, 'the hub was told what it signed')
  }

  async function keep(envelope: Uint8Array, incoming: CurrentDocument, trust: VerifiedTrust): Promise<void> {
    await writeDocument(ports.storage, envelope, trust)
    current = incoming
    envelopeHeld = envelope
    held = heldOf(incoming)
    log.info({ epoch: held.epoch, revision: held.revision }, 'document accepted')
  }

  function open(envelope: Uint8Array, trust: VerifiedTrust): CurrentDocument {
    try {
      return openDocument(envelope, trust.signers)
    } catch (caught) {
      // Asked for again later: the trust bundle may be about to name a new signer.
      if (caught instanceof WireError) refuse(caught.reason, `document refused: ${caught.message}`)
      throw caught
    }
  }

  function refuse(reason: string, message: string, what: Omit<Refusal, 'reason' | 'message'> = {}): void {
    const next = { reason, message: message.slice(0, LIMITS.messageChars), ...what }
    isJudged = true
    // The same object for the same refusal: whoever compares hears of it once.
    if (jsonEqual(refusal, next)) return
    log.warn({ reason }, message)
    refusal = next
  }

  return {
    want(head: HeadFrame): void {
      wanted = head
    },
    /** A document that somebody brought; `refresh` looks at it. */
    offer(envelope: Uint8Array): void {
      offered = envelope
    },
    /** Loads, fetches and marks; throws when one of them is not possible now, and can be called again. */
    async refresh(signal: AbortSignal): Promise<void> {
      const clusterId = ports.clusterId()
      if (clusterId === undefined) return
      if (loadedFor !== clusterId) await load(clusterId, signal)
      try {
        await takeOffered(clusterId, signal)
        await fetchNewest(clusterId, signal)
      } finally {
        await keepRefusal()
      }
      // Before the first write of a document: a restored disk must not bring an older one back.
      if (current && held && markedDigest !== held.digest) {
        await ports.state.writeMark(clusterId, held).catch((caught: unknown) => {
          // Whether it was written after all, and by whom, only a fresh read tells.
          loadedFor = undefined
          throw caught
        })
        markedDigest = held.digest
      }
    },
    /** Reads disk and mark again: the cluster may have gone back in time. */
    reload(): void {
      loadedFor = undefined
    },
    /** The document to run; undefined until there is one whose mark is written. */
    current: () => (current && markedDigest === current.digest ? current : undefined),
    held: () => held,
    /** Why the newest document was refused, if it was. */
    refusal: () => refusal,
  }
}

/** The document this cluster follows. */
export type Documents = ReturnType<typeof createDocuments>

function heldOf({ document, digest }: CurrentDocument): AcceptedDocument {
  return { epoch: document.epoch, revision: document.revision, digest }
}

function isAtLeast(document: ClusterDocument, mark: AcceptedDocument): boolean {
  return document.epoch > mark.epoch || (document.epoch === mark.epoch && document.revision >= mark.revision)
}
