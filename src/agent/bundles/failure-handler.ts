/** What happens when an operation failed: it is written down, the hooks for that moment run once, then it is decided what is done. */
import type { Clock } from '../../core/time/clock.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import { waveTimeoutMs } from '../../plan/objects/object-options.ts'
import { decideFailureAction, hasFailureAction } from '../../plan/apply/failure-policy.ts'
import type { FailureAction } from '../../plan/apply/failure-policy.ts'
import { ObjectFailure } from '../cluster/applier.ts'
import { OBSERVE_INTERVAL_MS } from './bundle-run.ts'
import type { BundleRun } from './bundle-run.ts'
import type { Hooks } from './hooks.ts'
import type { Journal } from './journal.ts'
import { rowOfFailure } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import type { SetPlan } from '../documents/set-plan.ts'
import type { WorkContext } from './waves.ts'

/** What failures need. */
export interface FailurePorts {
  readonly journal: Journal
  readonly hooks: Hooks
  readonly clock: Clock
}

/** What comes after a failure: something to say, something to do, or on with it as far as it goes. */
export type FailureResponse =
  | { readonly kind: 'Say'; readonly outcome: Outcome }
  | { readonly kind: 'GoOn' }
  | Exclude<FailureAction, { readonly kind: 'None' }>

/** Makes it. */
export function createFailureHandler({ journal, hooks, clock }: FailurePorts) {
  /** Whether anything is done about a failure beside saying so. */
  function isAnswered(run: BundleRun, plan: SetPlan): boolean {
    const { operation, remedy } = run.inventory ?? {}
    // What answers a failure is not answered for again.
    if (!operation || remedy) return false
    const hasHooks = plan.hooks.some(({ hook }) => hook.on.includes('failure'))
    return hasHooks || hasFailureAction(plan.options.remediation, operation.kind)
  }

  /** Writes a failure down when something is to be done about it; returns whether it was. */
  async function note(run: BundleRun, plan: SetPlan, { row, failure }: Outcome): Promise<boolean> {
    const operation = run.inventory?.operation
    if (failure === undefined || !operation || operation.failed || !isAnswered(run, plan)) return false
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
    if (!(caught instanceof ObjectFailure) || !operation || !isAnswered(run, plan)) return undefined
    const sinceMs = operation.since === undefined ? undefined : parseTime(operation.since)
    if (sinceMs === undefined || clock.now() < sinceMs + waveTimeoutMs(plan.options)) return undefined
    return { row: rowOfFailure(caught)!, lookAgainMs: OBSERVE_INTERVAL_MS.failed, failure: 'Time' }
  }

  /** What comes after a failure that is written down. */
  async function answer(run: BundleRun, plan: SetPlan, context: WorkContext): Promise<FailureResponse> {
    const { operation, remedy: answered, history = [] } = run.inventory ?? {}
    const failed = operation?.failed
    if (!operation || !failed || answered) return { kind: 'GoOn' }
    const { message, firstFailing } = failed
    const say = (state: 'Failed' | 'Progressing', text: string, lookAgainMs: number): FailureResponse => ({
      kind: 'Say',
      outcome: {
        row: { state, message: text, ...(firstFailing === undefined ? {} : { firstFailing }) },
        lookAgainMs,
      },
    })
    const timeoutMs = waveTimeoutMs(plan.options)
    const stop = await hooks.run(journal.hooksOf(run), plan.hooks, 'failure', { ...context, timeoutMs })
    if (stop?.kind === 'Waiting') return say('Failed', `${message}; ${stop.message}`, OBSERVE_INTERVAL_MS.progressing)
    const remedy = decideFailureAction({
      options: plan.options.remediation,
      operation: operation.kind,
      attempt: operation.attempt ?? 1,
      failedAtMs: parseTime(failed.at) ?? clock.now(),
      before: ranBefore(history, run.set, plan),
    })
    if (remedy.kind === 'None') {
      if (failed.by === 'Time') return { kind: 'GoOn' }
      return say('Failed', stop ? `${message}; ${stop.message}` : message, OBSERVE_INTERVAL_MS.held)
    }
    if (remedy.kind !== 'Retry' || clock.now() >= remedy.atMs) return remedy
    const words = `attempt ${remedy.attempt - 1} of ${remedy.attempts} failed, the next is at ${formatTime(remedy.atMs)}: ${message}`
    return say('Progressing', words, Math.max(remedy.atMs - clock.now(), 0))
  }

  return { note, ofObject, answer }
}

/** The set to go back to. One that ran well and is rendered here failed by what was read: an older one would read the same. */
function ranBefore(history: readonly Digest[], now: Digest, { rendered }: SetPlan): Digest | undefined {
  return rendered && history[0] === now ? undefined : history.find((set) => set !== now)
}
