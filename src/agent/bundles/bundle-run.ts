// Tested by src/agent/bundles/operation.contract.test.ts
/** What the agent remembers of a bundle between steps. After a restart all of it can be read again. */
import { compact } from '../../core/compact.ts'
import { jsonEqual } from '../../core/json.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { parseTime } from '../../core/time/time.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { DriftHistory } from '../../plan/apply/drift.ts'
import type { Health } from '../../plan/health/object-health.ts'
import type { HealthVerdict } from '../../plan/health/health-rules.ts'
import type { HandoverRule } from '../../plan/handover/handover-rule.ts'
import { objectKey } from '../../plan/objects/object-id.ts'
import type { Rerenders } from '../../plan/apply/rerender.ts'
import { decideOwnership } from '../../plan/apply/ownership.ts'
import type { OwnershipDecision, OtherRecord } from '../../plan/apply/ownership.ts'
import type { FieldValues } from '../../plan/drift/drift-values.ts'
import { decisionsFor, isInForce, withDriftDecisions } from '../../plan/drift/drift-rules.ts'
import type { DriftDecisionFor, DriftRule } from '../../plan/drift/drift-rules.ts'
import type { ObjectOptions } from '../../plan/objects/object-options.ts'
import type { DocumentEntry } from '../../wire/document/cluster-document.ts'
import type { ReportRow } from '../../wire/link/frames.ts'
import { fieldManager, isAppliedBy } from '../cluster/field-manager.ts'
import { ProjectRefused } from '../cluster/object-failure.ts'
import type { ObjectFailure } from '../cluster/object-failure.ts'
import type { Inventory, InventoryObject } from '../cluster/inventory.ts'
import type { PlannedObject, SetPlan } from '../documents/set-plan.ts'

/**
 * A bundle on this cluster, as the agent runs it. Every step reads and changes it; the inventory is the part that is
 * stored in the cluster.
 */
export interface BundleRun {
  entry: DocumentEntry
  /** The epoch of the entry's document. */
  epoch: number
  readonly manager: string
  /** The set that the agent works on: the entry's set, or the previous set after a rollback. */
  set: Digest
  /** Number of the manual retry that the last operation answers; 0 before the first retry. */
  attempt: number
  inventory: Inventory | undefined
  inventoryRead: boolean
  plan: SetPlan | undefined
  /** An object that the rendering read changed: the plan is rendered again. */
  isStale: boolean
  /** How often rendering again led to other objects. */
  rerenders: Rerenders | undefined
  /** The records of the inventory, by key; newer than the inventory between two writes. */
  records: Map<string, InventoryObject>
  /** The ownership decisions of the preflight, by key. */
  readonly ownershipDecisions: Map<string, OwnershipDecision>
  /** The objects that could not be applied in the last step, by key. */
  applyFailures: Map<string, ObjectFailure>
  /** Time at which the Project last refused the bundle; undefined when it has not since the agent started. */
  refusedAtMs: number | undefined
  /** Drift that is reported and not corrected, by key. */
  readonly drifts: Map<string, Drift>
  /** Verdicts of the bundle's health rules, by key, each with the version of the object. */
  readonly judged: Map<string, { readonly version: string; readonly judgement: HealthVerdict }>
  /** The last observed health of the objects of the set, by key. */
  readonly healths: Map<string, Health>
  /** Times of drift corrections, by key. */
  readonly corrections: Map<string, DriftHistory>
  /** The last correction of each object, by key; kept for later generations. */
  readonly corrected: Map<string, Correction>
  /** Decisions about drift of the bundle in the document, also decisions that are over. */
  driftRules: readonly DriftRule[]
  /** The decisions that counted when the bundle was last stepped, by key of the object. */
  decisions: ReadonlyMap<string, readonly DriftDecisionFor[]>
  /** The handover of the cluster from another system, by the document. */
  handover: HandoverRule | undefined
  /** Why the bundle may not take objects over yet; undefined when it may. */
  handoverHold: string | undefined
  /** Keys of the objects that this operation has written, or found without drift. */
  readonly done: Set<string>
}

/** Drift of an object that the agent does not correct, or not now. */
export interface Drift {
  readonly message: string
  /** The fields, each with its current field manager. */
  readonly fields: readonly string[]
  /** Their values, sent only to a user who asks for them. */
  readonly values: readonly FieldValues[]
  readonly since: string
  /** The version of the object; `gone` when the object was deleted. */
  readonly version: string
  /** Monotonic time of the next correction. */
  readonly retryAtMs?: number
}

/** A correction of drift, for the report. */
export interface Correction {
  readonly object: string
  /** The fields, each with the field manager that had changed it. */
  readonly fields: readonly string[]
  /** Number of corrections within the hour before this one. */
  readonly times: number
  readonly at: string
}

/** The row of a bundle after a step, and the time until the next step. */
export interface StepResult {
  readonly row: Pick<ReportRow, 'state' | 'message' | 'firstFailing'>
  readonly nextStepMs: number
}

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
    applyFailures: new Map(),
    refusedAtMs: undefined,
    drifts: new Map(),
    healths: new Map(),
    corrections: new Map(),
    judged: new Map(),
    corrected: new Map(),
    driftRules: [],
    decisions: new Map(),
    handover: undefined,
    handoverHold: undefined,
    done: new Set(),
  }
}

/** Takes an inventory that was read from the cluster. */
export function loadInventory(run: BundleRun, inventory: Inventory | undefined): void {
  run.inventory = inventory
  run.inventoryRead = true
  run.records = new Map((inventory?.objects ?? []).map((object) => [objectKey(object), object]))
  // Objects written since are in no record. They count as not written; otherwise the records would stay at older
  // content.
  run.ownershipDecisions.clear()
  run.done.clear()
}

/** The progress of a bundle: its inventory without identity and objects. */
export type Progress = Omit<Inventory, 'bundle' | 'generation' | 'epoch' | 'set' | 'rendered' | 'removed' | 'objects'>

/** The inventory to write now. */
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
    ...compact({
      operation,
      operations,
      hooks: hooks && hooks.length > 0 ? hooks : undefined,
      remedy,
      history,
      options,
      rendered: run.plan?.rendered?.mark,
    }),
    // The same array tells the store that the objects need no write.
    objects: isSame ? before : objects,
  }
}

/** Decides whether a bundle may create, change or adopt an object. */
export function decideObjectOwnership(
  run: BundleRun,
  planned: PlannedObject,
  live: UnknownObject | undefined,
  others: readonly OtherRecord[] = [],
): OwnershipDecision {
  const { force } = planned.options
  // The comparison was made for a takeover: the Bundle's own option counts for objects that come later.
  const takeover =
    run.handover?.step === 'Take' ? (run.handover.acceptDifferences ? 'Always' : 'IfNoDiff') : planned.options.takeover
  return decideOwnership({
    live: live && compact({ uid: live.metadata.uid }),
    isAppliedByUs: live !== undefined && isAppliedBy(live, run.entry.bundle),
    recorded: run.records.get(planned.key),
    others,
    takeover,
    force,
  })
}

/** The record of an object before the first write of an operation. */
export function newRecord(planned: PlannedObject, run: BundleRun): InventoryObject {
  const { apiVersion, kind, namespace, name, options } = planned
  const known = run.records.get(planned.key)
  const ownership = run.ownershipDecisions.get(planned.key)
  const adopted = ownership && 'adopted' in ownership ? ownership.adopted : ownership?.kind === 'Adopt'
  const isKnown = known !== undefined && ownership?.kind === 'Ours'
  return {
    apiVersion,
    kind,
    name,
    ...compact({ namespace }),
    // An object that the bundle does not own yet has no UID in the inventory before its first write.
    ...(isKnown ? compact({ uid: known.uid, digest: known.digest, share: known.share }) : {}),
    ...compact({ adopted: adopted || undefined }),
    ...compact({ prune: options.prune, delete: options.delete }),
    ...compact({
      madeNamespace: 'made' in planned.from ? true : undefined,
      wave: planned.wave === 0 ? undefined : planned.wave,
    }),
  }
}

/** Whether an object that cannot be applied leaves the other objects of its wave alone. */
export function isContinued({ options }: SetPlan): boolean {
  return options.apply?.onError === 'Continue'
}

/** Remembers an object that cannot be applied. */
export function noteFailure(run: BundleRun, failure: ObjectFailure, nowMs: number): void {
  if (failure instanceof ProjectRefused) run.refusedAtMs = nowMs
  const key = objectKey(failure.object)
  run.healths.set(key, { state: 'Failed', message: failure.message })
  run.applyFailures.set(key, failure)
}

/** The time from which a wave timeout counts: a recorded time, or the last refusal of the Project after it. */
export function timeoutStartMs(run: BundleRun, recorded: string | undefined): number | undefined {
  const recordedMs = recorded === undefined ? undefined : parseTime(recorded)
  return recordedMs === undefined ? undefined : Math.max(recordedMs, run.refusedAtMs ?? recordedMs)
}

/** Changes the set that a run works on. */
export function switchSet(run: BundleRun, set: Digest): void {
  if (run.set === set) return
  run.set = set
  run.plan = undefined
  forgetObjects(run)
}

/** Replaces the plan after rendering again led to other objects. */
export function replan(run: BundleRun, plan: SetPlan): void {
  run.plan = plan
  forgetObjects(run)
}

function forgetObjects(run: BundleRun): void {
  for (const memory of [run.ownershipDecisions, run.done, run.drifts, run.judged, run.corrections]) memory.clear()
}

/**
 * Takes the decisions about drift that count now. An object whose decisions changed is compared anew: its reported
 * drift is forgotten, and earlier corrections do not delay the next one.
 */
export function takeDriftDecisions(run: BundleRun, plan: SetPlan, nowMs: number | undefined): void {
  const rules = run.driftRules.filter((rule) => isInForce(rule, nowMs))
  if (rules.length === 0 && run.decisions.size === 0) return
  const next = new Map(
    plan.objects.flatMap((planned) => {
      const decisions = decisionsFor(rules, planned)
      return decisions.length > 0 ? [[planned.key, decisions] as const] : []
    }),
  )
  for (const key of new Set([...run.decisions.keys(), ...next.keys()])) {
    if (jsonEqual(run.decisions.get(key) ?? null, next.get(key) ?? null)) continue
    run.drifts.delete(key)
    run.corrections.delete(key)
  }
  run.decisions = next
}

/** The options of an object with the decisions about its drift. */
export function optionsNow(run: BundleRun, planned: PlannedObject): ObjectOptions {
  const options = withDriftDecisions(planned.options, run.decisions.get(planned.key) ?? [], planned)
  if (run.handover?.step !== 'Take') return options
  // Equal fields stay with the peer's managers, too, until the last step: the way back needs them.
  return { ...options, force: options.force || run.handover.acceptDifferences, keepsManagers: true }
}

/**
 * Whether fields of the object are left to other managers until a decision ends. Its share is not recorded meanwhile:
 * it lacks these fields, and the end of the decision must be noticed, also by an agent that was restarted.
 */
export function leavesFields(run: BundleRun, key: string): boolean {
  return (run.decisions.get(key) ?? []).some(({ ignore }) => ignore !== undefined)
}
