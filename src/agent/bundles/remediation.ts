/**
 * What the agent does about a failed bundle: it applies the previous set again and keeps it, or it removes all objects.
 * The bundle stays Failed, and the set that failed is not tried again until a user asks for a retry.
 */
import { compact } from '../../core/compact.ts'
import type { Logger } from '../../core/log.ts'
import { OPERATION_EVENTS } from '../../plan/apply/hook-step.ts'
import { waveTimeoutMs } from '../../plan/objects/object-options.ts'
import type { createPreflight } from './preflight.ts'
import { OBSERVE_INTERVAL_MS } from '../timing.ts'
import { switchSet } from './bundle-run.ts'
import type { BundleRun, StepResult } from './bundle-run.ts'
import type { Inventory } from '../cluster/inventory.ts'
import type { Content } from '../documents/content.ts'
import { leftByHooks } from './hooks.ts'
import type { Hooks } from './hooks.ts'
import type { Journal } from './journal.ts'
import type { OtherBundles } from './operation.ts'
import type { Outcome } from './outcome.ts'
import type { PlanLoader } from './plan-loader.ts'
import { pruneObjects } from '../cluster/prune.ts'
import type { SetPlan } from '../documents/set-plan.ts'
import type { WorkContext } from './waves.ts'

/** Ports of remediation. */
export interface RemediationPorts {
  readonly content: Content
  readonly plans: PlanLoader
  readonly journal: Journal
  readonly hooks: Hooks
  readonly preflight: ReturnType<typeof createPreflight>
  /** Advances an operation as far as possible now. */
  readonly advance: (run: BundleRun, plan: SetPlan, work: RemediationContext) => Promise<Outcome>
  readonly appliersFor: (plan: SetPlan) => WorkContext['applier']
  readonly maxPrune: () => number | undefined
  readonly log: Logger
}

/** The executor of the work, and the other bundles on the cluster. */
export interface RemediationContext extends WorkContext {
  readonly others: OtherBundles
}

type Remedy = NonNullable<Inventory['remedy']>

/** Creates the remediation of failed bundles. */
export function createRemediation(ports: RemediationPorts) {
  const { content, plans, journal, hooks, preflight, log } = ports

  function newRemedy(run: BundleRun, action: Remedy['action']): Remedy {
    const { message = '', firstFailing } = run.inventory?.operation?.failed ?? {}
    const { generation, set } = run.entry
    return { action, set, generation, message, ...compact({ firstFailing }) }
  }

  /** Rolls back to the previous set, if all of it is on disk. */
  async function rollBack(
    run: BundleRun,
    to: Inventory['set'],
    { others, signal }: RemediationContext,
  ): Promise<StepResult> {
    const remedy = newRemedy(run, 'RollBack')
    const kept = await content.kept(to)
    if (!kept) {
      return failed(remedy, `${remedy.message}; not rolled back: the previous set is not on this disk any more`)
    }
    switchSet(run, to)
    const plan = (run.plan = await plans.of(run.entry.bundle, kept, to, signal))
    const applier = ports.appliersFor(plan)
    await preflight(run, plan, { applier, operation: 'RollBack', others: others.others(), signal, remedy })
    log.warn({ bundle: run.entry.bundle, generation: run.entry.generation }, `rolling back: ${remedy.message}`)
    return keep(run, others, signal)
  }

  /** Begins to remove all objects of the bundle; the options of single objects still apply. */
  async function uninstall(run: BundleRun, { others, signal }: RemediationContext): Promise<StepResult> {
    const remedy = newRemedy(run, 'Uninstall')
    await journal.record(run, {
      phase: 'Applied',
      operation: { kind: 'Uninstall', wave: 0 },
      operations: (run.inventory?.operations ?? 0) + 1,
      hooks: leftByHooks(run.inventory?.hooks ?? []),
      remedy,
    })
    log.warn(
      { bundle: run.entry.bundle, generation: run.entry.generation },
      `uninstalling after a failure: ${remedy.message}`,
    )
    return keep(run, others, signal)
  }

  /** Continues a remediation, and observes its result in later steps. */
  async function keep(run: BundleRun, others: OtherBundles, signal: AbortSignal): Promise<StepResult> {
    const { remedy, set, phase } = run.inventory!
    if (remedy!.action === 'Uninstall' && phase === 'Settled') {
      return failed(remedy!, `uninstalled after a failure: ${remedy!.message}`)
    }
    switchSet(run, set)
    const kept = run.plan ? undefined : await content.kept(set)
    if (!run.plan && !kept) {
      return failed(
        remedy!,
        `rolled back, but the current set is not on this disk any more and drift is not corrected: ${remedy!.message}`,
      )
    }
    const plan = (run.plan ??= await plans.of(run.entry.bundle, kept!, set, signal))
    const work = { applier: ports.appliersFor(plan), others, signal }
    if (remedy!.action === 'Uninstall') return remove(run, plan, work)
    const { row, nextStepMs } = await ports.advance(run, plan, work)
    if (row.state === 'Ready') return failed(remedy!, `rolled back to the previous set: ${remedy!.message}`, nextStepMs)
    return failed(
      remedy!,
      `rolling back to the previous set (${row.message ?? row.state}): ${remedy!.message}`,
      nextStepMs,
    )
  }

  async function remove(run: BundleRun, plan: SetPlan, work: RemediationContext): Promise<StepResult> {
    const { remedy } = run.inventory!
    const { pre, post } = OPERATION_EVENTS.Uninstall
    const { options } = plan
    const progress = (what: string) =>
      failed(remedy!, `uninstalling after a failure (${what}): ${remedy!.message}`, OBSERVE_INTERVAL_MS.progressing)
    const hookWork = { ...work, timeoutMs: waveTimeoutMs(options) }
    const before = await hooks.run(journal.hooksOf(run), plan.hooks, pre, hookWork)
    if (before) return progress(before.message)
    const pruned = await pruneObjects(
      {
        bundle: run.entry.bundle,
        objects: [...run.records.values()],
        options: { ...options, delete: { ...options.delete, bundleDeleted: 'Delete' } },
        cause: 'bundleDeleted',
        isHealthy: true,
        maxPrune: ports.maxPrune(),
        applier: work.applier,
        wanted: work.others.wanted,
        log,
      },
      work.signal,
    )
    for (const key of pruned.forgotten) run.records.delete(key)
    if (pruned.forgotten.length > 0) await journal.record(run, {})
    if (run.records.size > 0) return progress(pruned.waits ?? pruned.held ?? 'deleting its objects')
    const after = await hooks.run(journal.hooksOf(run), plan.hooks, post, hookWork)
    if (after) return progress(after.message)
    await hooks.clear(journal.hooksOf(run), work)
    await journal.record(run, { phase: 'Settled', operation: undefined, hooks: [] })
    return failed(remedy!, `uninstalled after a failure: ${remedy!.message}`)
  }

  return { rollBack, uninstall, keep }
}

function failed({ firstFailing }: Remedy, message: string, nextStepMs: number = OBSERVE_INTERVAL_MS.ready): StepResult {
  return { row: { state: 'Failed', message, ...compact({ firstFailing }) }, nextStepMs }
}
