// Tested by src/agent/bundles/remediation.contract.test.ts
/**
 * The failure of an operation: record it, run the failure hooks once, then decide what to do
 * (plan/apply/failure-policy.ts).
 */
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import { waveTimeoutMs } from '../../plan/objects/object-options.ts'
import { decideFailureAction, hasFailureAction } from '../../plan/apply/failure-policy.ts'
import type { FailureAction } from '../../plan/apply/failure-policy.ts'
import { OPERATION_EVENTS } from '../../plan/apply/hook-step.ts'
import type { OperationKind } from '../../plan/apply/operation.ts'
import { ObjectFailure, ProjectRefused } from '../cluster/object-failure.ts'
import { timeoutStartMs } from './bundle-run.ts'
import type { BundleRun } from './bundle-run.ts'
import type { Hooks } from './hooks.ts'
import type { Journal } from './journal.ts'
import { rowOfFailure } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import type { PlannedObject, SetPlan } from '../documents/set-plan.ts'
import { OBSERVE_INTERVAL_MS } from '../timing.ts'
import type { WorkContext } from './waves.ts'

/** Ports of the failure handler. */
export interface FailurePorts {
  readonly journal: Journal
  readonly hooks: Hooks
  readonly clock: Clock
}

/** What follows a failure: a row to report, an action, or the operation continues as far as it can. */
export type FailureResponse =
  | { readonly kind: 'Report'; readonly outcome: Outcome }
  | { readonly kind: 'Continue' }
  | Exclude<FailureAction, { readonly kind: 'None' }>

/** Creates the failure handler. */
export function createFailureHandler({ journal, hooks, clock }: FailurePorts) {
  /** True when the agent does more about a failure than report it. */
  function isHandled(run: BundleRun, plan: SetPlan): boolean {
    const { operation, remedy } = run.inventory ?? {}
    // A remediation that fails is not remediated again.
    if (!operation || remedy) return false
    const hasHooks = plan.hooks.some(({ hook }) => hook.on.includes('failure'))
    return hasHooks || hasFailureAction(plan.options.remediation, operation.kind)
  }

  /** Records a failure that the agent acts on; resolves to true when it was recorded. */
  async function note(
    run: BundleRun,
    plan: SetPlan,
    { row, failure }: Outcome,
    context: WorkContext,
  ): Promise<boolean> {
    const operation = run.inventory?.operation
    if (failure === undefined || !operation || operation.failed || !isHandled(run, plan)) return false
    // A Project freezes: while it refuses a part of the set, no action follows that could remove what runs.
    if (await isRefused(run.entry.bundle, objectsOf(plan, operation.kind), context)) return false
    const failed = {
      by: failure,
      message: row.message ?? '',
      ...compact({ firstFailing: row.firstFailing }),
      at: formatTime(clock.now()),
    }
    await journal.record(run, { operation: { ...operation, failed } })
    return true
  }

  /** An object that is not written within the wave timeout fails the operation. A Project's refusal does not. */
  function ofObject(run: BundleRun, plan: SetPlan, caught: unknown): Outcome | undefined {
    const operation = run.inventory?.operation
    if (!(caught instanceof ObjectFailure) || caught instanceof ProjectRefused) return undefined
    if (!operation || !isHandled(run, plan)) return undefined
    const sinceMs = timeoutStartMs(run, operation.since)
    if (sinceMs === undefined || clock.now() < sinceMs + waveTimeoutMs(plan.options)) return undefined
    return { row: rowOfFailure(caught)!, nextStepMs: OBSERVE_INTERVAL_MS.failed, failure: 'Time' }
  }

  /** What follows a recorded failure. */
  async function respond(run: BundleRun, plan: SetPlan, context: WorkContext): Promise<FailureResponse> {
    const { operation, remedy, history = [] } = run.inventory ?? {}
    const failed = operation?.failed
    if (!operation || !failed || remedy) return { kind: 'Continue' }
    const { message, firstFailing } = failed
    const report = (state: 'Failed' | 'Progressing', text: string, nextStepMs: number): FailureResponse => ({
      kind: 'Report',
      outcome: {
        row: { state, message: text, ...compact({ firstFailing }) },
        nextStepMs,
      },
    })
    const timeoutMs = waveTimeoutMs(plan.options)
    const stop = await hooks.run(journal.hooksOf(run), plan.hooks, 'failure', { ...context, timeoutMs })
    if (stop?.kind === 'Waiting')
      return report('Failed', `${message}; ${stop.message}`, OBSERVE_INTERVAL_MS.progressing)
    const action = decideFailureAction({
      options: plan.options.remediation,
      operation: operation.kind,
      attempt: operation.attempt ?? 1,
      failedAtMs: parseTime(failed.at) ?? clock.now(),
      before: previousSet(history, run.set, plan),
    })
    if (action.kind === 'None') {
      if (failed.by === 'Time') return { kind: 'Continue' }
      return report('Failed', stop ? `${message}; ${stop.message}` : message, OBSERVE_INTERVAL_MS.waiting)
    }
    if (action.kind !== 'Retry' || clock.now() >= action.atMs) return action
    const next = `attempt ${action.attempt - 1} of ${action.attempts} failed; next attempt at ${formatTime(action.atMs)}: ${message}`
    return report('Progressing', next, Math.max(action.atMs - clock.now(), 0))
  }

  return { note, ofObject, respond }
}

/** True when the bundle's Project refuses one of the objects. */
async function isRefused(
  bundle: string,
  objects: readonly PlannedObject[],
  { applier, signal }: WorkContext,
): Promise<boolean> {
  try {
    for (const object of objects) await applier.check(bundle, object, signal)
    return false
  } catch (caught) {
    if (caught instanceof ProjectRefused) return true
    throw caught
  }
}

/** The objects and hooks that an operation writes. */
function objectsOf({ objects, hooks }: SetPlan, operation: OperationKind): readonly PlannedObject[] {
  const { pre, post } = OPERATION_EVENTS[operation]
  const events = [pre, 'during', post, 'failure']
  return [...objects, ...hooks.filter(({ hook }) => hook.on.some((event) => events.includes(event)))]
}

/**
 * The set to roll back to. A recipe that ran before failed because of what it read, and an older set would read the
 * same.
 */
function previousSet(history: readonly Digest[], now: Digest, { rendered }: SetPlan): Digest | undefined {
  return rendered && history[0] === now ? undefined : history.find((set) => set !== now)
}
