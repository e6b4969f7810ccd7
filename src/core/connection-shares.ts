/**
 * Shares the connections of a listener among the addresses of its clients. An address can have all connections while no
 * other client needs one. Once the listener is full, a client of another address takes the place of the newest
 * connection of the address that has the most. A fixed number for each address would shut out a site whose agents
 * share one address.
 */
import { networkOf } from './text/network-of.ts'

/** The part of a socket that shares need. */
interface SharedSocket {
  readonly remoteAddress?: string | undefined
  destroy(): unknown
  once(event: 'close', listener: () => void): unknown
}

/** The part of a server that shares need. */
interface SharedServer {
  on(event: 'connection', listener: (socket: SharedSocket) => void): unknown
}

/** Limits the connections of a server. To be called before other listeners of `connection`. */
export function shareConnections(server: SharedServer, max: number): void {
  const shares = createConnectionShares<SharedSocket>(max)
  server.on('connection', (socket) => {
    const network = networkOf(socket.remoteAddress ?? '')
    const loser = shares.add(network, socket)
    socket.once('close', () => shares.remove(network, socket))
    loser?.destroy()
  })
}

/** Connections by network. */
export function createConnectionShares<T>(max: number) {
  const byNetwork = new Map<string, Set<T>>()
  let count = 0

  function remove(network: string, connection: T): void {
    const own = byNetwork.get(network)
    if (!own?.delete(connection)) return
    count--
    if (own.size === 0) byNetwork.delete(network)
  }

  return {
    /** Adds a connection; returns the connection to close, which can be the new one. */
    add(network: string, connection: T): T | undefined {
      const own = byNetwork.get(network)
      if (count >= max) {
        const [largest, theirs] = [...byNetwork].reduce((most, one) => (one[1].size > most[1].size ? one : most))
        // Equal shares stay as they are: otherwise two addresses would close each other's connections in turn.
        if (theirs.size <= (own?.size ?? 0) + 1) return connection
        const newest = [...theirs].at(-1)!
        remove(largest, newest)
        keep(network, connection)
        return newest
      }
      keep(network, connection)
      return undefined
    },
    remove,
    count: () => count,
    countOf: (network: string) => byNetwork.get(network)?.size ?? 0,
  }

  function keep(network: string, connection: T): void {
    const own = byNetwork.get(network)
    if (own) own.add(connection)
    else byNetwork.set(network, new Set([connection]))
    count++
  }
}
