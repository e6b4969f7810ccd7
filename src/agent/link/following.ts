// Tested by src/agent/link/link.contract.test.ts
/** Follows the hub's frames: over a stream, or by long polls where a proxy on the way holds streams back. */
import { deadline, untilAborted } from '../../core/async/deadline.ts'
import { FIRST_FRAME_MS, POLL_FOR_MS, POLL_WAIT_SECONDS, SILENCE_MS } from '../../wire/link/agent-link.ts'
import type { LinkEvent } from '../../wire/link/agent-link.ts'
import type { Frame } from '../../wire/link/frames.ts'
import type { HubApi } from './hub-api.ts'
import { isSealingKeyUnheard } from './identity.ts'
import { moveLink, withHub } from './link-session.ts'
import type { LinkSession } from './link-session.ts'
import { refreshTrust } from './trust-refresh.ts'

/** Follows a stream until it ends, the hub is silent for too long, or the certificate is due for renewal. */
export async function followStream(session: LinkSession, signal: AbortSignal): Promise<LinkEvent> {
  const { clock } = session.ports
  // After two failures the hub may have CAs that this agent does not know.
  if (!session.trust || session.state.failures >= 2) await refreshTrust(session, signal)
  const end = new AbortController()
  const ended = AbortSignal.any([signal, end.signal])
  const streaming = async (hub: HubApi): Promise<LinkEvent> => {
    const first = await openStream(session, hub, ended)
    if (!first) return { type: 'Stuck' }
    const { frames } = first
    let { next } = first
    moveLink(session, { type: 'Opened' })
    session.following = hub
    while (!next.done) {
      await handleFrame(session, hub, next.value, signal)
      if (isRenewalDue(session)) break
      const waited = { clock, ms: SILENCE_MS, signal: ended, what: 'follow stream' }
      next = await deadline(waited, (inner) => untilAborted(frames.next(), inner))
    }
    return { type: 'Ended' }
  }
  try {
    const credentials = {
      ...asCluster(session),
      // A report that the hub does not accept for want of a certificate ends the stream too. Otherwise the stream would
      // stay open while no report of this agent arrives.
      onUnauthorized: (refusal: Error) => end.abort(refusal),
    }
    return await withHub(session, credentials, streaming)
  } finally {
    session.following = undefined
    end.abort()
  }
}

/** Follows by long polls for a while; the next action tries a stream again. */
export async function followByPolls(session: LinkSession, signal: AbortSignal): Promise<LinkEvent> {
  const { clock, holds } = session.ports
  const until = clock.monotonicMs() + POLL_FOR_MS
  try {
    return await withHub(session, asCluster(session), async (hub) => {
      while (clock.monotonicMs() < until && !isRenewalDue(session)) {
        const frames = await hub.poll(holds(), POLL_WAIT_SECONDS, signal)
        moveLink(session, { type: 'Opened' })
        session.following = hub
        for (const frame of frames) await handleFrame(session, hub, frame, signal)
      }
      return { type: 'Ended' }
    })
  } finally {
    session.following = undefined
  }
}

function asCluster({ trust, transport }: LinkSession) {
  return { cas: trust?.bundle.transportCas, transport }
}

/**
 * A renewal is due by time, because the document asks for a new sealing key, or to announce a key that the hub refused.
 * A document's request is answered once.
 */
function isRenewalDue(session: LinkSession): boolean {
  const { clock, retiredSealingKey } = session.ports
  const asked = retiredSealingKey()
  const isUnheard =
    isSealingKeyUnheard(session.identity) || (asked !== undefined && asked.document !== session.answeredDocument)
  if (isUnheard && clock.monotonicMs() >= session.announceAtMs) moveLink(session, { type: 'RenewalAsked' })
  return clock.now() >= (session.state.renewAt ?? Number.POSITIVE_INFINITY)
}

async function handleFrame(session: LinkSession, hub: HubApi, frame: Frame, signal: AbortSignal): Promise<void> {
  moveLink(session, { type: 'Frame' })
  if (frame.type === 'head') return session.ports.onHead(frame)
  session.ports.onBeat(frame)
  if (frame.trustVersion > session.trust!.bundle.version) await refreshTrust(session, signal, hub)
}

/** Opens the stream and waits for its first frame; undefined when none comes in time. */
async function openStream({ ports }: LinkSession, hub: HubApi, signal: AbortSignal) {
  const late = new Error('no first frame')
  const timer = new AbortController()
  const over = new AbortController()
  ports.clock.sleep(FIRST_FRAME_MS, AbortSignal.any([timer.signal, signal])).then(
    () => over.abort(late),
    () => {}, // the frame came, or the link ends
  )
  const opening = AbortSignal.any([signal, over.signal])
  try {
    // The stream itself has the signal of the link; only the wait for its first frame is short.
    const stream = await untilAborted(hub.follow(ports.holds(), signal), opening)
    const frames = stream[Symbol.asyncIterator]()
    return { frames, next: await untilAborted(frames.next(), opening) }
  } catch (caught) {
    if (caught === late) return undefined
    throw caught
  } finally {
    timer.abort()
  }
}
