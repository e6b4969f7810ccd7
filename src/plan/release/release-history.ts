/**
 * Which Releases can be deleted. A Release is deleted, with its Rollout, only when nothing refers to it for any of its
 * bundles; unknown state counts as a reference.
 */

/** A Release as retention reads it. */
export interface KnownRelease {
  readonly name: string
  readonly bundles: readonly { readonly name: string; readonly generation: number }[]
  /** Bundles whose content of this Release is marked bad. */
  readonly bad: readonly string[]
  /** The Release that this Release rolls back. */
  readonly undoes?: string
  /** Its Rollout, if it has one. */
  readonly rollout?: { readonly isClosed: boolean; readonly slots: number }
}

/** References to the Releases of a bundle. */
export interface BundleHistory {
  /** All Releases of the bundle. */
  readonly releases: readonly KnownRelease[]
  /** Number of Releases to keep in any case. */
  readonly keep: number
  /** Generations that a cluster's document, its last good revision, a tombstone or a report has. */
  readonly named: ReadonlySet<number>
  /** Releases whose bad mark has an effect now. */
  readonly reverted: readonly string[]
}

/** Default number of Releases, and of completed removals, that are kept for a bundle. */
export const KEPT_RELEASES = 10

/** How long the history of a deleted Bundle is kept. */
export const KEPT_AFTER_DELETION_MS = 7 * 86_400_000

/** A Rollout that removes a bundle. */
export interface KnownRemoval {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** The bundle is removed from all clusters, and no slot is taken. */
  readonly isOver: boolean
}

/** Completed removals of a bundle beyond the number to keep. */
export function oldRemovals(removals: readonly KnownRemoval[], keep: number): readonly string[] {
  return removals
    .filter(({ isOver }) => isOver)
    .toSorted((a, b) => b.createdAt - a.createdAt || (a.name < b.name ? 1 : -1))
    .slice(Math.max(keep, 1))
    .map(({ name }) => name)
}

/** The history of deleted Bundles. */
export interface DeletedHistory {
  /** A cluster's document, tombstone, report or receipt refers to one of the Bundles. */
  readonly isNamed: boolean
  /** Number of their slots that are still taken. */
  readonly slots: number
  readonly removals: readonly KnownRemoval[]
  /** Time of their last change in milliseconds since 1970. */
  readonly lastAt: number
}

/** Milliseconds until the history of deleted Bundles is checked again; 0: it can be deleted. */
export function deletedRetentionMs({ isNamed, slots, removals, lastAt }: DeletedHistory, now: number): number {
  const leftMs = lastAt + KEPT_AFTER_DELETION_MS - now
  if (leftMs > 0) return leftMs
  return isNamed || slots > 0 || removals.some(({ isOver }) => !isOver) ? RECHECK_MS : 0
}

const RECHECK_MS = 86_400_000

/** Why a Release is kept; undefined: it can be deleted. */
export function retentionReason(
  release: KnownRelease,
  historyOf: (bundle: string) => BundleHistory,
  hasRollout: (release: string) => boolean,
): string | undefined {
  const { name, rollout, undoes } = release
  if (rollout && !rollout.isClosed) return 'its Rollout is not superseded'
  if (rollout && rollout.slots > 0) return 'its Rollout still has taken slots'
  // The other Rollout still requests its rollback: without this Release it would be rolled back once more.
  if (undoes !== undefined && hasRollout(undoes)) return `it rolls back ${undoes}, whose Rollout still exists`
  for (const { name: bundle, generation } of release.bundles) {
    const { releases, keep, named, reverted } = historyOf(bundle)
    if (isAmongLast(keep, generation, generationsOf(releases, bundle))) {
      return `it is one of the last ${keep} of bundle ${bundle}`
    }
    if (named.has(generation)) return `a cluster has generation ${generation} of bundle ${bundle}`
    if (reverted.includes(name)) return `its bad mark keeps content of bundle ${bundle} away`
    const marked = releases.filter(({ bad }) => bad.includes(bundle))
    if (release.bad.includes(bundle) && isAmongLast(keep, generation, generationsOf(marked, bundle))) {
      return `it is one of the last ${keep} of bundle ${bundle} that are marked bad`
    }
  }
  return undefined
}

function isAmongLast(keep: number, generation: number, generations: readonly number[]): boolean {
  return generations.filter((other) => other > generation).length < keep
}

function generationsOf(releases: readonly KnownRelease[], bundle: string): number[] {
  return releases.flatMap(({ bundles }) =>
    bundles.flatMap(({ name, generation }) => (name === bundle ? [generation] : [])),
  )
}
