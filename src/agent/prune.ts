/** Deleting what left a set, or a whole bundle for its tombstone: the recorded object only, never one that is adopted or wanted elsewhere. */
import type { Logger } from '../core/log.ts'
import { applyOrder, isPrunable } from '../plan/apply-order.ts'
import { isAppliedBy } from './applier.ts'
import type { Applier } from './applier.ts'
import type { InventoryObject } from './cluster-state.ts'
import { describeObject, objectKey } from './object-id.ts'

/** Keys of all objects that other bundles want now; it throws when that cannot be known yet (I-26). */
export type WantedElsewhere = (bundle: string, signal: AbortSignal) => Promise<ReadonlySet<string>>

/** What to prune, and with what. */
export interface PruneRequest {
  readonly bundle: string
  readonly objects: readonly InventoryObject[]
  readonly applier: Applier
  readonly wanted: WantedElsewhere
  readonly log: Logger
}

/** Deletes objects that a bundle no longer has; in the reverse of the order they were applied. */
export async function pruneObjects(request: PruneRequest, signal: AbortSignal): Promise<void> {
  const { bundle, objects, applier, log } = request
  if (objects.length === 0) return
  const wanted = await request.wanted(bundle, signal)
  for (const object of applyOrder(objects).toReversed()) {
    const name = describeObject(object)
    if (wanted.has(objectKey(object))) {
      log.info({ bundle, object: name }, 'left in place: another bundle has it')
    } else if (object.adopted === true || !isPrunable(object)) {
      log.info({ bundle, object: name }, 'left in place: it may hold what the bundle did not bring')
    } else {
      const uid = object.uid ?? (await ownUid(request, object, signal))
      if (uid === undefined) continue
      await applier.remove(object, uid, signal)
      log.info({ bundle, object: name }, 'pruned')
    }
  }
}

// Recorded before it was applied, and then a crash: it is ours only if the cluster says that we applied it.
async function ownUid(
  request: PruneRequest,
  object: InventoryObject,
  signal: AbortSignal,
): Promise<string | undefined> {
  const live = await request.applier.get(object, signal)
  return live && isAppliedBy(live, request.bundle) ? live.metadata.uid : undefined
}
