/**
 * Which running agent speaks for each cluster. Kept in memory, and written to the Cluster on changes, so that all
 * gateways know it. Two live agents with one identity are a copied data directory.
 */
import type { Client } from '../client/client.ts'
import { compact } from '../core/compact.ts'
import type { Clock } from '../core/time/clock.ts'
import { ApiError, toError } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import { formatTime } from '../core/time/time.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { judgeContact, sameRecord } from '../wire/link/agent-instances.ts'
import type { AgentRecord } from '../wire/link/agent-instances.ts'
import { INSTANCE_HEADER } from '../wire/link/frames.ts'
import { createRateLimiter } from './rate-limit.ts'

export interface AgentInstancesPorts {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
}

interface TrackedAgent {
  record: AgentRecord | undefined
  /** The newest writes of this gateway. The informer returns them; they are no changes by another gateway. */
  written: AgentRecord[]
  /** Instance → monotonic milliseconds of its last contact, for the speaker and the rival only. */
  readonly heardAt: Map<string, number>
}

const INSTANCE_FORMAT = /^[a-z0-9]{8,40}$/
const REMEMBERED_WRITES = 4

export function createAgentInstances({ client, clock, log }: AgentInstancesPorts) {
  const startedAt = clock.monotonicMs()
  const tracked = new Map<string, TrackedAgent>()
  // A crash loop restarts every few seconds at worst. A new instance with each request is abuse.
  const changes = createRateLimiter({ clock, what: 'new agents from this cluster', burst: 10, perMinute: 10 })

  function track(cluster: Cluster): TrackedAgent {
    const known = tracked.get(cluster.spec.id)
    if (known) return known
    const agent: TrackedAgent = { record: cluster.status?.agent, written: [], heardAt: new Map() }
    tracked.set(cluster.spec.id, agent)
    return agent
  }

  /** Throws unless this instance may speak for the cluster. Agents of versions that send no instance pass. */
  async function noteContact(
    cluster: Cluster,
    instance: string | undefined,
    address: string | undefined,
  ): Promise<void> {
    if (instance === undefined) return
    if (!INSTANCE_FORMAT.test(instance))
      throw new ApiError('BadRequest', `${INSTANCE_HEADER}: must match ${INSTANCE_FORMAT.source}`)
    const agent = track(cluster)
    const now = clock.monotonicMs()
    // An instance that this gateway has not heard may have contacted another gateway: its silence counts from our
    // start.
    const quietMs = (of: string | undefined) => now - ((of && agent.heardAt.get(of)) || startedAt)
    const { verdict, record } = judgeContact(
      agent.record,
      compact({
        instance,
        since: formatTime(clock.now()),
        address,
        speakerQuietMs: quietMs(agent.record?.instance),
        rivalQuietMs: quietMs(agent.record?.rival?.instance),
        checkInMs: cluster.spec.checkInSeconds * 1000,
      }),
    )
    if (record !== agent.record) changes.take(cluster.spec.id)
    agent.heardAt.set(instance, now)
    if (record !== agent.record) await store(cluster, agent, record)
    if (verdict === 'Refused') throw otherAgent()
  }

  async function store(cluster: Cluster, agent: TrackedAgent, record: AgentRecord): Promise<void> {
    const { name } = cluster.metadata
    if (record.rival && !agent.record?.rival) {
      const { address, rival } = record
      log.warn(
        { cluster: name, address, rival: rival.address },
        'two live agents have the identity of one cluster; the newer one is refused',
      )
    }
    agent.record = record
    agent.written = [...agent.written, record].slice(1 - REMEMBERED_WRITES)
    for (const instance of agent.heardAt.keys()) {
      if (instance !== record.instance && instance !== record.rival?.instance) agent.heardAt.delete(instance)
    }
    // A merge patch keeps members that it does not name, so absent members are set to null.
    const status = { agent: { address: null, before: null, rival: null, ...record } }
    const patch = { type: 'merge', body: { status } } as const
    await client.patch(Cluster, { name }, patch, { subresource: 'status' }).catch((caught: unknown) => {
      // The record can wait for the next contact; content cannot.
      log.warn({ cluster: name, err: toError(caught) }, 'the running agent could not be recorded')
    })
  }

  return {
    noteContact,
    /** Whether an open stream of this instance may continue. */
    maySpeak: (cluster: Cluster, instance: string | undefined) =>
      instance === undefined || track(cluster).record?.rival?.instance !== instance,
    /** Takes over what another gateway wrote to the Cluster. */
    noteStored(cluster: Cluster): void {
      const agent = tracked.get(cluster.spec.id)
      const stored = cluster.status?.agent
      if (!agent || !stored || [agent.record, ...agent.written].some((ours) => sameRecord(ours, stored))) return
      agent.record = stored
    },
    forget(clusterId: string): void {
      tracked.delete(clusterId)
      changes.forget(clusterId)
    },
  }
}

export type AgentInstances = ReturnType<typeof createAgentInstances>

function otherAgent(): ApiError {
  return new ApiError(
    'Conflict',
    'another live agent has the identity of this cluster; stop one of the two, and never copy the data directory of an agent',
  )
}
