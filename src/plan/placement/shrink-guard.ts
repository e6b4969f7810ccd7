/**
 * The shrink guard stops a change that would drop more than the limit, until a person releases it. It counts clusters
 * of a Placement, bundles of a cluster and objects of a set. A person releases exactly one change by its token, which
 * has the generation, the number and a digest of the names, so that a release never covers a later, larger change.
 */
import { digestOfJson } from '../../core/crypto/digest.ts'

export type ShrinkNoun = 'clusters' | 'bundles' | 'objects'

/** A change that drops clusters, bundles or objects. */
export interface Shrink {
  readonly noun: ShrinkNoun
  /** Names that the change drops. */
  readonly dropped: readonly string[]
  /** Number before the change. */
  readonly of: number
  /** A count or a percentage. Defaults to 50 %, and at least 5. */
  readonly limit?: number | string
  readonly generation: number
  /** The token of the change that a person released. */
  readonly release?: string
}

export type ShrinkVerdict =
  | { readonly kind: 'Free' }
  | { readonly kind: 'Released'; readonly token: string; readonly allowed: number }
  | { readonly kind: 'Held'; readonly token: string; readonly allowed: number; readonly message: string }

const DEFAULT_SHRINK = { percent: 50, atLeast: 5 } as const

/** Maximum number that one change may drop. */
export function shrinkAllowance(limit: number | string | undefined, of: number): number {
  if (limit === undefined) return Math.max(DEFAULT_SHRINK.atLeast, Math.floor((DEFAULT_SHRINK.percent * of) / 100))
  if (typeof limit === 'number') return limit
  const percent = /^(\d+)%$/.exec(limit)
  if (percent) return Math.floor((Number(percent[1]) * of) / 100)
  const count = Number(limit)
  return Number.isInteger(count) && count >= 0 ? count : 0
}

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
    message: `The change would drop ${count} of ${shrink.of} ${shrink.noun}; at most ${allowed} can be dropped at once.`,
  }
}

/** `g3-drop40-1a2b3c4d`: the generation, the number, and a digest of the names. */
export function shrinkToken({ generation, dropped }: Pick<Shrink, 'generation' | 'dropped'>): string {
  return `g${generation}-drop${dropped.length}-${digestOfJson([...dropped].sort()).slice(7, 15)}`
}
