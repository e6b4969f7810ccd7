/** Deleting what left a set, or a whole bundle for its tombstone; plan/apply/prune.ts says what, here it is done: the recorded object only, by its UID. */
import type { Logger } from '../../core/log.ts'
import { inParallel } from '../../core/async/in-parallel.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { applyOrder, applyRank } from '../../plan/apply/apply-order.ts'
import { describeObject, objectKey } from '../../plan/objects/object-id.ts'
import { CONFIRM_PRUNE, isKeptKind } from '../../plan/objects/object-options.ts'
import { planPrune } from '../../plan/apply/prune.ts'
import type { Wanted } from '../../plan/apply/prune.ts'
import { isAppliedBy } from './applier.ts'
import type { Applier } from './applier.ts'
import type { InventoryObject } from './cluster-state.ts'

/** What other bundles want now (I-26). */
export type WantedElsewhere = (bundle: string, signal: AbortSignal) => Promise<Wanted>

/** What to prune, and with what. */
export interface PruneRequest {
  readonly bundle: string
  readonly objects: readonly InventoryObject[]
  readonly options: BundleOptions
  readonly cause: 'removed' | 'unplaced' | 'bundleDeleted'
  readonly isHealthy: boolean
  readonly ceiling: number | undefined
  readonly applier: Applier
  readonly wanted: WantedElsewhere
  readonly log: Logger
}

/** What became of the objects. */
export interface Pruned {
  /** Keys of objects the bundle no longer has, deleted or left to others. */
  readonly forgotten: readonly string[]
  /** Of those: left in the cluster, each with why. */
  readonly released: readonly { readonly object: InventoryObject; readonly why: string }[]
  /** Why something is still there, and what would release it. */
  readonly waits?: string
  /** Why something stays that another bundle may turn out to want. */
  readonly held?: string
}

const AT_ONCE = 8

/** Deletes objects that a bundle no longer has, in the reverse of the order they were applied: waves, kinds, then what the others live in. */
export async function pruneObjects(request: PruneRequest, signal: AbortSignal): Promise<Pruned> {
  const { bundle, objects, applier, log, options } = request
  if (objects.length === 0) return { forgotten: [], released: [] }
  const wanted = await request.wanted(bundle, signal)
  const plan = planPrune({
    objects,
    options,
    cause: request.cause,
    wanted,
    confirmed: await confirmedOf(request, signal),
    isHealthy: request.isHealthy,
    ...(request.ceiling === undefined ? {} : { ceiling: request.ceiling }),
  })
  for (const { object, why } of plan.release) log.info({ bundle, object: describeObject(object), why }, 'left in place')
  const released = plan.release
  const held = plan.held === undefined ? {} : { held: plan.held }
  await inParallel(released, AT_ONCE, async ({ object, isShared }) => {
    if (isShared === true) await applier.letGo(object, bundle, signal)
  })
  const forgotten = released.map(({ object }) => objectKey(object))
  const propagation = options.delete?.propagation ?? 'Background'

  const removeAll = async (some: readonly InventoryObject[]) => {
    await inParallel(some, AT_ONCE, async (object) => {
      const uid = object.uid ?? (await ownUid(request, object, signal))
      if (uid === undefined) return
      await applier.remove(object, { uid, propagation }, signal)
      log.info({ bundle, object: describeObject(object) }, 'pruned')
    })
  }
  const inside = plan.remove.filter((object) => !isKeptKind(object))
  const outside = plan.remove.filter((object) => isKeptKind(object))
  const waves = [...Map.groupBy(inside, ({ wave = 0 }) => wave)].toSorted(([a], [b]) => b - a)
  for (const [index, [, members]] of waves.entries()) {
    const groups = [...Map.groupBy(applyOrder(members), applyRank).values()].toReversed()
    for (const group of groups) await removeAll(group)
    // A bundle that leaves goes wave by wave, as it came.
    const isLast = index === waves.length - 1
    const isAwaited = isLast ? outside.length > 0 : request.cause !== 'removed'
    const still = isAwaited ? await stillThere(members, applier, signal) : []
    forgotten.push(...members.filter((object) => !still.includes(object)).map(objectKey))
    const [first] = still
    if (first) return { forgotten, released, waits: `waiting for ${describeObject(first)} to be gone`, ...held }
  }
  await removeAll(applyOrder(outside).toReversed())
  forgotten.push(...outside.map(objectKey))
  return { forgotten, released, ...held, ...(plan.waits === undefined ? {} : { waits: plan.waits }) }
}

// Namespaces and CRDs take everything in them along: first what is in them ends in its own way.
async function stillThere(
  objects: readonly InventoryObject[],
  applier: Applier,
  signal: AbortSignal,
): Promise<InventoryObject[]> {
  const found: InventoryObject[] = []
  await inParallel(objects, AT_ONCE, async (object) => {
    const live = await applier.get(object, signal)
    if (live && live.metadata.uid === object.uid) found.push(object)
  })
  return found
}

async function confirmedOf(request: PruneRequest, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const confirmed = new Set<string>()
  if (request.cause !== 'removed') return confirmed
  for (const object of request.objects) {
    if ((object.prune ?? request.options.prune?.mode) !== 'Confirm') continue
    const live = await request.applier.get(object, signal)
    if (!live || live.metadata.annotations?.[CONFIRM_PRUNE] === 'true') confirmed.add(objectKey(object))
  }
  return confirmed
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
