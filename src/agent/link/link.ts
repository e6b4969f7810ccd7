/** Drives the link of wire/link/agent-link.ts: enrols, renews, follows, and waits, as its states say. */
import { deadline, untilAborted } from '../../core/async/deadline.ts'
import { fromBase64, utf8 } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { toError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import type { NewKeyPair } from '../../core/crypto/key-pair.ts'
import type { Logger } from '../../core/log.ts'
import type { Secret } from '../../core/secret.ts'
import {
  FIRST_FRAME_MS,
  initialLink,
  linkAction,
  linkTransition,
  POLL_FOR_MS,
  POLL_WAIT_SECONDS,
  SILENCE_MS,
} from '../../wire/link/agent-link.ts'
import type { LinkAction, LinkEvent, LinkState } from '../../wire/link/agent-link.ts'
import { PAYLOAD, signEnvelope } from '../../wire/trust/envelope.ts'
import type { TrustedKey } from '../../wire/trust/envelope.ts'
import type { BeatFrame, EnrolRequest, Frame, HeadFrame, LastRequest, RenewRequest } from '../../wire/link/frames.ts'
import { acceptTrust, verifyRoot } from '../../wire/trust/trust-bundle.ts'
import type { VerifiedTrust } from '../../wire/trust/trust-bundle.ts'
import { createHubApi, HubRefusal } from './hub-api.ts'
import type { ConnectHub, HubApi, HubTransport } from './hub-api.ts'
import {
  acceptCertificate,
  identityRenewed,
  identityToRenew,
  identitySigner,
  isSealingKeyUnheard,
  loadTransport,
  loadTrustFile,
  newRequest,
  publicKeysOf,
  saveIdentity,
  saveTrust,
  sealingKeys,
} from './identity.ts'
import type { Identity, TransportIdentity } from './identity.ts'
import { createPartialDownloads } from './partial-downloads.ts'
import type { AgentStorage } from '../storage/storage.ts'

/** What a link is made of. */
export interface LinkPorts {
  readonly connect: ConnectHub
  readonly storage: AgentStorage
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly newKeyPair: NewKeyPair
  readonly agentVersion: string
  readonly identity: Identity
  /** The document held now, so that the hub does not announce it again. */
  readonly holds: () => Digest | undefined
  readonly onHead: (head: HeadFrame) => void
  /** The last document of a cluster that left and gets no certificate any more; unverified. */
  readonly onLastDocument: (envelope: Uint8Array) => void
  readonly onBeat: (beat: BeatFrame) => void
  readonly onState: (state: LinkState) => void
  /** Whether values that are here, or to come, may be sealed to a key of this agent. */
  readonly sealingKeysInUse: () => Promise<(key: Digest) => boolean>
  /** The sealing key that the present document asks to replace, and that document. */
  readonly retiredSealingKey: () => { readonly key: string; readonly document: Digest } | undefined
}

/** The running link. */
export interface Link {
  run(signal: AbortSignal): Promise<void>
  /** The hub as this cluster, while a stream is open. */
  hub(): HubApi | undefined
  trust(): VerifiedTrust | undefined
  clusterId(): string | undefined
  /** Who opens secret values, and with what. */
  sealing(): { readonly clusterId: string; readonly keys: readonly Secret<string>[] } | undefined
}

// Each try is a renewal of the certificate. The hub has to be upgraded, or its role repaired, before one succeeds.
const ANNOUNCE_AGAIN_MS = 3_600_000

/** Makes a link; nothing happens before `run`. */
export async function createLink(ports: LinkPorts): Promise<Link> {
  const { storage, clock, ids, newKeyPair } = ports
  const log = ports.log.child({ part: 'link' })
  let identity = ports.identity
  let transport = await loadTransport(storage)
  const kept = await loadTrustFile(storage, identity.root)
  let root: TrustedKey | undefined = kept?.root
  let trust: VerifiedTrust | undefined = kept?.trust
  let state: LinkState = initialLink({
    ...(identity.clusterId === undefined ? {} : { clusterId: identity.clusterId }),
    ...(transport === undefined ? {} : { renewAt: transport.renewAt }),
  })
  // Drawn at every start and kept nowhere: a copy of the files starts as somebody else (wire/link/agent-instances.ts).
  const instance = ids.suffix(20)
  const partials = createPartialDownloads()
  let following: HubApi | undefined
  // Moves on after a failure, so that a dead gateway is not the only one ever asked.
  let endpointIndex = 0
  /** The document whose wish for a new sealing key was fulfilled. Also a key that is new already is announced: the last try may have ended before the hub heard. */
  let answered: Digest | undefined
  /** Monotonic milliseconds before which a sealing key that the hub refused is not announced again. */
  let announceAt = Number.NEGATIVE_INFINITY

  const endpoint = () => {
    const endpoints = trust?.bundle.endpoints ?? identity.endpoints
    return endpoints[endpointIndex % endpoints.length]!
  }

  function move(event: LinkEvent): void {
    const before = state
    state = linkTransition(state, event, { now: clock.monotonicMs(), fraction: ids.fraction() })
    if (state.at === before.at && state.at !== 'Backoff') return
    const waiting = state.at === 'Backoff' || state.at === 'Refused'
    const fields = { state: state.at, ...(waiting && 'why' in state ? { why: state.why } : {}) }
    if (before.at === 'Connecting' || state.at === 'Refused' || before.at === 'Following')
      log.info(fields, 'link changed')
    else log.debug(fields, 'link changed')
    ports.onState(state)
  }

  async function withHub<T>(
    as: TransportIdentity | undefined,
    work: (hub: HubApi) => Promise<T>,
    onUnauthorized: (refusal: HubRefusal) => void = () => {},
  ): Promise<T> {
    const cas = trust?.bundle.transportCas
    const credentials = as ? { certificate: as.certificate, privateKey: as.privateKey } : {}
    const opened: HubTransport = ports.connect({ endpoint: endpoint(), cas, ...credentials })
    try {
      return await work(createHubApi({ transport: opened.transport, clock, instance, partials, onUnauthorized }))
    } finally {
      await opened.close()
    }
  }

  /** Walks the trust bundle forward; the first one is fetched without believing anybody and proven by the pinned root. */
  async function refreshTrust(signal: AbortSignal, hub?: HubApi): Promise<void> {
    for (;;) {
      const after = trust?.bundle.version ?? 0
      const answer = hub ? await hub.trust(after, signal) : await trustOfAnybody(after, signal)
      root = verifyRoot(identity.root, answer.root)
      if (answer.bundles.length === 0) break
      for (const text of answer.bundles) {
        const envelope = fromBase64(text)
        trust = acceptTrust(root, trust, envelope)
        await saveTrust(storage, root, envelope)
      }
      log.info({ version: trust?.bundle.version }, 'trust bundle accepted')
    }
    if (!trust) throw new Error('the hub has no trust bundle')
  }

  /** The trust bundle proves itself by the root; and an agent that was away knows none of the CAs of today. */
  async function trustOfAnybody(after: number, signal: AbortSignal) {
    const opened = ports.connect({ endpoint: endpoint(), cas: undefined })
    try {
      return await createHubApi({ transport: opened.transport, clock, instance, partials }).trust(after, signal)
    } finally {
      await opened.close()
    }
  }

  async function perform(action: LinkAction, signal: AbortSignal): Promise<LinkEvent> {
    switch (action.do) {
      case 'Wait':
        await clock.sleep(Math.max(0, action.until - clock.monotonicMs()), signal)
        return { type: 'Waited' }
      case 'Enrol':
        return enrol(signal)
      case 'Renew':
        return renew(signal).catch(async (caught: unknown) => {
          if (caught instanceof HubRefusal && caught.status === 403) await askForLast(signal)
          throw caught
        })
      case 'Follow':
        return action.by === 'Stream' ? follow(signal) : ask(signal)
    }
  }

  async function enrol(signal: AbortSignal): Promise<LinkEvent> {
    await refreshTrust(signal)
    const clusterId = state.at === 'Certifying' ? state.clusterId : undefined
    const fresh = clusterId === undefined ? undefined : newRequest(newKeyPair, clusterId)
    const request: EnrolRequest = {
      root: identity.root,
      token: identity.token,
      ...(identity.clusterName === undefined ? {} : { clusterName: identity.clusterName }),
      ...publicKeysOf(identity),
      ...(identity.clusterId === undefined ? {} : { clusterId: identity.clusterId }),
      ...(fresh ? { csr: fresh.csr } : {}),
      agentVersion: ports.agentVersion,
    }
    const envelope = signEnvelope(identitySigner(identity), PAYLOAD.enrol, utf8(JSON.stringify(request)))
    const answer = await withHub(undefined, (hub) => hub.enrol(envelope, signal))
    if (identity.clusterId !== answer.clusterId) {
      await keepIdentity({ ...identity, clusterId: answer.clusterId, clusterName: answer.clusterName })
      log.info({ clusterId: answer.clusterId, cluster: answer.clusterName, state: answer.state }, 'enrolled')
    }
    if (answer.state === 'Pending') {
      const retryAfterMs = (answer.retryAfterSeconds ?? 5) * 1000
      return { type: 'Pending', clusterId: answer.clusterId, retryAfterMs }
    }
    if (!answer.certificate || !fresh || clusterId !== answer.clusterId) {
      return { type: 'Accepted', clusterId: answer.clusterId }
    }
    return certified({ certificate: answer.certificate, privateKey: fresh.privateKey, clusterId })
  }

  async function keepIdentity(next: Identity): Promise<void> {
    if (next === identity) return
    await saveIdentity(storage, next)
    identity = next
  }

  async function renew(signal: AbortSignal): Promise<LinkEvent> {
    await refreshTrust(signal)
    const clusterId = identity.clusterId ?? ''
    const fresh = newRequest(newKeyPair, clusterId)
    const asked = ports.retiredSealingKey()
    const facts = { isUsed: await ports.sealingKeysInUse(), retired: asked?.key }
    // Kept before it is announced: what the hub seals to a key must find it here.
    await keepIdentity(identityToRenew(identity, newKeyPair, facts))
    const { sealingKey } = publicKeysOf(identity)
    const request: RenewRequest = { root: identity.root, clusterId, csr: fresh.csr }
    let certificate: string
    try {
      certificate = await requestRenewal({ ...request, sealingKey }, signal)
      await keepIdentity(identityRenewed(identity))
      answered = asked?.document
      announceAt = Number.NEGATIVE_INFINITY
    } catch (caught) {
      const mayBeTheKey = caught instanceof HubRefusal && caught.status === 403 && isSealingKeyUnheard(identity)
      if (!mayBeTheKey) throw caught
      // A hub whose gateway may not record a new sealing key refuses the whole request. The certificate matters more than the
      // announcement: the hub continues to seal to the key before it, which this agent keeps.
      certificate = await requestRenewal(request, signal)
      announceAt = clock.monotonicMs() + ANNOUNCE_AGAIN_MS
      log.warn({ clusterId, err: caught }, 'the hub refused the new sealing key; renewed the certificate without it')
    }
    return certified({ certificate, privateKey: fresh.privateKey, clusterId })
  }

  async function requestRenewal(request: RenewRequest, signal: AbortSignal): Promise<string> {
    const envelope = signEnvelope(identitySigner(identity), PAYLOAD.renew, utf8(JSON.stringify(request)))
    // Without the old certificate: it may be the very thing that has expired, and the identity key is proof enough.
    return (await withHub(undefined, (hub) => hub.renew(envelope, signal))).certificate
  }

  /** Turned away for good, perhaps: a cluster that was decommissioned while its agent was away may read that and end. */
  async function askForLast(signal: AbortSignal): Promise<void> {
    const request: LastRequest = { root: identity.root, clusterId: identity.clusterId ?? '' }
    const envelope = signEnvelope(identitySigner(identity), PAYLOAD.last, utf8(JSON.stringify(request)))
    await withHub(undefined, (hub) => hub.last(envelope, signal)).then(ports.onLastDocument, (caught: unknown) => {
      log.debug({ err: toError(caught) }, 'there is no last document')
    })
  }

  async function certified(issued: { certificate: string; privateKey: string; clusterId: string }): Promise<LinkEvent> {
    transport = await acceptCertificate(storage, issued, { trust: trust!, now: clock.now() })
    log.info({ clusterId: issued.clusterId }, 'certificate received')
    return { type: 'Certified', renewAt: transport.renewAt }
  }

  async function follow(signal: AbortSignal): Promise<LinkEvent> {
    // A hub that is not believed any more may have new CAs.
    if (!trust || state.failures >= 2) await refreshTrust(signal)
    const end = new AbortController()
    const ended = AbortSignal.any([signal, end.signal])
    try {
      const streaming = async (hub: HubApi): Promise<LinkEvent> => {
        const first = await firstFrame(hub, ended)
        if (!first) return { type: 'Stuck' }
        const { frames } = first
        let { next } = first
        move({ type: 'Opened' })
        following = hub
        while (!next.done) {
          await hear(hub, next.value, signal)
          if (isRenewalDue()) break
          const waited = { clock, ms: SILENCE_MS, signal: ended, what: 'follow stream' }
          next = await deadline(waited, (inner) => untilAborted(frames.next(), inner))
        }
        return { type: 'Ended' }
      }
      // A report that is not taken for want of a certificate ends the stream too: it would go on, and nobody would hear this agent.
      return await withHub(transport, streaming, (refusal) => end.abort(refusal))
    } finally {
      following = undefined
      end.abort()
    }
  }

  /** By time, because the document asks for a new sealing key, or to announce one again that the hub refused. A document that asks is answered once. */
  function isRenewalDue(): boolean {
    const asked = ports.retiredSealingKey()
    const isUnheard = isSealingKeyUnheard(identity) || (asked !== undefined && asked.document !== answered)
    if (isUnheard && clock.monotonicMs() >= announceAt) move({ type: 'RenewalAsked' })
    return clock.now() >= (state.renewAt ?? Number.POSITIVE_INFINITY)
  }

  async function hear(hub: HubApi, frame: Frame, signal: AbortSignal): Promise<void> {
    move({ type: 'Frame' })
    if (frame.type === 'head') return ports.onHead(frame)
    ports.onBeat(frame)
    if (frame.trustVersion > trust!.bundle.version) await refreshTrust(signal, hub)
  }

  /** Opens the stream and waits for its first frame; undefined when something on the way holds it back. */
  async function firstFrame(hub: HubApi, signal: AbortSignal) {
    const late = new Error('no first frame')
    const timer = new AbortController()
    const over = new AbortController()
    clock.sleep(FIRST_FRAME_MS, AbortSignal.any([timer.signal, signal])).then(
      () => over.abort(late),
      () => {}, // it came, or nobody waits any more
    )
    const opening = AbortSignal.any([signal, over.signal])
    try {
      // The stream itself lives as long as the link; only the wait for its beginning is short.
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

  /** Follows by questions for a while, then gives a stream another chance. */
  async function ask(signal: AbortSignal): Promise<LinkEvent> {
    const until = clock.monotonicMs() + POLL_FOR_MS
    try {
      return await withHub(transport, async (hub) => {
        while (clock.monotonicMs() < until && !isRenewalDue()) {
          const frames = await hub.poll(ports.holds(), POLL_WAIT_SECONDS, signal)
          move({ type: 'Opened' })
          following = hub
          for (const frame of frames) await hear(hub, frame, signal)
        }
        return { type: 'Ended' }
      })
    } finally {
      following = undefined
    }
  }

  function eventOf(caught: unknown, action: LinkAction): LinkEvent {
    const why = toError(caught).message
    if (!(caught instanceof HubRefusal)) {
      endpointIndex += 1
      return { type: 'Failed', why }
    }
    if (caught.status === 401 && action.do === 'Follow') return { type: 'Expired', why }
    if ([400, 401, 403, 409].includes(caught.status)) return { type: 'Refused', why }
    return { type: 'Failed', why, ...(caught.retryAfterMs === undefined ? {} : { retryAfterMs: caught.retryAfterMs }) }
  }

  return {
    hub: () => following,
    trust: () => trust,
    clusterId: () => identity.clusterId,
    sealing: () =>
      identity.clusterId === undefined ? undefined : { clusterId: identity.clusterId, keys: sealingKeys(identity) },
    async run(signal) {
      while (!signal.aborted) {
        const action = linkAction(state, clock.now())
        const event = await perform(action, signal).catch((caught: unknown) => eventOf(caught, action))
        if (!signal.aborted) move(event)
      }
    },
  }
}
