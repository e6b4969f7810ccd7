/**
 * What a cluster's document says: what it said before, overlaid with what has been admitted since.
 *
 * Absence never removes: an entry leaves only for a tombstone at its generation or above, and a tombstone leaves only for
 * a receipt or for an admission above it. Generations never go back.
 */
import type { Digest } from '../../core/crypto/digest.ts'
import { compareText } from '../../core/text/compare-text.ts'
import type { Revision } from '../fleet/state.ts'
import { strictest } from '../windows/window.ts'
import type { CatchUp } from '../windows/window.ts'

/** One bundle the cluster should run. */
export interface AssembledEntry {
  /** `namespace/name`. */
  readonly bundle: string
  readonly generation: number
  readonly set: Digest
  /** The Rollout that admitted it, `namespace/name`. */
  readonly rollout: string
  readonly startBy?: string
  /** How often somebody asked to try it again. */
  readonly attempt?: number
  /** The last revision before it that was well here. */
  readonly before?: Revision
  /** Its secret values, sealed to a key of this cluster; a new admission has none yet. */
  readonly sealed?: { readonly values: Digest; readonly key: Digest }
  /** RFC 3339. */
  readonly admittedAt?: string
  /** What a cluster does that was away when it came. */
  readonly catchUp?: CatchUp
}

/** The only thing that removes a bundle from a cluster. */
export interface AssembledTombstone {
  readonly bundle: string
  readonly generation: number
  readonly policy: 'Delete' | 'Orphan'
  /** Why; absent where somebody decided for this very removal. */
  readonly cause?: 'unplaced' | 'bundleDeleted'
  /** The Rollout that admitted it, `namespace/name`. */
  readonly rollout?: string
  /** The revision that brought it; absent while it is new. */
  readonly since?: number
}

/** An admitted removal: what the document has of the bundle goes. */
export type AdmittedRemoval = Omit<AssembledTombstone, 'generation' | 'since'>

/** What to put together. */
export interface AssembleInput {
  /** What the cluster's Assignment says now. */
  readonly entries: readonly AssembledEntry[]
  readonly tombstones?: readonly AssembledTombstone[]
  /** Every Rollout admission of this cluster. */
  readonly admissions: readonly AssembledEntry[]
  /** Bundles that the cluster reports well at exactly what the Assignment says. */
  readonly well?: ReadonlySet<string>
  /** The generation of a bundle that the cluster has begun, as far as it said; a revision it has not begun is skipped. */
  readonly begun?: (bundle: string) => number | undefined
  /** Admitted removals. */
  readonly removals?: readonly AdmittedRemoval[]
  /** Bundles whose removal the cluster has confirmed, with the generation of the receipt and the revision it had seen by then. */
  readonly removed?: readonly { readonly bundle: string; readonly generation: number; readonly revision: number }[]
}

/** Two contents claim one generation of a bundle; the document keeps the first. */
export interface AssembleConflict {
  readonly bundle: string
  readonly generation: number
  readonly kept: Digest
  readonly refused: Digest
}

/** The document's content, in order of bundle. */
export interface Assembled {
  readonly entries: readonly AssembledEntry[]
  readonly tombstones: readonly AssembledTombstone[]
  /** False: nothing to sign, nothing to write. */
  readonly changed: boolean
  readonly conflicts: readonly AssembleConflict[]
}

/** Whether a time comes after another one; RFC 3339 in UTC is in order as text. */
function isLater(time: string | undefined, than: string | undefined): boolean {
  return time !== undefined && than !== undefined && compareText(time, than) > 0
}

/** What a pair goes back to: what it ran well until now, or else what it ran well before that. */
function beforeOf(
  present: AssembledEntry | undefined,
  next: AssembledEntry,
  well: ReadonlySet<string> | undefined,
): Revision | undefined {
  if (!present || present.set === next.set || !well?.has(present.bundle)) return present?.before
  return { generation: present.generation, set: present.set }
}

/** Puts a cluster's content together. */
export function assemble(input: AssembleInput): Assembled {
  const entries = new Map(input.entries.map((entry) => [entry.bundle, entry]))
  const tombstones = new Map((input.tombstones ?? []).map((tombstone) => [tombstone.bundle, tombstone]))
  const conflicts: AssembleConflict[] = []
  let changed = false

  for (const admission of input.admissions) {
    const grave = tombstones.get(admission.bundle)
    if (grave && grave.generation >= admission.generation) continue
    const present = entries.get(admission.bundle)
    if (present && present.generation > admission.generation) continue
    if (present && present.generation === admission.generation) {
      const { bundle, generation } = present
      if (present.set !== admission.set)
        conflicts.push({ bundle, generation, kept: present.set, refused: admission.set })
      else if (isLater(admission.startBy, present.startBy) || (admission.attempt ?? 0) > (present.attempt ?? 0)) {
        // Admitted again: an agent that did not begin in time, or failed, may begin now.
        const { startBy, admittedAt, attempt } = admission
        entries.set(bundle, {
          ...present,
          ...(startBy && { startBy }),
          ...(admittedAt && { admittedAt }),
          ...(attempt && { attempt }),
        })
        changed = true
      }
      continue
    }
    const before = beforeOf(present, admission, input.well)
    const next = withSkipped(admission, present, input.begun?.(admission.bundle))
    entries.set(admission.bundle, before ? { ...next, before } : next)
    tombstones.delete(admission.bundle)
    changed = true
  }

  for (const { bundle, ...removal } of input.removals ?? []) {
    const present = entries.get(bundle)
    if (!present) continue
    entries.delete(bundle)
    const generation = Math.max(present.generation, tombstones.get(bundle)?.generation ?? 0)
    tombstones.set(bundle, { ...removal, bundle, generation })
    changed = true
  }

  for (const { bundle, generation, revision } of input.removed ?? []) {
    const grave = tombstones.get(bundle)
    // A receipt of a former removal says nothing about this one.
    if (!grave || generation < grave.generation || revision < (grave.since ?? Infinity)) continue
    // Somebody still holds a slot to bring what it removes: without the tombstone that would come back.
    if (input.admissions.some((one) => one.bundle === bundle && one.generation <= grave.generation)) continue
    tombstones.delete(bundle)
    changed = true
  }

  const byBundle = (a: { bundle: string }, b: { bundle: string }) => compareText(a.bundle, b.bundle)
  return {
    entries: [...entries.values()].sort(byBundle),
    tombstones: [...tombstones.values()].sort(byBundle),
    changed,
    conflicts,
  }
}

/** A revision that takes the place of one the cluster never began is caught up with under the stricter of the two policies. */
function withSkipped(
  admission: AssembledEntry,
  skipped: AssembledEntry | undefined,
  begun: number | undefined,
): AssembledEntry {
  if (!skipped?.catchUp || (begun ?? 0) >= skipped.generation) return admission
  return { ...admission, catchUp: strictest([admission.catchUp, skipped.catchUp]) }
}
