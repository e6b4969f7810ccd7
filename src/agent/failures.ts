/** What happens when an operation failed: it is written down, and the hooks for that moment run once. */
import type { Clock } from '../core/clock.ts'
import { formatTime, parseTime } from '../core/time.ts'
import { waveTimeoutMs } from '../plan/object-options.ts'
import { ObjectFailure } from './applier.ts'
import { LOOK_MS } from './bundle-run.ts'
import type { BundleRun } from './bundle-run.ts'
import type { Hooks } from './hooks.ts'
import type { Journal } from './journal.ts'
import { rowOfFailure } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import type { SetPlan } from './set-plan.ts'
import type { WorkContext } from './waves.ts'

/** What failures need. */
export interface FailurePorts {
  readonly journal: Journal
  readonly hooks: Hooks
  readonly clock: Clock
}

/** Makes it. */
export function createFailures({ journal, hooks, clock }: FailurePorts) {
  /** Whether anything is done about a failure beside saying so. */
  const hasAnswer = (plan: SetPlan) => plan.hooks.some(({ hook }) => hook.on.includes('failure'))

  /** Writes a failure down when something is to be done about it; returns whether it is written. */
  async function note(run: BundleRun, plan: SetPlan, { row, failure }: Outcome): Promise<boolean> {
    const operation = run.inventory?.operation
    if (failure === undefined || !operation || !hasAnswer(plan)) return false
    if (operation.failed) return false
    const failed = {
      by: failure,
      message: row.message ?? '',
      ...(row.firstFailing === undefined ? {} : { firstFailing: row.firstFailing }),
      at: formatTime(clock.now()),
    }
    await journal.record(run, { operation: { ...operation, failed } })
    return true
  }

  /** Writing an object fails again and again: after a wave's time that is the operation's failure. */
  function ofObject(run: BundleRun, plan: SetPlan, caught: unknown): Outcome | undefined {
    const operation = run.inventory?.operation
    if (!(caught instanceof ObjectFailure) || !operation || !hasAnswer(plan)) return undefined
    const sinceMs = operation.since === undefined ? undefined : parseTime(operation.since)
    if (sinceMs === undefined || clock.now() < sinceMs + waveTimeoutMs(plan.options)) return undefined
    return { row: rowOfFailure(caught)!, lookAgainMs: LOOK_MS.failed, failure: 'Time' }
  }

  /** Does what is to be done about a failure that is written down; undefined: the operation goes on as far as it can. */
  async function answer(run: BundleRun, plan: SetPlan, context: WorkContext): Promise<Outcome | undefined> {
    const failed = run.inventory?.operation?.failed
    if (!failed) return undefined
    const { message, firstFailing } = failed
    const said = (more: string, lookAgainMs: number): Outcome => ({
      row: { state: 'Failed', message: `${message}${more}`, ...(firstFailing === undefined ? {} : { firstFailing }) },
      lookAgainMs,
    })
    const timeoutMs = waveTimeoutMs(plan.options)
    const stop = await hooks.run(journal.hooksOf(run), plan.hooks, 'failure', { ...context, timeoutMs })
    if (stop?.kind === 'Waiting') return said(`; ${stop.message}`, LOOK_MS.progressing)
    const also = stop ? `; ${stop.message}` : ''
    return failed.by === 'Hook' ? said(also, LOOK_MS.held) : undefined
  }

  return { note, ofObject, answer }
}
