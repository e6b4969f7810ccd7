/** The chain rule: which document may follow the one an agent holds (I-11, I-24, I-25). */
import type { Digest } from '../../core/crypto/digest.ts'
import { isOlderVersion, tooOldMessage } from '../trust/agent-version.ts'
import type { ClusterDocument } from './cluster-document.ts'

/** The newest document an agent ever accepted: its high-water mark. */
export interface AcceptedDocument {
  readonly epoch: number
  readonly revision: number
  readonly digest: Digest
}

/** Why a document was not accepted. */
export type ChainRefusal =
  | 'WrongCluster'
  | 'OldEpoch'
  | 'UnprovenEpoch'
  | 'OldRevision'
  | 'Equivocation'
  | 'BrokenChain'
  | 'MissingFeature'
  | 'AgentTooOld'

/** What to do with an incoming document. */
export type ChainDecision =
  | { readonly kind: 'Accept' }
  /** It is the one already held. */
  | { readonly kind: 'Same' }
  | { readonly kind: 'Refuse'; readonly reason: ChainRefusal; readonly message: string }

/** What the agent knows for certain while it decides. */
export interface ChainContext {
  readonly clusterId: string
  /** The epoch the root signed in the newest trust bundle held. */
  readonly epoch: number
  readonly features: readonly string[]
  /** This agent's own version, and the least the root asks for. */
  readonly agentVersion: string
  readonly minAgentVersion: string
}

/** Whether an agent's document is not in the past of the present one: it is newer, or differs at the same number. */
export function isAheadOf(
  held: AcceptedDocument,
  present: { readonly epoch: number; readonly revision: number; readonly document: Digest } | undefined,
): boolean {
  if (!present) return true
  if (held.epoch !== present.epoch) return held.epoch > present.epoch
  if (held.revision !== present.revision) return held.revision > present.revision
  return held.digest !== present.document
}

/** Decides whether an incoming document (its signature already checked) may follow the held one. */
export function acceptDocument(
  held: AcceptedDocument | undefined,
  incoming: { readonly document: ClusterDocument; readonly digest: Digest },
  context: ChainContext,
): ChainDecision {
  const { document, digest } = incoming
  if (document.clusterId !== context.clusterId) {
    return refuse('WrongCluster', `it is for cluster ${document.clusterId}, this is ${context.clusterId}`)
  }
  if (document.epoch > context.epoch) {
    return refuse('UnprovenEpoch', `its epoch ${document.epoch} is not signed by the root, which says ${context.epoch}`)
  }
  if (held) {
    const refusal = againstHeld(held, document, digest)
    if (refusal) return refusal
  }
  if (isOlderVersion(context.agentVersion, context.minAgentVersion)) {
    return refuse('AgentTooOld', tooOldMessage(context.agentVersion, context.minAgentVersion))
  }
  const missing = document.requires.filter((feature) => !context.features.includes(feature))
  if (missing.length > 0) {
    return refuse('MissingFeature', `it requires ${missing.join(', ')}, which this agent lacks; upgrade the agent`)
  }
  return { kind: 'Accept' }
}

function againstHeld(held: AcceptedDocument, document: ClusterDocument, digest: Digest): ChainDecision | undefined {
  const name = `epoch ${document.epoch} revision ${document.revision}`
  const mine = `epoch ${held.epoch} revision ${held.revision}`
  if (document.epoch < held.epoch) return refuse('OldEpoch', `${name} is older than ${mine} held here`)
  if (document.epoch > held.epoch) return undefined
  if (document.revision < held.revision) return refuse('OldRevision', `${name} is older than ${mine} held here`)
  if (document.revision === held.revision) {
    if (digest === held.digest) return { kind: 'Same' }
    return refuse('Equivocation', `the hub signed two documents for ${name}: ${held.digest} and ${digest}`)
  }
  const missed = document.revision - held.revision
  // Further back than the document remembers, the signature has to do.
  if (missed > Math.max(1, document.ancestors?.length ?? 0)) return undefined
  const past = missed === 1 ? document.previous : document.ancestors?.[missed - 1]
  if (past !== held.digest) {
    return refuse('BrokenChain', `${name} follows ${past ?? 'nothing'} at ${mine}, but ${held.digest} is held here`)
  }
  return undefined
}

function refuse(reason: ChainRefusal, message: string): ChainDecision {
  return { kind: 'Refuse', reason, message: `document refused: ${message}` }
}
