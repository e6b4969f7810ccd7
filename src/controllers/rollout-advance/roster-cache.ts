/**
 * What is remembered of Rollouts between looks, so that one report costs one cluster and not the whole fleet: each one's book, and the clusters
 * that something happened to, in order. A Rollout that has not looked for longer than is remembered looks at everything.
 */
import type { RosterCacheEntry } from '../../plan/rollout/build-roster.ts'

/** What has happened since the last look at a Rollout. */
export interface ChangesSinceLastPass {
  readonly roster: RosterCacheEntry
  /** Clusters that something happened to; undefined: not known, or everybody is concerned. */
  readonly changedClusters: ReadonlySet<string> | undefined
  /** Clusters that run a bundle without being selected, by bundle; as the last look left them. */
  readonly unselectedHolders: Map<string, Set<string>>
}

/** The books of all Rollouts. */
export interface RosterCache {
  /** Something happened to a cluster. */
  note(cluster: string): void
  /** Opens a Rollout's book; `frame` is what concerns everybody at once. */
  open(key: string, frame: readonly unknown[]): ChangesSinceLastPass
  /** How many pairs the book has now: the books together have a limit, and the one not opened for longest goes first. */
  keep(key: string, pairs: number): void
  clear(): void
}

interface Kept {
  readonly book: RosterCacheEntry
  readonly left: Map<string, Set<string>>
  frame: readonly unknown[]
  /** How many notes there were at its last look. */
  seen: number
  pairs: number
}

const MOST_NOTES = 50_000
const MOST_PAIRS = 300_000

/** Makes the books. */
export function createRosterCache(most: { readonly notes?: number; readonly pairs?: number } = {}): RosterCache {
  const { notes: mostNotes = MOST_NOTES, pairs: mostPairs = MOST_PAIRS } = most
  const books = new Map<string, Kept>() // in order of looks: the oldest come first
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
      // A look that failed halfway has left no roster.
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
