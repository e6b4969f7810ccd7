/**
 * Whether a cluster is there: its own deadline, on ages that gateways measured with their monotonic clocks.
 *
 * Nobody is marked offline because the *hub* was away. A gateway says for how long it has been watching without a break
 * (its continuity); silence counts only inside that time. While no gateway speaks at all, the hub is blind and
 * the last verdict stands.
 */
import { humanAge } from '../../core/time/time.ts'

/** What one gateway's newest summary says about one cluster. */
export interface GatewayView {
  /** For how long the gateway had been watching without a break when it wrote the summary. */
  readonly continuityMs: number
  /** How long the cluster had been silent then; absent when this gateway never heard it. */
  readonly ageMs?: number
  /** How long ago the reader saw the summary arrive, on the reader's monotonic clock. */
  readonly sinceObservedMs: number
}

/** A verdict with its sentence. */
export interface Availability {
  readonly state: 'Available' | 'Offline' | 'Unknown'
  readonly reason: 'Seen' | 'Silent' | 'NeverSeen' | 'HubBlind' | 'NoSummary'
  readonly message: string
  /** How long ago any gateway heard the cluster; absent when none remembers. */
  readonly heardMsAgo?: number
}

/** What a verdict follows from. */
export interface AvailabilityFacts {
  readonly offlineAfterMs: number
  readonly views: readonly GatewayView[]
  /** A summary older than this is no longer the present. */
  readonly freshWithinMs: number
  /** The last verdict; it stands while the hub is blind. */
  readonly previous?: Availability['state']
  /** The hub has a report of the cluster: proof of life for one that no summary names yet. */
  readonly reported?: boolean
}

// One sentence for both proofs of life, so that the second one does not write the condition again.
const SEEN = 'Its agent has been heard within its offline tolerance.'

/** Judges one cluster. */
export function judgeAvailability(facts: AvailabilityFacts): Availability {
  const ages = facts.views.flatMap((view) => (view.ageMs === undefined ? [] : [view.ageMs + view.sinceObservedMs]))
  return { ...verdictOf(facts), ...(ages.length > 0 ? { heardMsAgo: Math.min(...ages) } : {}) }
}

function verdictOf(facts: AvailabilityFacts): Availability {
  const { views, freshWithinMs, offlineAfterMs } = facts
  const heard = views.some((view) => view.ageMs !== undefined)
  if (!heard && facts.reported && facts.previous !== 'Available' && facts.previous !== 'Offline') {
    return { state: 'Available', reason: 'Seen', message: SEEN }
  }
  if (!views.some((view) => isFresh(view, freshWithinMs))) return blind(facts)

  const silentMs = Math.min(...views.map((view) => silenceOf(view, freshWithinMs)))
  if (silentMs >= offlineAfterMs) {
    return heard
      ? offline('Silent', 'Not heard for longer than its offline tolerance', facts)
      : offline('NeverSeen', 'No gateway has heard from its agent for longer than its offline tolerance', facts)
  }
  if (!heard) {
    const message = 'No gateway has heard from its agent yet.'
    return { state: facts.previous ?? 'Unknown', reason: 'NeverSeen', message }
  }
  return { state: 'Available', reason: 'Seen', message: SEEN }
}

function blind({ views, previous }: AvailabilityFacts): Availability {
  if (views.length === 0) {
    return { state: previous ?? 'Unknown', reason: 'NoSummary', message: 'No gateway has written a summary yet.' }
  }
  return {
    state: previous ?? 'Unknown',
    reason: 'HubBlind',
    message: 'No gateway has written a summary lately, so nobody is marked offline; check the hub.',
  }
}

function offline(reason: 'Silent' | 'NeverSeen', what: string, facts: AvailabilityFacts): Availability {
  return { state: 'Offline', reason, message: `${what} of ${humanAge(facts.offlineAfterMs)}.` }
}

function isFresh(view: GatewayView, freshWithinMs: number): boolean {
  return view.sinceObservedMs <= freshWithinMs
}

/**
 * A fresh gateway vouches for its own watching time and no more. A gateway that fell silent itself keeps vouching for what
 * it last saw, growing older, so that its clusters get their whole tolerance to reach another gateway.
 */
function silenceOf(view: GatewayView, freshWithinMs: number): number {
  const silent = Math.min(view.ageMs ?? view.continuityMs, view.continuityMs)
  return isFresh(view, freshWithinMs) ? silent : silent + view.sinceObservedMs
}
