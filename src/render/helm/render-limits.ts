/** What a hostile chart runs into: it fails itself, with its name and line, and nothing else. */

/** Caps on one render; each has a default far above what real charts need. */
export interface RenderLimits {
  /** Template nodes walked. */
  readonly steps?: number
  /** Characters written by all templates together, included text counted each time. */
  readonly output?: number
}

/**
 * Asked at the start of each file and every few steps; `where` names the place. Who renders in a thread of its own
 * remembers the place, in case the thread has to be ended, and says stop when time is up.
 */
export type RenderBudget = (where: () => string, at: 'file' | 'step') => 'go on' | 'stop'

/** The limits when nobody says otherwise. */
export const DEFAULT_LIMITS: Required<RenderLimits> = { steps: 50_000_000, output: 256 * 1024 * 1024 }

/** A chart that wanted more than it may have. */
export class LimitError extends Error {
  override readonly name = 'LimitError'
}
