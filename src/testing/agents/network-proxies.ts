/**
 * What lies between a cluster and its hub in real life: a proxy that only speaks CONNECT, and a relay that is slow and
 * breaks off.
 */
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Something that listens. */
export interface ProxyEndpoint {
  readonly port: number
  close(): Promise<void>
}

/** A relay that can be slow in the direction of the client and cut its connections. */
export interface Relay extends ProxyEndpoint {
  /** Bytes per second from the server to all clients together; undefined: as fast as it goes. */
  bytesPerSecond: number | undefined
  /** After so many more bytes to clients all connections are reset, and then again after the next number. */
  readonly resets: number[]
  /** Ports of this machine to lead to: the first that takes the connection. */
  readonly targets: number[]
  /** Each of the next connections is cut after so many bytes from the server. */
  readonly cuts: number[]
  /** Bytes that clients were given. */
  delivered(): number
  connections(): number
}

async function listening(server: Server, sockets: Set<Socket>): Promise<ProxyEndpoint> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((done) => server.close(() => done()))
    },
  }
}

/** Starts a proxy; `seen` collects the hosts it was asked for. */
export async function startConnectProxy(seen: string[]): Promise<ProxyEndpoint> {
  const sockets = new Set<Socket>()
  const server = createHttpServer((_request, response) => response.writeHead(405).end())
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.on('connect', (request, client: Socket) => {
    const [host = '', port = ''] = (request.url ?? '').split(':')
    seen.push(request.url ?? '')
    const upstream = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(client)
      client.pipe(upstream)
    })
    sockets.add(upstream)
    for (const socket of [client, upstream]) {
      socket.on('error', () => {}) // the other side went away
      socket.on('close', () => (upstream.destroy(), client.destroy()))
    }
  })
  return listening(server, sockets)
}

/** The first of these ports that takes a connection. */
async function reach(targets: readonly number[]): Promise<Socket> {
  for (const target of targets) {
    const socket = connect(target, '127.0.0.1')
    const isOpen = await new Promise<boolean>((done) => {
      socket.once('connect', () => done(true))
      socket.once('error', () => done(false))
    })
    if (isOpen) return socket
  }
  throw new Error('no listener')
}

/** Starts a relay to ports of this machine. */
export async function startRelay(...targets: number[]): Promise<Relay> {
  const sockets = new Set<Socket>()
  const cuts: number[] = []
  const resets: number[] = []
  let delivered = 0
  let connections = 0
  // One line for all: who sends next waits until the line is free.
  let free: Promise<unknown> = Promise.resolve()
  const server = createServer((client) => {
    client.on('error', () => {}) // cut
    reach(targets).then(
      (upstream) => pass(client, upstream),
      () => client.resetAndDestroy(),
    )
  })

  function countDown(bytes: number): void {
    if (resets.length === 0) return
    resets[0]! -= bytes
    if (resets[0]! > 0) return
    resets.shift()
    for (const socket of sockets) socket.resetAndDestroy()
  }

  function pass(client: Socket, upstream: Socket): void {
    connections += 1
    const cut = cuts.shift() ?? Number.POSITIVE_INFINITY
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {}) // cut
      socket.on('close', () => (upstream.destroy(), client.destroy(), sockets.delete(socket)))
    }
    client.pipe(upstream)
    const deliver = async (): Promise<void> => {
      let passed = 0
      for await (const chunk of upstream as AsyncIterable<Buffer>) {
        for (let at = 0; at < chunk.byteLength; at += 512) {
          const piece = chunk.subarray(at, at + 512)
          const { bytesPerSecond } = relay
          if (bytesPerSecond !== undefined) {
            free = free.then(() => sleep((piece.byteLength / bytesPerSecond) * 1000))
            await free
          }
          passed += piece.byteLength
          if (passed > cut || client.destroyed) return void client.resetAndDestroy()
          delivered += piece.byteLength
          client.write(piece)
          countDown(piece.byteLength)
        }
      }
      client.end()
    }
    void deliver().catch(() => {})
  }
  const way = await listening(server, sockets)
  const relay: Relay = {
    ...way,
    bytesPerSecond: undefined,
    cuts,
    resets,
    targets,
    delivered: () => delivered,
    connections: () => connections,
  }
  return relay
}
