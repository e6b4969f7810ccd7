/** All bundles of a cluster: those that the document names, each in a slot, and those that it does not name any more. */
import type { Digest } from '../../core/crypto/digest.ts'
import { objectKey } from '../../plan/objects/object-id.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'
import type { ContendingBundle, OtherRecord } from '../../plan/apply/ownership.ts'
import type { UnknownWants, Wanted } from '../../plan/apply/prune.ts'
import type { BundleRecipe } from '../../render/bundle/recipe.ts'
import type { ReportRow } from '../../wire/link/frames.ts'
import type { BundleRun } from './bundle-run.ts'
import type { Inventory, InventoryObject } from '../cluster/cluster-state.ts'
import type { Content } from '../documents/content.ts'

/** One bundle of the document. */
export interface TrackedBundle {
  readonly run: BundleRun
  row: ReportRow
  dueAt: number
  failures: number
  /** When it was admitted by the hub's time, and when it came by the monotonic clock. */
  came: { readonly issuedMs: number; readonly monotonicMs: number }
}

/** Makes it, empty. */
export function createBundleTable(content: Content) {
  const slots = new Map<string, TrackedBundle>()
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
    /** What other bundles want now: what their sets name, and what came of those that are rendered here (I-26). */
    async wantedElsewhere(bundle: string, signal: AbortSignal): Promise<Wanted> {
      const objects = new Set<string>()
      const taken = new Set<string>()
      const unknown: UnknownWants[] = []
      for (const { run } of slots.values()) {
        if (run.entry.bundle === bundle) continue
        for (const object of run.inventory?.objects ?? []) if (isTaken(run, object)) taken.add(objectKey(object))
        const sets = new Set([run.entry.set, ...(run.inventory ? [run.inventory.set] : [])])
        for (const digest of sets) {
          const set = await content.set(digest, signal)
          const named = set.render ? renderedOf(run, digest) : set.objects.filter(({ hook }) => !hook)
          for (const object of named ?? []) objects.add(objectKey(object))
          if (!named) {
            const { targetNamespace } = set.render!.recipe as unknown as BundleRecipe
            const into = targetNamespace === undefined ? {} : { namespace: targetNamespace }
            unknown.push({ bundle: run.entry.bundle, ...into })
          }
        }
      }
      return { objects, taken, unknown }
    },
    /** The bundles of the document that may want an object: all but those whose present set, which has begun, lacks it. */
    holdersOf(key: string): ContendingBundle[] {
      return [...slots.values()]
        .filter(({ run }) => !hasLetGo(run, key))
        .map(({ run }) => ({ bundle: run.entry.bundle, isMoving: isMoving(run) }))
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

function isMoving({ entry, inventory }: BundleRun): boolean {
  return inventory !== undefined && inventory.set !== entry.set && inventory.remedy === undefined
}

/** Whether a bundle has written an object as its set wants it; until then fields of others may be what it will want next. */
function isTaken(run: BundleRun, { uid, digest, ...id }: InventoryObject): boolean {
  if (uid === undefined || isMoving(run)) return false
  return run.inventory?.phase !== 'Applying' || run.plan?.byKey.get(objectKey(id))?.digest === digest
}

function hasLetGo({ entry, set, plan, inventory }: BundleRun, key: string): boolean {
  const isThere = inventory?.set === entry.set && set === entry.set
  return isThere && plan !== undefined && !plan.byKey.has(key)
}

/** What a bundle wants by a set that is rendered here: what came out last, and what it has; undefined when nothing came out yet. */
function renderedOf({ plan, set, inventory }: BundleRun, digest: Digest): readonly ObjectId[] | undefined {
  if (plan?.rendered && set === digest) return [...plan.objects, ...(inventory?.objects ?? [])]
  return inventory?.rendered !== undefined && inventory.set === digest ? inventory.objects : undefined
}

/** All bundles of a cluster. */
export type BundleTable = ReturnType<typeof createBundleTable>
