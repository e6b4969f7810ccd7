/** What a hostile chart runs into: it fails itself, with its name and line, and nothing else. */

/** Caps on one render; each has a default far above what real charts need. */
export interface RenderLimits {
  /** Template nodes walked. */
  readonly steps?: number
  /** Characters written by all templates together, included text counted each time. */
  readonly output?: number
}

/** The limits when nobody says otherwise. */
export const DEFAULT_LIMITS: Required<RenderLimits> = { steps: 50_000_000, output: 256 * 1024 * 1024 }

/** A chart that wanted more than it may have. */
export class LimitError extends Error {
  override readonly name = 'LimitError'
}
