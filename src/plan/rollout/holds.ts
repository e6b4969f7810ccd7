/** Why a rollout does not move: each hold is one complete sentence, with what ends the hold. */
import { compact } from '../../core/compact.ts'
import { nameSome, plural } from '../../core/text/name-some.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import type { BundleOnCluster, RolloutAdmission } from './bundle-on-cluster.ts'

/** A hold of a rollout. The reason is part of the API; the message can change. */
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
  /** A complete sentence. */
  readonly message: string
  /** Milliseconds since 1970; absent where the condition's own time is enough. */
  readonly since?: number
  /** A sentence that says what ends the hold; absent where the message says it. */
  readonly next?: string
}

/** The hold as the message of a condition. */
export function holdSentence({ message, since, next }: Hold): string {
  return [message, ...(since === undefined ? [] : [`Since ${formatTime(since)}.`]), ...(next ? [next] : [])].join(' ')
}

/** Makes a hold whose message does not depend on clusters. */
export function holdOf(reason: Hold['reason'], message: string, next?: string, since?: number): Hold {
  return compact({ reason, message, next, since })
}

/** No slot is free. */
export function budgetHold(limit: number, holders: readonly string[], admissions: readonly RolloutAdmission[]): Hold {
  if (limit === 0) {
    return holdOf('BudgetFull', 'The concurrency is 0, so no cluster is admitted.', 'Waits for a higher concurrency.')
  }
  const slots = limit === 1 ? 'The only slot is' : `All ${limit} slots are`
  return holdOf(
    'BudgetFull',
    `${slots} taken by ${nameSome(holders)}.`,
    'Waits for a Ready report of one of these clusters, or a higher concurrency.',
    latest(admissions.map((admission) => parseTime(admission.admittedAt))),
  )
}

/** Where and why a bundle failed on a cluster; most messages already name the object. */
function failureCause({ problem, state }: BundleOnCluster): string {
  const cause = endSentence(problem ?? state.message)
  const { firstFailing = '' } = state
  return firstFailing === '' || cause.startsWith(firstFailing) ? `: ${cause}` : ` at ${firstFailing}: ${cause}`
}

/** What a failure hold compares the failures with. */
export interface FailureLimits {
  readonly concurrency: number
  /** Present when the failures exceed it. */
  readonly maxFailed?: number
  /** Present when the ring cannot pass any more: a clause that says what it lacks. */
  readonly shortage?: string
}

/** Failures use up the budget, or no cluster is left that could still become Ready. */
export function failureHold(
  failed: readonly BundleOnCluster[],
  { concurrency, maxFailed, shortage }: FailureLimits,
): Hold {
  const names = failed.map((pair) => pair.cluster)
  const clusters = plural(new Set(names).size, 'cluster')
  const stop = 'so no further cluster is admitted'
  const limit =
    maxFailed !== undefined
      ? `, more than the ${maxFailed} that maxFailed allows, ${stop}`
      : failed.length >= concurrency
        ? `; the concurrency is ${concurrency}, ${stop}`
        : shortage === undefined
          ? ''
          : `; ${shortage}`
  const first = failed[0]
  const cause = first ? ` ${first.cluster} failed${failureCause(first)}` : ''
  return holdOf(
    'FailuresStopIt',
    `${clusters} failed (${nameSome(names)})${limit}.${cause}`,
    'Waits for Ready reports of the failed clusters, or a corrected Bundle.',
    latest(failed.map((pair) => pair.reportedAt)),
  )
}

/** The Bundle cannot be rendered for some clusters. */
export function unrenderedHold(pairs: readonly BundleOnCluster[]): Hold {
  const first = pairs[0]!
  const names = pairs.map((pair) => pair.cluster)
  const isOne = new Set(names).size === 1
  const keep = isOne ? 'the cluster keeps its present content' : 'these clusters keep their present content'
  const where = isOne ? 'Cause' : `Cause on ${first.cluster}`
  return holdOf(
    'NotRendered',
    `Bundle "${first.bundle}" cannot be rendered for ${nameSome(names)}; ${keep}. ${where}: ${endSentence(first.problem ?? '')}`,
    'Waits for a corrected Bundle, or for the missing value.',
  )
}

/** Ends a text with exactly one full stop. */
export function endSentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}

/** Clusters of the ring wait for their maintenance windows. */
export function windowHold(closed: readonly BundleOnCluster[], progress: string): Hold {
  const names = closed.map((pair) => pair.cluster)
  const wait = new Set(names).size > 1 ? 'wait for their windows' : 'waits for its window'
  return holdOf('WindowClosed', `${progress}; ${nameSome(names)} ${wait}. ${heldMessage(closed)}`)
}

/** All clusters that are left are frozen, on hold or cordoned. */
export function frozenHold(ring: string, frozen: readonly BundleOnCluster[]): Hold {
  const names = nameSome(frozen.map((pair) => pair.cluster))
  return holdOf('Frozen', `No cluster of ring "${ring}" can change now: ${names}. ${heldMessage(frozen)}`)
}

/** The first cluster's own message, and the earliest time where another cluster is free earlier. */
function heldMessage(held: readonly BundleOnCluster[]): string {
  const { message, until: firstUntil } = held[0]!.hold!
  const until = earliest(held.map((pair) => pair.hold?.until))
  return until === undefined || until === firstUntil ? message : `${message} The first is free at ${formatTime(until)}.`
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

function latest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}
