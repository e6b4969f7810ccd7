/** An operation between its beginning and its end: pre hooks, then wave by wave, each applied, run and waited for. */
import type { Clock } from '../../core/time/clock.ts'
import { Waiting } from '../../core/errors.ts'
import { inParallel } from '../../core/async/in-parallel.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import { applyRank } from '../../plan/apply/apply-order.ts'
import { healthOf } from '../../plan/health/object-health.ts'
import { OPERATION_EVENTS } from '../../plan/apply/hook-step.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import { waveTimeoutMs } from '../../plan/objects/object-options.ts'
import { nextWaveStep } from '../../plan/apply/operation.ts'
import type { Applier } from '../cluster/applier.ts'
import { OBSERVE_INTERVAL_MS, decideObjectOwnership } from './bundle-run.ts'
import type { BundleRun } from './bundle-run.ts'
import type { Content } from '../documents/content.ts'
import type { Hooks } from './hooks.ts'
import type { Journal } from './journal.ts'
import type { Observer } from './observe.ts'
import { observationRow, hookStopOutcome, waitingFor } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import { objectToWrite } from '../documents/set-plan.ts'
import type { PlannedHook, PlannedObject, SetPlan } from '../documents/set-plan.ts'

/** What waves need. */
export interface WavePorts {
  readonly content: Content
  readonly lookout: Observer
  readonly journal: Journal
  readonly hooks: Hooks
  readonly clock: Clock
}

/** With whose rights. */
export interface WorkContext {
  readonly applier: Applier
  readonly signal: AbortSignal
}

// Enough to keep a slow API busy, too few to trouble a small one.
const AT_ONCE = 8
const ESTABLISH_MS = 500

/** Makes it. */
export function createWaves({ content, lookout, journal, hooks, clock }: WavePorts) {
  /** Runs pre hooks, applies and waits, wave by wave; undefined when the last one is applied. */
  async function moveThroughWaves(run: BundleRun, plan: SetPlan, context: WorkContext): Promise<Outcome | undefined> {
    const timeoutMs = waveTimeoutMs(plan.options)
    for (;;) {
      const at = run.inventory!.operation ?? { kind: 'Upgrade', wave: 0 }
      const wave = plan.waves[Math.min(at.wave, plan.waves.length - 1)]
      const appliedAtMs = at.appliedAt === undefined ? undefined : parseTime(at.appliedAt)
      const event = appliedAtMs === undefined ? OPERATION_EVENTS[at.kind].pre : 'during'
      const isWave = appliedAtMs !== undefined
      const due = plan.hooks.filter(({ hook }) => hook.on.includes(event) && (!isWave || hook.weight === wave?.wave))
      // Pre hooks before the first wave, the hooks of a wave when its objects are applied.
      if (due.length > 0 && (isWave || at.wave === 0)) {
        if (!isWave) await applyAll(run, groundOf(plan, due), context)
        const stop = await hooks.run(journal.hooksOf(run), due, event, { ...context, timeoutMs })
        if (stop) return hookStopOutcome(stop)
      }
      const members = wave ? [...wave.foundations, ...wave.others] : []
      const sight = isWave ? await lookout.look(run, members, context) : undefined
      const move = nextWaveStep({
        wave: at.wave,
        waves: plan.waves.length,
        appliedAtMs,
        health: sight?.state ?? 'Progressing',
        nowMs: clock.now(),
        timeoutMs,
      })
      switch (move.kind) {
        case 'Apply': {
          if (wave) await applyWave(run, wave, context)
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
          // Not a write of its own: after a crash the wave is found healthy again.
          const { appliedAt: _appliedAt, ...rest } = at
          run.inventory = {
            ...run.inventory!,
            operation: { ...rest, wave: at.wave + 1, since: formatTime(clock.now()) },
          }
          break
        }
        case 'Wait':
          return waitingFor(sight!, `wave ${at.wave + 1} of ${plan.waves.length}`)
        case 'TimedOut':
          return {
            row: { ...observationRow(sight!), state: 'Failed', message: `${move.message}: ${sight!.message}` },
            lookAgainMs: OBSERVE_INTERVAL_MS.failed,
            failure: 'Time',
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
    for (const group of Map.groupBy(wave.others, applyRank).values()) await applyAll(run, group, context)
  }

  async function applyAll(run: BundleRun, objects: readonly PlannedObject[], context: WorkContext): Promise<void> {
    const todo = objects.filter(({ key, options }) => !run.done.has(key) && options.method !== 'ReadOnly')
    await inParallel(todo, AT_ONCE, (planned) => applyOne(run, planned, context))
  }

  async function applyOne(run: BundleRun, planned: PlannedObject, { applier, signal }: WorkContext): Promise<void> {
    const { bundle } = run.entry
    // After a restart in the middle nothing is remembered: the records and the object itself say whose it is.
    const meeting =
      run.ownershipDecisions.get(planned.key) ?? decideObjectOwnership(run, planned, await applier.get(planned, signal))
    const object = await objectToWrite(planned, content, signal)
    try {
      const live = await applier.write({ bundle, object, options: planned.options, meeting }, signal)
      lookout.noteWritten(run, planned, live)
      run.done.add(planned.key)
    } catch (caught) {
      // Whatever was true when the operation began: look again before the next try.
      run.ownershipDecisions.delete(planned.key)
      throw caught
    }
  }

  return { moveThroughWaves }
}

// What pre hooks live in and are made of; it is recorded already, and its wave finds it there.
function groundOf(plan: SetPlan, hooks: readonly PlannedHook[]): PlannedObject[] {
  const namespaces = new Set(hooks.map(({ namespace }) => namespace))
  const kinds = new Set(hooks.map(({ apiVersion, kind }) => `${apiVersion.split('/')[0]}/${kind}`))
  return plan.objects.filter(
    ({ apiVersion, kind, name, brings }) =>
      (kind === 'Namespace' && apiVersion === 'v1' && namespaces.has(name)) ||
      (brings !== undefined && kinds.has(`${brings.group}/${brings.kind}`)),
  )
}
