import { compact } from '../core/compact.ts'
import { sealedWith } from './sealed-store.ts'
import type { Store, StoreEntry } from './store.ts'

/**
 * Brings values that an older key sealed, or none, under the newest key; each is an ordinary write of the same content.
 */

/** What to seal anew. */
export interface ResealOptions {
  /** The store below the sealed one, for seeing which key a value has. */
  readonly plain: Store
  readonly sealed: Store
  readonly prefixes: readonly string[]
  /** The id of the key that seals now. */
  readonly newest: string
  /** The text of a value at the revision it will have. */
  rewrite(value: string): (revision: number) => string
}

const PAGE = 200

/**
 * Runs once over everything under the prefixes; tells how many values it wrote. What changes meanwhile is sealed
 * anyway.
 */
export async function reseal(options: ResealOptions, signal: AbortSignal): Promise<number> {
  let written = 0
  for (const prefix of options.prefixes) {
    for (let after: string | undefined, more = true; more && !signal.aborted;) {
      const page = await options.plain.list(compact({ prefix, limit: PAGE, after }))
      const stale = page.entries.filter(({ value }) => sealedWith(value) !== options.newest)
      const results = await Promise.all(stale.map((entry) => resealOne(options, entry)))
      written += results.filter(Boolean).length
      after = page.entries.at(-1)?.key
      more = page.more
    }
  }
  return written
}

async function resealOne({ sealed, rewrite }: ResealOptions, { key, modRevision }: StoreEntry): Promise<boolean> {
  const entry = await sealed.get(key)
  if (entry?.modRevision !== modRevision) return false
  const result = await sealed.commit({ key, expect: modRevision, value: rewrite(entry.value) })
  return result.ok
}
