/** What it takes before anybody of a ring is admitted, and how it is written down: first the record, then the admissions. */
import { formatTime, parseTime } from '../core/time.ts'
import { judgeApprovals } from './rollout-approvals.ts'
import type { ApprovalContext } from './rollout-approvals.ts'
import type { RolloutInput } from './rollout-facts.ts'
import { holdOf, nameSome } from './rollout-holds.ts'
import type { Hold } from './rollout-holds.ts'
import type { RingSpec, RingState } from './rollout-rings.ts'

/** Whether a ring admits: yes; yes once `state` is written down; or why not. */
export type Opening =
  | { readonly kind: 'Open' }
  | { readonly kind: 'Ready'; readonly state: RingState }
  | { readonly kind: 'Held'; readonly hold: Hold }

/** Judges whether a ring may open; `since` is when it became its turn. */
export function judgeOpening(
  { name, approvals }: RingSpec,
  state: RingState,
  input: RolloutInput,
  since: number | undefined,
): Opening {
  if (state.openedAt !== undefined || !approvals) return { kind: 'Open' }
  const { rollout } = input
  const context: ApprovalContext = {
    ring: name,
    ...(rollout.plan === undefined ? {} : { plan: rollout.plan }),
    ...(rollout.startedBy ? { startedBy: rollout.startedBy } : {}),
    ...(rollout.createdAt === undefined ? {} : { createdAt: rollout.createdAt }),
  }
  const verdict = judgeApprovals(approvals, input.approvals ?? [], context)
  if (verdict.kind === 'Approved') {
    return { kind: 'Ready', state: { ...state, openedAt: formatTime(input.now), approvedBy: verdict.by } }
  }
  const command = `\`flotilla rollout approve ${rollout.name ?? ''} --ring ${name} -n ${rollout.namespace}\``
  if (verdict.kind === 'Rejected') {
    const { author, reason, name: approval, at } = verdict.by
    const why = reason === undefined || reason === '' ? '' : `: ${reason.replace(/\.?$/, '')}`
    const message = `Ring ${name} is rejected by ${author}${why}.`
    const releasedBy = `${author} approving after all (${command}), or Approval ${approval} being deleted`
    return { kind: 'Held', hold: holdOf('ApprovalRejected', message, releasedBy, parseTime(at)) }
  }
  const have = verdict.by.length > 0 ? `; ${nameSome(verdict.by)} approved` : ''
  const message = `Waits for approval of ring ${name} by ${verdict.sentence}${have}.`
  return { kind: 'Held', hold: holdOf('ApprovalPending', message, command, since) }
}
