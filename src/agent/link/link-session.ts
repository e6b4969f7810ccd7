// Tested by src/agent/link/link.contract.test.ts
/** The state of a link between its actions: identity, trust, certificate and the open connection. */
import type { Clock } from '../../core/time/clock.ts'
import { compact } from '../../core/compact.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { NewKeyPair } from '../../core/crypto/key-pair.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import { initialLink, linkTransition } from '../../wire/link/agent-link.ts'
import type { LinkEvent, LinkState } from '../../wire/link/agent-link.ts'
import type { BeatFrame, HeadFrame } from '../../wire/link/frames.ts'
import type { TrustedKey } from '../../wire/trust/envelope.ts'
import type { VerifiedTrust } from '../../wire/trust/trust-bundle.ts'
import { createHubApi } from './hub-api.ts'
import type { ConnectHub, HubApi } from './hub-api.ts'
import type { HubRefusal } from './hub-request.ts'
import { loadTransport, loadTrustFile, saveIdentity } from './identity.ts'
import type { Identity, TransportIdentity } from './identity.ts'
import { createPartialDownloads } from './partial-downloads.ts'
import type { PartialDownloads } from './partial-downloads.ts'
import type { AgentStorage } from '../storage/storage.ts'

/** Ports of a link. */
export interface LinkPorts {
  readonly connect: ConnectHub
  readonly storage: AgentStorage
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly newKeyPair: NewKeyPair
  readonly agentVersion: string
  readonly identity: Identity
  /** The digest of the agent's document, so that the hub does not announce it again. */
  readonly holds: () => Digest | undefined
  readonly onHead: (head: HeadFrame) => void
  /** The last document of a cluster that left the fleet and gets no certificate any more; not verified yet. */
  readonly onLastDocument: (envelope: Uint8Array) => void
  readonly onBeat: (beat: BeatFrame) => void
  readonly onState: (state: LinkState) => void
  /** Resolves to a predicate: may a sealed value, on disk or still to come, need this key of the agent? */
  readonly sealingKeysInUse: () => Promise<(key: Digest) => boolean>
  /** The sealing key that the current document asks the agent to replace, and the digest of that document. */
  readonly retiredSealingKey: () => { readonly key: string; readonly document: Digest } | undefined
}

/** The state of a link. Its functions are in trust-refresh, certificates and following; link.ts runs them. */
export interface LinkSession {
  readonly ports: LinkPorts
  readonly log: Logger
  /** Drawn at every start and never stored: a copy of the agent's files counts as another instance. */
  readonly instance: string
  readonly partials: PartialDownloads
  identity: Identity
  transport: TransportIdentity | undefined
  root: TrustedKey | undefined
  trust: VerifiedTrust | undefined
  state: LinkState
  /** The hub as this cluster, while a stream is open. */
  following: HubApi | undefined
  /**
   * Modulo the number of gateways, the gateway that the agent asks: at first any of them, so that a fleet spreads.
   * Increases when a gateway fails or is stopping, so that it is not the only one that the agent asks.
   */
  endpointIndex: number
  /**
   * The document whose request for a new sealing key was fulfilled. A key that is new already is announced too: the
   * last try may have ended before the hub recorded it.
   */
  answeredDocument: Digest | undefined
  /** Monotonic milliseconds before which a sealing key that the hub refused is not announced again. */
  announceAtMs: number
}

/** Loads what the last start stored. */
export async function openLinkSession(ports: LinkPorts): Promise<LinkSession> {
  const { storage, identity } = ports
  const transport = await loadTransport(storage)
  const stored = await loadTrustFile(storage, identity.root)
  const instance = ports.ids.suffix(20)
  return {
    ports,
    log: ports.log.child({ part: 'link' }),
    instance,
    partials: createPartialDownloads(),
    identity,
    transport,
    root: stored?.root,
    trust: stored?.trust,
    state: initialLink(compact({ clusterId: identity.clusterId, renewAt: transport?.renewAt })),
    following: undefined,
    endpointIndex: firstEndpoint(instance),
    answeredDocument: undefined,
    announceAtMs: Number.NEGATIVE_INFINITY,
  }
}

/** A number that differs between agents; the instance is random. */
function firstEndpoint(instance: string): number {
  return [...instance].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 65_536, 0)
}

/** Moves the state machine by an event, and logs and announces a change of state. */
export function moveLink(session: LinkSession, event: LinkEvent): void {
  const { ports, log, state: before } = session
  const now = ports.clock.monotonicMs()
  const state = linkTransition(before, event, { now, fraction: ports.ids.fraction() })
  session.state = state
  if (state.at === before.at && state.at !== 'Backoff') return
  const waiting = state.at === 'Backoff' || state.at === 'Refused'
  const fields = compact({ state: state.at, why: waiting ? state.why : undefined })
  if (before.at === 'Connecting' || state.at === 'Refused' || before.at === 'Following')
    log.info(fields, 'link changed')
  else log.debug(fields, 'link changed')
  ports.onState(state)
}

/** Replaces the identity on disk and in the session. */
export async function keepIdentity(session: LinkSession, next: Identity): Promise<void> {
  if (next === session.identity) return
  await saveIdentity(session.ports.storage, next)
  session.identity = next
}

/** Credentials of a connection. Without `cas`, only the trust bundle is fetched: its signature proves itself. */
interface Credentials {
  readonly cas: readonly string[] | undefined
  readonly transport?: TransportIdentity | undefined
  readonly onUnauthorized?: (refusal: HubRefusal) => void
}

/** Opens a connection to the current gateway for a piece of work, and closes it. */
export async function withHub<T>(
  session: LinkSession,
  { cas, transport, onUnauthorized }: Credentials,
  work: (hub: HubApi) => Promise<T>,
): Promise<T> {
  const { ports, instance, partials } = session
  const endpoints = session.trust?.bundle.endpoints ?? session.identity.endpoints
  const endpoint = endpoints[session.endpointIndex % endpoints.length]!
  const credentials = transport ? { certificate: transport.certificate, privateKey: transport.privateKey } : {}
  const opened = ports.connect({ endpoint, cas, ...credentials })
  const { clock } = ports
  try {
    return await work(
      createHubApi({ transport: opened.transport, clock, instance, partials, ...compact({ onUnauthorized }) }),
    )
  } finally {
    await opened.close()
  }
}
