/**
 * Which Releases are history that nobody needs any more. A Release is forgotten, with its Rollout, only when nothing refers to it for any of its
 * bundles; whatever is not known counts as a reference.
 */

/** What is looked at in a Release. */
export interface KnownRelease {
  readonly name: string
  readonly bundles: readonly { readonly name: string; readonly generation: number }[]
  /** The bundles whose content of it was taken back. */
  readonly bad: readonly string[]
  /** The Release it takes back. */
  readonly undoes?: string
  /** How its Rollout stands; absent: it has none. */
  readonly rollout?: { readonly isClosed: boolean; readonly slots: number }
}

/** What refers to the Releases of a bundle. */
export interface BundleHistory {
  /** All Releases of it. */
  readonly releases: readonly KnownRelease[]
  /** How many to keep in any case. */
  readonly keep: number
  /** Generations that a cluster's document, its last good revision, a tombstone or a report names. */
  readonly named: ReadonlySet<number>
  /** Releases whose mark holds content off now. */
  readonly reverted: readonly string[]
}

/** How many Releases of a bundle are kept unless said, and how many removals of it that are over. */
export const KEPT_RELEASES = 10

/** How long what happened to a Bundle that is gone can be looked at. */
export const KEPT_AFTER_DELETION_MS = 7 * 86_400_000

/** A Rollout that removes a bundle, as far as it matters here. */
export interface KnownRemoval {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Nobody is left to remove from, and nobody holds a slot. */
  readonly isOver: boolean
}

/** The removals of a bundle that are over and not among the last of those. */
export function oldRemovals(removals: readonly KnownRemoval[], keep: number): readonly string[] {
  return removals
    .filter(({ isOver }) => isOver)
    .toSorted((a, b) => b.createdAt - a.createdAt || (a.name < b.name ? 1 : -1))
    .slice(Math.max(keep, 1))
    .map(({ name }) => name)
}

/** What is left of Bundles that are gone. */
export interface DeletedHistory {
  /** A cluster's document, tombstone, report or receipt names one of them. */
  readonly isNamed: boolean
  /** How many clusters hold a slot of theirs, to bring or to remove them. */
  readonly slots: number
  readonly removals: readonly KnownRemoval[]
  /** When the last thing happened to them, in milliseconds since 1970. */
  readonly lastAt: number
}

/** After how many milliseconds what is left of deleted Bundles is to be looked at again; 0: nobody needs it any more. */
export function deletedRetentionMs({ isNamed, slots, removals, lastAt }: DeletedHistory, now: number): number {
  const leftMs = lastAt + KEPT_AFTER_DELETION_MS - now
  if (leftMs > 0) return leftMs
  return isNamed || slots > 0 || removals.some(({ isOver }) => !isOver) ? LOOK_AGAIN_MS : 0
}

const LOOK_AGAIN_MS = 86_400_000

/** Why a Release is kept; undefined: nobody needs it. */
export function retentionReason(
  release: KnownRelease,
  historyOf: (bundle: string) => BundleHistory,
  hasRollout: (release: string) => boolean,
): string | undefined {
  const { name, rollout, undoes } = release
  if (rollout && !rollout.isClosed) return 'its Rollout is not superseded'
  if (rollout && rollout.slots > 0) return 'its Rollout still holds slots'
  // That Rollout says that it is to be taken back: without this Release it would be taken back once more.
  if (undoes !== undefined && hasRollout(undoes)) return `it takes back ${undoes}, whose Rollout is still there`
  for (const { name: bundle, generation } of release.bundles) {
    const { releases, keep, named, reverted } = historyOf(bundle)
    if (isAmongLast(keep, generation, generationsOf(releases, bundle))) {
      return `it is one of the last ${keep} of bundle ${bundle}`
    }
    if (named.has(generation)) return `a cluster has generation ${generation} of bundle ${bundle}`
    if (reverted.includes(name)) return `its mark holds content of bundle ${bundle} off`
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
