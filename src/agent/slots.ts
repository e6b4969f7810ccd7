/** All bundles of a cluster: those that the document names, each in a slot, and those that it does not name any more. */
import { Waiting } from '../core/errors.ts'
import { objectKey } from '../plan/object-id.ts'
import type { ObjectId } from '../plan/object-id.ts'
import type { OtherRecord } from '../plan/ownership.ts'
import type { ReportRow } from '../wire/frames.ts'
import type { BundleRun } from './bundle-run.ts'
import type { Inventory } from './cluster-state.ts'
import type { Content } from './content.ts'

/** One bundle of the document. */
export interface Slot {
  readonly run: BundleRun
  row: ReportRow
  dueAt: number
  failures: number
  /** When it was admitted by the hub's time, and when it came by the monotonic clock. */
  came: { readonly issuedMs: number; readonly monotonicMs: number }
}

const AGAIN_MS = 2000

/** Makes it, empty. */
export function createSlots(content: Content) {
  const slots = new Map<string, Slot>()
  /** Inventories of bundles that the document does not name: absence is never deletion, and what they have is still theirs. */
  let former: Map<string, Inventory> | undefined

  return {
    slots,
    former: (): ReadonlyMap<string, Inventory> => former ?? new Map(),
    /** Whether it is known which bundles were here before. */
    isKnown: () => former !== undefined,
    learn(inventories: readonly Inventory[]): void {
      former = new Map(inventories.map((inventory) => [inventory.bundle, inventory]))
    },
    keepFormer(inventory: Inventory): void {
      former?.set(inventory.bundle, inventory)
    },
    /** It is in the document again, or gone. */
    dropFormer(bundle: string): void {
      former?.delete(bundle)
    },
    clear(): void {
      slots.clear()
      former = undefined
    },
    /** Keys of all objects that other bundles want now; it throws when that cannot be known yet (I-26). */
    async wantedElsewhere(bundle: string, signal: AbortSignal): Promise<ReadonlySet<string>> {
      const keys = new Set<string>()
      for (const { run } of slots.values()) {
        if (run.entry.bundle === bundle) continue
        const sets = new Set([run.entry.set, ...(run.inventory ? [run.inventory.set] : [])])
        for (const digest of sets) {
          const { objects, render } = await content.set(digest, signal)
          const named = render ? renderedOf(run) : objects.filter(({ hook }) => !hook)
          for (const object of named) keys.add(objectKey(object))
        }
      }
      return keys
    },
    /** What other bundles have recorded, by object. */
    otherRecords(bundle: string): ReadonlyMap<string, readonly OtherRecord[]> {
      const found = new Map<string, OtherRecord[]>()
      const add = ({ bundle: other, objects }: Inventory, isCurrent: boolean) => {
        for (const object of other === bundle ? [] : objects) {
          const key = objectKey(object)
          const record = { bundle: other, isCurrent, ...(object.uid === undefined ? {} : { uid: object.uid }) }
          found.set(key, [...(found.get(key) ?? []), { ...record, adopted: object.adopted === true }])
        }
      }
      for (const { run } of slots.values()) if (run.inventory) add(run.inventory, true)
      for (const inventory of former?.values() ?? []) add(inventory, false)
      return found
    },
  }
}

/** What a bundle wants that is rendered here: what came out last, and what it has. */
function renderedOf({ plan, inventory, entry }: BundleRun): readonly ObjectId[] {
  if (plan?.rendered) return [...plan.objects, ...(inventory?.objects ?? [])]
  if (inventory?.rendered !== undefined && inventory.set === entry.set) return inventory.objects
  throw new Waiting(
    'NotRendered',
    `what bundle ${entry.bundle} wants is not known before it is rendered here`,
    AGAIN_MS,
  )
}

/** All bundles of a cluster. */
export type Slots = ReturnType<typeof createSlots>
