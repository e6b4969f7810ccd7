// Tested by src/agent/bundles/operation.contract.test.ts
/** All bundles of a cluster: bundles that the document names, and former bundles that it does not name any more. */
import { compact } from '../../core/compact.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { objectKey } from '../../plan/objects/object-id.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'
import type { Executor } from '../../plan/apply/local-limits.ts'
import type { ContendingBundle, OtherRecord } from '../../plan/apply/ownership.ts'
import type { UnknownWants, Wanted } from '../../plan/apply/prune.ts'
import type { BundleRecipe } from '../../render/bundle/recipe.ts'
import type { ReportedFeedback, ReportRow } from '../../wire/link/frames.ts'
import type { BundleRun } from './bundle-run.ts'
import type { Inventory, InventoryObject } from '../cluster/inventory.ts'
import type { Content } from '../documents/content.ts'

/** A bundle of the document, between its steps. */
export interface TrackedBundle {
  readonly run: BundleRun
  row: ReportRow
  /** Observations of single objects, for entries that report them. */
  feedback?: ReportedFeedback | undefined
  /** The row of what ran before this entry, while this entry has not begun. */
  readonly before?: ReportRow | undefined
  /** Monotonic time of the next step. */
  dueAt: number
  /** Failures in a row. */
  failures: number
  /** Time of the admission by the hub, and monotonic time at which the entry arrived. */
  admitted: { readonly issuedMs: number; readonly monotonicMs: number }
}

/** Why the Project of a bundle refuses an object; undefined when the bundle may write it. */
export type ProjectRefusal = (bundle: string, executor: Executor | undefined, id: ObjectId) => string | undefined

/** Creates an empty table. */
export function createBundleTable(content: Content, projectRefusal: ProjectRefusal = () => undefined) {
  const tracked = new Map<string, TrackedBundle>()
  /** Inventories of bundles that the document does not name. They keep their objects: absence is never deletion. */
  let former: Map<string, Inventory> | undefined

  return {
    tracked,
    former: (): ReadonlyMap<string, Inventory> => former ?? new Map(),
    /** True once the inventories of the cluster were read. */
    isKnown: () => former !== undefined,
    learn(inventories: readonly Inventory[]): void {
      former = new Map(inventories.map((inventory) => [inventory.bundle, inventory]))
    },
    keepFormer(inventory: Inventory): void {
      former?.set(inventory.bundle, inventory)
    },
    /** The bundle is in the document again, or removed. */
    dropFormer(bundle: string): void {
      former?.delete(bundle)
    },
    clear(): void {
      tracked.clear()
      former = undefined
    },
    /**
     * The objects that other bundles want now: the objects of their sets, and the rendered objects of recipes (I-26).
     * An object that a bundle does not have, and that its Project refuses, is not wanted: a team could otherwise keep
     * the objects of another team in the cluster.
     */
    async wantedElsewhere(bundle: string, signal: AbortSignal): Promise<Wanted> {
      const objects = new Set<string>()
      const taken = new Set<string>()
      const unknown: UnknownWants[] = []
      for (const { run } of tracked.values()) {
        if (run.entry.bundle === bundle) continue
        const has = new Set((run.inventory?.objects ?? []).map(objectKey))
        for (const object of run.inventory?.objects ?? []) if (isWritten(run, object)) taken.add(objectKey(object))
        const sets = new Set([run.entry.set, ...(run.inventory ? [run.inventory.set] : [])])
        for (const digest of sets) {
          const set = await content.set(digest, signal)
          const named = set.render ? renderedObjects(run, digest) : set.objects.filter(({ hook }) => !hook)
          const mayWrite = (id: ObjectId) => projectRefusal(run.entry.bundle, set.options?.executor, id) === undefined
          for (const object of named ?? []) {
            const key = objectKey(object)
            if (has.has(key) || mayWrite(object)) objects.add(key)
          }
          if (!named) {
            const { targetNamespace } = set.render!.recipe as unknown as BundleRecipe
            unknown.push({ bundle: run.entry.bundle, mayWrite, ...compact({ namespace: targetNamespace }) })
          }
        }
      }
      return { objects, taken, unknown }
    },
    /** The bundles of the document that may want an object: all, except bundles that run a set without the object. */
    holdersOf(key: string): ContendingBundle[] {
      return [...tracked.values()]
        .filter(({ run }) => !isReleased(run, key))
        .map(({ run }) => ({ bundle: run.entry.bundle, isMoving: isMoving(run) }))
    },
    /** The inventory records of other bundles, by object. */
    otherRecords(bundle: string): ReadonlyMap<string, readonly OtherRecord[]> {
      const found = new Map<string, OtherRecord[]>()
      const add = ({ bundle: other, objects }: Inventory, isCurrent: boolean) => {
        for (const object of other === bundle ? [] : objects) {
          const key = objectKey(object)
          const { uid, adopted = false } = object
          found.set(key, [...(found.get(key) ?? []), { bundle: other, isCurrent, adopted, ...compact({ uid }) }])
        }
      }
      for (const { run } of tracked.values()) if (run.inventory) add(run.inventory, true)
      for (const inventory of former?.values() ?? []) add(inventory, false)
      return found
    },
  }
}

function isMoving({ entry, inventory }: BundleRun): boolean {
  return inventory !== undefined && inventory.set !== entry.set && inventory.remedy === undefined
}

/**
 * True when a bundle has written an object as its set wants it. Until then it may still take fields of other bundles.
 */
function isWritten(run: BundleRun, { uid, digest, ...id }: InventoryObject): boolean {
  if (uid === undefined || isMoving(run)) return false
  return run.inventory?.phase !== 'Applying' || run.plan?.byKey.get(objectKey(id))?.digest === digest
}

function isReleased({ entry, set, plan, inventory }: BundleRun, key: string): boolean {
  const isThere = inventory?.set === entry.set && set === entry.set
  return isThere && plan !== undefined && !plan.byKey.has(key)
}

/** The objects of a recipe: from the last rendering, and from the inventory; undefined before the first rendering. */
function renderedObjects({ plan, set, inventory }: BundleRun, digest: Digest): readonly ObjectId[] | undefined {
  if (plan?.rendered && set === digest) return [...plan.objects, ...(inventory?.objects ?? [])]
  return inventory?.rendered !== undefined && inventory.set === digest ? inventory.objects : undefined
}

/** All bundles of a cluster. */
export type BundleTable = ReturnType<typeof createBundleTable>
