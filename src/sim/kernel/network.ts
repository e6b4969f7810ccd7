/**
 * A network in one process: handlers behind named endpoints, reached over links that are slow, lose data and break,
 * all from a seed. Bytes are copied on the way, so that two simulated processes share nothing.
 *
 *     client ──request──▶ [latency, cut?, drop?] ──▶ handler
 *     client ◀──head───── [latency, cut?, drop?] ◀── response
 *     client ◀──chunks─── [latency, cut?, reset?] ◀── body, pulled in turn
 *
 * A dropped message does not fail at once: as with TCP, the client hears nothing until it gives up or the network does
 * (`stallMs`). A dropped answer means that the work was done and the client does not know.
 */
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { toError } from '../../core/errors.ts'
import type { Caller, Handler, HttpRequest, HttpResponse, Transport } from '../../core/http.ts'
import { createConnection } from './connection.ts'
import type { Connection } from './connection.ts'
import type { History } from './history.ts'
import { ConnectionError, createLinks, linkKey } from './links.ts'
import type { Link } from './links.ts'
import type { SeededIds } from './seeded-ids.ts'

/** Names of the two ends of a link: a process and an endpoint (or its owner). */
export interface Ends {
  readonly from: string
  readonly to: string
}

/** The simulated network. */
export interface Network {
  /** Serves an endpoint; the result takes it away and breaks its connections. */
  listen(endpoint: string, handler: Handler, owner?: string): () => void
  /** A transport from a process to an endpoint; the server sees `caller` as its authenticated user. */
  transport(ends: Ends, caller: Caller): Transport
  /** Sets the behaviour of all links without their own settings. */
  setDefaultLink(link: Partial<Link>): void
  /** Sets the behaviour of a link, in both directions. */
  setLink(ends: Ends, link: Partial<Link>): void
  /** Blocks a link in both directions until it is healed. Each end may be a process or an endpoint. */
  cut(ends: Ends): void
  heal(ends: Ends): void
  isCut(ends: Ends): boolean
  /** Cuts all members of a group from all members of the other group. */
  partition(groupA: readonly string[], groupB: readonly string[]): void
  /** Mends all cuts; the links' own faults stay. */
  healAll(): void
  /** Mends all cuts and makes all links perfect: what happens from here must converge. */
  calm(): void
  /** Breaks the connections of a process or an endpoint. */
  reset(name: string): void
  /** A process was killed: its endpoints are gone, its connections broken, and it is told nothing. */
  killed(owner: string): void
  /** The world is over: what nothing else ends is let go. */
  end(): void
  connections(): number
  /** Time, on the monotonic clock, of the last authenticated request that arrived from a process at an endpoint. */
  arrivedAt(ends: Ends): number | undefined
}

/** Options of a simulated network. */
export interface NetworkOptions {
  readonly clock: Clock
  readonly ids: SeededIds
  readonly history: History
  readonly link?: Partial<Link>
  /** How long a lost message keeps a client waiting before its connection fails. */
  readonly stallMs?: number
}

const ANONYMOUS = 'system:anonymous'

/** Makes a network without cuts. */
export function createNetwork(options: NetworkOptions): Network {
  const { clock, ids, history, stallMs = 60_000 } = options
  const endpoints = new Map<string, { readonly handler: Handler; readonly owner: string }>()
  const open = new Set<Connection>()
  /** Connections whose servers died. */
  const orphaned: Connection[] = []
  const arrivals = new Map<string, number>()
  let requests = 0

  const ownerOf = (endpoint: string) => endpoints.get(endpoint)?.owner ?? endpoint
  const links = createLinks({ clock, ids, history, stallMs, link: options.link, ownerOf })

  async function send(connection: Connection, request: HttpRequest, caller: Caller): Promise<HttpResponse> {
    const { from, to } = connection.ends
    await links.travel(connection, true)
    const endpoint = endpoints.get(to)
    if (!endpoint) throw new ConnectionError('ECONNREFUSED', `${from} → ${to}: connection refused`)
    connection.reached(endpoint.owner)
    if (caller.user !== ANONYMOUS) arrivals.set(linkKey(from, to), clock.monotonicMs())
    const answer = endpoint.handler(copy(request), caller, connection.served).catch((caught: unknown) => {
      history.record(`net ${connection.name} handler failed: ${toError(caught).message}`)
      throw new ConnectionError('ECONNRESET', `${from} → ${to}: connection reset`)
    })
    const response = await connection.race(answer)
    const chunks = response.body[Symbol.asyncIterator]()
    connection.onBreak(() => {
      // A body without a reader does not end by its signal.
      if (connection.serverAlive()) Promise.resolve(chunks.return?.()).catch(() => {})
    })
    await links.travel(connection, true)
    history.record(`net ${connection.name} answered ${response.status}`)
    return { status: response.status, headers: { ...response.headers }, body: bodyOf(connection, chunks) }
  }

  async function* bodyOf(connection: Connection, chunks: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
    try {
      for (;;) {
        const next = await connection.race(chunks.next())
        await links.travel(connection, false)
        if (next.done) return
        const chunk = new Uint8Array(next.value)
        if (ids.chance(links.get(connection.ends).reset)) {
          history.record(`net ${connection.name} broke in the middle of ${chunk.byteLength} bytes`)
          if (chunk.byteLength > 1) yield chunk.subarray(0, chunk.byteLength >> 1)
          throw new ConnectionError('ECONNRESET', `${connection.name}: connection reset`)
        }
        history.record(`net ${connection.name} ${chunk.byteLength} bytes`, chunk)
        yield chunk
      }
    } finally {
      connection.break(new ConnectionError('ECONNRESET', `${connection.name}: closed`))
    }
  }

  async function carry(ends: Ends, request: HttpRequest, signal: AbortSignal, caller: Caller): Promise<HttpResponse> {
    signal.throwIfAborted()
    requests += 1
    const name = `#${requests} ${ends.from} → ${ends.to}`
    const connection = createConnection({ name, ends, owner: endpoints.get(ends.to)?.owner })
    history.record(`net ${name} ${request.method} ${request.path} as ${caller.user}`, request.body)
    open.add(connection)
    const onAbort = () => connection.break(toError(signal.reason))
    signal.addEventListener('abort', onAbort, { once: true })
    connection.onBreak(() => {
      open.delete(connection)
      signal.removeEventListener('abort', onAbort)
    })
    try {
      return await send(connection, request, caller)
    } catch (caught) {
      connection.break(toError(caught))
      throw caught
    }
  }

  const network: Network = {
    listen: (endpoint, handler, owner = endpoint) => {
      if (endpoints.has(endpoint))
        throw new Error(`endpoint ${endpoint} is in use by ${endpoints.get(endpoint)?.owner}`)
      const entry = { handler, owner }
      endpoints.set(endpoint, entry)
      return () => {
        if (endpoints.get(endpoint) !== entry) return
        endpoints.delete(endpoint)
        network.reset(endpoint)
      }
    },
    transport: (ends, caller) => (request, signal) => carry(ends, request, signal, caller),
    setDefaultLink: links.setDefault,
    setLink: links.set,
    cut: links.cut,
    isCut: links.isCut,
    heal: links.heal,
    partition: (groupA, groupB) => {
      for (const from of groupA) for (const to of groupB) links.cut({ from, to })
    },
    healAll: links.healAll,
    calm: links.calm,
    reset: (name) => resetConnections(open, name),
    killed: (owner) => {
      for (const [endpoint, entry] of endpoints) if (entry.owner === owner) endpoints.delete(endpoint)
      for (const connection of open) {
        if (connection.owner() !== owner) continue
        connection.serverDied()
        orphaned.push(connection)
      }
      network.reset(owner)
    },
    end: () => {
      for (const connection of orphaned.splice(0)) connection.end()
    },
    connections: () => open.size,
    arrivedAt: ({ from, to }) => arrivals.get(linkKey(from, to)),
  }
  return network
}

function resetConnections(open: Iterable<Connection>, name: string): void {
  for (const connection of open) {
    if (!connection.concerns(name)) continue
    connection.break(new ConnectionError('ECONNRESET', `${connection.name}: connection reset`))
  }
}

function copy(request: HttpRequest): HttpRequest {
  const { method, path, headers, body } = request
  return compact({ method, path, headers: { ...headers }, body: body ? new Uint8Array(body) : undefined })
}
