import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { createConnectHub } from '../agent/link/connect-hub.ts'
import { createHubApi } from '../agent/link/hub-api.ts'
import { createPartialDownloads } from '../agent/link/partial-downloads.ts'
import type { KeyPair } from '../core/bytes.ts'
import { bytesBody, readBody } from '../core/http.ts'
import type { HttpRequest } from '../core/http.ts'
import { utf8 } from '../core/bytes.ts'
import { keyPairFromSeed } from '../core/crypto/key-pair.ts'
import { silentLogger } from '../core/log.ts'
import { systemClock } from '../core/time/system-clock.ts'
import { issueCertificate, selfSignedCa } from '../core/crypto/x509.ts'
import { issueGatewayCertificate } from '../wire/trust/hub-keys.ts'
import { listenForAgents } from './https-listener.ts'
import type { Listener, ListenerOptions } from './https-listener.ts'
import { openSilent } from '../testing/hub/connection-flood.ts'
import { rawGet, sendRaw, statusesIn } from '../testing/hub/hostile-requests.ts'

const DAY = 86_400_000
const now = Date.now()
const serial = new Uint8Array(16).fill(7)
const key = (n: number): KeyPair => keyPairFromSeed('p256', new Uint8Array(48).fill(n))

function caOf(n: number) {
  const { privateKey } = key(n)
  const subject = { commonName: `CA ${n}`, organizations: [] }
  return {
    privateKey,
    certificate: selfSignedCa({ privateKey, subject, serial, notBefore: now - DAY, notAfter: now + DAY }),
  }
}

function clientCertificate(options: { ca?: number; cn?: string; organizations?: string[]; notAfter?: number } = {}) {
  const { ca = 1, cn = 'c-1', organizations = ['flotilla:agents'], notAfter = now + DAY } = options
  const subject = { commonName: cn, organizations }
  const { publicKey } = key(9)
  return issueCertificate({
    issuer: caOf(ca),
    subject,
    publicKey,
    serial,
    notBefore: now - 2 * DAY,
    notAfter,
    kind: 'client',
  })
}

const HERD = 1000
/** Opens connections, and says so when all are open. */
const KNOCK = `
  const { workerData } = require('node:worker_threads')
  const { connect } = require('node:net')
  let open = 0
  for (let n = 0; n < workerData.herd; n++) {
    connect(workerData.port, '127.0.0.1', () => {
      if (++open === workerData.herd) Atomics.notify(workerData.knocked, 0)
    }).on('error', () => {})
  }`

/** How many connections may wait at a socket of this machine. */
function longestQueue(): number {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'))
  } catch {
    return 0
  }
}

describe('the listener', () => {
  let listener: Listener
  let seen: { user: string; path: string; bytes: number }[]
  let addresses: (string | undefined)[]

  const listenWith = (more: Pick<ListenerOptions, 'handle' | 'limits'>) => {
    const served = key(2)
    const request = { publicKey: served.publicKey, sans: ['127.0.0.1'], serial, now }
    return listenForAgents({
      host: '127.0.0.1',
      port: 0,
      certificate: issueGatewayCertificate(caOf(1), request),
      privateKey: served.privateKey,
      cas: [caOf(1).certificate],
      clock: systemClock,
      log: silentLogger,
      ...more,
    })
  }

  beforeEach(async () => {
    seen = []
    addresses = []
    listener = await listenWith({
      handle: async ({ path, body }: HttpRequest, caller) => {
        addresses.push(caller.address)
        seen.push({ user: caller.user, path, bytes: body?.byteLength ?? 0 })
        return { status: 200, headers: {}, body: bytesBody(utf8('{}')) }
      },
    })
  })
  afterEach(() => listener.close())

  it('hands over the address of the socket, never that of a header', async () => {
    await ask({})
    await ask({ certificate: clientCertificate() })
    assert.deepEqual(addresses, ['127.0.0.1', '127.0.0.1'])
  })

  async function ask(options: { certificate?: string; cas?: string[]; body?: Uint8Array }): Promise<number> {
    const credentials = options.certificate ? { certificate: options.certificate, privateKey: key(9).privateKey } : {}
    const cas = options.cas ?? [caOf(1).certificate]
    const hub = createConnectHub()({ endpoint: `https://127.0.0.1:${listener.port}`, cas, ...credentials })
    try {
      const headers = { 'x-forwarded-for': '10.8.0.1', 'x-real-ip': '10.8.0.1' }
      const request = { method: 'POST', path: '/x?y', headers, ...(options.body ? { body: options.body } : {}) }
      const answer = await hub.transport(request, new AbortController().signal)
      await readBody(answer.body, 1024 * 1024)
      return answer.status
    } finally {
      await hub.close()
    }
  }

  it('lets a client in although another address holds all connections', async (t) => {
    const small = await listenWith({
      handle: async () => ({ status: 200, headers: {}, body: bytesBody(utf8('{}')) }),
      limits: { maxConnections: 4 },
    })
    t.after(() => small.close())
    const silent = await openSilent(small.port, 6)
    t.after(() => silent.forEach((socket) => socket.destroy()))
    const from = { port: small.port, host: '127.0.0.1', localAddress: '127.0.0.2', rejectUnauthorized: false }
    assert.deepEqual(statusesIn(await sendRaw(connectTls(from), rawGet('/trust', 'h'))), [200])
  })

  it('proves who asks from the certificate alone', async () => {
    const cases: [string | undefined, string][] = [
      [clientCertificate(), 'cluster:c-1'],
      [clientCertificate({ cn: 'c-10' }), 'cluster:c-10'],
      [undefined, 'system:anonymous'],
      [clientCertificate({ notAfter: now - 1000 }), 'system:anonymous'],
      [clientCertificate({ ca: 3 }), 'system:anonymous'],
      [clientCertificate({ organizations: [] }), 'system:anonymous'],
      [clientCertificate({ organizations: ['flotilla:agents', 'system:masters'] }), 'system:anonymous'],
    ]
    for (const [certificate, user] of cases) {
      assert.equal(await ask(certificate === undefined ? {} : { certificate }), 200)
      assert.equal(seen.at(-1)?.user, user)
    }
  })

  it('bounds bodies, more tightly for strangers', async () => {
    assert.equal(await ask({ body: new Uint8Array(64 * 1024) }), 200)
    const large = ask({ body: new Uint8Array(200 * 1024) })
    // The listener answers and hangs up; whether the answer is read before the reset is the network's business.
    assert.ok([413, 'reset'].includes(await large.catch(() => 'reset')))
    assert.equal(await ask({ certificate: clientCertificate(), body: new Uint8Array(200 * 1024) }), 200)
    assert.deepEqual(
      seen.map(({ bytes }) => bytes),
      [65_536, 204_800],
    )
  })

  it('CVE-2024-22030: is not believed by an agent whose trust bundle names another CA', async () => {
    await assert.rejects(ask({ cas: [caOf(3).certificate] }))
    assert.equal(seen.length, 0)
  })

  it(
    'lets a whole fleet knock while it is busy',
    { skip: longestQueue() < HERD && 'this machine keeps none waiting' },
    async () => {
      const knocked = new Int32Array(new SharedArrayBuffer(4))
      const herd = new Worker(KNOCK, { eval: true, workerData: { port: listener.port, herd: HERD, knocked } })
      // No connection is accepted meanwhile: this thread, which accepts them, waits.
      const waited = Atomics.wait(knocked, 0, 0, 30_000)
      await herd.terminate()
      assert.equal(waited, 'ok', `not all ${HERD} could knock`)
    },
  )

  it('survives what is not TLS', async () => {
    const socket = connect(listener.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\n\r\n')
    await new Promise((resolve) => socket.on('close', resolve))
    assert.equal(await ask({}), 200)
  })

  it('cuts peers that send nothing, half a header, half a body or read nothing, and answers the other peers meanwhile', async () => {
    await listener.close()
    // However much a kernel takes for a reader that takes nothing, there is more.
    async function* endless() {
      const piece = new Uint8Array(1024 * 1024)
      for (;;) yield piece
    }
    const takesNothing = Promise.withResolvers<void>()
    listener = await listenWith({
      handle: async ({ path }, _caller, signal) => {
        if (path !== '/endless') return { status: 200, headers: {}, body: bytesBody(utf8('{}')) }
        signal.addEventListener('abort', () => takesNothing.resolve())
        return { status: 200, headers: {}, body: endless() }
      },
      // Long enough for an honest peer on a busy machine.
      limits: { handshakeMs: 1500, headersMs: 1500, requestMs: 3000, slowReaderMs: 1500 },
    })
    const { port } = listener
    const closed = (socket: Socket) =>
      new Promise<void>((done) => {
        socket.on('error', () => {}) // cut
        socket.on('close', () => done()).resume()
      })
    const said = (text: string) => {
      const socket = connectTls({ host: '127.0.0.1', port, ca: caOf(1).certificate })
      socket.on('secureConnect', () => socket.write(text))
      return socket
    }
    const cut = [
      closed(connect(port, '127.0.0.1')),
      closed(said('')),
      closed(said('GET / HTTP/1.1\r\nhost: x\r\nx-slow: ')),
      closed(said('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"a":')),
      takesNothing.promise,
    ]
    const deaf = said('GET /endless HTTP/1.1\r\nhost: x\r\n\r\n').pause()
    assert.equal(await ask({ certificate: clientCertificate() }), 200)
    await Promise.all(cut)
    deaf.destroy()
    assert.equal(await ask({ certificate: clientCertificate() }), 200)
  })

  it('waits for a reader as often as it must and leaves nothing behind each time', async () => {
    await listener.close()
    const large = new Uint8Array(4 * 1024 * 1024)
    listener = await listenWith({ handle: async () => ({ status: 200, headers: {}, body: bytesBody(large) }) })
    const warnings: Error[] = []
    const hear = (warning: Error) => void warnings.push(warning)
    process.on('warning', hear)
    const hub = createConnectHub()({ endpoint: `https://127.0.0.1:${listener.port}`, cas: [caOf(1).certificate] })
    const { body } = await hub.transport({ method: 'GET', path: '/', headers: {} }, new AbortController().signal)
    assert.equal((await readBody(body, large.byteLength)).byteLength, large.byteLength)
    await hub.close()
    process.off('warning', hear)
    assert.deepEqual(warnings, [])
  })

  it('carries a stream and ends it when the agent goes', async () => {
    await listener.close()
    const ended = Promise.withResolvers<void>()
    async function* beats(signal: AbortSignal) {
      yield utf8('{"type":"beat","at":"2026-01-01T00:00:00Z","trustVersion":1,"checkInSeconds":30}\n')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      ended.resolve()
    }
    listener = await listenWith({
      handle: async (_request, _caller, signal) => ({ status: 200, headers: {}, body: beats(signal) }),
    })
    const hub = createConnectHub()({ endpoint: `https://127.0.0.1:${listener.port}`, cas: [caOf(1).certificate] })
    const stop = new AbortController()
    const frames = await createHubApi({
      transport: hub.transport,
      clock: systemClock,
      instance: 'a'.repeat(20),
      partials: createPartialDownloads(),
    }).follow(undefined, stop.signal)
    for await (const frame of frames) {
      assert.equal(frame.type, 'beat')
      break
    }
    stop.abort()
    await hub.close()
    await ended.promise
  })
})
