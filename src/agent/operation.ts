/**
 * One bundle on the cluster, step by step; each step can be the last before a crash and the next start carries on:
 *
 *   inventory old ∪ new ─▶ apply in order ─▶ look until healthy ─▶ prune what left the set ─▶ look now and then, repair
 *      (Applying)            (Applied)          (Progressing)          (Settled, Ready)
 */
import type { Clock } from '../core/clock.ts'
import { Waiting } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import { parseTime } from '../core/time.ts'
import type { UnknownObject } from '../kinds/meta.ts'
import { applyOrder } from '../plan/apply-order.ts'
import { healthOf } from '../plan/health.ts'
import type { Health } from '../plan/health.ts'
import type { DocumentEntry, ObjectSet, SetObject } from '../wire/document.ts'
import type { ReportRow } from '../wire/frames.ts'
import { isAppliedBy, ObjectFailure } from './applier.ts'
import type { Applier } from './applier.ts'
import type { ClusterState, Inventory, InventoryObject } from './cluster-state.ts'
import type { Content } from './content.ts'
import { describeObject, objectKey } from './object-id.ts'
import { pruneObjects } from './prune.ts'
import type { WantedElsewhere } from './prune.ts'

/** What operations need. */
export interface OperationPorts {
  readonly content: Content
  readonly applier: Applier
  readonly state: ClusterState
  readonly clock: Clock
  readonly log: Logger
}

/** What the agent remembers of one bundle between steps. */
export interface BundleRun {
  entry: DocumentEntry
  /** The epoch of the document that asks for it. */
  epoch: number
  inventory: Inventory | undefined
  inventoryRead: boolean
  /** Object key → generation or resourceVersion when it was last seen as it should be. */
  readonly seen: Map<string, string>
}

/** How a bundle does after a step, and when to look again. */
export interface StepResult {
  readonly row: Pick<ReportRow, 'state' | 'message' | 'firstFailing'>
  readonly lookAgainMs: number
}

/** How often a bundle is looked at, by how it does. */
export const LOOK_MS = { progressing: 2000, failed: 5000, ready: 30_000, held: 60_000 } as const

/** A run that has not begun. */
export function newRun(entry: DocumentEntry, epoch: number): BundleRun {
  return { entry, epoch, inventory: undefined, inventoryRead: false, seen: new Map() }
}

/** Makes the stepper of bundles. */
export function createOperation(ports: OperationPorts) {
  const { content, applier, state, clock } = ports
  const log = ports.log.child({ part: 'operation' })

  async function step(run: BundleRun, wanted: WantedElsewhere, signal: AbortSignal): Promise<StepResult> {
    const { bundle } = run.entry
    if (!run.inventoryRead) {
      run.inventory = await state.readInventory(bundle, signal)
      run.inventoryRead = true
    }
    const hold = holdOf(run, clock.now())
    if (hold) return { row: { state: 'Pending', message: hold }, lookAgainMs: LOOK_MS.held }
    const set = await content.complete(run.entry.set, signal)
    if (!isApplied(run)) await applySet(run, set, signal)
    return look(run, set, { wanted, signal })
  }

  async function applySet(run: BundleRun, set: ObjectSet, signal: AbortSignal): Promise<void> {
    const { bundle, generation } = run.entry
    const objects = new Map((run.inventory?.objects ?? []).map((object) => [objectKey(object), object]))
    for (const named of set.objects) {
      const key = objectKey(named)
      const known = objects.get(key)
      objects.set(key, known ?? (await newInventoryObject(bundle, named, signal)))
    }
    const record = async (phase: Inventory['phase']) => {
      const { epoch, entry } = run
      const next = { bundle, generation, epoch, set: entry.set, phase, objects: [...objects.values()] }
      await state.writeInventory(next)
      run.inventory = next
    }
    await record('Applying')
    run.seen.clear()
    for (const named of applyOrder(set.objects)) {
      const key = objectKey(named)
      const known = objects.get(key)!
      // What the bundle already has it keeps; what it meets for the first time it asks for without force.
      const takeOver = known.uid !== undefined && known.adopted !== true
      const live = await applier.apply({ bundle, object: await content.object(named, signal), takeOver }, signal)
      objects.set(key, { ...known, ...(live.metadata.uid === undefined ? {} : { uid: live.metadata.uid }) })
      run.seen.set(key, versionOf(live))
    }
    await record('Applied')
    log.info({ bundle, generation, objects: set.objects.length }, 'set applied')
  }

  async function newInventoryObject(bundle: string, named: SetObject, signal: AbortSignal): Promise<InventoryObject> {
    const { apiVersion, kind, namespace, name } = named
    const id = { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) }
    const live = await applier.get(id, signal)
    return live && !isAppliedBy(live, bundle) ? { ...id, adopted: true } : id
  }

  async function look(
    run: BundleRun,
    set: ObjectSet,
    { wanted, signal }: { wanted: WantedElsewhere; signal: AbortSignal },
  ): Promise<StepResult> {
    let worst: { readonly named: SetObject; readonly health: Health } | undefined
    let drift: string | undefined
    for (const named of applyOrder(set.objects)) {
      const { live, drifted } = await keep(run, named, signal)
      drift ??= drifted
      const health = healthOf(live)
      if (health.state !== 'Ready' && (!worst || (health.state === 'Failed' && worst.health.state !== 'Failed'))) {
        worst = { named, health }
      }
    }
    if (worst) {
      const { named, health } = worst
      const firstFailing = describeObject(named)
      const lookAgainMs = health.state === 'Failed' ? LOOK_MS.failed : LOOK_MS.progressing
      return { row: { state: health.state, message: `${firstFailing}: ${health.message}`, firstFailing }, lookAgainMs }
    }
    if (run.inventory?.phase !== 'Settled') await settle(run, set, { wanted, signal })
    if (drift !== undefined) return { row: { state: 'Drifted', message: drift }, lookAgainMs: LOOK_MS.ready }
    return { row: { state: 'Ready' }, lookAgainMs: LOOK_MS.ready }
  }

  /** The live object; one that is gone or was changed is applied again, without taking fields from anybody. */
  async function keep(
    run: BundleRun,
    named: SetObject,
    signal: AbortSignal,
  ): Promise<{ readonly live: UnknownObject; readonly drifted?: string }> {
    const { bundle } = run.entry
    const key = objectKey(named)
    const live = await applier.get(named, signal)
    if (live && run.seen.get(key) === versionOf(live)) return { live }
    if (run.seen.has(key))
      log.info({ bundle, object: describeObject(named), gone: !live }, 'object changed, applying it again')
    try {
      const object = await content.object(named, signal)
      const repaired = await applier.apply({ bundle, object, takeOver: false }, signal)
      run.seen.set(key, versionOf(repaired))
      if (repaired.metadata.uid !== live?.metadata.uid) await recordUid(run, key, repaired)
      return { live: repaired }
    } catch (caught) {
      if (!live || !(caught instanceof ObjectFailure)) throw caught
      // Somebody else owns a field now. Not fought over: shown, and left as it is until the set or the object changes.
      run.seen.set(key, versionOf(live))
      return { live, drifted: caught.message }
    }
  }

  async function recordUid(run: BundleRun, key: string, live: UnknownObject): Promise<void> {
    const { inventory } = run
    const { uid } = live.metadata
    if (!inventory || uid === undefined) return
    const objects = inventory.objects.map((object) => (objectKey(object) === key ? { ...object, uid } : object))
    run.inventory = { ...inventory, objects }
    await state.writeInventory(run.inventory)
  }

  async function settle(
    run: BundleRun,
    set: ObjectSet,
    { wanted, signal }: { wanted: WantedElsewhere; signal: AbortSignal },
  ): Promise<void> {
    const inventory = run.inventory!
    const kept = new Set(set.objects.map((named) => objectKey(named)))
    const gone = inventory.objects.filter((object) => !kept.has(objectKey(object)))
    await pruneObjects({ bundle: inventory.bundle, objects: gone, applier, wanted, log }, signal)
    const objects = inventory.objects.filter((object) => kept.has(objectKey(object)))
    run.inventory = { ...inventory, phase: 'Settled', objects }
    await state.writeInventory(run.inventory)
    log.info({ bundle: inventory.bundle, generation: inventory.generation, pruned: gone.length }, 'bundle is ready')
  }

  return { step }
}

function isApplied({ inventory, entry }: BundleRun): boolean {
  return inventory !== undefined && inventory.set === entry.set && inventory.phase !== 'Applying'
}

// Why a bundle may not begin now; what has begun is carried through.
function holdOf(run: BundleRun, now: number): string | undefined {
  const { inventory, entry, epoch } = run
  if (inventory?.set === entry.set) return undefined
  if (inventory && inventory.epoch < epoch && entry.generation < inventory.generation) {
    return `a new epoch began: held at generation ${inventory.generation} until the hub reaches it again`
  }
  const startBy = entry.startBy === undefined ? undefined : parseTime(entry.startBy)
  if (startBy !== undefined && now > startBy) return `it was to start by ${entry.startBy}; waiting to be admitted again`
  return undefined
}

// Status changes move the resourceVersion only; what a bundle owns shows in the generation where there is one.
function versionOf({ metadata }: UnknownObject): string {
  return metadata.generation === undefined
    ? `r${metadata.resourceVersion ?? ''}`
    : `g${metadata.generation}/${metadata.uid ?? ''}`
}

/** The row for a step that failed; undefined when the failure says nothing about the bundle. */
export function rowOfFailure(caught: unknown): StepResult['row'] | undefined {
  if (caught instanceof ObjectFailure) {
    return { state: 'Failed', message: caught.message, firstFailing: describeObject(caught.object) }
  }
  if (caught instanceof Waiting) return { state: 'Pending', message: caught.message }
  return undefined
}
