// Tested by src/agent/bundles/removal/removal.contract.test.ts
/**
 * Prunes objects that left a set, or all objects of a bundle for its tombstone. plan/apply/prune.ts decides which; only
 * the recorded object is deleted, by its UID.
 */
import { compact } from '../../core/compact.ts'
import type { Logger } from '../../core/log.ts'
import { inParallel } from '../../core/async/in-parallel.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { applyOrder, applyRank } from '../../plan/apply/apply-order.ts'
import { describeObject, objectKey } from '../../plan/objects/object-id.ts'
import { CONFIRM_PRUNE, isKeptKind } from '../../plan/objects/object-options.ts'
import { planPrune } from '../../plan/apply/prune.ts'
import type { Wanted } from '../../plan/apply/prune.ts'
import { isAppliedBy } from './field-manager.ts'
import type { Applier } from './applier.ts'
import type { InventoryObject } from './inventory.ts'

/** The objects that other bundles want now (I-26). */
export type WantedElsewhere = (bundle: string, signal: AbortSignal) => Promise<Wanted>

/** The objects to prune, and the rules. */
export interface PruneRequest {
  readonly bundle: string
  readonly objects: readonly InventoryObject[]
  readonly options: BundleOptions
  readonly cause: 'removed' | 'unplaced' | 'bundleDeleted'
  readonly isHealthy: boolean
  /** Maximum number of objects of a bundle that may be deleted at once. */
  readonly maxPrune: number | undefined
  readonly applier: Applier
  readonly wanted: WantedElsewhere
  readonly log: Logger
}

/** The result of pruning. */
export interface Pruned {
  /** Keys of objects that the bundle no longer has: deleted, or left in the cluster. */
  readonly forgotten: readonly string[]
  /** Objects left in the cluster, each with the reason. */
  readonly released: readonly { readonly object: InventoryObject; readonly why: string }[]
  /** Why objects wait, and what lets the pruning continue. */
  readonly waits?: string
  /** Why objects stay that another bundle may want. */
  readonly held?: string
}

const AT_ONCE = 8

/** The kind that protects Pods of workloads until they are gone. */
const GUARD = 'NetworkPolicy'
const WORKLOADS: ReadonlySet<string> = new Set([
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'ReplicaSet',
  'ReplicationController',
  'Job',
  'CronJob',
  'Pod',
])

function isWorkload({ kind }: InventoryObject): boolean {
  return WORKLOADS.has(kind)
}

/** Deletes objects in the reverse of the apply order: by wave, then by kind; namespaces and CRDs last. */
export async function pruneObjects(request: PruneRequest, signal: AbortSignal): Promise<Pruned> {
  const { bundle, objects, applier, log, options } = request
  if (objects.length === 0) return { forgotten: [], released: [] }
  const wanted = await request.wanted(bundle, signal)
  const plan = planPrune({
    objects,
    options,
    cause: request.cause,
    wanted,
    confirmed: await findConfirmed(request, signal),
    isHealthy: request.isHealthy,
    ...compact({ ceiling: request.maxPrune }),
  })
  for (const { object, why } of plan.release) log.info({ bundle, object: describeObject(object), why }, 'left in place')
  const released = plan.release
  const held = compact({ held: plan.held })
  await inParallel(released, AT_ONCE, async ({ object, isShared }) => {
    if (isShared === true) await applier.letGo(object, bundle, signal)
  })
  const forgotten = released.map(({ object }) => objectKey(object))
  // Pods that still end must not lose their NetworkPolicy first: with Foreground a workload is there until its Pods are
  // gone.
  const isGuarded = plan.remove.some(({ kind }) => kind === GUARD)
  const propagationOf = ({ kind }: InventoryObject) =>
    options.delete?.propagation ?? (isGuarded && WORKLOADS.has(kind) ? 'Foreground' : 'Background')

  const removeAll = async (members: readonly InventoryObject[]) => {
    await inParallel(members, AT_ONCE, async (object) => {
      const uid = object.uid ?? (await findAppliedUid(request, object, signal))
      if (uid === undefined) return
      await applier.remove(object, { uid, propagation: propagationOf(object) }, signal)
      log.info({ bundle, object: describeObject(object) }, 'pruned')
    })
  }
  const inside = plan.remove.filter((object) => !isKeptKind(object))
  const outside = plan.remove.filter((object) => isKeptKind(object))
  const waves = [...Map.groupBy(inside, ({ wave = 0 }) => wave)].toSorted(([a], [b]) => b - a)
  for (const [index, [, members]] of waves.entries()) {
    const groups = [...Map.groupBy(applyOrder(members), applyRank).values()].toReversed()
    const earlier: InventoryObject[] = []
    for (const group of groups) {
      const running = group[0]?.kind === GUARD ? await stillThere(earlier.filter(isWorkload), applier, signal) : []
      const [workload] = running
      if (workload) {
        forgotten.push(...earlier.filter((object) => !running.includes(object)).map(objectKey))
        const waits = `waiting until ${describeObject(workload)} and its Pods are deleted; NetworkPolicies are deleted afterwards`
        return { forgotten, released, waits, ...held }
      }
      await removeAll(group)
      earlier.push(...group)
    }
    // A bundle is removed wave by wave, as it was applied.
    const isLast = index === waves.length - 1
    const isAwaited = isLast ? outside.length > 0 : request.cause !== 'removed'
    const still = isAwaited ? await stillThere(members, applier, signal) : []
    forgotten.push(...members.filter((object) => !still.includes(object)).map(objectKey))
    const [first] = still
    if (first) return { forgotten, released, waits: `waiting until ${describeObject(first)} is deleted`, ...held }
  }
  await removeAll(applyOrder(outside).toReversed())
  forgotten.push(...outside.map(objectKey))
  return { forgotten, released, ...held, ...compact({ waits: plan.waits }) }
}

// The deletion of a namespace or CRD deletes all objects in it: the objects in it must end in their own way first.
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

async function findConfirmed(request: PruneRequest, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const confirmed = new Set<string>()
  if (request.cause !== 'removed') return confirmed
  for (const object of request.objects) {
    if ((object.prune ?? request.options.prune?.mode) !== 'Confirm') continue
    const live = await request.applier.get(object, signal)
    if (!live || live.metadata.annotations?.[CONFIRM_PRUNE] === 'true') confirmed.add(objectKey(object))
  }
  return confirmed
}

// A record without a UID: the agent crashed before or after the apply. The field manager tells whether it applied.
async function findAppliedUid(
  request: PruneRequest,
  object: InventoryObject,
  signal: AbortSignal,
): Promise<string | undefined> {
  const live = await request.applier.get(object, signal)
  return live && isAppliedBy(live, request.bundle) ? live.metadata.uid : undefined
}
