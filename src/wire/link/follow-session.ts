/**
 * The gateway's side of a follow stream, as a state machine: only the newest head is ever sent, a head at most once,
 * a beat when nothing else was said for a while and before everything that needs a newer trust bundle, and an end after
 * a bounded life so that gateways can drain and agents spread again.
 */
import { BEAT_MS } from './agent-link.ts'
import type { HeadFrame } from './frames.ts'

/** The newest document of a cluster. */
export type Head = Omit<HeadFrame, 'type'>

/** What one stream has sent so far; times are monotonic milliseconds. */
export interface FollowSession {
  readonly openedAt: number
  readonly endsAt: number
  readonly lastSentAt: number | undefined
  /** Version of the trust bundle in the last beat. */
  readonly saidTrust: number | undefined
  /** Digest of the document last sent, or that the agent said it holds. */
  readonly sent: string | undefined
}

/** What the gateway does next on a stream. */
export type FollowStep =
  | { readonly do: 'SendHead'; readonly head: Head }
  | { readonly do: 'SendBeat' }
  | { readonly do: 'End' }
  | { readonly do: 'Wait'; readonly ms: number }

/** How long a stream lives at most. */
export const STREAM_LIFE_MS = 30 * 60_000

/**
 * A fresh stream of an agent that says which document it holds; `fraction` spreads the ends of streams that began
 * together.
 */
export function openSession(now: number, fraction: number, holds: string | undefined): FollowSession {
  return {
    openedAt: now,
    endsAt: now + STREAM_LIFE_MS * (1 - fraction / 2),
    lastSentAt: undefined,
    saidTrust: undefined,
    sent: holds,
  }
}

/**
 * What to do now, given the newest head and the version of the trust bundle. The first thing on every stream is a beat:
 * it carries the hub's time. A beat with a new version comes before the next head, which may be signed by a key that
 * only the new bundle names: a stream that always has a head to send would otherwise never say it.
 */
export function followStep(
  session: FollowSession,
  { head, trustVersion }: { readonly head: Head | undefined; readonly trustVersion: number },
  now: number,
): FollowStep {
  if (session.lastSentAt === undefined) return { do: 'SendBeat' }
  if (now >= session.endsAt) return { do: 'End' }
  if (session.saidTrust !== trustVersion) return { do: 'SendBeat' }
  if (head && head.document !== session.sent) return { do: 'SendHead', head }
  const beatIn = session.lastSentAt + BEAT_MS - now
  return beatIn <= 0 ? { do: 'SendBeat' } : { do: 'Wait', ms: Math.min(beatIn, session.endsAt - now) }
}

/** The session after a step was carried out. */
export function afterStep(
  session: FollowSession,
  step: FollowStep,
  { now, trustVersion }: { readonly now: number; readonly trustVersion: number },
): FollowSession {
  switch (step.do) {
    case 'SendHead':
      return { ...session, lastSentAt: now, sent: step.head.document }
    case 'SendBeat':
      return { ...session, lastSentAt: now, saidTrust: trustVersion }
    case 'End':
    case 'Wait':
      return session
  }
}
