// Tested by src/agent/bundles/drift.contract.test.ts
/**
 * Drift of an object: a dry run of the same apply tells which fields would change, and plan/apply/drift.ts decides
 * whether the agent corrects, reports or ignores them. No difference in the dry run means no drift.
 */
import { compact } from '../../core/compact.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { formatTime } from '../../core/time/time.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { afterCorrection, decideDrift } from '../../plan/apply/drift.ts'
import { applyHealthRules } from '../../plan/health/health-rules.ts'
import { healthOf } from '../../plan/health/object-health.ts'
import type { Health } from '../../plan/health/object-health.ts'
import { fieldValues } from '../../plan/drift/drift-values.ts'
import type { DriftedSides, FieldValues } from '../../plan/drift/drift-values.ts'
import { describeDifference, differences } from '../../plan/objects/differences.ts'
import { ownedFieldsFingerprint } from '../../plan/objects/managed-fields.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import type { Applier } from '../cluster/applier.ts'
import { fieldManager } from '../cluster/field-manager.ts'
import { ObjectFailure } from '../cluster/object-failure.ts'
import type { WriteRequest } from '../cluster/write-methods.ts'
import type { Content } from '../documents/content.ts'
import { objectToWrite } from '../documents/set-plan.ts'
import type { PlannedObject } from '../documents/set-plan.ts'
import { decideObjectOwnership, leavesFields, optionsNow } from './bundle-run.ts'
import type { BundleRun, Drift } from './bundle-run.ts'

/** Ports of drift correction. */
export interface DriftCorrectionPorts {
  readonly content: Content
  readonly clock: Clock
  readonly log: Logger
}

interface DriftContext {
  readonly applier: Applier
  readonly signal: AbortSignal
  /** The object in the cluster; undefined when it was deleted. */
  readonly live: UnknownObject | undefined
}

const FIELDS_SHOWN = 10
/** Health of an object that is not in the cluster. */
export const MISSING: Health = { state: 'Progressing', message: 'the object does not exist yet' }
/** Health of an object without a problem. */
export const FINE: Health = { state: 'Ready', message: '' }

/** Creates the correction of drift; it resolves to the health of the object. */
export function createDriftCorrection({ content, clock, log }: DriftCorrectionPorts) {
  /** Writes the object again and records the correction. */
  async function correct(
    run: BundleRun,
    planned: PlannedObject,
    request: WriteRequest,
    { applier, signal, live, fields }: DriftContext & { readonly fields: readonly string[] },
  ): Promise<Health> {
    const { key } = planned
    const repaired = await applier.write(request, signal)
    log.info({ bundle: request.bundle, object: describeObject(planned), fields }, 'object was changed, applied again')
    recordWrite(run, planned, repaired)
    const isAdopted = request.ownership.kind === 'Adopt'
    if (isAdopted) run.records.set(key, { ...run.records.get(key)!, adopted: true })
    // The UID has changed: a new map makes the observer write the inventory before the next prune.
    if (live?.metadata.uid !== repaired.metadata.uid || isAdopted) run.records = new Map(run.records)
    if (fields.length > 0) {
      const history = run.corrections.get(key) ?? { correctedAtMs: [] }
      const after = afterCorrection(history, clock.monotonicMs())
      run.corrections.set(key, after)
      const shown = fields.slice(0, FIELDS_SHOWN)
      const correction = { object: describeObject(planned), fields: shown, times: after.correctedAtMs.length }
      run.corrected.set(key, { ...correction, at: formatTime(clock.now()) })
    }
    run.drifts.delete(key)
    return judgeHealth(run, planned, repaired)
  }

  /** Shows drift in the report; `retryAtMs` is the time of the next correction. */
  function report(run: BundleRun, planned: PlannedObject, drift: Omit<Drift, 'since'>): void {
    const since = run.drifts.get(planned.key)?.since ?? formatTime(clock.now())
    run.drifts.set(planned.key, { ...drift, since })
  }

  return async (run: BundleRun, planned: PlannedObject, context: DriftContext): Promise<Health> => {
    const { live, signal } = context
    const { key } = planned
    const options = optionsNow(run, planned)
    const object = await objectToWrite(planned, content, signal)
    const ownership = decideObjectOwnership(run, planned, live)
    const isRepair = run.records.get(key)?.digest === planned.digest
    const request = { bundle: run.entry.bundle, object, options, ownership, live, isRepair }
    const redact = run.plan?.rendered?.redact
    const found = live
      ? await changedFields(request, live, { ...context, redact })
      : textsOnly('the object was deleted')
    if (live && found === 'None') {
      acceptShare(run, planned, live)
      return judgeHealth(run, planned, live)
    }
    const { texts: changed, values } = found === 'None' ? textsOnly() : found
    const isDrift = changed.length > 0
    const history = run.corrections.get(key) ?? { correctedAtMs: [] }
    const decision = decideDrift(options.drift, history, clock.monotonicMs())
    if (decision.kind === 'Ignore' || (decision.kind === 'Report' && !isDrift)) {
      if (live) acceptShare(run, planned, live)
      return live ? judgeHealth(run, planned, live) : FINE
    }
    const shown = changed.slice(0, FIELDS_SHOWN)
    const drift = { fields: shown, values, version: live?.metadata.resourceVersion ?? 'gone' }
    const message = `${describeObject(planned)}: ${shown.join(', ')}`
    if (decision.kind === 'Report') {
      report(run, planned, { ...drift, message })
      return judgeHealth(run, planned, live)
    }
    if (decision.kind === 'StepBack' && isDrift) {
      const waits = `; corrected ${decision.times} times within an hour and changed again; the agent waits before the next correction`
      report(run, planned, { ...drift, message: `${message}${waits}`, retryAtMs: decision.untilMs })
      return judgeHealth(run, planned, live)
    }
    try {
      return await correct(run, planned, request, { ...context, fields: changed })
    } catch (caught) {
      if (!live || !(caught instanceof ObjectFailure)) throw caught
      report(run, planned, { ...drift, message: caught.message })
      return judgeHealth(run, planned, live)
    }
  }
}

/** Fields that an apply would change: for the report, and with values for the user who asks for them. */
interface ChangedFields {
  readonly texts: readonly string[]
  readonly values: readonly FieldValues[]
}

const textsOnly = (...texts: readonly string[]): ChangedFields => ({ texts, values: [] })

/**
 * The fields that applying again would change, with their managers. `None` when an apply would change nothing at all;
 * no field when it would change only the ownership of fields.
 */
async function changedFields(
  request: WriteRequest,
  live: UnknownObject,
  { applier, signal, redact }: DriftContext & Pick<DriftedSides, 'redact'>,
): Promise<ChangedFields | 'None'> {
  try {
    const wanted = await applier.write({ ...request, dryRun: true }, signal)
    const manager = fieldManager(request.bundle)
    const found = differences(live, wanted)
    const isSame = ownedFieldsFingerprint(live, manager) === ownedFieldsFingerprint(wanted, manager)
    if (found.length === 0 && isSame) return 'None'
    return {
      texts: found.map((difference) => describeDifference(live, difference, manager)),
      values: found.slice(0, FIELDS_SHOWN).map((difference) => fieldValues(difference, { live, wanted, redact })),
    }
  } catch (caught) {
    // Another bundle has the object, or it cannot be written any more: the report shows this instead of fields.
    if (caught instanceof ObjectFailure) return textsOnly(caught.message)
    throw caught
  }
}

/** Records the current share of the bundle's fields as the share without drift. */
function acceptShare(run: BundleRun, { key }: PlannedObject, live: UnknownObject): void {
  run.drifts.delete(key)
  const recorded = run.records.get(key)
  if (leavesFields(run, key)) return
  if (recorded) run.records.set(key, { ...recorded, share: ownedFieldsFingerprint(live, run.manager) })
}

/** The health of an object by the bundle's own rules, where it has rules for the object. */
export function judgeHealth(run: BundleRun, { key, rules }: PlannedObject, live: UnknownObject | undefined): Health {
  if (!live) return MISSING
  if (!rules) return healthOf(live)
  const judgement = applyHealthRules(live, rules)
  run.judged.set(key, { version: live.metadata.resourceVersion ?? '', judgement })
  return judgement.health
}

/** Records in memory which object and content a write has left in the cluster. */
export function recordWrite(run: BundleRun, { key, digest }: PlannedObject, live: UnknownObject): void {
  const recorded = run.records.get(key)
  if (!recorded) return
  const { share: _share, ...rest } = recorded
  const share = leavesFields(run, key) ? undefined : ownedFieldsFingerprint(live, run.manager)
  run.records.set(key, { ...rest, ...compact({ uid: live.metadata.uid, share }), digest })
}
