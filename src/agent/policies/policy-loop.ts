// Tested by src/agent/policies/policies.contract.test.ts
/**
 * Evaluates the checks of the cluster: when their bundle settles, when an object changes that the last evaluation
 * read, at the interval of their author, and when a check changes that they depend on. Without the hub too.
 */
import { createWakeup } from '../../core/async/wakeup.ts'
import { toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Executor } from '../../plan/apply/local-limits.ts'
import type { ReportedCheck } from '../../wire/link/frames.ts'
import { POLICY_TIMING } from '../timing.ts'
import type { Appliers } from '../cluster/executor-appliers.ts'
import { createCheckRuns } from './check-runs.ts'
import type { CheckRun, CheckRunPorts } from './check-runs.ts'
import { createCheckSets } from './check-sets.ts'
import type { CheckSetPorts } from './check-sets.ts'
import type { ChangedObject, PolicyRead } from './policy-watches.ts'

/** Ports of the loop. */
export interface PolicyLoopPorts extends CheckRunPorts, CheckSetPorts {
  readonly appliers: Pick<Appliers, 'policies' | 'policyWatches'>
  readonly clock: Clock
  readonly log: Logger
  /** Called after a change of a result. */
  readonly onChange: () => void
}

/** Creates the loop; nothing happens before `run`. */
export function createPolicyLoop(ports: PolicyLoopPorts) {
  const { appliers, clock } = ports
  const log = ports.log.child({ part: 'policies' })
  const wakeup = createWakeup(clock)
  const sets = createCheckSets({ ...ports, log })
  const runs = createCheckRuns({ ...ports, log })
  let isNew = true

  const results = (): readonly ReportedCheck[] => sets.all().map((run) => run.row)

  /** Follows what the evaluations read; checks of an executor that may not watch are evaluated at an interval. */
  async function follow(signal: AbortSignal): Promise<void> {
    const byExecutor = new Map<string, { executor: Executor | undefined; runs: CheckRun[] }>()
    for (const run of sets.all()) {
      const key = JSON.stringify(run.executor ?? null)
      const known = byExecutor.get(key) ?? { executor: run.executor, runs: [] }
      known.runs.push(run)
      byExecutor.set(key, known)
    }
    for (const { executor, runs: own } of byExecutor.values()) {
      const reads = own.flatMap((run): readonly PolicyRead[] => run.reads)
      const isComplete = await appliers.policyWatches(executor).follow(reads, signal)
      for (const run of own) run.isPolled = !isComplete
    }
  }

  /** Evaluates what is due; resolves to the time until the next evaluation. */
  async function pass(signal: AbortSignal): Promise<number> {
    await sets.align(signal)
    let isChanged = isNew
    isNew = false
    for (const run of sets.all()) {
      if (signal.aborted) return 0
      if (run.dueAt > clock.monotonicMs()) continue
      const before = run.row.state
      isChanged = (await runs.evaluate(run, results(), signal)) || isChanged
      if (run.row.state !== before) for (const other of sets.dependents(run)) other.dueAt = clock.monotonicMs()
    }
    await follow(signal)
    await sets.remember(signal)
    if (isChanged) ports.onChange()
    const dueAt = Math.min(...sets.all().map((run) => run.dueAt))
    return Math.max(0, Math.min(dueAt - clock.monotonicMs(), POLICY_TIMING.idleMs))
  }

  return {
    results,
    /** The bundles may have changed. */
    wake: wakeup.notify,
    /** An object changed: the checks that read it are due soon, once for many changes. */
    touch(changed: ChangedObject): void {
      const soon = clock.monotonicMs() + POLICY_TIMING.coalesceMs
      let isSooner = false
      for (const run of sets.all()) {
        if (!run.reads.some((read) => isAbout(read, changed))) continue
        isSooner = runs.touch(run, soon) || isSooner
      }
      if (isSooner) wakeup.notify()
    },
    /** The cluster was restored: everything is read again. */
    forget(): void {
      sets.forget()
      isNew = true
      wakeup.notify()
    },
    /** Removes what the enforced policies of a bundle created; throws Waiting until it is gone. */
    remove: sets.remove,
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        let restMs: number = POLICY_TIMING.retryMs
        try {
          restMs = await pass(signal)
        } catch (caught) {
          if (!signal.aborted) log.debug({ err: toError(caught) }, 'the checks could not be evaluated')
        }
        await wakeup.wait(restMs, signal).catch(() => {}) // aborted: the loop ends
      }
    },
  }
}

/** The evaluation of policies. */
export type PolicyLoop = ReturnType<typeof createPolicyLoop>

function isAbout(read: PolicyRead, { apiVersion, kind, namespace, name }: ChangedObject): boolean {
  return (
    read.kind === kind &&
    read.apiVersion === apiVersion &&
    (read.namespace === '' || read.namespace === namespace) &&
    (read.name === '' || read.name === name)
  )
}
