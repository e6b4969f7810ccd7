/**
 * The shrink guard stops a change that would drop more than the limit, until a person releases it. It counts clusters
 * of a Placement, bundles of a cluster and objects of a set. A person releases exactly one change by its token, which
 * has the generation, the number and a digest of the names, so that a release never covers a later, larger change.
 */
import { digestOfJson } from '../../core/crypto/digest.ts'

export type ShrinkNoun = 'clusters' | 'bundles' | 'objects'

/** The most that a change may drop without a question, where the object does not set a limit. */
export interface ShrinkDefault {
  readonly percent: number
  /** This number may always be dropped. */
  readonly atLeast: number
}

/** The limit of a change of selection or content: a tenth, and at least one. */
const DEFAULT_SHRINK: ShrinkDefault = { percent: 10, atLeast: 1 }

/**
 * The limit of a removal that a person has asked for or a Placement's guard has judged: the deletion of a Bundle, and
 * the bundles that leave one cluster. Half, and at least five.
 */
export const SECOND_SHRINK: ShrinkDefault = { percent: 50, atLeast: 5 }

/** A change that drops clusters, bundles or objects. */
export interface Shrink {
  readonly noun: ShrinkNoun
  /** Names that the change drops. */
  readonly dropped: readonly string[]
  /** Number before the change. */
  readonly of: number
  /** A count or a percentage. Defaults to `defaults`. */
  readonly limit?: number | string
  /** Defaults to a tenth, and at least one. */
  readonly defaults?: ShrinkDefault
  /** A sentence that says why the change asks whatever the limit is, unless the limit is `100%`. */
  readonly always?: string | undefined
  readonly generation: number
  /** The token of the change that a person released. */
  readonly release?: string | undefined
  /** The token of the change that the guard stopped before: the same change stays stopped. */
  readonly held?: string | undefined
  /** The token of the last released change: a token counts once. */
  readonly after?: string | undefined
}

export type ShrinkVerdict =
  | { readonly kind: 'Free' }
  | { readonly kind: 'Released'; readonly token: string; readonly allowed: number }
  | { readonly kind: 'Held'; readonly token: string; readonly allowed: number; readonly message: string }

/** Maximum number that one change may drop. */
export function shrinkAllowance(
  limit: number | string | undefined,
  of: number,
  defaults: ShrinkDefault = DEFAULT_SHRINK,
): number {
  if (limit === undefined) return Math.max(defaults.atLeast, Math.floor((defaults.percent * of) / 100))
  if (typeof limit === 'number') return limit
  const percent = /^(\d+)%$/.exec(limit)
  if (percent) return Math.floor((Number(percent[1]) * of) / 100)
  const count = Number(limit)
  return Number.isInteger(count) && count >= 0 ? count : 0
}

/** The limit that lets everything go unasked. */
const EVERYTHING = '100%'

export function judgeShrink(shrink: Shrink): ShrinkVerdict {
  const { limit, of, noun, dropped } = shrink
  const allowed = shrinkAllowance(limit, of, shrink.defaults)
  const count = dropped.length
  if (count === 0) return { kind: 'Free' }
  const always = limit === EVERYTHING ? undefined : shrink.always
  const token = shrinkToken(shrink)
  const isOver = count > allowed
  if (!isOver && always === undefined && shrink.held !== token) return { kind: 'Free' }
  if (shrink.release === token) return { kind: 'Released', token, allowed }
  const most = isOver ? `; at most ${allowed} can be dropped at once` : ''
  const message = `The change would drop ${count} of ${of} ${noun}${most}.${always === undefined ? '' : ` ${always}`}`
  return { kind: 'Held', token, allowed, message }
}

/** The token in the message of a condition. */
export function shrinkTokenIn(message: string): string | undefined {
  return /\bg\d+-drop\d+-[0-9a-f]{8}\b/.exec(message)?.[0]
}

/** `g3-drop40-1a2b3c4d`: the generation, the number, and a digest of the names and of the last released token. */
export function shrinkToken({ generation, dropped, after }: Pick<Shrink, 'generation' | 'dropped' | 'after'>): string {
  const names = [...dropped].sort()
  const digest = digestOfJson(after === undefined ? names : { names, after })
  return `g${generation}-drop${dropped.length}-${digest.slice(7, 15)}`
}
