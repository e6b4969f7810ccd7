// Tested by src/agent/bundles/operation.contract.test.ts
/**
 * The waves of an operation: pre hooks, then for each wave its objects, its hooks, and the wait until it is healthy.
 */
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { Waiting } from '../../core/errors.ts'
import { inParallel } from '../../core/async/in-parallel.ts'
import { formatTime } from '../../core/time/time.ts'
import { applyRank } from '../../plan/apply/apply-order.ts'
import { healthOf } from '../../plan/health/object-health.ts'
import { OPERATION_EVENTS } from '../../plan/apply/hook-step.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import { waveTimeoutMs } from '../../plan/objects/object-options.ts'
import { nextWaveStep } from '../../plan/apply/operation.ts'
import type { Applier } from '../cluster/applier.ts'
import { ObjectFailure, ProjectRefused } from '../cluster/object-failure.ts'
import { OBSERVE_INTERVAL_MS, STEP_TIMING } from '../timing.ts'
import { decideObjectOwnership, isContinued, newRecord, noteFailure, timeoutStartMs, optionsNow } from './bundle-run.ts'
import type { BundleRun } from './bundle-run.ts'
import type { Content } from '../documents/content.ts'
import { recordWrite } from './drift-correction.ts'
import type { Hooks } from './hooks.ts'
import type { Journal } from './journal.ts'
import type { Observer } from './observe.ts'
import type { OtherBundles } from './operation.ts'
import { observationRow, hookStopOutcome, rowOfFailure, waitingFor } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import { objectToWrite } from '../documents/set-plan.ts'
import type { PlannedHook, PlannedObject, SetPlan } from '../documents/set-plan.ts'

/** Ports of waves. */
export interface WavePorts {
  readonly content: Content
  readonly observer: Observer
  readonly journal: Journal
  readonly hooks: Hooks
  readonly clock: Clock
}

/** The executor of the work. */
export interface WorkContext {
  readonly applier: Applier
  readonly signal: AbortSignal
}

/** A move through waves, which knows the other bundles on the cluster. */
interface WaveContext extends WorkContext {
  readonly others: Pick<OtherBundles, 'others'>
}

interface ApplyContext extends WaveContext {
  /** Whether an object that cannot be applied leaves the others alone. */
  readonly goesOn?: boolean
}

// Enough requests to keep a slow API server busy, and not too many for a small server.
const AT_ONCE = 8

/** Creates the waves of operations. */
export function createWaves({ content, observer, journal, hooks, clock }: WavePorts) {
  /** Moves an operation through its waves; undefined when the last wave is applied. */
  async function moveThroughWaves(run: BundleRun, plan: SetPlan, context: WaveContext): Promise<Outcome | undefined> {
    const timeoutMs = waveTimeoutMs(plan.options)
    for (;;) {
      const at = run.inventory!.operation ?? { kind: 'Upgrade', wave: 0 }
      const wave = plan.waves[Math.min(at.wave, plan.waves.length - 1)]
      const appliedAtMs = timeoutStartMs(run, at.appliedAt)
      const event = appliedAtMs === undefined ? OPERATION_EVENTS[at.kind].pre : 'during'
      const isWave = appliedAtMs !== undefined
      const due = plan.hooks.filter(({ hook }) => hook.on.includes(event) && (!isWave || hook.weight === wave?.wave))
      // Pre hooks run before the first wave, the hooks of a wave after its objects are applied.
      if (due.length > 0 && (isWave || at.wave === 0)) {
        if (!isWave) await applyAll(run, neededByHooks(plan, due), context)
        const stop = await hooks.run(journal.hooksOf(run), due, event, { ...context, timeoutMs })
        if (stop) return hookStopOutcome(stop)
      }
      const members = wave ? [...wave.foundations, ...wave.others] : []
      const observation = isWave ? await observer.observe(run, members, context) : undefined
      const move = nextWaveStep({
        wave: at.wave,
        waves: plan.waves.length,
        appliedAtMs,
        health: observation?.state ?? 'Progressing',
        nowMs: clock.now(),
        timeoutMs,
      })
      switch (move.kind) {
        case 'Apply': {
          const written = run.done.size
          if (wave) await applyWave(run, wave, { ...context, goesOn: isContinued(plan) })
          if (run.applyFailures.size > 0) {
            if (run.done.size > written) await journal.record(run, { phase: 'Applying', operation: at })
            const applied = members.filter(({ key }) => run.done.has(key))
            await observer.observe(run, applied, context)
            return failedObjects(run, plan, clock.now())
          }
          const isLast = at.wave >= plan.waves.length - 1
          const isRun = plan.hooks.some(({ hook }) => hook.on.includes('during') && hook.weight === wave?.wave)
          const phase = isLast && !isRun ? 'Applied' : 'Applying'
          await journal.record(run, { phase, operation: { ...at, appliedAt: formatTime(clock.now()) } })
          if (phase === 'Applied') return undefined
          break
        }
        case 'Applied':
          await journal.record(run, { phase: 'Applied', operation: at })
          return undefined
        case 'Advance': {
          // No write of the inventory: after a crash the wave is healthy again at once.
          const { appliedAt: _appliedAt, ...rest } = at
          run.inventory = {
            ...run.inventory!,
            operation: { ...rest, wave: at.wave + 1, since: formatTime(clock.now()) },
          }
          break
        }
        case 'Wait':
          return waitingFor(observation!, `wave ${at.wave + 1} of ${plan.waves.length}`)
        case 'TimedOut':
          return {
            row: {
              ...observationRow(observation!),
              state: 'Failed',
              message: `${move.message}: ${observation!.message}`,
            },
            nextStepMs: OBSERVE_INTERVAL_MS.failed,
            failure: 'Time',
          }
      }
    }
  }

  async function applyWave(run: BundleRun, wave: SetPlan['waves'][number], context: ApplyContext): Promise<void> {
    await applyAll(run, wave.foundations, context)
    for (const planned of wave.foundations) {
      const live =
        wave.others.length > 0 && planned.brings ? await context.applier.get(planned, context.signal) : undefined
      const health = live && healthOf(live)
      if (health && health.state !== 'Ready') {
        throw new Waiting('Establishing', `${describeObject(planned)}: ${health.message}`, STEP_TIMING.establishMs)
      }
    }
    // One kind at a time, the objects of a kind in parallel.
    for (const group of Map.groupBy(wave.others, applyRank).values()) await applyAll(run, group, context)
  }

  async function applyAll(run: BundleRun, objects: readonly PlannedObject[], context: ApplyContext): Promise<void> {
    const todo = objects.filter(({ key, options }) => !run.done.has(key) && options.method !== 'ReadOnly')
    await inParallel(todo, AT_ONCE, async (planned) => {
      try {
        await applyOne(run, planned, context, { content, journal })
      } catch (caught) {
        if (!context.goesOn || !(caught instanceof ObjectFailure)) throw caught
        noteFailure(run, caught, clock.now())
      }
    })
  }

  return { moveThroughWaves }
}

async function applyOne(
  run: BundleRun,
  planned: PlannedObject,
  { applier, others, signal }: ApplyContext,
  { content, journal }: Pick<WavePorts, 'content' | 'journal'>,
): Promise<void> {
  const { bundle } = run.entry
  // After a restart within the operation, or a refusal, ownership follows from the inventory and the live object.
  const ownership =
    run.ownershipDecisions.get(planned.key) ??
    decideObjectOwnership(run, planned, await applier.get(planned, signal), others.others().get(planned.key))
  if (!run.records.has(planned.key) && ownership.kind !== 'Refuse') {
    run.ownershipDecisions.set(planned.key, ownership)
    run.records.set(planned.key, newRecord(planned, run))
    await journal.record(run, {})
  }
  const object = await objectToWrite(planned, content, signal)
  try {
    const live = await applier.write({ bundle, object, options: optionsNow(run, planned), ownership }, signal)
    recordWrite(run, planned, live)
    run.done.add(planned.key)
  } catch (caught) {
    // The decision of the preflight may be out of date: decide again before the next try.
    run.ownershipDecisions.delete(planned.key)
    throw caught
  }
}

/** The outcome of a wave with objects that cannot be applied. */
function failedObjects(run: BundleRun, plan: SetPlan, nowMs: number): Outcome {
  const failures = plan.objects.flatMap(({ key }) => run.applyFailures.get(key) ?? [])
  const refused = failures.find((failure) => failure instanceof ProjectRefused)
  const first = refused ?? failures[0]
  const sinceMs = timeoutStartMs(run, run.inventory?.operation?.since)
  const isLate = !refused && sinceMs !== undefined && nowMs >= sinceMs + waveTimeoutMs(plan.options)
  const also = failures.length > 1 ? ` (and ${failures.length - 1} more objects cannot be applied)` : ''
  return compact({
    row: { ...rowOfFailure(first), state: 'Failed', message: `${first?.message ?? ''}${also}` },
    nextStepMs: OBSERVE_INTERVAL_MS.failed,
    failure: isLate ? ('Time' as const) : undefined,
  })
}

// The namespaces and CustomResourceDefinitions that pre hooks need. The inventory already has them, and their wave
// finds them applied.
function neededByHooks(plan: SetPlan, hooks: readonly PlannedHook[]): PlannedObject[] {
  const namespaces = new Set(hooks.map(({ namespace }) => namespace))
  const kinds = new Set(hooks.map(({ apiVersion, kind }) => `${apiVersion.split('/')[0]}/${kind}`))
  return plan.objects.filter(
    ({ apiVersion, kind, name, brings }) =>
      (kind === 'Namespace' && apiVersion === 'v1' && namespaces.has(name)) ||
      (brings !== undefined && kinds.has(`${brings.group}/${brings.kind}`)),
  )
}
