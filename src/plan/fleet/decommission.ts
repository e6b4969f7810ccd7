/**
 * Decommission: a cluster leaves the fleet for good. Each step is recorded before the next.
 *
 *   asked ─▶ Leaving ── every receipt is stored ──▶ Cleared ── told ──▶ Revoked
 *              │                                     ▲
 *              └── offline, and not to wait for ─────┘
 *
 * Leaving: nothing new comes, and all that the cluster has becomes tombstones. Where a person said not to wait for an
 * offline cluster, what its last document had is listed as what is left.
 *
 *   Revoked ── so long after as was asked for ──▶ forgotten: the Cluster is deleted
 *
 * Told: the last document tells the agent to stop. A connected agent has read it before its access ends; an offline
 * agent can still read this one document when it returns.
 *
 * Until the cluster is revoked, a person can undo the decommission; then Placements select the cluster again. No step
 * follows from an offline agent alone.
 */
import { compareText } from '../../core/text/compare-text.ts'
import { nameSome, plural } from '../../core/text/name-some.ts'
import { formatTime } from '../../core/time/time.ts'

/** The requested decommission. */
export interface DecommissionAsked {
  readonly policy: 'Orphan' | 'Remove'
  readonly forceUnreachable: boolean
  /** Time by the hub's clock at which the hub deletes the revoked Cluster; absent: a person deletes it. */
  readonly forgetAtMs?: number
}

/** Inputs of `planDecommission`. */
export interface DecommissionFacts {
  readonly asked: DecommissionAsked | undefined
  readonly isRevoked: boolean
  /** The hub's clock. */
  readonly nowMs: number
  readonly isOffline: boolean
  /** The recorded state. */
  readonly recorded?: { readonly phase: DecommissionPhase; readonly left: readonly string[] }
  /** The cluster's document, if it ever had one. */
  readonly document?: {
    readonly revision: number
    /** The document is the last document. */
    readonly isTerminal: boolean
    readonly entries: readonly { readonly bundle: string; readonly generation: number }[]
    readonly tombstones: readonly { readonly bundle: string; readonly generation: number }[]
  }
  /** The newest document revision that the agent has read, or refused. */
  readonly readRevision: number
  /** The agent's reports about removals. */
  readonly removals: readonly { readonly bundle: string; readonly left?: readonly string[] | undefined }[]
}

export type DecommissionPhase = 'Leaving' | 'Cleared' | 'Revoked'

/** The next step. */
export type DecommissionStep =
  /** No decommission is requested, or it was undone. */
  | { readonly kind: 'Nothing' }
  | {
      readonly kind: 'Show'
      readonly phase: DecommissionPhase
      readonly left: readonly string[]
      readonly message: string
      /** Milliseconds until the next step, without other changes. */
      readonly againMs?: number
    }
  /** Everything is recorded: revoke the access. */
  | { readonly kind: 'Revoke' }
  /** Delete the Cluster. */
  | { readonly kind: 'Forget' }

/** Maximum number of entries for objects that stay, in the status. */
const MOST_LEFT = 100

export function planDecommission(facts: DecommissionFacts): DecommissionStep {
  const { asked, recorded } = facts
  if (!asked) return { kind: 'Nothing' }
  const left = recorded?.left ?? []
  if (facts.isRevoked) {
    const { forgetAtMs } = asked
    if (forgetAtMs === undefined) return { kind: 'Show', phase: 'Revoked', left, message: revokedMessage(left) }
    // The list of objects that stay is shown at least once before the Cluster is deleted.
    if (recorded?.phase === 'Revoked' && facts.nowMs >= forgetAtMs) return { kind: 'Forget' }
    const againMs = Math.max(0, forgetAtMs - facts.nowMs)
    return { kind: 'Show', phase: 'Revoked', left, message: revokedMessage(left, forgetAtMs), againMs }
  }
  if (recorded?.phase === 'Cleared') {
    const { document } = facts
    if (!document || (document.isTerminal && (facts.isOffline || facts.readRevision >= document.revision))) {
      return { kind: 'Revoke' }
    }
    return {
      kind: 'Show',
      phase: 'Cleared',
      left,
      message: 'All objects were removed or orphaned as requested; the agent is being told to stop.',
    }
  }
  const open = [...(facts.document?.entries ?? []), ...(facts.document?.tombstones ?? [])].map(({ bundle }) => bundle)
  if (open.length === 0) {
    return {
      kind: 'Show',
      phase: 'Cleared',
      left: leftBy(facts),
      message: 'All objects were removed or orphaned as requested.',
    }
  }
  if (facts.isOffline && asked.forceUnreachable) {
    const unseen = [...(facts.document?.entries ?? []), ...(facts.document?.tombstones ?? [])].map(
      ({ bundle, generation }) => `${bundle} generation ${generation}: the cluster was offline`,
    )
    const all = [...unseen, ...leftBy(facts)].sort(compareText).slice(0, MOST_LEFT)
    return {
      kind: 'Show',
      phase: 'Cleared',
      left: all,
      message: 'The cluster is offline, and the decommission does not wait for it.',
    }
  }
  const verb = asked.policy === 'Orphan' ? 'to be orphaned' : 'to be removed'
  const wait = facts.isOffline
    ? ' The cluster is offline: it follows when it returns, or pass --force-unreachable.'
    : ''
  const message = `Waits for ${plural(open.length, 'bundle')} ${verb}: ${nameSome(open)}.${wait}`
  return { kind: 'Show', phase: 'Leaving', left: [], message }
}

function leftBy({ removals }: DecommissionFacts): readonly string[] {
  return removals
    .flatMap(({ bundle, left = [] }) => left.map((object) => `${bundle}: ${object}`))
    .sort(compareText)
    .slice(0, MOST_LEFT)
}

function revokedMessage(left: readonly string[], forgetAtMs?: number): string {
  const what =
    left.length === 0 ? 'No objects stay in the cluster' : `Objects that stay in the cluster: ${nameSome(left)}`
  const when = forgetAtMs === undefined ? 'after the Cluster is deleted' : `at ${formatTime(forgetAtMs)}`
  return `Decommissioned. ${what}. The name can be used again ${when}.`
}
