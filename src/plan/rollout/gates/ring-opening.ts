/**
 * Opening and exit of a ring: approvals and gates. The opening is recorded with one compare-and-swap, the admissions
 * that depend on it with a later one.
 */
import { compact } from '../../../core/compact.ts'
import { nameSome } from '../../../core/text/name-some.ts'
import { formatTime, parseTime } from '../../../core/time/time.ts'
import { judgeApprovals } from './approvals.ts'
import type { ApprovalContext } from './approvals.ts'
import type { RingGateQuery, RolloutInput } from '../types.ts'
import { judgeGates } from './judge-gates.ts'
import type { GateRecord, GateSpec, GatesVerdict } from './judge-gates.ts'
import { endSentence, holdOf } from '../holds.ts'
import type { Hold } from '../holds.ts'
import { requiredMembers, judgeReadiness } from '../rings.ts'
import type { ReadinessVerdict, RingCount, RingSpec, RingState } from '../rings.ts'

/** A ring that cannot open or pass yet: the hold, the state to record, the queries to send and the next pass. */
export interface RingBlocked {
  readonly hold: Hold
  readonly state: RingState
  readonly asks: readonly RingGateQuery[]
  readonly until?: number
}

/** Whether a ring admits: `Open`: yes. `Ready`: yes after `state` is recorded. `Held`: no. */
export type RingOpening =
  | { readonly kind: 'Open' }
  | { readonly kind: 'Ready'; readonly state: RingState }
  | ({ readonly kind: 'Held' } & RingBlocked)

/** Whether a ring passes, by its members and its gates. */
export type RingExit =
  | Exclude<ReadinessVerdict, { readonly kind: 'Open' }>
  | { readonly kind: 'Open'; readonly state: RingState }
  | ({ readonly kind: 'Gated' } & RingBlocked)

/** Judges whether a ring may open; `since` is the start of its turn. */
export function judgeOpening(
  ring: RingSpec,
  state: RingState,
  input: RolloutInput,
  since: number | undefined,
): RingOpening {
  const gates = gatesAt(ring, 'Open')
  if (state.openedAt !== undefined || (!ring.approvals && gates.length === 0)) return { kind: 'Open' }
  const verdict = askGates(ring, gates, state, { input, since: since ?? 0 })
  const approved = approvalsOf(ring, input, since)
  const hold = approved.hold ?? verdict.hold
  const judged = withRecords(state, gates, verdict.records)
  if (hold) return { kind: 'Held', hold, state: judged, ...nextLook(ring, verdict) }
  const approvedBy = approved.by.length === 0 ? {} : { approvedBy: approved.by }
  return { kind: 'Ready', state: { ...judged, openedAt: formatTime(input.now), ...approvedBy } }
}

/** Judges whether a ring passes: enough members Ready, for long enough, and all gates passed. */
export function judgeExit(ring: RingSpec, state: RingState, count: RingCount, input: RolloutInput): RingExit {
  const verdict = judgeReadiness(ring, state, count, input.now)
  const gates = gatesAt(ring, 'Pass')
  if (verdict.kind !== 'Open') return verdict
  if (state.passedAt !== undefined || requiredMembers(count) === 0 || gates.length === 0) return { ...verdict, state }
  const readyAt = state.readyAt ?? formatTime(input.now)
  const asked = askGates(ring, gates, state, { input, since: parseTime(readyAt) ?? input.now })
  const judged = { ...withRecords(state, gates, asked.records), readyAt }
  if (!asked.hold) return { ...verdict, state: judged }
  return { kind: 'Gated', hold: asked.hold, state: judged, ...nextLook(ring, asked) }
}

/** The state of a ring that has too few Ready members again: earlier verdicts of its exit gates do not count. */
export function clearExitGates(ring: RingSpec, state: RingState): RingState {
  const { readyAt: _, gates, ...rest } = state
  const kept = (gates ?? []).filter(({ name }) => gatesAt(ring, 'Open').some((gate) => gate.name === name))
  return kept.length === 0 ? rest : { ...rest, gates: kept }
}

function gatesAt({ gates = [] }: RingSpec, when: GateSpec['when']): readonly GateSpec[] {
  return gates.filter((gate) => gate.when === when)
}

function askGates(
  { name }: RingSpec,
  gates: readonly GateSpec[],
  state: RingState,
  { input, since }: { readonly input: RolloutInput; readonly since: number },
): GatesVerdict {
  return judgeGates(name, gates, state.gates ?? [], {
    now: input.now,
    since,
    answerOf: (gate) => input.gateAnswerOf?.(name, gate),
    standingOf: (bundle) => input.standingOf?.(bundle),
  })
}

function nextLook({ name: ring }: RingSpec, { asks, until }: GatesVerdict): Pick<RingBlocked, 'asks' | 'until'> {
  return compact({ asks: asks.map((ask) => ({ ...ask, ring })), until })
}

function withRecords(state: RingState, gates: readonly GateSpec[], records: readonly GateRecord[]): RingState {
  if (gates.length === 0) return state
  const others = (state.gates ?? []).filter(({ name }) => !gates.some((gate) => gate.name === name))
  return { ...state, gates: [...others, ...records] }
}

function approvalsOf(
  { name, approvals }: RingSpec,
  input: RolloutInput,
  since: number | undefined,
): { readonly hold?: Hold; readonly by: NonNullable<RingState['approvedBy']> } {
  if (!approvals) return { by: [] }
  const { rollout } = input
  const context: ApprovalContext = compact({
    ring: name,
    plan: rollout.plan,
    startedBy: rollout.startedBy,
    createdAt: rollout.createdAt,
  })
  const verdict = judgeApprovals(approvals, input.approvals ?? [], context)
  if (verdict.kind === 'Approved') return { by: verdict.by }
  const command = `\`flotilla rollout approve ${rollout.name ?? ''} --ring ${name} -n ${rollout.namespace}\``
  if (verdict.kind === 'Rejected') {
    const { author, reason, name: approval, at } = verdict.by
    const message = endSentence(`Ring "${name}" is rejected by ${author}${reason ? `: ${reason}` : ''}`)
    const next = `Waits until ${author} approves it with ${command}, or Approval "${approval}" is deleted.`
    return { by: [], hold: holdOf('ApprovalRejected', message, next, parseTime(at)) }
  }
  const have = verdict.by.length > 0 ? `; ${nameSome(verdict.by)} approved` : ''
  const message = `Waits for approval of ring "${name}" by ${verdict.sentence}${have}.`
  return { by: [], hold: holdOf('ApprovalPending', message, `Approve it with ${command}.`, since) }
}
