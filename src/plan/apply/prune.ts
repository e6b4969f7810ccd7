/**
 * What becomes of recorded objects that left their set, or whose whole bundle leaves: delete, forget, keep, or wait for
 * a person.
 */
import { compact } from '../../core/compact.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { isKeptKind, isNamed, isOrphaned } from '../objects/object-options.ts'
import { describeObject, objectKey } from '../objects/object-id.ts'
import type { ObjectId } from '../objects/object-id.ts'

/** A recorded object, with what it said about itself when it was last applied. */
export interface Prunable extends ObjectId {
  readonly adopted?: boolean
  readonly prune?: 'Always' | 'Never' | 'Last' | 'Confirm'
  readonly delete?: 'Delete' | 'Orphan'
  /** A namespace that the bundle made for its objects. */
  readonly madeNamespace?: boolean
}

/** A current bundle that is rendered in the cluster and is not rendered yet, so its objects are not known. */
export interface UnknownWants {
  readonly bundle: string
  /** All its objects will be in this namespace. */
  readonly namespace?: string
  /** Whether its Project allows it an object; an object that it may never write does not wait for it. */
  mayWrite?(object: ObjectId): boolean
}

/** What the other current bundles want. */
export interface Wanted {
  /** By key. */
  readonly objects: ReadonlySet<string>
  /** Keys of what they have by now: it was met by them, and is in their records. */
  readonly taken: ReadonlySet<string>
  readonly unknown: readonly UnknownWants[]
}

/** All that decides what is pruned. */
export interface PruneFacts<T extends Prunable> {
  readonly objects: readonly T[]
  readonly options: BundleOptions
  /** `removed`: they left the set. The others: the whole bundle leaves. */
  readonly cause: 'removed' | 'unplaced' | 'bundleDeleted'
  /** What other current entries want (I-26). */
  readonly wanted: Wanted
  /** Keys of objects that a person confirmed. */
  readonly confirmed: ReadonlySet<string>
  /** All of the new set is healthy. */
  readonly isHealthy: boolean
  /** The most the cluster's own ceiling allows to be deleted at once. */
  readonly ceiling?: number
}

/** An object that stays. */
export interface Released<T> {
  readonly object: T
  readonly why: string
  /** Another bundle has it, and it would go otherwise: what only this bundle said of it goes. */
  readonly isShared?: boolean
}

/** What to do with the objects. */
export interface PrunePlan<T> {
  readonly remove: readonly T[]
  /** Left in the cluster and forgotten, each with why. */
  readonly release: readonly Released<T>[]
  /** Left in the cluster and still recorded. */
  readonly keep: readonly T[]
  /** Nothing of `remove` may be deleted yet, and what would release it. */
  readonly waits?: string
  /** Some of `keep` may be wanted by a bundle that is not rendered yet: which, and what would release it. */
  readonly held?: string
}

/** Decides what is pruned. */
export function planPrune<T extends Prunable>(facts: PruneFacts<T>): PrunePlan<T> {
  const remove: T[] = []
  const keep: T[] = []
  const release: Released<T>[] = []
  const unconfirmed: T[] = []
  const held: { object: T; by: UnknownWants }[] = []
  for (const object of facts.objects) {
    // It moves: until the other bundle has it, it is not forgotten whose it is.
    if (facts.wanted.objects.has(objectKey(object)) && !facts.wanted.taken.has(objectKey(object))) {
      keep.push(object)
      continue
    }
    const why = whyReleased(object, facts)
    const mode = facts.cause === 'removed' ? (object.prune ?? facts.options.prune?.mode ?? 'Always') : 'Always'
    if (facts.wanted.objects.has(objectKey(object))) {
      const isShared = why === undefined && (mode === 'Always' || mode === 'Last')
      release.push({ object, why: 'another bundle has it', ...compact({ isShared: isShared || undefined }) })
      continue
    }
    if (why !== undefined) {
      release.push({ object, why })
      continue
    }
    if (mode === 'Never' || (mode === 'Last' && !facts.isHealthy)) keep.push(object)
    else if (mode === 'Confirm' && !facts.confirmed.has(objectKey(object))) unconfirmed.push(object)
    else {
      const by = facts.wanted.unknown.find((wants) => mayWant(wants, object))
      if (by) held.push({ object, by })
      else remove.push(object)
    }
  }
  keep.push(...held.map(({ object }) => object))
  const [firstHeld] = held
  const why = firstHeld ? { held: heldSentence(firstHeld.object, firstHeld.by, held.length) } : {}
  const bundleLimit = facts.cause === 'removed' ? facts.options.prune?.max : undefined
  const waits = tooMany(remove.length, bundleLimit, facts.ceiling)
  if (waits !== undefined) return { remove: [], release, keep: [...keep, ...unconfirmed, ...remove], waits, ...why }
  const [first] = unconfirmed
  return {
    remove,
    release,
    keep: [...keep, ...unconfirmed],
    ...compact({ waits: first ? confirmSentence(first, unconfirmed.length) : undefined }),
    ...why,
  }
}

function whyReleased(object: Prunable, facts: PruneFacts<Prunable>): string | undefined {
  const { options, cause } = facts
  if (object.adopted === true) return 'it was there before the bundle'
  // The object's own word is the last, both ways.
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

/** Whether an object may turn out to be one of a bundle's: what is not known is not denied. */
function mayWant({ namespace, mayWrite }: UnknownWants, object: ObjectId): boolean {
  if (mayWrite?.(object) === false) return false
  if (namespace === undefined) return true
  if (object.namespace !== undefined) return object.namespace === namespace
  // It may make its namespace; and which other kinds have none, only the cluster knows.
  return object.kind !== 'Namespace' || object.name === namespace
}

function heldSentence(first: ObjectId, { bundle }: UnknownWants, count: number): string {
  const more = count > 1 ? ` and ${count - 1} more stay` : ' stays'
  return `${describeObject(first)}${more} until bundle ${bundle}, which may want it, is rendered in this cluster: see why it is not`
}

function confirmSentence(first: ObjectId, count: number): string {
  const more = count > 1 ? ` and ${count - 1} more` : ''
  return `${describeObject(first)}${more} left the set; annotate it in the cluster with flotilla.dev/confirm-prune=true to delete it`
}
