/** How an operation begins: every object is met and every write tried, all before the first one is made. */
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
import { ObjectFailure } from '../cluster/applier.ts'
import type { Applier } from '../cluster/applier.ts'
import { decideObjectOwnership } from './bundle-run.ts'
import type { BundleRun } from './bundle-run.ts'
import type { Inventory, InventoryObject } from '../cluster/cluster-state.ts'
import type { Content } from '../documents/content.ts'
import { leftByHooks } from './hooks.ts'
import type { Journal } from './journal.ts'
import type { Observer } from './observe.ts'
import { objectToWrite } from '../documents/set-plan.ts'
import type { PlannedObject, SetPlan } from '../documents/set-plan.ts'

/** What beginning needs. */
export interface PreflightPorts {
  readonly content: Content
  readonly lookout: Observer
  readonly journal: Journal
  readonly clock: Clock
  readonly log: Logger
}

// Enough to keep a slow API busy, too few to trouble a small one.
const AT_ONCE = 8

/** Makes it. */
export function createPreflight({ content, lookout, journal, clock, log }: PreflightPorts) {
  /** Meets every object and tries the writes, all before the first one is made. False when it is too late for that by then. */
  async function begin(
    run: BundleRun,
    plan: SetPlan,
    { applier, operation, others, signal, attempt = 1, remedy, may }: BeginContext,
  ): Promise<boolean> {
    run.ownershipDecisions.clear()
    run.done.clear()
    const sameTreatment = jsonEqual(treatmentOf(run.inventory?.options), treatmentOf(plan.options))
    const failures: ObjectFailure[] = []
    await inParallel(plan.objects, AT_ONCE, async (planned) => {
      const recorded = run.records.get(planned.key)
      const isOld = sameTreatment && recorded?.digest === planned.digest
      if (isOld && (await lookout.isAsRecorded(run, planned, { applier, signal }))) {
        run.ownershipDecisions.set(planned.key, { kind: 'Ours', adopted: recorded.adopted === true })
        run.done.add(planned.key)
        return
      }
      const live = await applier.get(planned, signal)
      const meeting = decideObjectOwnership(run, planned, live, others.get(planned.key))
      run.ownershipDecisions.set(planned.key, meeting)
      await tryWrite(planned, run, { plan, applier, live, meeting, signal }).catch(collect(failures))
    })
    const events = OPERATION_EVENTS[operation]
    const due = [events.pre, 'during', events.post, 'failure'] as const
    await inParallel(plan.hooks, AT_ONCE, async (planned) => {
      if (!planned.hook.on.some((event) => due.some((one) => one === event))) return
      const context = { plan, applier, live: undefined, meeting: { kind: 'Create' as const }, signal }
      await tryWrite(planned, run, context).catch(collect(failures))
    })
    const [first, ...more] = failures.toSorted(
      (a, b) => applyRank(a.object) - applyRank(b.object) || placeIn(plan, a.object) - placeIn(plan, b.object),
    )
    if (first) {
      const also = more.length > 0 ? ` (and ${more.length} more objects cannot be applied)` : ''
      throw new ObjectFailure(first.object, `${first.message}${also}`, { cause: first })
    }
    if (may?.() === false) return false
    for (const planned of plan.objects) {
      if (planned.options.method !== 'ReadOnly') run.records.set(planned.key, recordOf(planned, run))
    }
    await journal.record(run, {
      phase: 'Applying',
      operation: { kind: operation, wave: 0, since: formatTime(clock.now()), ...(attempt > 1 ? { attempt } : {}) },
      remedy,
      operations: (run.inventory?.operations ?? 0) + 1,
      hooks: leftByHooks(run.inventory?.hooks ?? []),
      options: plan.options,
    })
    log.info({ bundle: run.entry.bundle, generation: run.entry.generation, operation }, 'operation begins')
    return true
  }

  async function tryWrite(planned: PlannedObject, run: BundleRun, how: TryContext): Promise<void> {
    const { plan, applier, live, meeting, signal } = how
    if (planned.options.method === 'ReadOnly' || (planned.options.method === 'CreateOnly' && live)) return
    const bringsKind = ({ brings }: PlannedObject) =>
      brings?.kind === planned.kind && planned.apiVersion.startsWith(`${brings.group}/`)
    // What the set itself brings is not there to try against yet.
    if (plan.objects.some(bringsKind) && !(await applier.isServed(planned, signal))) return
    const object = await objectToWrite(planned, content, signal)
    const { bundle } = run.entry
    try {
      await applier.write({ bundle, object, options: planned.options, meeting, live, dryRun: true }, signal)
    } catch (caught) {
      const cause = caught instanceof ObjectFailure ? caught.cause : undefined
      const comes = plan.byKey.has(`/Namespace//${planned.namespace ?? ''}`)
      if (comes && isApiError(cause, 'NotFound')) return
      throw caught
    }
  }

  function recordOf(planned: PlannedObject, run: BundleRun): InventoryObject {
    const { apiVersion, kind, namespace, name, options } = planned
    const known = run.records.get(planned.key)
    const meeting = run.ownershipDecisions.get(planned.key)
    const adopted = meeting && 'adopted' in meeting ? meeting.adopted : meeting?.kind === 'Adopt'
    const isKnown = known !== undefined && meeting?.kind === 'Ours'
    return {
      apiVersion,
      kind,
      name,
      ...(namespace === undefined ? {} : { namespace }),
      // Which object it is counts from the moment it was written.
      ...(isKnown && known.uid !== undefined ? { uid: known.uid } : {}),
      ...(isKnown && known.digest !== undefined ? { digest: known.digest } : {}),
      ...(isKnown && known.share !== undefined ? { share: known.share } : {}),
      ...(adopted ? { adopted } : {}),
      ...(options.prune === undefined ? {} : { prune: options.prune }),
      ...(options.delete === undefined ? {} : { delete: options.delete }),
      ...('made' in planned.from ? { madeNamespace: true } : {}),
      ...(planned.wave === 0 ? {} : { wave: planned.wave }),
    }
  }

  return begin
}

interface BeginContext {
  readonly applier: Applier
  readonly signal: AbortSignal
  readonly operation: OperationKind
  /** Which try it is, from 1. */
  readonly attempt?: number
  /** The failure it answers. */
  readonly remedy?: Inventory['remedy']
  /** What other bundles have recorded, by object. */
  readonly others: ReadonlyMap<string, readonly OtherRecord[]>
  /** Asked last of all, for what comes before the first write takes its time. */
  readonly may?: () => boolean
}

interface TryContext extends Pick<BeginContext, 'applier' | 'signal'> {
  readonly plan: SetPlan
  readonly live: Awaited<ReturnType<Applier['get']>>
  readonly meeting: OwnershipDecision
}

function placeIn(plan: SetPlan, id: ObjectId): number {
  const key = objectKey(id)
  return plan.objects.findIndex((planned) => planned.key === key)
}

function collect(failures: ObjectFailure[]): (caught: unknown) => void {
  return (caught) => {
    if (!(caught instanceof ObjectFailure)) throw caught
    failures.push(caught)
  }
}

// The options that decide what is written; the others do not make an object another one.
function treatmentOf(options: SetPlan['options'] | undefined): unknown {
  return [options?.apply?.method, options?.ignore, options?.executor]
}
