/** What a hostile chart runs into: it fails itself, with its name and line, and nothing else. */

/** Limits of a render; each has a default far above the needs of real charts. */
export interface RenderLimits {
  /** Template nodes walked. */
  readonly steps?: number
  /** Characters written by all templates together, included text counted each time. */
  readonly output?: number
}

/**
 * Called at the start of each file and every few steps; `where` names the position. A caller that renders in a thread
 * stores the position, in case the thread must be ended, and returns `stop` when time is up.
 */
export type RenderBudget = (where: () => string, at: 'file' | 'step') => 'go on' | 'stop'

/** The default limits. */
export const DEFAULT_LIMITS: Required<RenderLimits> = { steps: 50_000_000, output: 256 * 1024 * 1024 }

/** A chart that wanted more than it may have. */
export class LimitError extends Error {
  override readonly name = 'LimitError'
}
