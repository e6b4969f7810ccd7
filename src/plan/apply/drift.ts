/**
 * What to do about an object that is not as its bundle applied it: correct, report, ignore; and when correcting has
 * become a fight, step back.
 */

/** A bundle's drift mode. */
export type DriftMode = 'Correct' | 'Report' | 'Ignore'

/** What was done about an object's drift before; times are of a clock that only grows. */
export interface DriftHistory {
  /** When it was corrected, newest last; only recent corrections count. */
  readonly correctedAtMs: readonly number[]
}

/** The next step for an object with drift. */
export type DriftDecision =
  | { readonly kind: 'Correct' }
  | { readonly kind: 'Report' }
  | { readonly kind: 'Ignore' }
  /** Another field manager keeps reverting the correction; the agent waits until this time. */
  | { readonly kind: 'StepBack'; readonly untilMs: number; readonly times: number }

/** Corrections within this time count as one conflict. */
export const FIGHT_WINDOW_MS = 60 * 60_000
const FREE = 3
const BASE_MS = 30_000
const MOST_MS = 30 * 60_000

/** Decides about an object. */
export function decideDrift(mode: DriftMode, history: DriftHistory, nowMs: number): DriftDecision {
  if (mode !== 'Correct') return { kind: mode }
  const recent = history.correctedAtMs.filter((at) => nowMs - at < FIGHT_WINDOW_MS)
  const last = recent.at(-1)
  if (last === undefined || recent.length < FREE) return { kind: 'Correct' }
  const untilMs = last + Math.min(BASE_MS * 2 ** (recent.length - FREE), MOST_MS)
  return nowMs >= untilMs ? { kind: 'Correct' } : { kind: 'StepBack', untilMs, times: recent.length }
}

/** The history after a correction; corrections that no longer count are forgotten. */
export function afterCorrection(history: DriftHistory, nowMs: number): DriftHistory {
  const recent = history.correctedAtMs.filter((at) => nowMs - at < FIGHT_WINDOW_MS)
  return { correctedAtMs: [...recent.slice(-20), nowMs] }
}
