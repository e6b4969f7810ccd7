/** Which running agent speaks for each cluster: kept in memory, written to the Cluster when it changes, so that all gateways know (clones). */
import type { Client } from '../client/client.ts'
import type { Clock } from '../core/time/clock.ts'
import { ApiError, toError } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import { formatTime } from '../core/time/time.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { judgeContact, sameRecord } from '../wire/link/agent-instances.ts'
import type { AgentRecord } from '../wire/link/agent-instances.ts'
import { createRateLimiter } from './rate-limit.ts'

/** What the tracking needs. */
export interface InstancesPorts {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
}

interface Book {
  record: AgentRecord | undefined
  /** What this gateway wrote lately: its echo is no news. */
  written: AgentRecord[]
  /** Instance → monotonic milliseconds; of the speaker and the rival only. */
  readonly heardAt: Map<string, number>
}

const FORM = /^[a-z0-9]{8,40}$/
const REMEMBERED_WRITES = 4

/** Follows the agents of all clusters. */
export function createInstances({ client, clock, log }: InstancesPorts) {
  const startedAt = clock.monotonicMs()
  const books = new Map<string, Book>()
  // A crash loop restarts every few seconds at worst; a new instance with each request is somebody playing.
  const changes = createRateLimiter({ clock, what: 'new agents', burst: 10, perMinute: 10 })

  function bookOf(cluster: Cluster): Book {
    const known = books.get(cluster.spec.id)
    if (known) return known
    const book: Book = { record: recordOf(cluster), written: [], heardAt: new Map() }
    books.set(cluster.spec.id, book)
    return book
  }

  /** Throws unless this instance may speak for the cluster; agents that do not say who they are pass. */
  async function hear(cluster: Cluster, instance: string | undefined, address: string | undefined): Promise<void> {
    if (instance === undefined) return
    if (!FORM.test(instance)) throw new ApiError('BadRequest', 'the instance of the agent is not readable')
    const book = bookOf(cluster)
    const now = clock.monotonicMs()
    // Who was not heard by this gateway yet may have been heard by another one: silence counts from our own start.
    const quietMs = (who: string | undefined) => now - ((who && book.heardAt.get(who)) || startedAt)
    const { verdict, record } = judgeContact(book.record, {
      instance,
      since: formatTime(clock.now()),
      ...(address === undefined ? {} : { address }),
      speakerQuietMs: quietMs(book.record?.instance),
      rivalQuietMs: quietMs(book.record?.rival?.instance),
      checkInMs: cluster.spec.checkInSeconds * 1000,
    })
    if (record !== book.record) changes.take(cluster.spec.id)
    book.heardAt.set(instance, now)
    if (record !== book.record) await store(cluster, book, record)
    if (verdict === 'Refused') throw otherAgent()
  }

  async function store(cluster: Cluster, book: Book, record: AgentRecord): Promise<void> {
    const { name } = cluster.metadata
    if (record.rival && !book.record?.rival) {
      const { address, rival } = record
      log.warn(
        { cluster: name, address, rival: rival.address },
        'two live agents have one identity: the newer is refused',
      )
    }
    book.record = record
    book.written = [...book.written, record].slice(1 - REMEMBERED_WRITES)
    for (const instance of book.heardAt.keys()) {
      if (instance !== record.instance && instance !== record.rival?.instance) book.heardAt.delete(instance)
    }
    // A merge keeps what is not mentioned, so what is gone is said to be gone.
    const agent = { address: null, before: null, rival: null, ...record }
    const patch = { type: 'merge', body: { status: { agent } } } as const
    await client.patch(Cluster, { name }, patch, { subresource: 'status' }).catch((caught: unknown) => {
      // The alarm waits for a better moment; content does not.
      log.warn({ cluster: name, err: toError(caught) }, 'the running agent could not be recorded')
    })
  }

  return {
    hear,
    /** Whether an open stream of this instance may go on. */
    maySpeak: (cluster: Cluster, instance: string | undefined) =>
      instance === undefined || bookOf(cluster).record?.rival?.instance !== instance,
    /** The Cluster changed: another gateway may have seen what this one did not. */
    note(cluster: Cluster): void {
      const book = books.get(cluster.spec.id)
      const stored = recordOf(cluster)
      if (!book || !stored || [book.record, ...book.written].some((ours) => sameRecord(ours, stored))) return
      book.record = stored
    },
    forget(clusterId: string): void {
      books.delete(clusterId)
      changes.forget(clusterId)
    },
  }
}

function recordOf(cluster: Cluster): AgentRecord | undefined {
  return cluster.status?.agent
}

function otherAgent(): ApiError {
  return new ApiError(
    'Conflict',
    'another live agent has the identity of this cluster; stop one of them, and never copy an agent’s data directory',
  )
}
