/** Why a rollout does not move: one sentence each, with since when and what would release it. */
import { nameSome } from '../../core/text/name-some.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import type { BundleOnCluster, RolloutAdmission } from './bundle-on-cluster.ts'

/** A hold: a permanent word, the sentence, since when, and what would release it. */
export interface Hold {
  readonly reason:
    | 'ReleaseMissing'
    | 'BundleDeleted'
    | 'PlacementPending'
    | 'NoClusters'
    | 'PredecessorOpen'
    | 'Paused'
    | 'Aborted'
    | 'Soaking'
    | 'RingShort'
    | 'NoRing'
    | 'BudgetFull'
    | 'ReportPending'
    | 'FailuresStopIt'
    | 'AllOffline'
    | 'WindowClosed'
    | 'Frozen'
    | 'GenerationTaken'
    | 'ApprovalPending'
    | 'ApprovalRejected'
    | 'NotRendered'
    | 'GatePending'
  readonly message: string
  /** Milliseconds since 1970; absent where only the condition's own time knows. */
  readonly since?: number
  readonly releasedBy: string
}

/** The hold as one text for a condition. */
export function holdSentence(hold: Hold): string {
  const since = hold.since === undefined ? '' : ` Since ${formatTime(hold.since)}.`
  return `${hold.message}${since} Released by ${hold.releasedBy}.`
}

/** A hold whose words do not depend on pairs. */
export function holdOf(reason: Hold['reason'], message: string, releasedBy: string, since?: number): Hold {
  return { reason, message, releasedBy, ...(since === undefined ? {} : { since }) }
}

/** Every slot is taken. */
export function budgetHold(limit: number, holders: readonly string[], admissions: readonly RolloutAdmission[]): Hold {
  const since = latest(admissions.map((admission) => parseTime(admission.admittedAt)))
  return holdOf(
    'BudgetFull',
    `All ${limit} slots are taken by ${nameSome(holders)}.`,
    'a Ready report of one of them, or a higher concurrency',
    since,
  )
}

/** Where and why a pair failed; most messages name the object themselves. */
function whyOf({ problem, state }: BundleOnCluster): string {
  const words = endOf(problem ?? state.message)
  const { firstFailing = '' } = state
  return firstFailing === '' || words.startsWith(firstFailing) ? `: ${words}` : ` at ${firstFailing}: ${words}`
}

/** Failures use up the budget, or are all that is left. */
export function failureHold(failed: readonly BundleOnCluster[], limit: number, maxFailed?: number): Hold {
  const first = failed[0]
  const words = first ? ` ${first.cluster} failed${whyOf(first)}` : ''
  const stops =
    maxFailed !== undefined
      ? `, more than the ${maxFailed} allowed, so nobody else is admitted`
      : failed.length >= limit
        ? `, the concurrency is ${limit}, so nobody else is admitted`
        : ''
  return holdOf(
    'FailuresStopIt',
    `${failed.length} failed (${nameSome(failed.map((pair) => pair.cluster))})${stops}.${words}`,
    'the failed clusters reporting Ready, or a corrected Bundle',
    latest(failed.map((pair) => pair.reportedAt)),
  )
}

/** Some clusters have nothing to get. */
export function unrenderedHold(pairs: readonly BundleOnCluster[]): Hold {
  const first = pairs[0]!
  return holdOf(
    'NotRendered',
    `${nameSome(pairs.map((pair) => pair.cluster))} keeps what it runs. Bundle ${first.bundle} for ${first.cluster}: ${endOf(first.problem ?? '')}`,
    'a corrected Bundle, or the value that is missing',
  )
}

function endOf(sentence: string): string {
  return sentence.replace(/\.?$/, '.')
}

/** Members of the ring wait for their windows. */
export function windowHold(closed: readonly BundleOnCluster[], progress: string): Hold {
  const names = nameSome(closed.map((pair) => pair.cluster))
  const until = earliestOf(closed.map((pair) => pair.hold?.until))
  const time = until === undefined ? 'an edit of the windows' : `time, the first at ${formatTime(until)}`
  return holdOf(
    'WindowClosed',
    `${progress}; ${names} ${closed.length > 1 ? 'wait for their windows' : 'waits for its window'}. ${closed[0]!.hold!.message}`,
    `${time}, or by an exception`,
  )
}

/** Everybody who is left is frozen. */
export function frozenHold(frozen: readonly BundleOnCluster[]): Hold {
  const names = nameSome(frozen.map((pair) => pair.cluster))
  const until = earliestOf(frozen.map((pair) => pair.hold?.until))
  return holdOf(
    'Frozen',
    `Nobody of the ring is free: ${names}. ${frozen[0]!.hold!.message}`,
    until === undefined ? 'one of them being released' : `one of them being free, the first at ${formatTime(until)}`,
    earliestOf(frozen.map((pair) => pair.hold?.since)),
  )
}

function earliestOf(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

function latest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}
