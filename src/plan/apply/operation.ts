/**
 * What to do with one bundle on one cluster, from what its inventory says and what its document asks for.
 *
 *   (none) ──Install──▶ Applying: wave 0, 1, … each healthy before the next ──▶ Applied ──prune──▶ Settled
 *                          ▲                                                                          │
 *                          └──────────────── Upgrade, RollBack (another set) ◀────────────────────────┘
 *
 * Each phase is written to the cluster before the next begins, so that a killed agent carries on where it was. A wait
 * is a phase with a time in it: no worker waits.
 */
import type { Digest } from '../../core/crypto/digest.ts'
import { formatDuration } from '../../core/time/duration.ts'
import { formatTime } from '../../core/time/time.ts'

/** What an operation is. */
export type OperationKind = 'Install' | 'Upgrade' | 'RollBack' | 'Uninstall'

/** What is recorded of a bundle on the cluster. */
export interface Recorded {
  readonly generation: number
  readonly epoch: number
  readonly set: Digest
  readonly phase: 'Applying' | 'Applied' | 'Settled'
  /** Sets that were settled here before, newest first. */
  readonly history?: readonly Digest[]
  /** A hook of the operation failed; it is not run again for the same operation. */
  readonly isStuck?: boolean
  /** What is recorded is the answer to the failure of this set. */
  readonly remedy?: {
    readonly action: 'RollBack' | 'Uninstall'
    readonly set: Digest
    readonly generation: number
  }
}

/** What the document asks for. */
export interface Wanted {
  readonly generation: number
  readonly epoch: number
  readonly set: Digest
  /** Not begun by then, it waits to be admitted again. */
  readonly startByMs?: number
  /** A retry of the same set is requested and has not started yet. */
  readonly again?: boolean
}

/** What to do. */
export type OperationDecision =
  /** Nothing may begin; what runs stays as it is. */
  | { readonly kind: 'Hold'; readonly message: string }
  | { readonly kind: 'Begin'; readonly operation: OperationKind }
  /** The set is being applied; go on. */
  | { readonly kind: 'Resume' }
  /** The set is applied; only its number is new. */
  | { readonly kind: 'Renumber' }
  /** The set is applied; keep it so. */
  | { readonly kind: 'Keep' }
  /** The set failed and its failure policy was applied: the agent does not try the set again without a retry. */
  | { readonly kind: 'Remedied' }

/**
 * Decides what happens with a bundle; `nowMs` is the hub's time, for a machine's own may be anything, and undefined
 * until the hub was heard.
 */
export function decideOperation(
  recorded: Recorded | undefined,
  wanted: Wanted,
  nowMs: number | undefined,
): OperationDecision {
  const isLate = wanted.startByMs !== undefined && (nowMs === undefined || nowMs > wanted.startByMs)
  const isAgain = wanted.again === true && !isLate
  const remedy = recorded?.remedy
  if (remedy?.set === wanted.set && wanted.generation <= remedy.generation && !isAgain) return { kind: 'Remedied' }
  const isOut = remedy?.action === 'Uninstall'
  if (recorded?.set === wanted.set && !isOut) {
    // A retry is another operation.
    if (isAgain || (recorded.isStuck && wanted.generation > recorded.generation)) {
      return { kind: 'Begin', operation: recorded.history?.length ? 'Upgrade' : 'Install' }
    }
    if (recorded.phase === 'Applying') return { kind: 'Resume' }
    return wanted.generation > recorded.generation ? { kind: 'Renumber' } : { kind: 'Keep' }
  }
  if (recorded && wanted.generation < recorded.generation) {
    const why = recorded.epoch < wanted.epoch ? 'a new epoch began' : 'the hub asks for an older generation'
    return { kind: 'Hold', message: `${why}: held at generation ${recorded.generation} until the hub reaches it again` }
  }
  if (isLate) {
    const by = formatTime(wanted.startByMs)
    const message =
      nowMs === undefined
        ? `it is to start by ${by}, and the time is not known for certain: waiting for the hub`
        : `it was to start by ${by}; waiting to be admitted again`
    return { kind: 'Hold', message }
  }
  if (!recorded || isOut) return { kind: 'Begin', operation: 'Install' }
  return { kind: 'Begin', operation: recorded.history?.includes(wanted.set) ? 'RollBack' : 'Upgrade' }
}

/**
 * The same decision for a set that is rendered in the cluster, once it is known what came out (`mark`): other objects
 * than recorded are another operation, though the document asks for nothing new. It was let in when the set was, so no
 * start-by holds it.
 */
export function decideRendered(
  decision: OperationDecision,
  recorded: { readonly rendered?: string; readonly history?: readonly Digest[] } | undefined,
  mark: string | undefined,
): OperationDecision {
  const isOther = mark !== undefined && recorded !== undefined && recorded.rendered !== mark
  const goesOn = decision.kind === 'Resume' || decision.kind === 'Renumber' || decision.kind === 'Keep'
  if (!isOther || !goesOn) return decision
  return { kind: 'Begin', operation: recorded.history?.length ? 'Upgrade' : 'Install' }
}

/** How the objects of the waves up to the present one do, taken together. */
export type WaveHealth = 'Ready' | 'Progressing' | 'Failed'

/** Where an operation is. */
export interface WaveFacts {
  /** Index of the wave in hand, from 0. */
  readonly wave: number
  readonly waves: number
  /** When its objects were all applied; undefined while they are not. */
  readonly appliedAtMs: number | undefined
  readonly health: WaveHealth
  readonly nowMs: number
  readonly timeoutMs: number
}

/** What an operation does next. */
export type WaveStep =
  | { readonly kind: 'Apply' }
  | { readonly kind: 'Advance' }
  /** All waves are applied: prune. */
  | { readonly kind: 'Applied' }
  | { readonly kind: 'Wait'; readonly untilMs: number }
  /** The wave took too long; it is said, and gone on with when it becomes healthy after all. */
  | { readonly kind: 'TimedOut'; readonly message: string }

/**
 * Decides how an operation moves through its waves; the last counts as applied at once, its health decides about
 * Ready.
 */
export function nextWaveStep(facts: WaveFacts): WaveStep {
  if (facts.appliedAtMs === undefined) return { kind: 'Apply' }
  if (facts.wave >= facts.waves - 1) return { kind: 'Applied' }
  if (facts.health === 'Ready') return { kind: 'Advance' }
  const untilMs = facts.appliedAtMs + facts.timeoutMs
  if (facts.nowMs < untilMs) return { kind: 'Wait', untilMs }
  const took = formatDuration(facts.timeoutMs)
  return { kind: 'TimedOut', message: `wave ${facts.wave + 1} of ${facts.waves} was not healthy within ${took}` }
}

/** Sets settled here, newest first, after one more; enough to know a way back when one is taken. */
export function rememberSet(history: readonly Digest[], settled: Digest): Digest[] {
  return [settled, ...history.filter((digest) => digest !== settled)].slice(0, 10)
}
