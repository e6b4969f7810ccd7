/**
 * Assembles the content of a cluster's document: its present entries, overlaid with new admissions.
 *
 * Absence never removes: an entry is replaced only by a tombstone of its generation or above, and a tombstone leaves
 * only for a receipt or for an admission of a higher generation. Generations never decrease.
 */
import type { Digest } from '../../core/crypto/digest.ts'
import { compareText } from '../../core/text/compare-text.ts'
import type { Revision } from '../fleet/state.ts'
import { strictest } from '../windows/window.ts'
import type { CatchUp } from '../windows/window.ts'

/** A bundle the cluster should run. */
export interface AssembledEntry {
  /** `namespace/name` of a Bundle, or `namespace/delivery:name` of a Delivery. */
  readonly bundle: string
  readonly generation: number
  readonly set: Digest
  /** The Rollout that admitted it, `namespace/name`, or the Delivery itself. */
  readonly rollout: string
  readonly startBy?: string
  /** Number of manual retries. */
  readonly attempt?: number
  /** The last revision before this one that was Ready on this cluster. */
  readonly before?: Revision
  /** Secret values, sealed to a key of this cluster; a new admission has none yet. */
  readonly sealed?: { readonly values: Digest; readonly key: Digest }
  /** RFC 3339. */
  readonly admittedAt?: string
  /** When a cluster that was offline starts the change. */
  readonly catchUp?: CatchUp
  /** Entries with a lower number start first. Defaults to 0. */
  readonly order?: number
}

/** An instruction to remove a bundle from a cluster; nothing else removes a bundle. */
export interface AssembledTombstone {
  readonly bundle: string
  readonly generation: number
  readonly policy: 'Delete' | 'Orphan'
  /** The cause; absent where a person requested this removal. */
  readonly cause?: 'unplaced' | 'bundleDeleted'
  /** The Rollout that admitted it, `namespace/name`. */
  readonly rollout?: string
  /** The first document revision with this tombstone; absent while it is new. */
  readonly since?: number
}

/** An admitted removal of a bundle. */
export type AdmittedRemoval = Omit<AssembledTombstone, 'generation' | 'since'>

/** Inputs of `assemble`. */
export interface AssembleInput {
  /** Entries of the cluster's Assignment. */
  readonly entries: readonly AssembledEntry[]
  readonly tombstones?: readonly AssembledTombstone[]
  /** All admissions of this cluster, of all Rollouts. */
  readonly admissions: readonly AssembledEntry[]
  /** Bundles that the agent reports as Ready at exactly the assigned revision. */
  readonly well?: ReadonlySet<string>
  /** The generation of a bundle that the agent has reported as started. */
  readonly begun?: (bundle: string) => number | undefined
  /** Admitted removals. */
  readonly removals?: readonly AdmittedRemoval[]
  /**
   * Receipts: bundles whose removal the agent confirmed, with the generation and the newest document revision it knew.
   */
  readonly removed?: readonly { readonly bundle: string; readonly generation: number; readonly revision: number }[]
}

/** Two sets with the same generation of a bundle; the document keeps the first. */
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
  /** False: no new document is signed. */
  readonly changed: boolean
  readonly conflicts: readonly AssembleConflict[]
}

/** Compares RFC 3339 times in UTC, which are in order as text. */
function isLater(time: string | undefined, than: string | undefined): boolean {
  return time !== undefined && than !== undefined && compareText(time, than) > 0
}

/** The revision that a rollback returns to: the present revision if it is Ready, otherwise the one recorded before. */
function beforeOf(
  present: AssembledEntry | undefined,
  next: AssembledEntry,
  well: ReadonlySet<string> | undefined,
): Revision | undefined {
  if (!present || present.set === next.set || !well?.has(present.bundle)) return present?.before
  return { generation: present.generation, set: present.set }
}

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
        // Admitted again: an agent that did not start in time, or failed, may start now.
        const { startBy, admittedAt, attempt } = admission
        entries.set(bundle, {
          ...present,
          ...(startBy && { startBy }),
          ...(admittedAt && { admittedAt }),
          ...(attempt && { attempt }),
        })
        changed = true
      } else if ((admission.order ?? 0) !== (present.order ?? 0)) {
        entries.set(bundle, { ...present, order: admission.order ?? 0 })
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
    // A receipt of an earlier removal does not count for this tombstone.
    if (!grave || generation < grave.generation || revision < (grave.since ?? Infinity)) continue
    // A slot for the removed generation is still taken: without the tombstone the bundle would be delivered again.
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

/** A revision that replaces one that the agent never started gets the stricter catch-up policy of the two. */
function withSkipped(
  admission: AssembledEntry,
  skipped: AssembledEntry | undefined,
  begun: number | undefined,
): AssembledEntry {
  if (!skipped?.catchUp || (begun ?? 0) >= skipped.generation) return admission
  return { ...admission, catchUp: strictest([admission.catchUp, skipped.catchUp]) }
}
