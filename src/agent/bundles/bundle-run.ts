/** What the agent remembers of one bundle between steps; all of it can be found again after a restart. */
import type { Digest } from '../../core/crypto/digest.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { DriftHistory } from '../../plan/apply/drift.ts'
import type { HealthVerdict } from '../../plan/health/health-rules.ts'
import { objectKey } from '../../plan/objects/object-id.ts'
import type { Rerenders } from '../../plan/apply/rerender.ts'
import { decideOwnership } from '../../plan/apply/ownership.ts'
import type { OwnershipDecision, OtherRecord } from '../../plan/apply/ownership.ts'
import type { DocumentEntry } from '../../wire/document/cluster-document.ts'
import type { ReportRow } from '../../wire/link/frames.ts'
import { fieldManager, isAppliedBy } from '../cluster/applier.ts'
import type { Inventory, InventoryObject } from '../cluster/cluster-state.ts'
import type { PlannedObject, SetPlan } from '../documents/set-plan.ts'

/** One bundle, as it is being run. */
export interface BundleRun {
  entry: DocumentEntry
  /** The epoch of the document that asks for it. */
  epoch: number
  readonly manager: string
  /** The set it works on: the one that is asked for, or the one that was gone back to. */
  set: Digest
  /** How often somebody asked to try again, as far as that has begun. */
  attempt: number
  inventory: Inventory | undefined
  inventoryRead: boolean
  plan: SetPlan | undefined
  /** What the plan was made of changed in the cluster, so that it is made again. */
  isStale: boolean
  /** How often rendering again made other objects. */
  rerenders: Rerenders | undefined
  /** What the inventory says, by key; ahead of it between two writes. */
  records: Map<string, InventoryObject>
  /** How objects were met when the operation began. */
  readonly ownershipDecisions: Map<string, OwnershipDecision>
  /** What is not as it should be, by key. */
  readonly drifts: Map<string, Drift>
  /** What the bundle's own rules said about objects, each with the version it was said of. */
  readonly judged: Map<string, { readonly version: string; readonly judgement: HealthVerdict }>
  /** What was corrected, and when. */
  readonly corrections: Map<string, DriftHistory>
  /** Objects that this operation has written, or found as they should be. */
  readonly done: Set<string>
}

/** One object that somebody changed and that is not changed back. */
export interface Drift {
  readonly message: string
  /** The fields, each with who has it now. */
  readonly fields: readonly string[]
  readonly since: string
  /** The version of the object this was found at; `gone` when it was deleted. */
  readonly version: string
  /** When correcting is tried again, on the monotonic clock. */
  readonly retryAtMs?: number
}

/** How a bundle does after a step, and when to look again. */
export interface StepResult {
  readonly row: Pick<ReportRow, 'state' | 'message' | 'firstFailing'>
  readonly lookAgainMs: number
}

/** How often a bundle is looked at, by how it does; changes of what is watched come at once. */
export const OBSERVE_INTERVAL_MS = {
  progressing: 2000,
  failed: 5000,
  polled: 30_000,
  ready: 300_000,
  held: 60_000,
} as const

/** A run that has not begun. */
export function newRun(entry: DocumentEntry, epoch: number): BundleRun {
  return {
    entry,
    epoch,
    manager: fieldManager(entry.bundle),
    set: entry.set,
    attempt: entry.attempt ?? 0,
    inventory: undefined,
    inventoryRead: false,
    plan: undefined,
    isStale: false,
    rerenders: undefined,
    records: new Map(),
    ownershipDecisions: new Map(),
    drifts: new Map(),
    corrections: new Map(),
    judged: new Map(),
    done: new Set(),
  }
}

/** Takes what was read from the cluster. */
export function loadInventory(run: BundleRun, inventory: Inventory | undefined): void {
  run.inventory = inventory
  run.inventoryRead = true
  run.records = new Map((inventory?.objects ?? []).map((object) => [objectKey(object), object]))
  // What was written since then is in no record: it counts as not done, or the records would tell of older content for good.
  run.ownershipDecisions.clear()
  run.done.clear()
}

/** Where a bundle is, beside what it has. */
export type Progress = Omit<Inventory, 'bundle' | 'generation' | 'epoch' | 'set' | 'rendered' | 'removed' | 'objects'>

/** The inventory as it should be written now. */
export function buildInventory(
  run: BundleRun,
  { phase, operation, options, history, operations, hooks, remedy }: Progress,
): Inventory {
  const { bundle, generation } = run.entry
  const before = run.inventory?.objects
  const objects = [...run.records.values()]
  const isSame = before?.length === objects.length && before.every((object, index) => object === objects[index])
  return {
    bundle,
    generation,
    epoch: run.epoch,
    set: run.set,
    phase,
    ...(operation ? { operation } : {}),
    ...(operations === undefined ? {} : { operations }),
    ...(hooks && hooks.length > 0 ? { hooks } : {}),
    ...(remedy ? { remedy } : {}),
    ...(history ? { history } : {}),
    ...(options ? { options } : {}),
    ...(run.plan?.rendered ? { rendered: run.plan.rendered.mark } : {}),
    // The very same list is not written again.
    objects: isSame ? before : objects,
  }
}

/** How a bundle meets an object that is, or is not, there. */
export function decideObjectOwnership(
  run: BundleRun,
  planned: PlannedObject,
  live: UnknownObject | undefined,
  others: readonly OtherRecord[] = [],
): OwnershipDecision {
  const { takeover, force } = planned.options
  return decideOwnership({
    live: live && uidOf(live),
    isAppliedByUs: live !== undefined && isAppliedBy(live, run.entry.bundle),
    recorded: run.records.get(planned.key),
    others,
    takeover,
    force,
  })
}

function uidOf({ metadata: { uid } }: UnknownObject): { readonly uid?: string } {
  return uid === undefined ? {} : { uid }
}

/** Turns a run to another set. */
export function switchSet(run: BundleRun, set: Digest): void {
  if (run.set === set) return
  run.set = set
  run.plan = undefined
  forgetObjects(run)
}

/** Gives a run another plan for the same set: its objects became others. */
export function replan(run: BundleRun, plan: SetPlan): void {
  run.plan = plan
  forgetObjects(run)
}

function forgetObjects(run: BundleRun): void {
  for (const memory of [run.ownershipDecisions, run.done, run.drifts, run.judged, run.corrections]) memory.clear()
}
