// Tested by src/agent/bundles/handover/handover.contract.test.ts
/**
 * The steps of a handover for the cluster as a whole. Bundles compare and take over by themselves (compare-set.ts,
 * operation.ts); this part stops and starts the peer, and changes its records.
 *
 *   Compare                 count differences, and objects that no bundle has
 *   Take    ─▶ stop controllers ─▶ disarm records ─▶ bundles take over
 *   Finish  ─▶ move fields, remove marks ─▶ remove records
 *   Undo    ─▶ give fields back ─▶ restore records ─▶ start controllers
 *
 * Each change is kept as an annotation of the changed object, so a restart continues where it was.
 */
import { compact } from '../../../core/compact.ts'
import { isApiError, toError } from '../../../core/errors.ts'
import { jsonEqual } from '../../../core/json.ts'
import type { Logger } from '../../../core/log.ts'
import type { HandoverRule } from '../../../plan/handover/handover-rule.ts'
import { peerOf } from '../../../plan/handover/peers.ts'
import type { Peer } from '../../../plan/handover/peers.ts'
import type { ReportedHandover } from '../../../wire/link/frames.ts'
import { LIMITS } from '../../../wire/limits.ts'
import { ObjectFailure } from '../../cluster/object-failure.ts'
import { OBSERVE_INTERVAL_MS } from '../../timing.ts'
import type { BundleTable } from '../bundle-table.ts'
import { createHandoverSteps } from './handover-steps.ts'
import type { HandoverOutcome, HandoverStepPorts } from './handover-steps.ts'

/** Ports of the handover. */
export interface HandoverPorts extends HandoverStepPorts {
  readonly log: Logger
  /** Called after a change of what is reported. */
  readonly onChange: () => void
}

/** Creates the handover; nothing happens without a rule. */
export function createHandover(ports: HandoverPorts) {
  const { table, clock, log } = ports
  const steps = createHandoverSteps(ports)
  let reported: ReportedHandover | undefined
  /** The rule of the last pass. */
  let last: HandoverRule | undefined
  /** Monotonic time of the next pass over the peer. */
  let dueAt = 0
  /** The entries for which the peer is stopped and its records are disarmed: bundles may take over. */
  let freedFor: string | undefined
  /** Objects that the peer lists and that no bundle has, by the last pass. */
  let left: Pick<HandoverOutcome, 'left' | 'leftObjects'> = {}

  /** Before the bundles: takes the cluster from the peer, and holds the bundles until that is done. */
  async function before(rule: HandoverRule | undefined, signal: AbortSignal): Promise<void> {
    if (!jsonEqual(last ?? null, rule ?? null)) {
      last = rule
      dueAt = 0
      freedFor = undefined
      left = {}
    }
    if (rule?.step === 'Take' && (isDue() || freedFor !== entriesOf(table))) await work(rule, signal, take)
    if (!rule) report(undefined, undefined)
    hold(rule)
  }

  /** After the bundles: what their state leads to. */
  async function after(rule: HandoverRule | undefined, signal: AbortSignal): Promise<void> {
    if (!rule) return
    if (rule.step === 'Take') {
      if (freedFor !== undefined && peerOf(rule.from)) report(rule, { ...steps.takenOver(), ...left })
    } else if (isDue()) {
      const step = { Compare: steps.compared, Finish: steps.finish, Undo: steps.undo }[rule.step]
      await work(rule, signal, step)
    }
  }

  async function take(rule: HandoverRule, peer: Peer, signal: AbortSignal): Promise<HandoverOutcome> {
    freedFor = undefined
    const entries = entriesOf(table)
    const { isFree, outcome } = await steps.take(rule, peer, signal)
    if (!isFree) return outcome
    freedFor = entries
    left = compact({ left: outcome.left, leftObjects: outcome.leftObjects })
    return outcome
  }

  const isDue = () => clock.monotonicMs() >= dueAt

  /** A pass over the peer; a refusal of the cluster is its outcome. */
  async function work(
    rule: HandoverRule,
    signal: AbortSignal,
    step: (rule: HandoverRule, peer: Peer, signal: AbortSignal) => Promise<HandoverOutcome>,
  ): Promise<void> {
    const peer = peerOf(rule.from)
    let outcome: HandoverOutcome
    try {
      outcome = peer
        ? await step(rule, peer, signal)
        : { state: 'Failed', message: `the agent does not know the system "${rule.from}"; upgrade the agent` }
    } catch (caught) {
      if (signal.aborted) return
      log.debug({ err: toError(caught), step: rule.step }, 'step of the handover failed')
      const isOfObject = caught instanceof ObjectFailure && !isApiError(caught.cause, 'Conflict')
      const isRefused = isOfObject || isApiError(caught, 'Forbidden')
      outcome = { state: isRefused ? 'Failed' : 'Working', message: toError(caught).message }
    }
    dueAt = clock.monotonicMs() + restMs(rule, outcome)
    report(rule, outcome)
  }

  function report(rule: HandoverRule | undefined, outcome: HandoverOutcome | undefined): void {
    const { from, step, since = '' } = rule ?? {}
    const message = outcome?.message?.slice(0, LIMITS.messageChars)
    const next = from && step && outcome ? { from, step, since, ...outcome, ...compact({ message }) } : undefined
    if (jsonEqual(reported ?? null, next ?? null)) return
    reported = next
    if (next) log.info({ from, step, state: next.state, message: next.message }, 'handover')
    ports.onChange()
  }

  /** Bundles wait while the peer still runs. */
  function hold(rule: HandoverRule | undefined): void {
    const isHeld = rule?.step === 'Take' && freedFor !== entriesOf(table)
    const text = isHeld ? `handover from ${rule.from}: ${reported?.message ?? 'not begun'}` : undefined
    for (const bundle of table.tracked.values()) {
      if (bundle.run.handoverHold === text) continue
      bundle.run.handoverHold = text
      bundle.dueAt = clock.monotonicMs()
    }
  }

  return {
    before,
    after,
    /** What the report says about the handover; undefined without one. */
    reported: (): ReportedHandover | undefined => reported,
    /** Monotonic time of the next pass. */
    dueAt: (): number => (last ? dueAt : Number.POSITIVE_INFINITY),
    /** The cluster was restored: nothing that was done is known any more. */
    forget(): void {
      last = undefined
    },
  }
}

/** The last steps have an end; the others are looked at again, because the peer may come back. */
function restMs({ step }: HandoverRule, { state }: HandoverOutcome): number {
  if (state !== 'Complete') return OBSERVE_INTERVAL_MS.progressing
  return step === 'Finish' || step === 'Undo' ? Number.POSITIVE_INFINITY : OBSERVE_INTERVAL_MS.polled
}

/** What the document wants, as a text that changes with it. */
function entriesOf({ tracked }: Pick<BundleTable, 'tracked'>): string {
  return [...tracked.values()]
    .map(({ run: { entry } }) => `${entry.bundle} ${entry.generation} ${entry.set}`)
    .join('\n')
}
