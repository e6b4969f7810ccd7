/** What becomes of recorded objects that left their set, or whose whole bundle leaves: delete, forget, keep, or wait for a person. */
import type { BundleOptions } from '../kinds/bundle-options.ts'
import { isKeptKind, isNamed, isOrphaned } from './object-options.ts'
import { describeObject, objectKey } from './object-id.ts'
import type { ObjectId } from './object-id.ts'

/** A recorded object, with what it said about itself when it was last applied. */
export interface Prunable extends ObjectId {
  readonly adopted?: boolean
  readonly prune?: 'Always' | 'Never' | 'Last' | 'Confirm'
  readonly delete?: 'Delete' | 'Orphan'
  /** A namespace that the bundle made for its objects. */
  readonly madeNamespace?: boolean
}

/** Everything that decides what is pruned. */
export interface PruneFacts<T extends Prunable> {
  readonly objects: readonly T[]
  readonly options: BundleOptions
  /** `removed`: they left the set. The others: the whole bundle leaves. */
  readonly cause: 'removed' | 'unplaced' | 'bundleDeleted'
  /** Keys of objects that another current entry wants (I-26). */
  readonly wanted: ReadonlySet<string>
  /** Keys of objects that a person confirmed. */
  readonly confirmed: ReadonlySet<string>
  /** All of the new set is healthy. */
  readonly isHealthy: boolean
  /** The most the cluster's own ceiling allows to be deleted at once. */
  readonly ceiling?: number
}

/** What to do with the objects. */
export interface PrunePlan<T> {
  readonly remove: readonly T[]
  /** Left in the cluster and forgotten, each with why. */
  readonly release: readonly { readonly object: T; readonly why: string }[]
  /** Left in the cluster and still recorded. */
  readonly keep: readonly T[]
  /** Nothing of `remove` may be deleted yet, and what would release it. */
  readonly waits?: string
}

/** Decides what is pruned. */
export function planPrune<T extends Prunable>(facts: PruneFacts<T>): PrunePlan<T> {
  const remove: T[] = []
  const keep: T[] = []
  const release: { object: T; why: string }[] = []
  const unconfirmed: T[] = []
  for (const object of facts.objects) {
    const why = whyReleased(object, facts)
    if (why !== undefined) {
      release.push({ object, why })
      continue
    }
    const mode = facts.cause === 'removed' ? (object.prune ?? facts.options.prune?.mode ?? 'Always') : 'Always'
    if (mode === 'Never' || (mode === 'Last' && !facts.isHealthy)) keep.push(object)
    else if (mode === 'Confirm' && !facts.confirmed.has(objectKey(object))) unconfirmed.push(object)
    else remove.push(object)
  }
  const bundleLimit = facts.cause === 'removed' ? facts.options.prune?.max : undefined
  const waits = tooMany(remove.length, bundleLimit, facts.ceiling)
  if (waits !== undefined) return { remove: [], release, keep: [...keep, ...unconfirmed, ...remove], waits }
  const [first] = unconfirmed
  return {
    remove,
    release,
    keep: [...keep, ...unconfirmed],
    ...(first ? { waits: confirmSentence(first, unconfirmed.length) } : {}),
  }
}

function whyReleased(object: Prunable, facts: PruneFacts<Prunable>): string | undefined {
  const { options, cause } = facts
  if (facts.wanted.has(objectKey(object))) return 'another bundle has it'
  if (object.adopted === true) return 'it was there before the bundle'
  // The object's own word is the last one, both ways.
  if (object.delete === 'Orphan') return 'it says that it is to be kept'
  if (isOrphaned(options, object)) return 'a rule of the bundle keeps it'
  if (object.delete === undefined && options.delete?.[cause] === 'Orphan')
    return `the bundle keeps what is ${WORDS[cause]}`
  if (!isKeptKind(object) || object.delete === 'Delete' || isNamed(options, object)) return undefined
  if (object.madeNamespace === true && options.namespaces?.delete === true) return undefined
  return 'it may hold what the bundle did not bring'
}

const WORDS = {
  removed: 'removed from the set',
  unplaced: 'unplaced',
  bundleDeleted: 'left by a deleted bundle',
} as const

function tooMany(count: number, bundleLimit: number | undefined, ceiling: number | undefined): string | undefined {
  if (bundleLimit !== undefined && count > bundleLimit) {
    return `${count} objects left the set and prune.max is ${bundleLimit}; raise it to delete them`
  }
  if (ceiling !== undefined && count > ceiling) {
    return `${count} objects would be deleted and this cluster allows ${ceiling} at once (maxPrune, in the agent's ceiling or the Cluster's limits)`
  }
  return undefined
}

function confirmSentence(first: ObjectId, count: number): string {
  const more = count > 1 ? ` and ${count - 1} more` : ''
  return `${describeObject(first)}${more} left the set; annotate it in the cluster with flotilla.dev/confirm-prune=true to delete it`
}
