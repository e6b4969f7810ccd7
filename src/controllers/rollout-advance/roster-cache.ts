/**
 * The rosters of Rollouts between two passes, so that a report costs one cluster and not the whole fleet, and the names
 * of changed clusters in the order of their changes. A Rollout whose last pass is older than the oldest change in the
 * cache is built from the whole fleet.
 */
import type { RosterCacheEntry } from '../../plan/rollout/build-roster.ts'

/** The changes since the last pass of a Rollout. */
export interface ChangesSinceLastPass {
  readonly roster: RosterCacheEntry
  /** Clusters that changed; undefined when all clusters may have changed. */
  readonly changedClusters: ReadonlySet<string> | undefined
  /** Clusters that run a Bundle without being selected, by Bundle, from the last pass. */
  readonly unselectedHolders: Map<string, Set<string>>
}

/** The rosters of all Rollouts. */
export interface RosterCache {
  /** Notes that a cluster changed. */
  note(cluster: string): void
  /** The roster of a Rollout; `frame` are the values that concern all clusters at once. */
  open(key: string, frame: readonly unknown[]): ChangesSinceLastPass
  /**
   * Records the size of a roster, in bundles on clusters. All rosters together have a limit; the roster with the oldest
   * pass is dropped first.
   */
  keep(key: string, pairs: number): void
  clear(): void
}

interface Kept {
  readonly book: RosterCacheEntry
  readonly left: Map<string, Set<string>>
  frame: readonly unknown[]
  /** The number of noted changes at the last pass. */
  seen: number
  pairs: number
}

const MOST_NOTES = 50_000
const MOST_PAIRS = 300_000

/** Creates an empty cache. */
export function createRosterCache(most: { readonly notes?: number; readonly pairs?: number } = {}): RosterCache {
  const { notes: mostNotes = MOST_NOTES, pairs: mostPairs = MOST_PAIRS } = most
  const books = new Map<string, Kept>() // in the order of passes, oldest first
  let notes: string[] = []
  let forgotten = 0

  return {
    note: (cluster) => {
      notes.push(cluster)
      if (notes.length <= mostNotes) return
      forgotten += notes.length >> 1
      notes = notes.slice(notes.length >> 1)
    },
    open: (key, frame) => {
      const kept: Kept = books.get(key) ?? { book: {}, left: new Map(), frame: [], seen: -1, pairs: 0 }
      const isSame = kept.frame.length === frame.length && frame.every((part, i) => part === kept.frame[i])
      // A pass that failed halfway has left no roster.
      const touched =
        isSame && kept.book.cached && kept.seen >= forgotten ? new Set(notes.slice(kept.seen - forgotten)) : undefined
      kept.frame = frame
      kept.seen = forgotten + notes.length
      books.delete(key)
      books.set(key, kept)
      return { roster: kept.book, unselectedHolders: kept.left, changedClusters: touched }
    },
    keep: (key, pairs) => {
      const kept = books.get(key)
      if (!kept) return
      kept.pairs = pairs
      let sum = [...books.values()].reduce((total, one) => total + one.pairs, 0)
      for (const [other, one] of books) {
        if (sum <= mostPairs) return
        sum -= one.pairs
        books.delete(other)
      }
    },
    clear: () => {
      books.clear()
      notes = []
      forgotten = 0
    },
  }
}
