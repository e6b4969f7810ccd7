/**
 * A bundle on the cluster, step by step; plan/apply/operation.ts decides which step. A crash may follow each step,
 * and the next start continues from the inventory:
 *
 *   preflight ─▶ inventory old ∪ new ─▶ pre hooks ─▶ wave by wave: apply, record, hooks, wait ─▶ prune ─▶ post hooks
 *                    (Applying)                                                  (Applied)                 (Settled)
 */
import { compact } from '../../core/compact.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { parseTime } from '../../core/time/time.ts'
import { decideOperation, decideRendered } from '../../plan/apply/operation.ts'
import type { OtherRecord } from '../../plan/apply/ownership.ts'
import { isWithPeer } from '../../plan/handover/handover-rule.ts'
import type { HandoverRule } from '../../plan/handover/handover-rule.ts'
import type { ClusterState } from '../cluster/cluster-state.ts'
import type { Appliers } from '../cluster/executor-appliers.ts'
import type { Inventory } from '../cluster/inventory.ts'
import type { WantedElsewhere } from '../cluster/prune.ts'
import type { Content } from '../documents/content.ts'
import type { SetPlan } from '../documents/set-plan.ts'
import type { HubTime } from '../link/hub-time.ts'
import { OBSERVE_INTERVAL_MS } from '../timing.ts'
import { afterGiveBack, compareSet, planOfTakeover } from './handover/compare-set.ts'
import { loadInventory, switchSet, takeDriftDecisions } from './bundle-run.ts'
import type { BundleRun, StepResult } from './bundle-run.ts'
import { createFailureHandler } from './failure-handler.ts'
import { createHooks } from './hooks.ts'
import { createJournal } from './journal.ts'
import { createObserver } from './observe.ts'
import { pending } from './outcome.ts'
import type { Outcome } from './outcome.ts'
import type { PlanLoader } from './plan-loader.ts'
import { createPreflight } from './preflight.ts'
import { createRemediation } from './remediation.ts'
import type { RemediationContext } from './remediation.ts'
import { createSettle } from './settle.ts'
import { createWaves } from './waves.ts'

/** Ports of operations. */
export interface OperationPorts {
  readonly content: Content
  readonly plans: PlanLoader
  readonly appliers: Appliers
  readonly state: ClusterState
  readonly clock: Clock
  readonly hubTime: Pick<HubTime, 'now'>
  readonly log: Logger
  /** Maximum number of objects of a bundle that may be deleted at once. */
  readonly maxPrune: () => number | undefined
}

/** What a step needs to know of the other bundles on the cluster. */
export interface OtherBundles {
  readonly wanted: WantedElsewhere
  /** The inventory records of other bundles, by object. */
  readonly others: () => ReadonlyMap<string, readonly OtherRecord[]>
  /** The result of a bundle that may not begin now; undefined when it may. */
  readonly startHold: (plan: SetPlan) => StepResult | undefined
}

/** Creates the steps of bundles. */
export function createOperation(ports: OperationPorts) {
  const { content, plans, state, clock, maxPrune } = ports
  const log = ports.log.child({ part: 'operation' })
  const observer = createObserver(ports)
  const journal = createJournal(state)
  const hooks = createHooks({ content, clock, log })
  const parts = { content, plans, observer, journal, hooks, clock, log, maxPrune }
  const preflight = createPreflight(parts)
  const { moveThroughWaves } = createWaves(parts)
  const settle = createSettle(parts)
  const failures = createFailureHandler(parts)
  const appliersFor = (plan: SetPlan) => ports.appliers.as(plan.options.executor)
  const remediation = createRemediation({ ...parts, preflight, advance, appliersFor })

  async function step(run: BundleRun, others: OtherBundles, signal: AbortSignal): Promise<StepResult> {
    const { entry, epoch } = run
    if (!run.inventoryRead) loadInventory(run, await state.readInventory(entry.bundle, signal))
    if (run.handover && isWithPeer(run.handover)) return compare(run, run.handover, signal)
    if (run.handoverHold !== undefined) return pending(run.handoverHold)
    const startByMs = entry.startBy === undefined ? undefined : parseTime(entry.startBy)
    const again = (entry.attempt ?? 0) > run.attempt
    const wanted = { ...entry, epoch, again, ...compact({ startByMs }) }
    const recorded = run.inventory && { ...run.inventory, isStuck: isStuck(run.inventory) }
    const decide = () => decideOperation(recorded, wanted, ports.hubTime.now())
    const asked = decide()
    if (asked.kind === 'Hold') return pending(asked.message)
    if (asked.kind === 'Remedied') return remediation.keep(run, others, signal)
    switchSet(run, entry.set)
    const { plan, problem } = await plans.upToDate(run, signal)
    takeDriftDecisions(run, plan, ports.hubTime.now())
    const decision = afterGiveBack(run, decideRendered(asked, run.inventory, plan.rendered?.mark))
    const applier = appliersFor(plan)
    if (decision.kind === 'Begin') {
      const hold = others.startHold(plan)
      if (hold) return hold
      // Fetching the content and the dry runs can take longer than the time until start-by.
      const may = () => decide().kind === asked.kind && others.startHold(plan) === undefined
      const context = { applier, operation: decision.operation, others: others.others(), signal, may }
      if (!(await preflight(run, plan, context))) return step(run, others, signal)
      run.attempt = entry.attempt ?? 0
    }
    if (decision.kind === 'Renumber') await journal.record(run, { remedy: undefined })
    const result = await carryOn(run, planOfTakeover(run, plan), { applier, others, signal })
    if (problem !== undefined)
      return { row: { state: 'Failed', message: problem }, nextStepMs: OBSERVE_INTERVAL_MS.waiting }
    return result
  }

  async function compare(run: BundleRun, rule: HandoverRule, signal: AbortSignal): Promise<StepResult> {
    switchSet(run, run.entry.set)
    const { plan } = await plans.upToDate(run, signal)
    return compareSet(run, plan, { applier: appliersFor(plan), content, rule, signal })
  }

  /** Advances an operation as far as possible now, and acts on its failure. */
  async function carryOn(run: BundleRun, plan: SetPlan, work: RemediationContext): Promise<StepResult> {
    const response = await failures.respond(run, plan, work)
    if (response.kind === 'Report') return response.outcome
    if (response.kind === 'RollBack') return remediation.rollBack(run, response.set, work)
    if (response.kind === 'Uninstall') return remediation.uninstall(run, work)
    if (response.kind === 'Retry') {
      const { applier, signal } = work
      const operation = run.inventory?.operation?.kind ?? 'Upgrade'
      const others = work.others.others()
      await preflight(run, plan, { applier, operation, others, signal, attempt: response.attempt })
    }
    const outcome = await advance(run, plan, work).catch((caught: unknown) => {
      const failure = failures.ofObject(run, plan, caught)
      if (!failure) throw caught
      return failure
    })
    // The failure is recorded: the agent acts on it from now on, also after a restart.
    if (await failures.note(run, plan, outcome, work)) return carryOn(run, plan, work)
    return outcome
  }

  async function advance(run: BundleRun, plan: SetPlan, work: RemediationContext): Promise<Outcome> {
    const waiting = run.inventory?.phase === 'Applying' ? await moveThroughWaves(run, plan, work) : undefined
    return waiting ?? settle(run, plan, work)
  }

  return { step }
}

/** The steps of bundles. */
export type Operation = ReturnType<typeof createOperation>

function isStuck({ phase, operations, hooks = [] }: Inventory): boolean {
  return phase !== 'Settled' && hooks.some((hook) => hook.operation === operations && hook.state === 'Failed')
}
