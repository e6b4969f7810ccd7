/** Drives the state machine of wire/link/agent-link.ts: enrols, renews, follows and waits, as its states say. */
import { compact } from '../../core/compact.ts'
import { toError } from '../../core/errors.ts'
import type { Secret } from '../../core/secret.ts'
import { linkAction } from '../../wire/link/agent-link.ts'
import type { LinkAction, LinkEvent } from '../../wire/link/agent-link.ts'
import { signReportStatement } from '../../wire/link/report-statement.ts'
import type { ReportStatement } from '../../wire/link/report-statement.ts'
import type { VerifiedTrust } from '../../wire/trust/trust-bundle.ts'
import { enrol, renew } from './certificates.ts'
import { followByPolls, followStream } from './following.ts'
import { HubRefusal } from './hub-request.ts'
import type { HubApi } from './hub-api.ts'
import { identitySigner, sealingKeys } from './identity.ts'
import { moveLink, openLinkSession } from './link-session.ts'
import type { LinkPorts, LinkSession } from './link-session.ts'

/** The running link. */
export interface Link {
  run(signal: AbortSignal): Promise<void>
  /** The hub as this cluster; undefined while no stream is open. */
  hub(): HubApi | undefined
  trust(): VerifiedTrust | undefined
  clusterId(): string | undefined
  /** The cluster that sealed values are encrypted for, and the keys that open them, newest first. */
  sealing(): { readonly clusterId: string; readonly keys: readonly Secret<string>[] } | undefined
  /** Signs which report this agent sends; undefined before the hub has issued a cluster id. */
  signReport(about: Pick<ReportStatement, 'sequence' | 'report' | 'at'>): string | undefined
}

/** Creates a link; nothing is sent before `run`. */
export async function createLink(ports: LinkPorts): Promise<Link> {
  const { clock } = ports
  const session = await openLinkSession(ports)
  return {
    hub: () => session.following,
    trust: () => session.trust,
    clusterId: () => session.identity.clusterId,
    sealing: () => {
      const { clusterId } = session.identity
      return clusterId === undefined ? undefined : { clusterId, keys: sealingKeys(session.identity) }
    },
    signReport: (about) => {
      const { clusterId, root } = session.identity
      if (clusterId === undefined) return undefined
      const { instance } = session
      return signReportStatement(identitySigner(session.identity), { root, clusterId, instance, ...about })
    },
    async run(signal) {
      while (!signal.aborted) {
        const action = linkAction(session.state, clock.now())
        const event = await perform(session, action, signal).catch((caught: unknown) =>
          failureEvent(session, caught, action),
        )
        if (!signal.aborted) moveLink(session, event)
      }
    },
  }
}

async function perform(session: LinkSession, action: LinkAction, signal: AbortSignal): Promise<LinkEvent> {
  const { clock } = session.ports
  switch (action.do) {
    case 'Wait':
      await clock.sleep(Math.max(0, action.until - clock.monotonicMs()), signal)
      return { type: 'Waited' }
    case 'Enrol':
      return enrol(session, signal)
    case 'Renew':
      return renew(session, signal)
    case 'Follow':
      return action.by === 'Stream' ? followStream(session, signal) : followByPolls(session, signal)
  }
}

function failureEvent(session: LinkSession, caught: unknown, action: LinkAction): LinkEvent {
  const why = toError(caught).message
  if (!(caught instanceof HubRefusal)) {
    session.endpointIndex += 1
    return { type: 'Failed', why }
  }
  // Stopping, starting, or without its API: another gateway may answer.
  if (caught.status === 503) session.endpointIndex += 1
  if (caught.status === 401 && action.do === 'Follow') return { type: 'Expired', why }
  if ([400, 401, 403, 409].includes(caught.status)) return { type: 'Refused', why }
  return { type: 'Failed', why, ...compact({ retryAfterMs: caught.retryAfterMs }) }
}
