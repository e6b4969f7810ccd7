// Tested by src/agent/link/trust-rotation.contract.test.ts
/** Gets the agent's certificate: by enrolment with the join token at first, by renewal with the identity key later. */
import { utf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { toError } from '../../core/errors.ts'
import type { LinkEvent } from '../../wire/link/agent-link.ts'
import type { EnrolRequest, LastRequest, RenewRequest } from '../../wire/link/frames.ts'
import { PAYLOAD, signEnvelope } from '../../wire/trust/envelope.ts'
import { LINK_TIMING } from '../timing.ts'
import { HubRefusal } from './hub-request.ts'
import type { HubApi } from './hub-api.ts'
import {
  acceptCertificate,
  identityRenewed,
  identitySigner,
  identityToRenew,
  isSealingKeyUnheard,
  newRequest,
  publicKeysOf,
  withoutJoinToken,
} from './identity.ts'
import { keepIdentity, withHub } from './link-session.ts'
import type { LinkSession } from './link-session.ts'
import { refreshTrust } from './trust-refresh.ts'

/** Asks the hub to register the cluster; a cluster that is accepted gets its certificate by the same request. */
export async function enrol(session: LinkSession, signal: AbortSignal): Promise<LinkEvent> {
  await refreshTrust(session, signal)
  const { ports, identity, state, log } = session
  const clusterId = state.at === 'Certifying' ? state.clusterId : undefined
  const fresh = clusterId === undefined ? undefined : newRequest(ports.newKeyPair, clusterId)
  const request: EnrolRequest = {
    root: identity.root,
    token: identity.token,
    ...publicKeysOf(identity),
    ...compact({ clusterName: identity.clusterName, clusterId: identity.clusterId, csr: fresh?.csr }),
    agentVersion: ports.agentVersion,
  }
  const envelope = sign(session, PAYLOAD.enrol, request)
  const answer = await withoutCertificate(session, (hub) => hub.enrol(envelope, signal))
  if (identity.clusterId !== answer.clusterId) {
    await keepIdentity(session, { ...identity, clusterId: answer.clusterId, clusterName: answer.clusterName })
    log.info({ clusterId: answer.clusterId, cluster: answer.clusterName, state: answer.state }, 'enrolled')
  }
  if (answer.state === 'Pending') {
    const { retryAfterSeconds } = answer
    const retryAfterMs = retryAfterSeconds === undefined ? LINK_TIMING.pendingRetryMs : retryAfterSeconds * 1000
    return { type: 'Pending', clusterId: answer.clusterId, retryAfterMs }
  }
  if (!answer.certificate || !fresh || clusterId !== answer.clusterId) {
    return { type: 'Accepted', clusterId: answer.clusterId }
  }
  return keepCertificate(session, { certificate: answer.certificate, privateKey: fresh.privateKey, clusterId })
}

/** Renews the certificate. A hub that refuses for good is asked for the last document of this cluster. */
export async function renew(session: LinkSession, signal: AbortSignal): Promise<LinkEvent> {
  try {
    return await requestCertificate(session, signal)
  } catch (caught) {
    if (caught instanceof HubRefusal && caught.status === 403) await fetchLastDocument(session, signal)
    throw caught
  }
}

async function requestCertificate(session: LinkSession, signal: AbortSignal): Promise<LinkEvent> {
  await refreshTrust(session, signal)
  const { ports, log } = session
  const clusterId = session.identity.clusterId ?? ''
  const fresh = newRequest(ports.newKeyPair, clusterId)
  const asked = ports.retiredSealingKey()
  const facts = { isUsed: await ports.sealingKeysInUse(), retired: asked?.key }
  // The key is stored before the hub learns of it: the agent must be able to open what the hub seals to it.
  await keepIdentity(session, identityToRenew(session.identity, ports.newKeyPair, facts))
  const { sealingKey } = publicKeysOf(session.identity)
  const request: RenewRequest = { root: session.identity.root, clusterId, csr: fresh.csr }
  let certificate: string
  try {
    certificate = await sendRenewal(session, { ...request, sealingKey }, signal)
    await keepIdentity(session, identityRenewed(session.identity))
    session.answeredDocument = asked?.document
    session.announceAtMs = Number.NEGATIVE_INFINITY
  } catch (caught) {
    const mayBeTheKey = caught instanceof HubRefusal && caught.status === 403 && isSealingKeyUnheard(session.identity)
    if (!mayBeTheKey) throw caught
    // A hub whose gateway may not record a new sealing key refuses the whole request. The certificate matters more than
    // the announcement: the hub continues to seal to the previous key, which this agent keeps.
    certificate = await sendRenewal(session, request, signal)
    session.announceAtMs = ports.clock.monotonicMs() + LINK_TIMING.announceAgainMs
    log.warn({ clusterId, err: caught }, 'the hub refused the new sealing key; renewed the certificate without it')
  }
  return keepCertificate(session, { certificate, privateKey: fresh.privateKey, clusterId })
}

async function sendRenewal(session: LinkSession, request: RenewRequest, signal: AbortSignal): Promise<string> {
  const envelope = sign(session, PAYLOAD.renew, request)
  return (await withoutCertificate(session, (hub) => hub.renew(envelope, signal))).certificate
}

/** A cluster that was decommissioned while its agent was away reads this in its last document, and the agent ends. */
async function fetchLastDocument(session: LinkSession, signal: AbortSignal): Promise<void> {
  const { identity, ports, log } = session
  const request: LastRequest = { root: identity.root, clusterId: identity.clusterId ?? '' }
  const envelope = sign(session, PAYLOAD.last, request)
  await withoutCertificate(session, (hub) => hub.last(envelope, signal)).then(
    ports.onLastDocument,
    (caught: unknown) => {
      log.debug({ err: toError(caught) }, 'the hub has no last document for this cluster')
    },
  )
}

async function keepCertificate(
  session: LinkSession,
  issued: { certificate: string; privateKey: string; clusterId: string },
): Promise<LinkEvent> {
  const { ports, log } = session
  const context = { trust: session.trust!, now: ports.clock.now() }
  const transport = await acceptCertificate(ports.storage, issued, context)
  session.transport = transport
  await keepIdentity(session, withoutJoinToken(session.identity))
  log.info({ clusterId: issued.clusterId }, 'certificate received')
  return { type: 'Certified', renewAt: transport.renewAt }
}

/** The old certificate may be exactly what has expired, and the identity key's signature is proof enough. */
function withoutCertificate<T>(session: LinkSession, work: (hub: HubApi) => Promise<T>): Promise<T> {
  return withHub(session, { cas: session.trust?.bundle.transportCas }, work)
}

function sign(
  { identity }: LinkSession,
  payload: (typeof PAYLOAD)[keyof typeof PAYLOAD],
  request: EnrolRequest | RenewRequest | LastRequest,
): Uint8Array {
  return signEnvelope(identitySigner(identity), payload, utf8(JSON.stringify(request)))
}
