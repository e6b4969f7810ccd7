/**
 * What is done about a bundle that failed: the set that ran before is applied again and kept, or everything is removed. Either way the bundle
 * stays Failed, and nothing of the set that failed is tried again until somebody asks for it.
 */
import type { Logger } from '../../core/log.ts'
import { OPERATION_EVENTS } from '../../plan/apply/hook-step.ts'
import { waveTimeoutMs } from '../../plan/objects/object-options.ts'
import type { createPreflight } from './preflight.ts'
import { switchSet, OBSERVE_INTERVAL_MS } from './bundle-run.ts'
import type { BundleRun, StepResult } from './bundle-run.ts'
import type { Inventory } from '../cluster/cluster-state.ts'
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

/** What remedies need. */
export interface RemediationPorts {
  readonly content: Content
  readonly plans: PlanLoader
  readonly journal: Journal
  readonly hooks: Hooks
  readonly begin: ReturnType<typeof createPreflight>
  /** Takes an operation as far as it goes now. */
  readonly workOn: (run: BundleRun, plan: SetPlan, work: RemediationContext) => Promise<Outcome>
  readonly appliersFor: (plan: SetPlan) => WorkContext['applier']
  readonly maxPrune: () => number | undefined
  readonly log: Logger
}

/** With whose rights, among which other bundles. */
export interface RemediationContext extends WorkContext {
  readonly around: OtherBundles
}

type Answered = NonNullable<Inventory['remedy']>

/** Makes it. */
export function createRemediation(ports: RemediationPorts) {
  const { content, plans, journal, hooks, begin, log } = ports

  function remedyOf(run: BundleRun, action: Answered['action']): Answered {
    const { message = '', firstFailing } = run.inventory?.operation?.failed ?? {}
    const { generation, set } = run.entry
    return { action, set, generation, message, ...(firstFailing === undefined ? {} : { firstFailing }) }
  }

  /** Goes back to the set that ran before, if all of it is still here. */
  async function goBack(
    run: BundleRun,
    to: Inventory['set'],
    { around, signal }: RemediationContext,
  ): Promise<StepResult> {
    const remedy = remedyOf(run, 'RollBack')
    const kept = await content.kept(to)
    if (!kept) {
      return failed(remedy, `${remedy.message}; it is not rolled back: what ran before is not on this disk any more`)
    }
    switchSet(run, to)
    const plan = (run.plan = await plans.of(run.entry.bundle, kept, to, signal))
    const applier = ports.appliersFor(plan)
    await begin(run, plan, { applier, operation: 'RollBack', others: around.others(), signal, remedy })
    log.warn({ bundle: run.entry.bundle, generation: run.entry.generation }, `rolling back: ${remedy.message}`)
    return keep(run, around, signal)
  }

  /** Begins to remove everything; what a person decided about single objects still counts. */
  async function takeOut(run: BundleRun, { around, signal }: RemediationContext): Promise<StepResult> {
    const remedy = remedyOf(run, 'Uninstall')
    await journal.record(run, {
      phase: 'Applied',
      operation: { kind: 'Uninstall', wave: 0 },
      operations: (run.inventory?.operations ?? 0) + 1,
      hooks: leftByHooks(run.inventory?.hooks ?? []),
      remedy,
    })
    log.warn({ bundle: run.entry.bundle, generation: run.entry.generation }, `taking it out: ${remedy.message}`)
    return keep(run, around, signal)
  }

  /** Goes on with what was done about a failure, and keeps it so. */
  async function keep(run: BundleRun, around: OtherBundles, signal: AbortSignal): Promise<StepResult> {
    const { remedy, set, phase } = run.inventory!
    if (remedy!.action === 'Uninstall' && phase === 'Settled') {
      return failed(remedy!, `it was taken out again: ${remedy!.message}`)
    }
    switchSet(run, set)
    const kept = run.plan ? undefined : await content.kept(set)
    if (!run.plan && !kept) {
      return failed(
        remedy!,
        `rolled back, and what runs now is not on this disk any more to keep it so: ${remedy!.message}`,
      )
    }
    const plan = (run.plan ??= await plans.of(run.entry.bundle, kept!, set, signal))
    const work = { applier: ports.appliersFor(plan), around, signal }
    if (remedy!.action === 'Uninstall') return remove(run, plan, work)
    const { row, lookAgainMs } = await ports.workOn(run, plan, work)
    if (row.state === 'Ready') return failed(remedy!, `rolled back to what ran before: ${remedy!.message}`, lookAgainMs)
    return failed(
      remedy!,
      `rolling back to what ran before (${row.message ?? row.state}): ${remedy!.message}`,
      lookAgainMs,
    )
  }

  async function remove(run: BundleRun, plan: SetPlan, work: RemediationContext): Promise<StepResult> {
    const { remedy } = run.inventory!
    const { pre, post } = OPERATION_EVENTS.Uninstall
    const { options } = plan
    const said = (what: string) =>
      failed(remedy!, `taking it out (${what}): ${remedy!.message}`, OBSERVE_INTERVAL_MS.progressing)
    const around = { ...work, timeoutMs: waveTimeoutMs(options) }
    const before = await hooks.run(journal.hooksOf(run), plan.hooks, pre, around)
    if (before) return said(before.message)
    const pruned = await pruneObjects(
      {
        bundle: run.entry.bundle,
        objects: [...run.records.values()],
        options: { ...options, delete: { ...options.delete, bundleDeleted: 'Delete' } },
        cause: 'bundleDeleted',
        isHealthy: true,
        ceiling: ports.maxPrune(),
        applier: work.applier,
        wanted: work.around.wanted,
        log,
      },
      work.signal,
    )
    for (const key of pruned.forgotten) run.records.delete(key)
    if (pruned.forgotten.length > 0) await journal.record(run, {})
    if (run.records.size > 0) return said(pruned.waits ?? pruned.held ?? 'its objects go')
    const after = await hooks.run(journal.hooksOf(run), plan.hooks, post, around)
    if (after) return said(after.message)
    await hooks.clear(journal.hooksOf(run), work)
    await journal.record(run, { phase: 'Settled', operation: undefined, hooks: [] })
    return failed(remedy!, `it was taken out again: ${remedy!.message}`)
  }

  return { goBack, takeOut, keep }
}

function failed(
  { firstFailing }: Answered,
  message: string,
  lookAgainMs: number = OBSERVE_INTERVAL_MS.ready,
): StepResult {
  return { row: { state: 'Failed', message, ...(firstFailing === undefined ? {} : { firstFailing }) }, lookAgainMs }
}
