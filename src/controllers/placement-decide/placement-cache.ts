/**
 * The results of each Placement's last pass, so that a changed cluster costs one comparison per Placement instead of a
 * comparison of the whole fleet: the compiled question, the number of clusters that each filter rejects, and the
 * clusters whose decision may have changed. A Placement without an entry is decided from the whole fleet and gets an
 * entry; a change of another kind deletes the entry.
 */
import { jsonEqual } from '../../core/json.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { PlacementCluster, PlacementQuestion } from '../../plan/placement/types.ts'
import { firstRejection } from '../../plan/placement/filter.ts'
import type { CompiledFilter, FilterReason } from '../../plan/placement/filter.ts'
import { isSimple } from '../../plan/placement/select-clusters.ts'

/** The cached results of a Placement. */
export interface CachedPlacement {
  readonly generation: number
  readonly question: PlacementQuestion
  readonly filter: CompiledFilter
  /** The number of clusters that each filter rejects, updated with each change. */
  readonly stopped: Record<FilterReason, number>
  /** The number of registered clusters. */
  total: number
  /** Clusters whose decision may have changed since the last pass. */
  readonly changedClusters: Set<string>
  readonly pages: number
  /** The number of selected clusters. */
  readonly selected: number
  /** The lowest score of the selected clusters, if they are ranked. */
  readonly lowest?: number
  /** Milliseconds since 1970 at which time alone changes the decisions. */
  readonly until?: number
}

/** The cached results of all Placements. */
export interface PlacementCache {
  /** The entry of a Placement, if it is of this generation. */
  open(placement: Placement): CachedPlacement | undefined
  /**
   * Stores the results of a pass, unless a cluster changed since the pass started: the pass has not seen that change.
   */
  keep(placement: Placement, book: CachedPlacement, since: number): void
  /** The start of a pass; for `keep`. */
  mark(): number
  drop(key: string): void
  dropAll(): void
  /** Notes a changed cluster; returns the keys of the Placements whose decisions may change. */
  note(was: PlacementCluster | undefined, is: PlacementCluster | undefined, at: ClusterChangeContext): string[]
  has(key: string): boolean
  /** Marks a page as written by this controller, so that its change does not count as a change by a user. */
  writing(page: string): { done(): void }
  isWriting(page: string): boolean
}

/** The data that a changed cluster is compared with. */
export interface ClusterChangeContext {
  readonly now: number
  /** The page of a Placement that has a decision about the cluster. */
  pageWith(placement: string, cluster: string): PlacementDecision | undefined
}

/** Creates an empty cache. */
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
      // Decisions change only for a cluster that passes or passed the filters, or that is Evicting; a change of another
      // cluster changes at most the message about zero selected clusters.
      if (before === undefined || after === undefined || at.pageWith(key, name)) {
        book.changedClusters.add(name)
        return true
      }
      return book.selected === 0
    }
    // A cluster that passes the filters, and whose rank or group changed.
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

/** Whether a page selects a cluster; a cluster that is Evicting is on the page too, and is not selected. */
export function isIncumbent(page: PlacementDecision | undefined, name: string): boolean {
  return page?.spec.decisions.some(({ cluster, state }) => cluster === name && state === 'Selected') ?? false
}

function needsIncumbency(cluster: PlacementCluster | undefined): boolean {
  return cluster?.taints?.some(({ effect }) => effect === 'NoSelectIfNew') ?? false
}
