/** A proxy in front of an S3 server that can be away, slow, or change bytes. */
import { createServer, request as sendRequest } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export type Fault =
  /** Connections are reset. */
  | 'away'
  /** Answers wait for a second. */
  | 'slow'
  /** The server says 503. */
  | 'error'
  /** The request is carried out, and its answer is lost. */
  | 'drop'
  /** The answer ends after half of its bytes. */
  | 'truncate'
  /** A bit of the answer's body changes. */
  | 'flip'
  /** A bit of the request's body changes. */
  | 'flipRequest'

export interface FaultyProxy {
  readonly port: number
  fault: Fault | undefined
  /** Only the next request that has bytes to change meets this fault. */
  once(fault: Fault): void
  requests(): number
  close(): Promise<void>
}

export async function startFaultyProxy(target: number): Promise<FaultyProxy> {
  let fault: Fault | undefined
  let isOnce = false
  let requests = 0
  const sockets = new Set<Socket>()
  const take = (): Fault | undefined => {
    const taken = fault
    if (isOnce) [fault, isOnce] = [undefined, false]
    return taken
  }
  const server = createServer((incoming, outgoing) => {
    requests++
    const met = take()
    if (met === 'away') return void incoming.socket.destroy()
    const pieces: Buffer[] = []
    incoming.on('data', (piece: Buffer) => pieces.push(piece))
    incoming.on('error', () => {})
    incoming.on('end', () => {
      if (met === 'error') return void outgoing.writeHead(503).end('<Error><Code>SlowDown</Code></Error>')
      const body = Buffer.concat(pieces)
      if (met === 'flipRequest' && body.length > 0) body[0]! ^= 1
      const { method, url, headers } = incoming
      const onward = sendRequest({ port: target, host: '127.0.0.1', method, path: url, headers }, (answer) => {
        const back: Buffer[] = []
        answer.on('data', (piece: Buffer) => back.push(piece))
        answer.on('end', async () => {
          const bytes = Buffer.concat(back)
          if (met === 'drop') return void incoming.socket.destroy()
          if (met === 'slow') await sleep(1000)
          if (met === 'flip' && bytes.length > 0) bytes[0]! ^= 1
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
          if (met === 'truncate') {
            outgoing.write(bytes.subarray(0, bytes.length / 2), () => incoming.socket.destroy())
          } else outgoing.end(bytes)
        })
      })
      onward.on('error', () => incoming.socket.destroy())
      onward.end(body)
    })
  })
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    port: (server.address() as AddressInfo).port,
    get fault() {
      return fault
    },
    set fault(next) {
      ;[fault, isOnce] = [next, false]
    },
    once(next) {
      ;[fault, isOnce] = [next, true]
    },
    requests: () => requests,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((done) => server.close(() => done()))
    },
  }
}
