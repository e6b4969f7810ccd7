/**
 * One bundle on the cluster, step by step (plan/apply/operation.ts decides which); each step can be the last before a crash and the next start
 * carries on:
 *
 *   meet, dry-run ─▶ inventory old ∪ new ─▶ pre hooks ─▶ wave by wave: apply, record, run, look until healthy ─▶ prune ─▶ post hooks ─▶ keep it so
 *                       (Applying)                                                                (Applied)                  (Settled)
 */
import type { Clock } from '../../core/time/clock.ts'
import type { Logger } from '../../core/log.ts'
import { parseTime } from '../../core/time/time.ts'
import { OPERATION_EVENTS } from '../../plan/apply/hook-step.ts'
import { waveTimeoutMs } from '../../plan/objects/object-options.ts'
import { decideOperation, decideRendered, rememberSet } from '../../plan/apply/operation.ts'
import type { OtherRecord } from '../../plan/apply/ownership.ts'
import type { Appliers } from '../cluster/executor-appliers.ts'
import { createPreflight } from './preflight.ts'
import { switchSet, OBSERVE_INTERVAL_MS, loadInventory } from './bundle-run.ts'
import type { BundleRun, StepResult } from './bundle-run.ts'
import type { ClusterState, Inventory } from '../cluster/cluster-state.ts'
import type { Content } from '../documents/content.ts'
import { createFailureHandler } from './failure-handler.ts'
import { createHooks, leftByHooks } from './hooks.ts'
import { createJournal } from './journal.ts'
import { createObserver } from './observe.ts'
import type { Observation } from './observe.ts'
import { pending, hookStopOutcome, waitingFor } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import type { PlanLoader } from './plan-loader.ts'
import { pruneObjects } from '../cluster/prune.ts'
import type { HubTime } from '../link/hub-time.ts'
import { createRemediation } from './remediation.ts'
import type { RemediationContext } from './remediation.ts'
import type { Pruned, WantedElsewhere } from '../cluster/prune.ts'
import type { SetPlan } from '../documents/set-plan.ts'
import { createWaves } from './waves.ts'

/** What operations need. */
export interface OperationPorts {
  readonly content: Content
  readonly plans: PlanLoader
  readonly appliers: Appliers
  readonly state: ClusterState
  readonly clock: Clock
  readonly hubTime: Pick<HubTime, 'now'>
  readonly log: Logger
  /** The most objects of one bundle that the cluster lets be deleted at once. */
  readonly maxPrune: () => number | undefined
}

/** What a step knows of the other bundles. */
export interface OtherBundles {
  readonly wanted: WantedElsewhere
  /** What other bundles have recorded, by object. */
  readonly others: () => ReadonlyMap<string, readonly OtherRecord[]>
  /** Why the bundle may not begin now, as far as others are concerned. */
  readonly gate: (plan: SetPlan) => StepResult | undefined
}

/** Makes the stepper of bundles. */
export function createOperation(ports: OperationPorts) {
  const { content, plans, state, clock } = ports
  const log = ports.log.child({ part: 'operation' })
  const lookout = createObserver(ports)
  const journal = createJournal(state)
  const hooks = createHooks({ content, clock, log })
  const parts = { content, plans, lookout, journal, hooks, clock, log }
  const begin = createPreflight(parts)
  const { moveThroughWaves } = createWaves(parts)
  const failures = createFailureHandler(parts)
  const appliersFor = (plan: SetPlan) => ports.appliers.as(plan.options.executor)
  const remedies = createRemediation({ ...parts, begin, workOn, appliersFor, maxPrune: ports.maxPrune })

  async function step(run: BundleRun, around: OtherBundles, signal: AbortSignal): Promise<StepResult> {
    const { entry, epoch } = run
    if (!run.inventoryRead) loadInventory(run, await state.readInventory(entry.bundle, signal))
    const startByMs = entry.startBy === undefined ? undefined : parseTime(entry.startBy)
    const again = (entry.attempt ?? 0) > run.attempt
    const wanted = { ...entry, epoch, again, ...(startByMs === undefined ? {} : { startByMs }) }
    const recorded = run.inventory && { ...run.inventory, isStuck: isStuck(run.inventory) }
    const ask = () => decideOperation(recorded, wanted, ports.hubTime.now())
    const asked = ask()
    if (asked.kind === 'Hold') return pending(asked.message)
    if (asked.kind === 'Remedied') return remedies.keep(run, around, signal)
    switchSet(run, entry.set)
    const { plan, problem } = await plans.upToDate(run, signal)
    const decision = decideRendered(asked, run.inventory, plan.rendered?.mark)
    const applier = appliersFor(plan)
    if (decision.kind === 'Begin') {
      const closed = around.gate(plan)
      if (closed) return closed
      // Fetching the content and trying its writes can take longer than there is time to start.
      const may = () => ask().kind === asked.kind && around.gate(plan) === undefined
      const how = { applier, operation: decision.operation, others: around.others(), signal, may }
      if (!(await begin(run, plan, how))) return step(run, around, signal)
      run.attempt = entry.attempt ?? 0
    }
    if (decision.kind === 'Renumber') await journal.record(run, { remedy: undefined })
    const result = await carryOn(run, plan, { applier, around, signal })
    if (problem !== undefined)
      return { row: { state: 'Failed', message: problem }, lookAgainMs: OBSERVE_INTERVAL_MS.held }
    return result
  }

  /** Takes an operation as far as it goes now, and does what is to be done when it failed. */
  async function carryOn(run: BundleRun, plan: SetPlan, work: RemediationContext): Promise<StepResult> {
    const answer = await failures.answer(run, plan, work)
    if (answer.kind === 'Say') return answer.outcome
    if (answer.kind === 'RollBack') return remedies.goBack(run, answer.set, work)
    if (answer.kind === 'Uninstall') return remedies.takeOut(run, work)
    if (answer.kind === 'Retry') {
      const { applier, signal } = work
      const operation = run.inventory?.operation?.kind ?? 'Upgrade'
      const others = work.around.others()
      await begin(run, plan, { applier, operation, others, signal, attempt: answer.attempt })
    }
    const outcome = await workOn(run, plan, work).catch((caught: unknown) => {
      const failure = failures.ofObject(run, plan, caught)
      if (!failure) throw caught
      return failure
    })
    // Written down: from now on it is answered, also after a restart.
    if (await failures.note(run, plan, outcome)) return carryOn(run, plan, work)
    return outcome
  }

  async function workOn(run: BundleRun, plan: SetPlan, work: RemediationContext): Promise<Outcome> {
    const waiting = run.inventory?.phase === 'Applying' ? await moveThroughWaves(run, plan, work) : undefined
    return waiting ?? finish(run, plan, work)
  }

  /** Everything is applied: look, prune, run what comes after, settle, and keep it so. */
  async function finish(run: BundleRun, plan: SetPlan, work: RemediationContext): Promise<Outcome> {
    const { applier, around, signal } = work
    const sight = await lookout.look(run, plan.objects, { applier, signal })
    const gone = [...run.records].filter(([key]) => !plan.byKey.has(key)).map(([, object]) => object)
    const isHealthy = sight.state === 'Ready'
    const isUnsettled = run.inventory?.phase !== 'Settled'
    let pruned: Pick<Pruned, 'waits' | 'held'> = {}
    if (gone.length > 0 && (isUnsettled || isHealthy)) {
      const context = { bundle: run.entry.bundle, applier, wanted: around.wanted, log, ceiling: ports.maxPrune() }
      const done = await pruneObjects(
        { ...context, objects: gone, options: plan.options, cause: 'removed', isHealthy },
        signal,
      )
      for (const key of done.forgotten) run.records.delete(key)
      if (done.forgotten.length > 0 && !isUnsettled) await journal.record(run, {})
      pruned = done
    }
    if (!isHealthy) return unhealthy(run, plan, sight)
    if (isUnsettled) {
      const stop = await runPostHooks(run, plan, work)
      if (stop) return stop
      const history = rememberSet(run.inventory?.history ?? [], run.set)
      const left = leftByHooks(run.inventory?.hooks ?? [])
      await journal.record(run, {
        phase: 'Settled',
        operation: undefined,
        options: plan.options,
        history,
        hooks: left,
      })
      log.info({ bundle: run.entry.bundle, generation: run.entry.generation, gone: gone.length }, 'bundle is ready')
    }
    if (pruned.waits !== undefined) return pending(pruned.waits)
    const { drift, againMs: lookAgainMs } = sight
    if (drift !== undefined) return { row: { state: 'Drifted', message: drift }, lookAgainMs }
    // What it is to have, it has: another bundle's trouble is told, and does not count against it.
    if (pruned.held !== undefined)
      return { row: { state: 'Ready', message: pruned.held }, lookAgainMs: OBSERVE_INTERVAL_MS.held }
    return { row: { state: 'Ready' }, lookAgainMs }
  }

  async function runPostHooks(run: BundleRun, plan: SetPlan, work: RemediationContext): Promise<Outcome | undefined> {
    const { post } = OPERATION_EVENTS[run.inventory?.operation?.kind ?? 'Upgrade']
    const timeoutMs = waveTimeoutMs(plan.options)
    const stop = await hooks.run(journal.hooksOf(run), plan.hooks, post, { ...work, timeoutMs })
    return stop && hookStopOutcome(stop)
  }

  /** What is not healthy within its time after everything was applied is the operation's failure. */
  function unhealthy(run: BundleRun, plan: SetPlan, sight: Observation): Outcome {
    const result = waitingFor(sight)
    const { phase, operation } = run.inventory ?? {}
    const appliedAtMs = operation?.appliedAt === undefined ? undefined : parseTime(operation.appliedAt)
    const isLate = appliedAtMs !== undefined && clock.now() >= appliedAtMs + waveTimeoutMs(plan.options)
    return phase === 'Applied' && isLate ? { ...result, failure: 'Time' } : result
  }

  return { step }
}

function isStuck({ phase, operations, hooks = [] }: Inventory): boolean {
  return phase !== 'Settled' && hooks.some((hook) => hook.operation === operations && hook.state === 'Failed')
}
