/**
 * The agent's link to its hub, as a state machine. Pure: time and randomness come in, what to do next comes out.
 *
 *              Pending answer          accepted
 *   Unenrolled ───────────────▶ Pending ──────▶ Certifying ──certificate──▶ Connecting ──opened──▶ Following
 *       │ ▲                        │                ▲                        │  ▲  ▲                  │
 *       │ └──────── wait ──────────┘                └── certificate is old ──┘  │  └── ended ─────────┘
 *       └─────────────── failed ───▶ Backoff ───────── wait over ───────────────┘
 *                       refused ───▶ Refused ───────── wait over (long) ────────┘
 *
 * Nothing here touches what runs on the cluster: an agent without a link keeps working (I-22).
 */
import { compact } from '../../core/compact.ts'
import { backoffMs } from '../../core/time/backoff.ts'

/** Where a link is on its way; also what it returns to after waiting. */
export type LinkStage = 'Unenrolled' | 'Pending' | 'Certifying' | 'Connecting'

/** Facts that survive a change of state. */
export interface LinkFacts {
  readonly clusterId?: string
  /** Milliseconds since 1970 after which the certificate should be renewed; absent without one. */
  readonly renewAt?: number
  /** Failures in a row. */
  readonly failures: number
  /** Streams in a row on which nothing came: something on the way holds streams back. */
  readonly stuck?: number
}

/** The state of a link. */
export type LinkState = LinkFacts &
  (
    | { readonly at: LinkStage }
    /** `until`, `openedAt`, `lastFrameAt`: monotonic milliseconds. */
    | { readonly at: 'Following'; readonly openedAt: number; readonly lastFrameAt: number }
    | { readonly at: 'Backoff'; readonly resume: LinkStage; readonly until: number; readonly why: string }
    | { readonly at: 'Refused'; readonly resume: LinkStage; readonly until: number; readonly why: string }
  )

/** What happened to a link. */
export type LinkEvent =
  /** The hub has recorded the cluster; a person or a rule has to accept it. */
  | { readonly type: 'Pending'; readonly clusterId: string; readonly retryAfterMs: number }
  /** The hub accepted the cluster; it waits for a signing request. */
  | { readonly type: 'Accepted'; readonly clusterId: string }
  | { readonly type: 'Certified'; readonly renewAt: number }
  | { readonly type: 'Opened' }
  | { readonly type: 'Frame' }
  /** The stream was asked for, and not even its first beat came. */
  | { readonly type: 'Stuck' }
  /** The stream ended as it should, or the agent ended it to renew. */
  | { readonly type: 'Ended' }
  /** The network or the hub failed; `retryAfterMs` is the hub's wish. */
  | { readonly type: 'Failed'; readonly why: string; readonly retryAfterMs?: number }
  /** The hub no longer takes the certificate; the identity key may get a new one. */
  | { readonly type: 'Expired'; readonly why: string }
  /** The hub does not want this agent; only a person can change that. */
  | { readonly type: 'Refused'; readonly why: string }
  /** The hub wants to hear of new keys before the certificate is old. */
  | { readonly type: 'RenewalAsked' }
  /** The waiting is over. */
  | { readonly type: 'Waited' }

/** What time it is and what chance says, when an event is handled. */
export interface LinkContext {
  /** Monotonic milliseconds. */
  readonly now: number
  /** In [0, 1), for jitter. */
  readonly fraction: number
}

/** What the agent should do in a state. */
export type LinkAction =
  | { readonly do: 'Enrol' }
  | { readonly do: 'Renew' }
  /** By a stream, or by questions that are answered when there is news. */
  | { readonly do: 'Follow'; readonly by: 'Stream' | 'Poll' }
  | { readonly do: 'Wait'; readonly until: number }

/** A stream without any frame for this long is dead: three missed beats. */
export const SILENCE_MS = 45_000

/** The first beat comes at once; a stream without it for this long is held back on the way. */
export const FIRST_FRAME_MS = 20_000

/** After so many streams on which nothing came, the agent asks instead. */
const STUCK_STREAMS = 2

/** How long it asks before it tries a stream again. */
export const POLL_FOR_MS = 30 * 60_000

/** How long a gateway may keep a question. */
export const POLL_WAIT_SECONDS = 25

/** How often a gateway sends a beat. */
export const BEAT_MS = 15_000

const BACKOFF = { baseMs: 1000, maxMs: 60_000, jitter: 0.5 }
// A refusal is for a person to resolve; asking often would not help and would look like an attack.
const REFUSED = { baseMs: 60_000, maxMs: 600_000, jitter: 0.5 }
// A stream that lived this long was a success: failures before it no longer count.
const SETTLED_MS = 30_000

/** The state an agent starts in, from what it has on disk. */
export function initialLink(known: Omit<LinkFacts, 'failures'>): LinkState {
  const facts: LinkFacts = { ...known, failures: 0 }
  if (known.clusterId === undefined) return { ...facts, at: 'Unenrolled' }
  return { ...facts, at: known.renewAt === undefined ? 'Pending' : 'Connecting' }
}

/** What to do now; `wallNow` decides whether the certificate is due. */
export function linkAction(state: LinkState, wallNow: number): LinkAction {
  switch (state.at) {
    case 'Unenrolled':
    case 'Pending':
      return { do: 'Enrol' }
    case 'Certifying':
      return state.renewAt === undefined ? { do: 'Enrol' } : { do: 'Renew' }
    case 'Connecting':
      return state.renewAt !== undefined && state.renewAt <= wallNow ? { do: 'Renew' } : followBy(state)
    case 'Following':
      return followBy(state)
    case 'Backoff':
    case 'Refused':
      return { do: 'Wait', until: state.until }
  }
}

/** The next state; total over states and events: what makes no sense in a state leaves it as it is. */
export function linkTransition(state: LinkState, event: LinkEvent, context: LinkContext): LinkState {
  const facts = factsOf(state)
  switch (event.type) {
    case 'Pending': {
      if (stageOf(state) === 'Connecting') return state
      const until = context.now + event.retryAfterMs
      const why = 'waiting for the hub to accept this cluster'
      return { ...facts, clusterId: event.clusterId, failures: 0, at: 'Backoff', resume: 'Pending', until, why }
    }
    case 'Accepted':
      if (stageOf(state) === 'Connecting') return state
      return { ...facts, clusterId: event.clusterId, failures: 0, at: 'Certifying' }
    case 'Certified':
      if (state.at === 'Following') return { ...state, renewAt: event.renewAt }
      return { ...facts, renewAt: event.renewAt, failures: 0, at: 'Connecting' }
    case 'Opened':
      if (state.at !== 'Connecting') return state
      return { ...facts, at: 'Following', openedAt: context.now, lastFrameAt: context.now }
    case 'Frame':
      if (state.at !== 'Following') return state
      return {
        ...state,
        lastFrameAt: context.now,
        ...compact({ stuck: state.stuck !== undefined && state.stuck < STUCK_STREAMS ? 0 : undefined }),
        failures: context.now - state.openedAt >= SETTLED_MS ? 0 : state.failures,
      }
    case 'Stuck': {
      if (stageOf(state) !== 'Connecting') return state
      const { stuck = 0 } = facts
      const why = 'nothing came on the stream; something on the way holds it back'
      return { ...wait(state, { at: 'Backoff', why, atLeastMs: 0 }, context), stuck: stuck + 1 }
    }
    case 'Ended':
      if (state.at !== 'Following') return state
      // A hub that hangs up at once is not asked in a loop.
      if (context.now - state.openedAt < SETTLED_MS) {
        return wait(state, { at: 'Backoff', why: 'the hub ended the stream', atLeastMs: 0 }, context)
      }
      // After a long time of asking, or of streaming, a stream is worth a try.
      return { ...facts, at: 'Connecting', ...compact({ stuck: facts.stuck === undefined ? undefined : 0 }) }
    case 'Failed':
      return wait(state, { at: 'Backoff', why: event.why, atLeastMs: event.retryAfterMs ?? 0 }, context)
    case 'Expired':
      if (stageOf(state) !== 'Connecting') return state
      return wait({ ...factsOf(state), at: 'Certifying' }, { at: 'Backoff', why: event.why, atLeastMs: 0 }, context)
    case 'RenewalAsked':
      return state.renewAt === undefined ? state : { ...state, renewAt: Number.NEGATIVE_INFINITY }
    case 'Refused':
      return wait(state, { at: 'Refused', why: event.why, atLeastMs: 0 }, context)
    case 'Waited':
      if (state.at !== 'Backoff' && state.at !== 'Refused') return state
      return context.now < state.until ? state : { ...facts, at: state.resume }
  }
}

function wait(
  state: LinkState,
  how: { at: 'Backoff' | 'Refused'; why: string; atLeastMs: number },
  context: LinkContext,
): LinkState {
  const options = how.at === 'Backoff' ? BACKOFF : REFUSED
  // A hub that says when knows better than we do how many others wait; a quarter more spreads agents that were told the
  // same time.
  const ms =
    how.atLeastMs > 0
      ? how.atLeastMs * (1 + context.fraction / 4)
      : backoffMs(state.failures, context.fraction, options)
  const facts = factsOf(state)
  return {
    ...facts,
    failures: facts.failures + 1,
    at: how.at,
    resume: stageOf(state),
    until: context.now + ms,
    why: how.why,
  }
}

function stageOf(state: LinkState): LinkStage {
  switch (state.at) {
    case 'Backoff':
    case 'Refused':
      return state.resume
    case 'Following':
      return 'Connecting'
    case 'Unenrolled':
    case 'Pending':
    case 'Certifying':
    case 'Connecting':
      return state.at
  }
}

function followBy({ stuck = 0 }: LinkFacts): LinkAction {
  return { do: 'Follow', by: stuck >= STUCK_STREAMS ? 'Poll' : 'Stream' }
}

function factsOf({ clusterId, renewAt, failures, stuck }: LinkState): LinkFacts {
  return compact({
    stuck,
    clusterId,
    renewAt,
    failures,
  })
}
