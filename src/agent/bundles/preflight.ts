// Tested by src/agent/bundles/operation.contract.test.ts
/** The preflight of an operation: ownership of every object, and a dry run of every write, before the first write. */
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { isApiError } from '../../core/errors.ts'
import { inParallel } from '../../core/async/in-parallel.ts'
import { jsonEqual } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import { formatTime } from '../../core/time/time.ts'
import { applyRank } from '../../plan/apply/apply-order.ts'
import { OPERATION_EVENTS } from '../../plan/apply/hook-step.ts'
import { objectKey } from '../../plan/objects/object-id.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'
import type { OperationKind } from '../../plan/apply/operation.ts'
import type { OwnershipDecision, OtherRecord } from '../../plan/apply/ownership.ts'
import { ObjectFailure, ProjectRefused } from '../cluster/object-failure.ts'
import type { Applier } from '../cluster/applier.ts'
import { decideObjectOwnership, isContinued, newRecord, optionsNow } from './bundle-run.ts'
import type { BundleRun } from './bundle-run.ts'
import type { Inventory } from '../cluster/inventory.ts'
import type { Content } from '../documents/content.ts'
import { leftByHooks } from './hooks.ts'
import type { Journal } from './journal.ts'
import type { Observer } from './observe.ts'
import { objectToWrite } from '../documents/set-plan.ts'
import type { PlannedObject, SetPlan } from '../documents/set-plan.ts'

/** Ports of the preflight. */
export interface PreflightPorts {
  readonly content: Content
  readonly observer: Observer
  readonly journal: Journal
  readonly clock: Clock
  readonly log: Logger
}

// Enough requests to keep a slow API server busy, and not too many for a small server.
const AT_ONCE = 8

/** Creates the preflight. */
export function createPreflight({ content, observer, journal, clock, log }: PreflightPorts) {
  /** Checks and records the beginning of an operation. False when the bundle may not begin any more. */
  async function preflight(
    run: BundleRun,
    plan: SetPlan,
    { applier, operation, others, signal, attempt = 1, remedy, may }: PreflightContext,
  ): Promise<boolean> {
    run.ownershipDecisions.clear()
    run.done.clear()
    const isSameMethod = jsonEqual(writeOptions(run.inventory?.options), writeOptions(plan.options))
    const failures: ObjectFailure[] = []
    const tryOut = async (planned: PlannedObject): Promise<void> => {
      // Also what is there already: new content is refused as a whole.
      await applier.check(run.entry.bundle, planned, signal)
      const recorded = run.records.get(planned.key)
      const isOld = isSameMethod && recorded?.digest === planned.digest
      if (isOld && (await observer.isAsRecorded(run, planned, { applier, signal }))) {
        run.ownershipDecisions.set(planned.key, { kind: 'Ours', adopted: recorded.adopted === true })
        run.done.add(planned.key)
        return
      }
      const live = await applier.get(planned, signal)
      const ownership = decideObjectOwnership(run, planned, live, others.get(planned.key))
      run.ownershipDecisions.set(planned.key, ownership)
      // With `Continue` the write itself tells, for this object alone.
      if (!isContinued(plan)) await dryRun(planned, run, { plan, applier, live, ownership, signal })
    }
    await inParallel(plan.objects, AT_ONCE, (planned) => tryOut(planned).catch(collect(failures)))
    const events = OPERATION_EVENTS[operation]
    const due = [events.pre, 'during', events.post, 'failure'] as const
    await inParallel(plan.hooks, AT_ONCE, async (planned) => {
      if (!planned.hook.on.some((event) => due.some((other) => other === event))) return
      const context = { plan, applier, live: undefined, ownership: { kind: 'Create' as const }, signal }
      await dryRun(planned, run, context).catch(collect(failures))
    })
    const [first, ...more] = failures.toSorted(
      (a, b) =>
        refusalRank(a) - refusalRank(b) ||
        applyRank(a.object) - applyRank(b.object) ||
        positionIn(plan, a.object) - positionIn(plan, b.object),
    )
    // With `Continue` an object of the set is left out alone, unless the Project refuses it: that refuses the content.
    const isLeftOut = (failure: ObjectFailure) =>
      !(failure instanceof ProjectRefused) && plan.byKey.has(objectKey(failure.object))
    if (first && !(isContinued(plan) && failures.every(isLeftOut))) {
      const also = more.length > 0 ? ` (and ${more.length} more objects cannot be applied)` : ''
      throw new ObjectFailure(first.object, `${first.message}${also}`, { cause: first })
    }
    if (may?.() === false) return false
    // An object that cannot be read, or that another bundle owns, is recorded before its first write.
    for (const planned of plan.objects) {
      const ownership = run.ownershipDecisions.get(planned.key)
      if (planned.options.method === 'ReadOnly' || !ownership || ownership.kind === 'Refuse') continue
      run.records.set(planned.key, newRecord(planned, run))
    }
    await journal.record(run, {
      phase: 'Applying',
      operation: compact({
        kind: operation,
        wave: 0,
        since: formatTime(clock.now()),
        attempt: attempt > 1 ? attempt : undefined,
      }),
      remedy,
      operations: (run.inventory?.operations ?? 0) + 1,
      hooks: leftByHooks(run.inventory?.hooks ?? []),
      options: plan.options,
    })
    log.info({ bundle: run.entry.bundle, generation: run.entry.generation, operation }, 'operation begins')
    return true
  }

  async function dryRun(planned: PlannedObject, run: BundleRun, how: DryRunContext): Promise<void> {
    const { plan, applier, live, ownership, signal } = how
    if (planned.options.method === 'ReadOnly' || (planned.options.method === 'CreateOnly' && live)) return
    const bringsKind = ({ brings }: PlannedObject) =>
      brings?.kind === planned.kind && planned.apiVersion.startsWith(`${brings.group}/`)
    // A kind that the set itself brings is not served before the operation.
    if (plan.objects.some(bringsKind) && !(await applier.isServed(planned, signal))) return
    const object = await objectToWrite(planned, content, signal)
    const { bundle } = run.entry
    try {
      await applier.write({ bundle, object, options: optionsNow(run, planned), ownership, live, dryRun: true }, signal)
    } catch (caught) {
      const cause = caught instanceof ObjectFailure ? caught.cause : undefined
      const isComing = plan.byKey.has(`/Namespace//${planned.namespace ?? ''}`)
      if (isComing && isApiError(cause, 'NotFound')) return
      throw caught
    }
  }

  return preflight
}

interface PreflightContext {
  readonly applier: Applier
  readonly signal: AbortSignal
  readonly operation: OperationKind
  /** Number of the attempt, from 1. */
  readonly attempt?: number
  /** The failure that the operation remediates. */
  readonly remedy?: Inventory['remedy']
  /** The inventory records of other bundles, by object. */
  readonly others: ReadonlyMap<string, readonly OtherRecord[]>
  /** Asked after the dry runs, which may take long: may the bundle still begin? */
  readonly may?: () => boolean
}

interface DryRunContext extends Pick<PreflightContext, 'applier' | 'signal'> {
  readonly plan: SetPlan
  readonly live: Awaited<ReturnType<Applier['get']>>
  readonly ownership: OwnershipDecision
}

/** The line of a Project is named before other failures. */
function refusalRank(failure: ObjectFailure): number {
  return failure instanceof ProjectRefused ? 0 : 1
}

function positionIn(plan: SetPlan, id: ObjectId): number {
  const key = objectKey(id)
  return plan.objects.findIndex((planned) => planned.key === key)
}

function collect(failures: ObjectFailure[]): (caught: unknown) => void {
  return (caught) => {
    if (!(caught instanceof ObjectFailure)) throw caught
    failures.push(caught)
  }
}

// A change of these options changes what is written for an object with the same content.
function writeOptions(options: SetPlan['options'] | undefined): unknown {
  return [options?.apply?.method, options?.ignore, options?.executor]
}
