/**
 * What is known of each placement since its last pass, so that one changed cluster costs one look per placement and not
 * one per cluster: the compiled question, how many clusters each filter stops, and which clusters changed their answer.
 *
 * A placement without a book is decided from the whole fleet and gets one; anything that is not a change of one cluster
 * throws the book away.
 */
import { jsonEqual } from '../../core/json.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { PlacementCluster, PlacementQuestion } from '../../plan/placement/types.ts'
import { firstRejection } from '../../plan/placement/filter.ts'
import type { CompiledFilter, FilterReason } from '../../plan/placement/filter.ts'
import { isSimple } from '../../plan/placement/select-clusters.ts'

/** What is known of one placement. */
export interface CachedPlacement {
  readonly generation: number
  readonly question: PlacementQuestion
  readonly filter: CompiledFilter
  /** How many clusters each filter stops, kept up to date. */
  readonly stopped: Record<FilterReason, number>
  /** How many clusters are registered. */
  total: number
  /** Clusters whose answer may have changed since the last pass. */
  readonly changedClusters: Set<string>
  readonly pages: number
  /** How many are selected. */
  readonly selected: number
  /** The lowest score of those selected, where they are ranked. */
  readonly lowest?: number
  /** Milliseconds since 1970 at which the answer ends by itself. */
  readonly until?: number
}

/** The books of all placements. */
export interface PlacementCache {
  /** The book, as long as it is of this generation. */
  open(placement: Placement): CachedPlacement | undefined
  /** Keeps what a pass found out, unless something changed since it began: the pass has not seen that. */
  keep(placement: Placement, book: CachedPlacement, since: number): void
  /** Where a pass begins; for `keep`. */
  mark(): number
  drop(key: string): void
  dropAll(): void
  /** Notes a changed cluster; the keys of placements whose answer it may change. */
  note(was: PlacementCluster | undefined, is: PlacementCluster | undefined, at: ClusterChangeContext): string[]
  has(key: string): boolean
  /** Marks a page as being written here, so that its change is not taken for somebody else's. */
  writing(page: string): { done(): void }
  isWriting(page: string): boolean
}

/** What a changed cluster is judged with. */
export interface ClusterChangeContext {
  readonly now: number
  /** The page of a placement that has a decision on the cluster. */
  pageWith(placement: string, cluster: string): PlacementDecision | undefined
}

/** Makes the books. */
export function createPlacementCache(): PlacementCache {
  const books = new Map<string, CachedPlacement>()
  const pagesInWriting = new Set<string>()
  let changes = 0

  function noteIn(key: string, book: CachedPlacement, change: Changed): boolean {
    const { was, is, name, at } = change
    const incumbent = needsIncumbency(was) || needsIncumbency(is) ? isIncumbent(at.pageWith(key, name), name) : false
    const stop = (cluster: PlacementCluster | undefined): FilterReason | 'Absent' | undefined =>
      cluster ? firstRejection(book.filter, cluster, { now: at.now, incumbent }) : 'Absent'
    const before = stop(was)
    const after = stop(is)
    if (before !== undefined && before !== 'Absent') book.stopped[before]--
    if (after !== undefined && after !== 'Absent') book.stopped[after]++
    if (!was) book.total++
    if (!is) book.total--
    if (before !== after) {
      // Only who passes, or passed, or is Evicting for a reason changes decisions; others change at most the sentence about nobody.
      if (before === undefined || after === undefined || at.pageWith(key, name)) {
        book.changedClusters.add(name)
        return true
      }
      return book.selected === 0
    }
    // A cluster that passes and is ranked or grouped by what changed.
    if (after === undefined && !isSimple(book.question) && !jsonEqual(was, is)) {
      book.changedClusters.add(name)
      return true
    }
    return false
  }

  return {
    open: (placement) => {
      const book = books.get(keyOf(placement))
      return book?.generation === placement.metadata.generation ? book : undefined
    },
    keep: (placement, book, since) => {
      if (since === changes) books.set(keyOf(placement), book)
    },
    mark: () => changes,
    has: (key) => books.has(key),
    drop: (key) => {
      changes++
      books.delete(key)
    },
    dropAll: () => {
      changes++
      books.clear()
    },
    note: (was, is, at) => {
      changes++
      const name = (is ?? was)?.name
      if (name === undefined) return []
      return [...books].filter(([key, book]) => noteIn(key, book, { was, is, name, at })).map(([key]) => key)
    },
    writing: (page) => {
      pagesInWriting.add(page)
      return { done: () => void pagesInWriting.delete(page) }
    },
    isWriting: (page) => pagesInWriting.has(page),
  }
}

interface Changed {
  readonly was: PlacementCluster | undefined
  readonly is: PlacementCluster | undefined
  readonly name: string
  readonly at: ClusterChangeContext
}

/** Whether a page selects a cluster; one that is Evicting is on it too, and has to be selected anew. */
export function isIncumbent(page: PlacementDecision | undefined, name: string): boolean {
  return page?.spec.decisions.some(({ cluster, state }) => cluster === name && state === 'Selected') ?? false
}

function needsIncumbency(cluster: PlacementCluster | undefined): boolean {
  return cluster?.taints?.some(({ effect }) => effect === 'NoSelectIfNew') ?? false
}
