// Tested by src/agent/bundles/operation.contract.test.ts
/** A step of a bundle in the loop: the operation, its failure, and the row that the report shows. */
import { compact } from '../../core/compact.ts'
import { toError, Waiting } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import { jsonEqual } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import { backoffMs } from '../../core/time/backoff.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { ReportRow } from '../../wire/link/frames.ts'
import { WireError } from '../../wire/validate.ts'
import { LOOP_TIMING } from '../timing.ts'
import { ObjectFailure } from '../cluster/object-failure.ts'
import { noteFailure } from './bundle-run.ts'
import type { BundleRun, StepResult } from './bundle-run.ts'
import type { BundleTable, TrackedBundle } from './bundle-table.ts'
import type { Operation, OtherBundles } from './operation.ts'
import { rowOfFailure } from './outcome.ts'
import { feedbackOf } from '../report/object-feedback.ts'
import { appliedOf, buildReportRow, detailsOf, runningOf } from './report-row.ts'
import type { StartConditions } from './start-conditions.ts'

/** Ports of a step. */
export interface BundleStepPorts {
  readonly table: BundleTable
  readonly conditions: StartConditions
  readonly operation: Operation
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  /** Called after a change of the row. */
  readonly onChange: () => void
}

/** Creates the step of bundles. */
export function createBundleStep(ports: BundleStepPorts) {
  const { table, conditions, operation, clock, ids, log } = ports

  async function runOperation(bundle: TrackedBundle, signal: AbortSignal): Promise<StepResult> {
    const { run } = bundle
    const name = run.entry.bundle
    const others: OtherBundles = {
      wanted: table.wantedElsewhere,
      others: () => table.otherRecords(name),
      startHold: (plan) => conditions.windowHold(bundle, plan.options) ?? conditions.dependencyHold(name),
    }
    const before = run.applyFailures
    run.applyFailures = new Map()
    try {
      const result = await operation.step(run, others, signal)
      bundle.failures = 0
      return result
    } catch (caught) {
      // A cluster that does not answer says nothing new about the objects.
      if (run.applyFailures.size === 0) run.applyFailures = before
      throw caught
    }
  }

  function failureResult(bundle: TrackedBundle, caught: unknown): StepResult {
    const { run } = bundle
    // The inventory in memory may be what is wrong: read it again at the next step.
    run.inventoryRead = false
    const backoff = backoffMs(bundle.failures, ids.fraction(), LOOP_TIMING.retry)
    bundle.failures += 1
    const nextStepMs = caught instanceof Waiting ? caught.retryAfterMs : backoff
    if (caught instanceof ObjectFailure) {
      run.applyFailures = new Map()
      noteFailure(run, caught, clock.now())
    }
    const row = rowOfFailure(caught)
    if (row) return { row, nextStepMs }
    const error = toError(caught)
    // For a bundle that the agent rendered, the cluster's message may repeat values that rendering read.
    const fields = run.plan?.rendered ? { name: error.name } : { err: error }
    log.debug({ ...fields, bundle: run.entry.bundle }, 'step failed')
    if (caught instanceof WireError) return { row: { state: 'Failed', message: error.message }, nextStepMs }
    // The cluster or the hub did not answer, which says nothing new about a bundle that has begun.
    const isBegun = bundle.row.state !== 'Pending'
    return { row: isBegun ? bundle.row : { state: 'Pending', message: error.message }, nextStepMs }
  }

  return async (bundle: TrackedBundle, signal: AbortSignal): Promise<void> => {
    const { run } = bundle
    let result: StepResult
    // A change that arrives during the step may be newer than what the step saw: it makes the bundle due again.
    bundle.dueAt = Number.POSITIVE_INFINITY
    try {
      result = await runOperation(bundle, signal)
    } catch (caught) {
      if (signal.aborted) return
      result = failureResult(bundle, caught)
    }
    const next = clock.monotonicMs() + result.nextStepMs
    // A bundle in any other state is stepped again soon, after a pause that its own writes must not shorten.
    const isAtRest = result.row.state === 'Ready' || result.row.state === 'Drifted'
    bundle.dueAt = isAtRest ? Math.min(bundle.dueAt, next) : next
    const attempt = run.attempt === 0 ? {} : { attempt: run.attempt }
    const running = result.row.state === 'Pending' ? compact({ running: runningOf(run, bundle.before) }) : {}
    const applied = appliedOf(run, result.row)
    const base = { ...buildReportRow(run.entry, result.row), ...attempt, ...running, ...applied }
    const row = redactRow({ ...base, ...detailsOf(run) }, run)
    const feedback = feedbackOf(run)
    const isObserved = jsonEqual(feedback, bundle.feedback)
    bundle.feedback = feedback
    if (jsonEqual(row, bundle.row)) {
      if (!isObserved) ports.onChange()
      return
    }
    const { bundle: name, generation, state, message } = row
    log.info({ bundle: name, generation, state, message }, 'bundle changed')
    bundle.row = row
    ports.onChange()
  }
}

/** A row without any value that rendering read in the cluster. */
function redactRow(row: ReportRow, { plan }: BundleRun): ReportRow {
  const redact = plan?.rendered?.redact
  if (!redact) return row
  return {
    ...row,
    ...compact({
      message: row.message === undefined ? undefined : redact(row.message),
      objects: row.objects?.map((one) => ({ ...one, ...compact({ message: one.message && redact(one.message) }) })),
      drift: row.drift?.map((entry) => ({ ...entry, fields: entry.fields.map(redact) })),
      corrections: row.corrections?.map((entry) => ({ ...entry, fields: entry.fields.map(redact) })),
    }),
  }
}
