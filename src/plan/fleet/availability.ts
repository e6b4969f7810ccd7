/**
 * Availability of a cluster: its offline tolerance, applied to ages that gateways measured with their monotonic clocks.
 *
 * A cluster is never marked offline because the hub was away. A gateway reports how long it has been listening without
 * interruption (its continuity), and silence counts only within that time. While no gateway reports, the hub is blind
 * and the last verdict stays.
 */
import { compact } from '../../core/compact.ts'
import { humanAge } from '../../core/time/time.ts'

/** A gateway's newest summary for a cluster. */
export interface GatewayView {
  /** How long the gateway had been listening without interruption when it wrote the summary. */
  readonly continuityMs: number
  /** Time since the agent's last contact, at the summary; absent when the agent never contacted this gateway. */
  readonly ageMs?: number
  /** How long ago the reader saw the summary arrive, on the reader's monotonic clock. */
  readonly sinceObservedMs: number
}

/** A verdict with its message. */
export interface Availability {
  readonly state: 'Available' | 'Offline' | 'Unknown'
  readonly reason: 'Seen' | 'Silent' | 'NeverSeen' | 'HubBlind' | 'NoSummary'
  readonly message: string
  /** Time since the agent's last contact with any gateway; absent when it is not known. */
  readonly heardMsAgo?: number
}

/** Inputs of `judgeAvailability`. */
export interface AvailabilityFacts {
  readonly offlineAfterMs: number
  readonly views: readonly GatewayView[]
  /** Maximum age of a summary that counts as present. */
  readonly freshWithinMs: number
  /** The last verdict; it stands while the hub is blind. */
  readonly previous?: Availability['state']
  /** The hub has a report of the cluster: it proves a contact before the first summary. */
  readonly reported?: boolean
}

// The same message for both proofs of a contact, so that the second proof does not write the condition again.
const SEEN =
  'The agent contacted the hub within the offline tolerance. Until it goes offline, lastSeen is updated only with other changes.'

export function judgeAvailability(facts: AvailabilityFacts): Availability {
  const ages = facts.views.flatMap((view) => (view.ageMs === undefined ? [] : [view.ageMs + view.sinceObservedMs]))
  return { ...verdictOf(facts), ...compact({ heardMsAgo: ages.length > 0 ? Math.min(...ages) : undefined }) }
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
      ? offline('Silent', 'The agent has not contacted the hub within the offline tolerance', facts)
      : offline('NeverSeen', 'The agent has never contacted the hub, not within the offline tolerance', facts)
  }
  if (!heard) {
    const message = 'The agent has not contacted the hub yet.'
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
    message: 'No gateway has written a summary lately, so no cluster is marked offline; check the hub.',
  }
}

function offline(reason: 'Silent' | 'NeverSeen', what: string, facts: AvailabilityFacts): Availability {
  return { state: 'Offline', reason, message: `${what} of ${humanAge(facts.offlineAfterMs)}.` }
}

function isFresh(view: GatewayView, freshWithinMs: number): boolean {
  return view.sinceObservedMs <= freshWithinMs
}

/**
 * The summary of a running gateway counts for its own continuity and no more. The last summary of a gateway that
 * stopped keeps counting and grows older, so that its clusters get their whole tolerance to reach another gateway.
 */
function silenceOf(view: GatewayView, freshWithinMs: number): number {
  const silent = Math.min(view.ageMs ?? view.continuityMs, view.continuityMs)
  return isFresh(view, freshWithinMs) ? silent : silent + view.sinceObservedMs
}
