/**
 * What it takes before anybody of a ring is admitted, and before it counts as through: approvals and gates, each written down
 * first. The record comes with one compare-and-swap, the admissions that rest on it with a later one.
 */
import { nameSome } from '../../../core/text/name-some.ts'
import { formatTime, parseTime } from '../../../core/time/time.ts'
import { judgeApprovals } from './approvals.ts'
import type { ApprovalContext } from './approvals.ts'
import type { RingGateQuery, RolloutInput } from '../types.ts'
import { judgeGates } from './judge-gates.ts'
import type { GateRecord, GateSpec, GatesVerdict } from './judge-gates.ts'
import { holdOf } from '../holds.ts'
import type { Hold } from '../holds.ts'
import { requiredMembers, judgeReadiness } from '../rings.ts'
import type { ReadinessVerdict, RingCount, RingSpec, RingState } from '../rings.ts'

/** What is not there yet: why, what to write down and ask meanwhile, and when to look again. */
export interface RingBlocked {
  readonly hold: Hold
  readonly state: RingState
  readonly asks: readonly RingGateQuery[]
  readonly until?: number
}

/** Whether a ring admits: yes; yes once `state` is written down; or why not. */
export type RingOpening =
  | { readonly kind: 'Open' }
  | { readonly kind: 'Ready'; readonly state: RingState }
  | ({ readonly kind: 'Held' } & RingBlocked)

/** Whether a ring is through: as its members stand, or as its gates say. */
export type RingExit =
  | Exclude<ReadinessVerdict, { readonly kind: 'Open' }>
  | { readonly kind: 'Open'; readonly state: RingState }
  | ({ readonly kind: 'Gated' } & RingBlocked)

/** Judges whether a ring may open; `since` is when it became its turn. */
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

/** Judges whether a ring is through: enough members Ready, for long enough, and its gates. */
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

/** What is written down about a ring that is short of members: what its gates said about a better time is void. */
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
  return { asks: asks.map((ask) => ({ ...ask, ring })), ...(until === undefined ? {} : { until }) }
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
  const context: ApprovalContext = {
    ring: name,
    ...(rollout.plan === undefined ? {} : { plan: rollout.plan }),
    ...(rollout.startedBy ? { startedBy: rollout.startedBy } : {}),
    ...(rollout.createdAt === undefined ? {} : { createdAt: rollout.createdAt }),
  }
  const verdict = judgeApprovals(approvals, input.approvals ?? [], context)
  if (verdict.kind === 'Approved') return { by: verdict.by }
  const command = `\`flotilla rollout approve ${rollout.name ?? ''} --ring ${name} -n ${rollout.namespace}\``
  if (verdict.kind === 'Rejected') {
    const { author, reason, name: approval, at } = verdict.by
    const why = reason === undefined || reason === '' ? '' : `: ${reason.replace(/\.?$/, '')}`
    const message = `Ring ${name} is rejected by ${author}${why}.`
    const releasedBy = `${author} approving after all (${command}), or Approval ${approval} being deleted`
    return { by: [], hold: holdOf('ApprovalRejected', message, releasedBy, parseTime(at)) }
  }
  const have = verdict.by.length > 0 ? `; ${nameSome(verdict.by)} approved` : ''
  const message = `Waits for approval of ring ${name} by ${verdict.sentence}${have}.`
  return { by: [], hold: holdOf('ApprovalPending', message, command, since) }
}
