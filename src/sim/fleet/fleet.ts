/**
 * A whole fleet in a simulated world: one hub process, a process per cluster and one per agent, composed of the same
 * rooms as real processes. What should survive a kill (stores, blobs, keys, the agents' files) lives outside the
 * processes.
 */
import { renderInPlace } from '../../agent/render/render-in-place.ts'
import { createAgent } from '../../agent/create-agent.ts'
import type { ConnectHub } from '../../agent/link/hub-api.ts'
import { createMemoryStorage } from '../../agent/storage/storage.ts'
import type { AgentStorage } from '../../agent/storage/storage.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import { createMemoryBlobs } from '../../blobs/memory-blobs.ts'
import type { Client } from '../../client/client.ts'
import { createClient } from '../../client/create-client.ts'
import { compact } from '../../core/compact.ts'
import { isApiError, toError } from '../../core/errors.ts'
import type { Caller, Transport } from '../../core/http.ts'
import { seededKeys } from '../../core/crypto/key-pair.ts'
import { callerOfUnverified } from '../../gateway/caller.ts'
import { composeHub } from '../../hub/compose/compose-hub.ts'
import { inviteCluster } from '../../hub/join/invite-cluster.ts'
import type { FetchSourcePort } from '../../controllers/source-fetch/ports.ts'
import { storeFiles } from '../../source/store-files.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { createTrust, loadTrust } from '../../wire/trust/hub-keys.ts'
import { createEmbeddedCluster } from './embedded-cluster.ts'
import type { WorkloadBehaviour } from '../workloads/workloads.ts'
import { ConnectionError } from '../kernel/links.ts'
import type { Host, Process } from '../kernel/process.ts'
import type { RunUntilOptions } from '../kernel/virtual-clock.ts'
import type { World } from '../kernel/world.ts'
import type { DialectName } from '../../hub/home/dialect-names.ts'

/** What to simulate. */
export interface FleetOptions {
  readonly clusters: number
  readonly labels?: (index: number) => Record<string, string>
  /** What every Source of the fleet holds: files of one commit. */
  readonly files?: ReadonlyMap<string, Uint8Array>
  /** Dialects that the hub serves. */
  readonly dialects?: readonly DialectName[]
  /** How the workloads of a cluster behave, by its name. */
  readonly behaviourOf?: (name: string) => Partial<WorkloadBehaviour>
  /** What is between a cluster's agent and the gateway; for agents that do not tell the truth. */
  readonly betweenOf?: (name: string, gateway: Transport) => Transport
  /** What is between a hub and its database, anew each time it starts; for hubs with a mistake. */
  readonly hubStoreOf?: (store: Store, incarnation: number) => Store
}

/** A cluster of the fleet with its agent. */
export interface FleetMember {
  readonly name: string
  readonly cluster: Process
  readonly agent: Process
  /** The managed cluster's API, for observers. */
  readonly client: Client
  /** What the managed cluster keeps. */
  readonly store: Store
}

/** A hub's database and key folder. */
export interface HubDisk {
  store: Store
  /** File name → text. */
  keys: Record<string, string>
}

/** A running fleet. */
export interface Fleet {
  readonly hub: Process
  readonly hubStore: Store
  /** What the hub finds when it starts: exchange a part of it while it is down. */
  readonly disk: HubDisk
  /** The hub's API as the administrator. */
  readonly client: Client
  /** What the hub stores by digest. */
  readonly hubBlobs: Blobs
  readonly members: readonly FleetMember[]
  /** Another hub's controllers over the same database; what they see of it may come late, see `behind`. */
  startSecondHub(behind: (store: Store, host: Host) => Store): Process
}

const MASTER: Caller = { user: 'admin', groups: ['system:masters', 'system:authenticated'] }
const BAD_MOMENTS = ['NotFound', 'Conflict', 'TooManyRequests', 'ServiceUnavailable', 'Timeout'] as const
const GATEWAY = 'https://gateway.sim:7444'

/** Starts the hub, then invites and starts every cluster. */
export async function startFleet(world: World, options: FleetOptions): Promise<Fleet> {
  const disk: HubDisk = { store: createMemoryStore(), keys: newTrustFiles(world) }
  const hubBlobs = createMemoryBlobs()
  const cas = loadTrust((name) => disk.keys[name]).newest.bundle.transportCas
  const compose = (host: Host, store: Store, gatewayName = '0') => {
    const { clock, ids, log } = host
    const trust = loadTrust((name) => disk.keys[name])
    const blobs = host.blobs(hubBlobs)
    const fetchSource = options.files && serveFiles(options.files, blobs)
    return composeHub(
      compact({
        clock,
        ids,
        log,
        store,
        blobs,
        trust: () => trust,
        gatewayName,
        fetchSource,
        dialects: options.dialects,
      }),
    )
  }
  const hub = world.start('hub', async (host) => {
    const store = host.store(disk.store)
    const composed = compose(host, options.hubStoreOf?.(store, host.incarnation) ?? store)
    host.listen('api', composed.api.handle)
    host.listen('gateway', composed.gateway.handle)
    await composed.run(host.signal)
    await composed.close()
  })
  const client = lookOn(world, 'api')
  const members: FleetMember[] = []
  for (let index = 0; index < options.clusters; index++) {
    const name = `store-${index + 1}`
    const labels = options.labels?.(index) ?? { tier: 'store' }
    const code = await untilAnswered(world, () =>
      inviteCluster(
        { cluster: name, labels, accept: 'Auto', ttlMs: 3_600_000 },
        { client, clock: world.clock, ids: world.ids },
      ),
    )
    members.push(
      startMember(world, {
        name,
        joinCode: code.code,
        cas,
        ...(options.behaviourOf && { behaviour: options.behaviourOf(name) }),
        ...(options.betweenOf && { between: options.betweenOf }),
      }),
    )
  }
  return {
    hub,
    disk,
    get hubStore() {
      return disk.store
    },
    client,
    hubBlobs,
    members,
    startSecondHub: (behind) =>
      world.start('second-hub', async (host) => {
        const composed = compose(host, behind(host.store(disk.store), host), '1')
        await composed.run(host.signal)
        await composed.close()
      }),
  }
}

interface MemberOptions {
  readonly name: string
  readonly joinCode: string
  readonly cas: readonly string[]
  readonly behaviour?: Partial<WorkloadBehaviour>
  readonly between?: NonNullable<FleetOptions['betweenOf']>
}

function startMember(world: World, { name, joinCode, cas, behaviour, between }: MemberOptions): FleetMember {
  const clusterStore = createMemoryStore()
  const files = createMemoryStorage()
  const blobs = createMemoryBlobs()
  const endpoint = `api-of-${name}`
  const cluster = world.start(name, async (host) => {
    const { clock, ids, log } = host
    const embedded = createEmbeddedCluster({
      name,
      clock,
      ids,
      log,
      store: host.store(clusterStore),
      isSmall: true,
      ...(behaviour && { behaviour }),
    })
    host.listen(endpoint, embedded.handle)
    await embedded.run(host.signal)
    await embedded.close()
  })
  const agent = world.start(`agent-of-${name}`, (host) =>
    runAgent(host, {
      endpoint,
      files,
      blobs,
      joinCode,
      cas,
      between: (gateway) => between?.(name, gateway) ?? gateway,
    }),
  )
  return { name, cluster, agent, client: lookOn(world, endpoint), store: clusterStore }
}

/** A commit that never changes. */
function serveFiles(files: ReadonlyMap<string, Uint8Array>, blobs: Blobs): FetchSourcePort {
  return async ({ previous, spec }) => {
    if (previous) return { kind: 'Same' }
    const stored = await storeFiles(files, spec, blobs)
    return { kind: 'New', artifact: { ...stored, revision: 'main@sha1:c1', commit: 'c1', fetchedBytes: 1, from: 'x' } }
  }
}

interface AgentParts {
  readonly endpoint: string
  readonly files: AgentStorage
  readonly blobs: Blobs
  readonly joinCode: string
  readonly cas: readonly string[]
  readonly between: (gateway: Transport) => Transport
}

async function runAgent(host: Host, { endpoint, files, blobs, joinCode, cas, between }: AgentParts): Promise<void> {
  const { clock, ids, log } = host
  const connect: ConnectHub = ({ certificate }) => ({
    transport: between(host.connect('gateway', callerOfUnverified(certificate, cas, clock.now()))),
    close: async () => {},
  })
  const agent = await createAgent({
    cluster: host.connect(endpoint, MASTER),
    hub: connect,
    storage: { read: files.read, write: (name, bytes) => host.step(`file ${name}`, () => files.write(name, bytes)) },
    blobs: host.blobs(blobs),
    clock,
    ids,
    newKeyPair: seededKeys(ids),
    log,
    render: renderInPlace({ clock, ids }),
    joinCode,
  })
  await agent.run(host.signal)
}

function newTrustFiles(world: World): Record<string, string> {
  return createTrust({
    newKeyPair: seededKeys(world.ids),
    now: world.clock.now(),
    serial: world.ids.bytes(16),
    endpoints: [GATEWAY],
    minAgentVersion: '0.0.0',
  })
}

function lookOn(world: World, endpoint: string): Client {
  return createClient({
    transport: world.network.transport({ from: 'admin', to: endpoint }, MASTER),
    clock: world.clock,
  })
}

/**
 * Repeats a request until the hub answers: the hub may be down, or the link may lose the request. An error that a retry
 * cannot change, for example a mistake in the scenario, is thrown.
 */
export async function untilAnswered<T>(
  world: World,
  ask: () => Promise<T>,
  within: RunUntilOptions = { withinMs: 600_000, what: 'the hub answers' },
): Promise<T> {
  let answer: { readonly given: T } | undefined
  let mistake: unknown
  let asking = false
  await world.runUntil(() => {
    if (mistake !== undefined) throw mistake
    if (answer === undefined && !asking) {
      asking = true
      ask()
        .then((given) => (answer = { given }))
        .catch((caught: unknown) => {
          if (!mayHelpToAskAgain(caught)) mistake = caught
        })
        .finally(() => (asking = false))
    }
    return answer !== undefined
  }, within)
  return answer!.given
}

/** The question or its answer was lost, or it came at a bad moment. */
function mayHelpToAskAgain(caught: unknown): boolean {
  if (caught instanceof ConnectionError) return true
  if (isApiError(caught)) return isApiError(caught, ...BAD_MOMENTS)
  return /: no answer within [\d.]+ s$/.test(toError(caught).message)
}
