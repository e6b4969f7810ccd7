// Tested by src/agent/policies/policies.contract.test.ts
/** One check between its evaluations: its row in the report, and when it is due. */
import { RE2JS, RE2JSException } from 're2js'
import { ClusterRefusal } from '../../plan/policy/policy-ports.ts'
import { compact } from '../../core/compact.ts'
import { ApiError, toError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import { jsonEqual } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { parseDuration } from '../../core/time/duration.ts'
import { formatTime } from '../../core/time/time.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Executor } from '../../plan/apply/local-limits.ts'
import type { RelatedObject } from '../../plan/policy/configuration-policy.ts'
import type { ReportedCheck } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import { truncateMessage } from '../bundles/report-row.ts'
import { ExecutorRefused } from '../cluster/executor-appliers.ts'
import type { Appliers } from '../cluster/executor-appliers.ts'
import { ObjectFailure } from '../cluster/object-failure.ts'
import { POLICY_TIMING } from '../timing.ts'
import { waitsFor } from './check-dependencies.ts'
import { CHECK_KINDS, policyOf } from './check-policy.ts'
import type { CheckResult } from './check-results.ts'
import type { PolicyRead } from './policy-watches.ts'
import { replay } from './replay.ts'

/** A check between its evaluations. */
export interface CheckRun {
  readonly check: UnknownObject
  readonly options: NonNullable<BundleOptions['checks']>
  readonly executor: Executor | undefined
  row: ReportedCheck
  /** What the last evaluation read. */
  reads: readonly PolicyRead[]
  related: readonly RelatedObject[]
  /** Monotonic time of the next evaluation. */
  dueAt: number
  /** True while the author's interval or the end of evaluations decides, and not changes of objects. */
  isTimed: boolean
  /** True if a part of what was read cannot be watched. */
  isPolled: boolean
  /** Evaluations in a row that changed the cluster. */
  repairs: number
  repairedAt: number
}

/** Ports of evaluations. */
export interface CheckRunPorts {
  readonly appliers: Pick<Appliers, 'policies'>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly hubTime: { now(): number | undefined }
}

/** Creates the evaluations. */
export function createCheckRuns(ports: CheckRunPorts) {
  const { appliers, clock, log } = ports

  /** Evaluates a check that is due; resolves to true if its row changed. */
  async function evaluate(run: CheckRun, all: readonly ReportedCheck[], signal: AbortSignal): Promise<boolean> {
    const { check, options, row } = run
    if (!(CHECK_KINDS as readonly string[]).includes(check.kind)) {
      run.dueAt = Number.POSITIVE_INFINITY
      const kinds = CHECK_KINDS.join(' and ')
      return show(run, { state: 'Unknown', message: `${check.kind} is not evaluated; the agent evaluates ${kinds}`, violations: [] }) // prettier-ignore
    }
    const waits = waitsFor(options, row, all)
    if (waits !== undefined) {
      // What was enforced before stays: nothing is pruned while the check waits.
      run.dueAt = clock.monotonicMs() + POLICY_TIMING.pendingMs
      const isIgnored = options.ignorePending?.includes(check.metadata.name) ?? false
      return show(run, { state: isIgnored ? 'Compliant' : 'Pending', message: waits, violations: [] })
    }
    const nowMs = ports.hubTime.now() ?? clock.now()
    const startedAt = clock.monotonicMs()
    // A change from now on needs another evaluation.
    run.dueAt = Number.POSITIVE_INFINITY
    try {
      const access = appliers.policies(row.bundle, run.executor)
      const [{ evaluateCheck }, { policyTemplates }] = await Promise.all([
        import('./check-results.ts'),
        import('./policy-templates.ts'),
      ])
      const templates = policyTemplates(ports)
      const { result, reads, writes } = await replay(
        access,
        (view) => evaluateCheck(check, view, run.related, { templates, matches, nowMs }),
        signal,
      )
      run.reads = reads
      run.related = result.related ?? []
      noteRepairs(run, writes, startedAt)
      const isChanged = show(run, result)
      planNext(run, startedAt)
      return isChanged
    } catch (caught) {
      if (signal.aborted) throw caught
      run.dueAt = clock.monotonicMs() + POLICY_TIMING.retryMs
      if (!isOwnFault(caught)) {
        // The cluster did not answer, which says nothing new about the check.
        log.debug({ err: toError(caught), check: check.metadata.name }, 'a check could not be evaluated now')
        return false
      }
      return show(run, { state: 'Unknown', message: toError(caught).message, violations: [] })
    }
  }

  /** Sets the row; returns true if it changed. */
  function show(run: CheckRun, result: CheckResult): boolean {
    const { bundle, generation, kind, name, state, since, objects = [] } = run.row
    const now = formatTime(ports.hubTime.now() ?? clock.now())
    const known = new Map(objects.map((one) => [one.object, one.since]))
    const violating = result.violations.slice(0, LIMITS.checkObjects).map((one) => ({
      object: truncateMessage(one.object),
      ...compact({
        reason: one.reason === undefined ? undefined : truncateMessage(one.reason),
        difference: one.difference === undefined ? undefined : truncateMessage(one.difference),
      }),
      since: known.get(truncateMessage(one.object)) ?? now,
    }))
    const row: ReportedCheck = {
      bundle,
      generation,
      kind,
      name,
      state: result.state,
      since: result.state === state ? since : now,
      ...compact({
        message: result.message === undefined ? undefined : truncateMessage(result.message),
        objects: violating.length > 0 ? violating : undefined,
        violations: result.violations.length > 0 ? result.violations.length : undefined,
      }),
    }
    if (jsonEqual(row, run.row)) return false
    if (row.state !== state) log.info({ bundle, check: name, state: row.state, message: row.message }, 'check changed')
    run.row = row
    return true
  }

  return {
    evaluate,
    /** An object that the check read changed; returns true if the check is due sooner. */
    touch(run: CheckRun, soon: number): boolean {
      if (run.isTimed) return false
      // Two writers that undo each other's changes: the policy repairs more and more rarely.
      const backoff = run.repairs < 3 ? 0 : Math.min(1000 * 2 ** run.repairs, POLICY_TIMING.slowestRepairMs)
      const at = Math.max(soon, run.repairedAt + backoff)
      if (run.dueAt <= at) return false
      run.dueAt = at
      return true
    },
  }
}

/** When the check is evaluated next. */
function planNext(run: CheckRun, startedAt: number): void {
  const { interval } = policyOf(run.check)
  const { state } = run.row
  const text = state === 'NonCompliant' ? interval.noncompliant : state === 'Compliant' ? interval.compliant : ''
  const after = parseDuration(text)
  run.isTimed = text === 'never' || after !== undefined
  if (text === 'never') run.dueAt = Number.POSITIVE_INFINITY
  else if (after !== undefined) run.dueAt = startedAt + Math.max(after, POLICY_TIMING.shortestIntervalMs)
  else {
    const rests = [
      ...(run.isPolled ? [POLICY_TIMING.polledMs] : []),
      // Certificates expire without a change of any object.
      ...(run.check.kind === 'CertificatePolicy' ? [POLICY_TIMING.certificatesMs] : []),
      ...(state === 'Unknown' ? [POLICY_TIMING.pendingMs] : []),
    ]
    run.dueAt = Math.min(run.dueAt, startedAt + Math.min(...rests, Number.POSITIVE_INFINITY))
  }
}

function noteRepairs(run: CheckRun, writes: number, startedAt: number): void {
  if (writes > 0) {
    run.repairs += 1
    run.repairedAt = startedAt
  } else if (startedAt - run.repairedAt > POLICY_TIMING.quietMs) run.repairs = 0
}

/** Whether the failure is about the policy and its rights, and not about a cluster that does not answer. */
function isOwnFault(caught: unknown): boolean {
  if (caught instanceof ObjectFailure || caught instanceof ExecutorRefused || caught instanceof ClusterRefusal) return true // prettier-ignore
  return !(caught instanceof ApiError) && toError(caught).message.startsWith('the policy asks')
}

/** In linear time, because the author of a pattern may be less trusted than the cluster. */
function matches(pattern: string, text: string): boolean | undefined {
  try {
    return RE2JS.compile(pattern).matcher(text).find()
  } catch (caught) {
    if (caught instanceof RE2JSException) return undefined
    throw caught
  }
}
