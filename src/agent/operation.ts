/**
 * One bundle on the cluster, step by step (plan/operation.ts decides which); each step can be the last before a crash and the next start
 * carries on:
 *
 *   meet, dry-run ─▶ inventory old ∪ new ─▶ wave by wave: apply, record, look until healthy ─▶ prune ─▶ keep it so
 *                       (Applying)                                              (Applied)      (Settled)
 */
import type { Clock } from '../core/clock.ts'
import { isApiError, Waiting } from '../core/errors.ts'
import { inParallel } from '../core/in-parallel.ts'
import { jsonEqual } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import { formatTime, parseTime } from '../core/time.ts'
import { placeOf } from '../plan/apply-order.ts'
import { healthOf } from '../plan/health.ts'
import { describeObject, objectKey } from '../plan/object-id.ts'
import type { ObjectId } from '../plan/object-id.ts'
import { waveTimeoutMs } from '../plan/object-options.ts'
import { decideOperation, nextWaveMove, rememberSet } from '../plan/operation.ts'
import type { OperationKind } from '../plan/operation.ts'
import type { Meeting, OtherRecord } from '../plan/ownership.ts'
import { ObjectFailure } from './applier.ts'
import type { Applier } from './applier.ts'
import { ExecutorRefused } from './appliers.ts'
import type { Appliers } from './appliers.ts'
import { inventoryOf, LOOK_MS, meetObject, takeInventory } from './bundle-run.ts'
import type { BundleRun, StepResult } from './bundle-run.ts'
import type { ClusterState, InventoryObject } from './cluster-state.ts'
import type { Content } from './content.ts'
import { createLookout } from './lookout.ts'
import type { Sight } from './lookout.ts'
import { pruneObjects } from './prune.ts'
import type { WantedElsewhere } from './prune.ts'
import { objectToWrite, planSet } from './set-plan.ts'
import type { PlannedObject, SetPlan } from './set-plan.ts'

/** What operations need. */
export interface OperationPorts {
  readonly content: Content
  readonly appliers: Appliers
  readonly state: ClusterState
  readonly clock: Clock
  readonly log: Logger
  /** The most objects of one bundle that the cluster lets be deleted at once. */
  readonly maxPrune?: number | undefined
}

/** What a step knows of the other bundles. */
export interface Surroundings {
  readonly wanted: WantedElsewhere
  /** What other bundles have recorded, by object. */
  readonly others: () => ReadonlyMap<string, readonly OtherRecord[]>
  /** Why the bundle may not begin now, as far as others are concerned. */
  readonly gate: (plan: SetPlan) => StepResult | undefined
}

// Enough to keep a slow API busy, too few to trouble a small one.
const AT_ONCE = 8
const ESTABLISH_MS = 500

/** Makes the stepper of bundles. */
export function createOperation(ports: OperationPorts) {
  const { content, state, clock } = ports
  const log = ports.log.child({ part: 'operation' })
  const lookout = createLookout(ports)

  async function step(run: BundleRun, around: Surroundings, signal: AbortSignal): Promise<StepResult> {
    const { entry, epoch } = run
    if (!run.inventoryRead) takeInventory(run, await state.readInventory(entry.bundle, signal))
    const startByMs = entry.startBy === undefined ? undefined : parseTime(entry.startBy)
    const wanted = { ...entry, epoch, ...(startByMs === undefined ? {} : { startByMs }) }
    const decision = decideOperation(run.inventory, wanted, clock.now())
    if (decision.kind === 'Hold') return pending(decision.message)
    const plan = (run.plan ??= await planSet(await content.complete(entry.set, signal), entry.set, content, signal))
    const applier = ports.appliers.as(plan.options.executor)
    if (decision.kind === 'Begin') {
      const closed = around.gate(plan)
      if (closed) return closed
      await begin(run, plan, { applier, operation: decision.operation, around, signal })
    }
    if (decision.kind === 'Renumber') await record(run, run.inventory!)
    const waiting =
      run.inventory?.phase === 'Applying' ? await moveThroughWaves(run, plan, { applier, signal }) : undefined
    return waiting ?? finish(run, plan, { applier, around, signal })
  }

  async function record(run: BundleRun, phase: Parameters<typeof inventoryOf>[1]): Promise<void> {
    const { phase: name, operation, options, history } = phase
    const next = inventoryOf(run, {
      phase: name,
      ...(operation ? { operation } : {}),
      ...(options ? { options } : {}),
      ...(history ? { history } : {}),
    })
    await state.writeInventory(next)
    run.inventory = next
  }

  /** Meets every object and tries the writes, all before the first one is made. */
  async function begin(
    run: BundleRun,
    plan: SetPlan,
    { applier, operation, around, signal }: BeginContext,
  ): Promise<void> {
    run.meetings.clear()
    run.done.clear()
    const sameTreatment = jsonEqual(treatmentOf(run.inventory?.options), treatmentOf(plan.options))
    const others = around.others()
    const failures: ObjectFailure[] = []
    await inParallel(plan.objects, AT_ONCE, async (planned) => {
      const recorded = run.records.get(planned.key)
      const isOld = sameTreatment && recorded?.digest === planned.digest
      if (isOld && (await lookout.isAsRecorded(run, planned, { applier, signal }))) {
        run.meetings.set(planned.key, { kind: 'Ours', adopted: recorded.adopted === true })
        run.done.add(planned.key)
        return
      }
      const live = await applier.get(planned, signal)
      const meeting = meetObject(run, planned, live, others.get(planned.key))
      run.meetings.set(planned.key, meeting)
      await tryWrite(planned, run, { plan, applier, live, meeting, signal }).catch(collect(failures))
    })
    const inOrder = failures.toSorted((a, b) => placeIn(plan, a.object) - placeIn(plan, b.object))
    const [first, ...more] = inOrder
    if (first) {
      const also = more.length > 0 ? ` (and ${more.length} more objects cannot be applied)` : ''
      throw new ObjectFailure(first.object, `${first.message}${also}`, { cause: first })
    }
    for (const planned of plan.objects) {
      if (planned.options.method !== 'ReadOnly') run.records.set(planned.key, recordOf(planned, run))
    }
    const history = run.inventory?.history
    await record(run, {
      phase: 'Applying',
      operation: { kind: operation, wave: 0 },
      options: plan.options,
      ...(history ? { history } : {}),
    })
    log.info({ bundle: run.entry.bundle, generation: run.entry.generation, operation }, 'operation begins')
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
    const meeting = run.meetings.get(planned.key)
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
    }
  }

  /** Applies and waits, wave by wave; undefined when the last one is applied. */
  async function moveThroughWaves(
    run: BundleRun,
    plan: SetPlan,
    { applier, signal }: WorkContext,
  ): Promise<StepResult | undefined> {
    for (;;) {
      const { operation, options, history } = run.inventory!
      const at = operation ?? { kind: 'Upgrade', wave: 0 }
      const wave = plan.waves[Math.min(at.wave, plan.waves.length - 1)]
      const appliedAtMs = at.appliedAt === undefined ? undefined : parseTime(at.appliedAt)
      const members = wave ? [...wave.foundations, ...wave.others] : []
      const sight = appliedAtMs === undefined ? undefined : await lookout.look(run, members, { applier, signal })
      const move = nextWaveMove({
        wave: at.wave,
        waves: plan.waves.length,
        appliedAtMs,
        health: sight?.state ?? 'Progressing',
        nowMs: clock.now(),
        timeoutMs: waveTimeoutMs(plan.options),
      })
      const keep = { ...(options ? { options } : {}), ...(history ? { history } : {}) }
      switch (move.kind) {
        case 'Apply': {
          if (wave) await applyWave(run, wave, { applier, signal })
          const isLast = at.wave >= plan.waves.length - 1
          const done = { kind: at.kind, wave: at.wave, appliedAt: formatTime(clock.now()) }
          await record(run, { phase: isLast ? 'Applied' : 'Applying', operation: done, ...keep })
          if (isLast) return undefined
          break
        }
        case 'Applied':
          await record(run, { phase: 'Applied', operation: at, ...keep })
          return undefined
        case 'Advance':
          // Not a write of its own: after a crash the wave is found healthy again.
          run.inventory = { ...run.inventory!, operation: { kind: at.kind, wave: at.wave + 1 } }
          break
        case 'Wait':
          return waitingFor(sight!, `wave ${at.wave + 1} of ${plan.waves.length}`)
        case 'TimedOut':
          return {
            row: { ...rowOf(sight!), state: 'Failed', message: `${move.message}: ${sight!.message}` },
            lookAgainMs: LOOK_MS.failed,
          }
      }
    }
  }

  async function applyWave(run: BundleRun, wave: SetPlan['waves'][number], context: WorkContext): Promise<void> {
    await applyAll(run, wave.foundations, context)
    for (const planned of wave.foundations) {
      const live =
        wave.others.length > 0 && planned.brings ? await context.applier.get(planned, context.signal) : undefined
      const health = live && healthOf(live)
      if (health && health.state !== 'Ready') {
        throw new Waiting('Establishing', `${describeObject(planned)}: ${health.message}`, ESTABLISH_MS)
      }
    }
    // Kinds one after the other, objects of a kind side by side.
    for (const group of Map.groupBy(wave.others, placeOf).values()) await applyAll(run, group, context)
  }

  async function applyAll(run: BundleRun, objects: readonly PlannedObject[], context: WorkContext): Promise<void> {
    const todo = objects.filter(({ key, options }) => !run.done.has(key) && options.method !== 'ReadOnly')
    await inParallel(todo, AT_ONCE, (planned) => applyOne(run, planned, context))
  }

  async function applyOne(run: BundleRun, planned: PlannedObject, { applier, signal }: WorkContext): Promise<void> {
    const { bundle } = run.entry
    // After a restart in the middle nothing is remembered: the records and the object itself say whose it is.
    const meeting = run.meetings.get(planned.key) ?? meetObject(run, planned, await applier.get(planned, signal))
    const object = await objectToWrite(planned, content, signal)
    try {
      const live = await applier.write({ bundle, object, options: planned.options, meeting }, signal)
      lookout.noteWritten(run, planned, live)
      run.done.add(planned.key)
    } catch (caught) {
      // Whatever was true when the operation began: look again before the next try.
      run.meetings.delete(planned.key)
      throw caught
    }
  }

  /** Everything is applied: look, prune, settle, and keep it so. */
  async function finish(
    run: BundleRun,
    plan: SetPlan,
    { applier, around, signal }: WorkContext & { readonly around: Surroundings },
  ): Promise<StepResult> {
    const sight = await lookout.look(run, plan.objects, { applier, signal })
    const gone = [...run.records].filter(([key]) => !plan.byKey.has(key)).map(([, object]) => object)
    const isHealthy = sight.state === 'Ready'
    const isUnsettled = run.inventory?.phase !== 'Settled'
    let waits: string | undefined
    if (gone.length > 0 && (isUnsettled || isHealthy)) {
      const context = { bundle: run.entry.bundle, applier, wanted: around.wanted, log, ceiling: ports.maxPrune }
      const pruned = await pruneObjects(
        { ...context, objects: gone, options: plan.options, cause: 'removed', isHealthy },
        signal,
      )
      for (const key of pruned.forgotten) run.records.delete(key)
      if (pruned.forgotten.length > 0 && !isUnsettled) await record(run, run.inventory!)
      waits = pruned.waits
    }
    if (isHealthy && isUnsettled) {
      const history = rememberSet(run.inventory?.history ?? [], run.entry.set)
      await record(run, { phase: 'Settled', options: plan.options, history })
      log.info({ bundle: run.entry.bundle, generation: run.entry.generation, gone: gone.length }, 'bundle is ready')
    }
    if (!isHealthy) return waitingFor(sight)
    if (waits !== undefined) return pending(waits)
    const { drift, againMs: lookAgainMs } = sight
    if (drift !== undefined) return { row: { state: 'Drifted', message: drift }, lookAgainMs }
    return { row: { state: 'Ready' }, lookAgainMs }
  }

  return { step }
}

interface WorkContext {
  readonly applier: Applier
  readonly signal: AbortSignal
}

interface BeginContext extends WorkContext {
  readonly operation: OperationKind
  readonly around: Surroundings
}

interface TryContext extends WorkContext {
  readonly plan: SetPlan
  readonly live: Awaited<ReturnType<Applier['get']>>
  readonly meeting: Meeting
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

function pending(message: string): StepResult {
  return { row: { state: 'Pending', message }, lookAgainMs: LOOK_MS.held }
}

function rowOf(sight: Sight): StepResult['row'] {
  const { state, message, firstFailing } = sight
  return { state, ...(message === undefined ? {} : { message }), ...(firstFailing ? { firstFailing } : {}) }
}

function waitingFor(sight: Sight, where?: string): StepResult {
  const row = rowOf(sight)
  const message = where === undefined ? row.message : `${where}: ${row.message}`
  const lookAgainMs = sight.state === 'Failed' ? LOOK_MS.failed : LOOK_MS.progressing
  return { row: { ...row, ...(message === undefined ? {} : { message }) }, lookAgainMs }
}

/** The row for a step that failed; undefined when the failure says nothing about the bundle. */
export function rowOfFailure(caught: unknown): StepResult['row'] | undefined {
  if (caught instanceof ObjectFailure) {
    return { state: 'Failed', message: caught.message, firstFailing: describeObject(caught.object) }
  }
  if (caught instanceof ExecutorRefused) return { state: 'Failed', message: caught.message }
  if (caught instanceof Waiting) {
    return { state: caught.reason === 'NoLink' ? 'Pending' : 'Progressing', message: caught.message }
  }
  return undefined
}
