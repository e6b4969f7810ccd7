/**
 * Whose an object and its fields are, when a bundle meets them; one owner per field, contested fields are named and
 * never fought over (I-05).
 */
import type { ApiError } from '../../core/errors.ts'
import { describeObject } from '../objects/object-id.ts'
import type { ObjectId } from '../objects/object-id.ts'

/** What a bundle's inventory says about an object. */
export interface OwnRecord {
  readonly uid?: string
  readonly adopted?: boolean
}

/** What another bundle's inventory says about it. */
export interface OtherRecord extends OwnRecord {
  readonly bundle: string
  /** The document still names that bundle. */
  readonly isCurrent: boolean
}

/** All that decides how an object is met. */
export interface OwnershipFacts {
  readonly live: { readonly uid?: string } | undefined
  /** The bundle's own manager has applied the live object. */
  readonly isAppliedByUs: boolean
  readonly recorded: OwnRecord | undefined
  readonly others: readonly OtherRecord[]
  readonly takeover: 'Always' | 'IfNoDiff' | 'Never'
  readonly force: boolean
}

/** How an object is met: whether it is the bundle's, and whether fields of people and controllers are taken. */
export type OwnershipDecision =
  | { readonly kind: 'Create' }
  /** The bundle has it. */
  | { readonly kind: 'Ours'; readonly adopted: boolean }
  /** It is another bundle's as well: disjoint or identical fields are shared. */
  | { readonly kind: 'Share'; readonly adopted: boolean; readonly with: string }
  /** Its bundle left the cluster: it moves over as it is. */
  | { readonly kind: 'Move'; readonly adopted: boolean; readonly from: string }
  | { readonly kind: 'Adopt'; readonly onlyIfSame: boolean }
  | { readonly kind: 'Refuse'; readonly why: string }

/** Decides how a bundle meets an object. */
export function decideOwnership(facts: OwnershipFacts): OwnershipDecision {
  const { live, recorded } = facts
  if (!live) return { kind: 'Create' }
  const isRecorded = recorded !== undefined && recorded.uid !== undefined && recorded.uid === live.uid
  if (isRecorded) return { kind: 'Ours', adopted: recorded.adopted === true }
  const other = facts.others.find(({ uid }) => uid !== undefined && uid === live.uid)
  if (other) {
    const adopted = other.adopted === true
    return other.isCurrent
      ? { kind: 'Share', adopted, with: other.bundle }
      : { kind: 'Move', adopted, from: other.bundle }
  }
  // Recorded before it was written, and then a crash: the cluster itself says that the bundle wrote it. Without a
  // record it is from a former life of the bundle, which let it go, or took it over from another owner: it is not the
  // bundle's to delete.
  if (facts.isAppliedByUs) return { kind: 'Ours', adopted: recorded === undefined || recorded.adopted === true }
  if (facts.takeover === 'Never') {
    return { kind: 'Refuse', why: 'it was there before the bundle, and takeover is Never' }
  }
  return { kind: 'Adopt', onlyIfSame: facts.takeover === 'IfNoDiff' }
}

/** A contested field of an object. */
export interface FieldConflict {
  readonly manager: string
  readonly field: string
}

/** The contested fields of an apply that was refused. */
export function conflictsOf(error: ApiError): FieldConflict[] {
  return (error.details.causes ?? [])
    .filter((cause) => cause.reason === 'FieldManagerConflict')
    .map((cause) => ({ manager: /"((?:[^"\\]|\\.)*)"/.exec(cause.message)?.[1] ?? '', field: cause.field ?? '' }))
}

/** What may be done about a contested object. */
export type ConflictDecision =
  | { readonly kind: 'Take' }
  /** Its owner is about to change, and may let it go. */
  | { readonly kind: 'Wait'; readonly message: string }
  | { readonly kind: 'Refuse'; readonly message: string }

/** A bundle of the document that has an object, and wants it or may want it. */
export interface ContendingBundle {
  readonly bundle: string
  /** It is about to move to another set. */
  readonly isMoving: boolean
}

/** Who contests, as far as it matters. */
export interface ConflictFacts {
  readonly bundle: string
  readonly object: ObjectId
  readonly conflicts: readonly FieldConflict[]
  /** The bundle behind a field manager, if the document names it and it has not let go of the object. */
  readonly holderOf: (manager: string) => ContendingBundle | undefined
  /** The bundle behind a manager left the cluster, or let go of the object. */
  readonly isFormerBundle: (manager: string) => boolean
  /** Fields of people and controllers may be taken. */
  readonly mayTake: boolean
}

/**
 * Decides about contested fields: from a bundle that is here never, from one that left always, from others when it is
 * allowed.
 */
export function decideConflict(facts: ConflictFacts): ConflictDecision {
  const name = describeObject(facts.object)
  for (const { manager, field } of facts.conflicts) {
    const other = facts.holderOf(manager)
    if (other?.isMoving) {
      return {
        kind: 'Wait',
        message: `${name}: field ${field} belongs to bundle ${other.bundle}, which is about to change and may give up the field; bundle ${facts.bundle} waits`,
      }
    }
    if (other) {
      return {
        kind: 'Refuse',
        message: `${name}: field ${field} belongs to bundle ${other.bundle}, and bundle ${facts.bundle} wants another value there; leave it to one of them`,
      }
    }
  }
  const theirs = facts.conflicts.filter(({ manager }) => !facts.isFormerBundle(manager))
  if (facts.mayTake || theirs.length === 0) return { kind: 'Take' }
  const [first] = theirs
  const more = theirs.length > 1 ? ` and ${theirs.length - 1} more` : ''
  return {
    kind: 'Refuse',
    message: `${name}: field ${first!.field}${more} belongs to ${first!.manager}; set apply.force to take it, or leave the field out`,
  }
}
