// Tested by src/agent/bundles/operation.contract.test.ts
/** The end of an operation: observe, prune, run the post hooks, record the bundle as settled. Later steps repeat it. */
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { OPERATION_EVENTS } from '../../plan/apply/hook-step.ts'
import { rememberSet } from '../../plan/apply/operation.ts'
import { waveTimeoutMs } from '../../plan/objects/object-options.ts'
import { pruneObjects } from '../cluster/prune.ts'
import type { Pruned } from '../cluster/prune.ts'
import type { SetPlan } from '../documents/set-plan.ts'
import { OBSERVE_INTERVAL_MS } from '../timing.ts'
import { timeoutStartMs } from './bundle-run.ts'
import type { BundleRun } from './bundle-run.ts'
import { leftByHooks } from './hooks.ts'
import type { Hooks } from './hooks.ts'
import type { Journal } from './journal.ts'
import type { Observation, Observer } from './observe.ts'
import { hookStopOutcome, pending, waitingFor } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import type { RemediationContext } from './remediation.ts'

/** Ports of settling. */
export interface SettlePorts {
  readonly observer: Observer
  readonly journal: Journal
  readonly hooks: Hooks
  readonly clock: Clock
  readonly log: Logger
  /** Maximum number of objects of a bundle that may be deleted at once. */
  readonly maxPrune: () => number | undefined
}

/** Creates the end of operations. */
export function createSettle({ observer, journal, hooks, clock, log, maxPrune }: SettlePorts) {
  /** Prunes objects that the set no longer has: while the operation runs, and later when the bundle is healthy. */
  async function prune(
    run: BundleRun,
    plan: SetPlan,
    { applier, others, signal }: RemediationContext,
    isHealthy: boolean,
  ): Promise<Pick<Pruned, 'waits' | 'held'> & { readonly gone: number }> {
    const gone = [...run.records].filter(([key]) => !plan.byKey.has(key)).map(([, object]) => object)
    const isUnsettled = run.inventory?.phase !== 'Settled'
    if (gone.length === 0 || !(isUnsettled || isHealthy)) return { gone: gone.length }
    const pruned = await pruneObjects(
      {
        bundle: run.entry.bundle,
        objects: gone,
        options: plan.options,
        cause: 'removed',
        isHealthy,
        maxPrune: maxPrune(),
        applier,
        wanted: others.wanted,
        log,
      },
      signal,
    )
    for (const key of pruned.forgotten) run.records.delete(key)
    if (pruned.forgotten.length > 0 && !isUnsettled) await journal.record(run, {})
    return { ...pruned, gone: gone.length }
  }

  async function runPostHooks(run: BundleRun, plan: SetPlan, work: RemediationContext): Promise<Outcome | undefined> {
    const { post } = OPERATION_EVENTS[run.inventory?.operation?.kind ?? 'Upgrade']
    const timeoutMs = waveTimeoutMs(plan.options)
    const stop = await hooks.run(journal.hooksOf(run), plan.hooks, post, { ...work, timeoutMs })
    return stop && hookStopOutcome(stop)
  }

  /** A set that is applied and not healthy within the wave timeout is a failure of the operation. */
  function unhealthy(run: BundleRun, plan: SetPlan, observation: Observation): Outcome {
    const result = waitingFor(observation)
    const { phase, operation } = run.inventory ?? {}
    const appliedAtMs = timeoutStartMs(run, operation?.appliedAt)
    const isLate = appliedAtMs !== undefined && clock.now() >= appliedAtMs + waveTimeoutMs(plan.options)
    return phase === 'Applied' && isLate ? { ...result, failure: 'Time' } : result
  }

  async function recordSettled(run: BundleRun, plan: SetPlan): Promise<void> {
    await journal.record(run, {
      phase: 'Settled',
      operation: undefined,
      options: plan.options,
      history: rememberSet(run.inventory?.history ?? [], run.set),
      hooks: leftByHooks(run.inventory?.hooks ?? []),
    })
  }

  return async (run: BundleRun, plan: SetPlan, work: RemediationContext): Promise<Outcome> => {
    const { bundle, generation } = run.entry
    const observation = await observer.observe(run, plan.objects, work)
    const isHealthy = observation.state === 'Ready'
    const pruned = await prune(run, plan, work, isHealthy)
    if (!isHealthy) return unhealthy(run, plan, observation)
    if (run.inventory?.phase !== 'Settled') {
      const stop = await runPostHooks(run, plan, work)
      if (stop) return stop
      await recordSettled(run, plan)
      log.info({ bundle, generation, gone: pruned.gone }, 'bundle is ready')
    }
    if (pruned.waits !== undefined) return pending(pruned.waits)
    const { drift, againMs: nextStepMs } = observation
    if (drift !== undefined) return { row: { state: 'Drifted', message: drift }, nextStepMs }
    // The bundle has all its objects: a prune that waits for another bundle is reported, and the bundle is Ready.
    if (pruned.held !== undefined)
      return { row: { state: 'Ready', message: pruned.held }, nextStepMs: OBSERVE_INTERVAL_MS.waiting }
    return { row: { state: 'Ready' }, nextStepMs }
  }
}
