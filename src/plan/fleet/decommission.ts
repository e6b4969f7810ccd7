/**
 * Decommission: a cluster leaves for good, step by step, each written down before the next.
 *
 *   asked ─▶ Leaving: nothing new comes, all it has becomes tombstones ── every receipt is stored ──▶ Cleared ── told ──▶ Revoked
 *              │                                                                                       ▲
 *              └── it is offline, and a person said not to wait: what its document had is what is left ┘
 *
 *   Revoked ── so long after as was asked for ──▶ forgotten: the Cluster is deleted
 *
 * Told: a last document says that it left. Who is there has read it before its access goes; who is away finds it when it returns, the one thing
 * it may still read.
 *
 * Until it is revoked a person can take it back: then its Placements select it again. Nothing here follows from silence alone.
 */
import { compareText } from '../../core/text/compare-text.ts'
import { nameSome, plural } from '../../core/text/name-some.ts'
import { formatTime } from '../../core/time/time.ts'

/** What a person asked for. */
export interface DecommissionAsked {
  readonly policy: 'Orphan' | 'Remove'
  readonly forceUnreachable: boolean
  /** When the hub forgets it, once it is revoked: by the hub's clock; absent: when a person says so. */
  readonly forgetAtMs?: number
}

/** Everything a step follows from. */
export interface DecommissionFacts {
  readonly asked: DecommissionAsked | undefined
  readonly isRevoked: boolean
  /** The hub's clock. */
  readonly nowMs: number
  readonly isOffline: boolean
  /** What is written down already. */
  readonly recorded?: { readonly phase: DecommissionPhase; readonly left: readonly string[] }
  /** What its document has; absent: it never had one. */
  readonly document?: {
    readonly revision: number
    /** It is the last one. */
    readonly isTerminal: boolean
    readonly entries: readonly { readonly bundle: string; readonly generation: number }[]
    readonly tombstones: readonly { readonly bundle: string; readonly generation: number }[]
  }
  /** The newest document that its agent has read, or refused. */
  readonly readRevision: number
  /** What its agent reported of removals. */
  readonly removals: readonly { readonly bundle: string; readonly left?: readonly string[] | undefined }[]
}

/** Where a cluster that leaves is. */
export type DecommissionPhase = 'Leaving' | 'Cleared' | 'Revoked'

/** What to do next. */
export type DecommissionStep =
  /** Nobody asked, or it was taken back. */
  | { readonly kind: 'Nothing' }
  | {
      readonly kind: 'Show'
      readonly phase: DecommissionPhase
      readonly left: readonly string[]
      readonly message: string
      /** When there is more to do, if nothing happens. */
      readonly againMs?: number
    }
  /** Everything is written down: take its access away. */
  | { readonly kind: 'Revoke' }
  /** It was revoked long enough ago: its name is free. */
  | { readonly kind: 'Forget' }

/** As many lines of what was left as a status holds. */
const MOST_LEFT = 100

/** Decides the next step. */
export function planDecommission(facts: DecommissionFacts): DecommissionStep {
  const { asked, recorded } = facts
  if (!asked) return { kind: 'Nothing' }
  const left = recorded?.left ?? []
  if (facts.isRevoked) {
    const { forgetAtMs } = asked
    if (forgetAtMs === undefined) return { kind: 'Show', phase: 'Revoked', left, message: revokedWords(left) }
    // What was left is read by people before it is gone, so it is shown once at least.
    if (recorded?.phase === 'Revoked' && facts.nowMs >= forgetAtMs) return { kind: 'Forget' }
    const againMs = Math.max(0, forgetAtMs - facts.nowMs)
    return { kind: 'Show', phase: 'Revoked', left, message: revokedWords(left, forgetAtMs), againMs }
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
      message: 'Everything it had is accounted for; it is told that it left.',
    }
  }
  const open = [...(facts.document?.entries ?? []), ...(facts.document?.tombstones ?? [])].map(({ bundle }) => bundle)
  if (open.length === 0) {
    return { kind: 'Show', phase: 'Cleared', left: leftBy(facts), message: 'Everything it had is accounted for.' }
  }
  if (facts.isOffline && asked.forceUnreachable) {
    const unseen = [...(facts.document?.entries ?? []), ...(facts.document?.tombstones ?? [])].map(
      ({ bundle, generation }) => `${bundle} generation ${generation}: the cluster was offline`,
    )
    const all = [...unseen, ...leftBy(facts)].sort(compareText).slice(0, MOST_LEFT)
    return { kind: 'Show', phase: 'Cleared', left: all, message: 'It is offline, and nobody waits for it.' }
  }
  const verb = asked.policy === 'Orphan' ? 'to be let go' : 'to be removed'
  const wait = facts.isOffline ? ' It is offline: it follows when it returns, or say --force-unreachable.' : ''
  const message = `Waits for ${plural(open.length, 'bundle')} ${verb}: ${nameSome(open)}.${wait}`
  return { kind: 'Show', phase: 'Leaving', left: [], message }
}

function leftBy({ removals }: DecommissionFacts): readonly string[] {
  return removals
    .flatMap(({ bundle, left = [] }) => left.map((object) => `${bundle}: ${object}`))
    .sort(compareText)
    .slice(0, MOST_LEFT)
}

function revokedWords(left: readonly string[], forgetAtMs?: number): string {
  const what = left.length === 0 ? 'Nothing was left in it' : `Left in it: ${nameSome(left)}`
  const when = forgetAtMs === undefined ? 'once it is deleted' : `at ${formatTime(forgetAtMs)}, when it is forgotten`
  return `Decommissioned. ${what}. Its name is free ${when}.`
}
