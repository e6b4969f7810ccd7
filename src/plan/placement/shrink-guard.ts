/**
 * The shrink guard: a change that would drop more than it may stops and asks. It counts clusters of a placement, bundles of
 * a cluster and objects of a set alike. A person releases one change by naming it: the token says the generation, the
 * number, and which ones, so that a release never covers a later, larger change.
 */
import { digestOfJson } from '../../core/crypto/digest.ts'

/** What is being counted. */
export type ShrinkNoun = 'clusters' | 'bundles' | 'objects'

/** A change that drops things. */
export interface Shrink {
  readonly noun: ShrinkNoun
  /** What would be dropped, by name. */
  readonly dropped: readonly string[]
  /** How many there are before. */
  readonly of: number
  /** A count or a percentage; absent: the default. */
  readonly limit?: number | string
  readonly generation: number
  /** The token a person has written down. */
  readonly release?: string
}

/** What the guard says. */
export type ShrinkVerdict =
  | { readonly kind: 'Free' }
  | { readonly kind: 'Released'; readonly token: string; readonly allowed: number }
  | { readonly kind: 'Held'; readonly token: string; readonly allowed: number; readonly message: string }

/** Unless said: half of them, but up to five always. */
const DEFAULT_SHRINK = { percent: 50, atLeast: 5 } as const

/** How many may be dropped at once. */
export function shrinkAllowance(limit: number | string | undefined, of: number): number {
  if (limit === undefined) return Math.max(DEFAULT_SHRINK.atLeast, Math.floor((DEFAULT_SHRINK.percent * of) / 100))
  if (typeof limit === 'number') return limit
  const percent = /^(\d+)%$/.exec(limit)
  if (percent) return Math.floor((Number(percent[1]) * of) / 100)
  const count = Number(limit)
  return Number.isInteger(count) && count >= 0 ? count : 0
}

/** Judges a change. */
export function judgeShrink(shrink: Shrink): ShrinkVerdict {
  const allowed = shrinkAllowance(shrink.limit, shrink.of)
  const count = shrink.dropped.length
  if (count <= allowed) return { kind: 'Free' }
  const token = shrinkToken(shrink)
  if (shrink.release === token) return { kind: 'Released', token, allowed }
  return {
    kind: 'Held',
    token,
    allowed,
    message: `Would drop ${count} of ${shrink.of} ${shrink.noun}; at most ${allowed} may go at once.`,
  }
}

/** `g3-drop40-1a2b3c4d`: the generation, how many, and which. */
export function shrinkToken({ generation, dropped }: Pick<Shrink, 'generation' | 'dropped'>): string {
  return `g${generation}-drop${dropped.length}-${digestOfJson([...dropped].sort()).slice(7, 15)}`
}
