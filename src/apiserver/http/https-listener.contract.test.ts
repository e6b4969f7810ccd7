import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectH2 } from 'node:http2'
import type { ClientHttp2Session } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, describe, it } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { utf8 } from '../../core/bytes.ts'
import { bytesBody } from '../../core/http.ts'
import { Secret } from '../../core/secret.ts'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { createApi } from '../../testing/api-contract/harness.ts'
import { startApiHome } from '../../testing/control-plane/embedded-api.ts'
import type { ApiHome } from '../../testing/control-plane/embedded-api.ts'
import { openSilent } from '../../testing/hub/connection-flood.ts'
import { rawGet, sendRaw, statusesIn } from '../../testing/hub/hostile-requests.ts'

const SLOW_READER_MS = 400

describe('the HTTPS listener', () => {
  let home: ApiHome
  let pieces: () => AsyncGenerator<Uint8Array>
  before(async () => {
    home = await startApiHome(undefined, {
      wrap: (handle) => async (request, caller, signal) => {
        const headers = { 'content-type': 'text/plain' }
        if (request.path === '/pieces') return { status: 200, headers, body: pieces() }
        if (!request.path.endsWith('/caller')) return await handle(request, caller, signal)
        return { status: 200, headers, body: bytesBody(utf8(JSON.stringify(caller))) }
      },
      idleMs: 800,
      handshakeMs: 1500,
      requestMs: 200,
      slowReaderMs: SLOW_READER_MS,
      closeMs: 1000,
    })
  })
  after(() => home?.close())

  const connectionOf = (who?: { certificate: string; privateKey: string }) => ({
    server: home.url,
    ca: home.ca,
    ...(who ? { cert: who.certificate, key: new Secret(who.privateKey) } : {}),
  })

  async function as<T>(
    who: { certificate: string; privateKey: string } | undefined,
    run: (api: ReturnType<typeof createApi>) => Promise<T>,
  ): Promise<T> {
    const { transport, close } = createUndiciTransport(connectionOf(who))
    try {
      return await run(createApi(transport, 'default'))
    } finally {
      await close()
    }
  }

  function h2(): ClientHttp2Session {
    const { certificate, privateKey } = home.admin
    return connectH2(home.url, { ca: home.ca, cert: certificate, key: privateKey })
  }

  /** A bare socket of the administrator's. */
  function connectAs(protocol: string): Socket {
    const { certificate: cert, privateKey: key } = home.admin
    const port = Number(new URL(home.url).port)
    const socket = connectTls({ port, host: '127.0.0.1', ca: home.ca, cert, key, ALPNProtocols: [protocol] })
    return socket.on('error', () => {})
  }

  async function h2Get(session: ClientHttp2Session, path: string): Promise<string> {
    const stream = session.request({ ':path': path, accept: 'application/json' })
    const chunks: Buffer[] = []
    for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  }

  it('proves callers by their certificates; others get 401, and health only', async () => {
    await as(undefined, async (api) => {
      const reply = await api.send('GET', '/api/v1/namespaces')
      assert.equal(reply.status, 401)
      assert.equal(reply.body.reason, 'Unauthorized')
      assert.equal((await api.send('GET', '/healthz')).text, 'ok')
      assert.equal((await api.send('GET', '/healthz/../api/v1/namespaces')).status, 403)
    })
    await as(home.certificateFor('eve', []), async (api) => {
      assert.equal((await api.send('GET', '/api/v1/namespaces')).status, 403)
    })
    await as(home.certificateFor('system:flotilla:gateway', []), async (api) => {
      assert.equal((await api.send('GET', '/apis/flotilla.dev/v1alpha1/clusters')).status, 200)
      assert.equal((await api.send('GET', '/api/v1/secrets')).status, 403)
      assert.equal((await api.send('DELETE', '/apis/flotilla.dev/v1alpha1/clusters/x')).status, 403)
    })
  })

  it('tells the address of the socket, in both protocols and for every kind of credentials', async () => {
    const seen = (text: string) => {
      const { user, address } = JSON.parse(text) as { user: string; address?: string }
      return [user, address]
    }
    const forged = { headers: { 'x-forwarded-for': '192.0.2.9', forwarded: 'for=192.0.2.9' } }
    const token = await as(home.admin, async (api) => {
      assert.deepEqual(seen((await api.send('GET', '/caller', forged)).text), ['admin', '127.0.0.1'])
      await api.ok('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } })
      const made = await api.ok('POST', '/api/v1/namespaces/default/serviceaccounts/robot/token', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: {},
      })
      return (made as unknown as { status: { token: string } }).status.token
    })
    await as(undefined, async (api) => {
      const headers = { authorization: `Bearer ${token}` }
      const robot = 'system:serviceaccount:default:robot'
      assert.deepEqual(seen((await api.send('GET', '/caller', { headers })).text), [robot, '127.0.0.1'])
      assert.deepEqual(seen((await api.send('GET', '/healthz/caller')).text), ['system:anonymous', '127.0.0.1'])
    })
    const session = h2()
    try {
      for (let i = 0; i < 2; i++) assert.deepEqual(seen(await h2Get(session, '/caller')), ['admin', '127.0.0.1'])
    } finally {
      session.destroy()
    }
    const h1 = connectAs('http/1.1')
    h1.write('GET /caller HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    const chunks: Buffer[] = []
    for await (const chunk of h1 as AsyncIterable<Buffer>) chunks.push(chunk)
    assert.match(Buffer.concat(chunks).toString(), /"user":"admin".*"address":"127\.0\.0\.1"/)
  })

  it('does not believe a certificate of another authority', async () => {
    const other = await startApiHome()
    try {
      await as(other.admin, async (api) => {
        assert.equal((await api.send('GET', '/api/v1/namespaces')).status, 401)
      })
    } finally {
      await other.close()
    }
  })

  it('speaks HTTP/2, with many watches on one connection', async () => {
    const session = h2()
    try {
      assert.match(await h2Get(session, '/api/v1/namespaces'), /NamespaceList/)
      const streams = Array.from({ length: 90 }, () =>
        session.request({ ':path': '/api/v1/namespaces?watch=true', accept: 'application/json' }),
      )
      await Promise.all(streams.map((stream) => once(stream, 'data')))
      assert.equal(
        streams.every((stream) => !stream.closed),
        true,
      )
      for (const stream of streams) stream.close()
    } finally {
      session.destroy()
    }
  })

  it('F11, CVE-2024-58259, CVE-2025-23388: reads no body of a stranger, and refuses schemes that it does not know', async () => {
    const session = connectH2(home.url, { ca: home.ca })
    try {
      for (const authorization of ['Bearer not-a-token', 'Basic x', 'Bearer']) {
        // The body has no end: only a server that does not wait for it answers.
        const stream = session.request({ ':path': '/api/v1/namespaces', ':method': 'POST', authorization })
        stream.write('x'.repeat(1000))
        const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
        assert.equal(headers[':status'], 401, authorization)
        stream.close()
      }
      assert.equal(session.remoteSettings.maxConcurrentStreams, 100)
    } finally {
      session.destroy()
    }
  })

  it('F11: has a budget for bodies that are under way', async () => {
    const MIB = 1024 * 1024
    const small = await startApiHome(undefined, { bodies: { totalBytes: 16 * MIB, bytesPerCaller: 3.5 * MIB } })
    const { certificate, privateKey } = small.admin
    const session = connectH2(small.url, { ca: small.ca, cert: certificate, key: privateKey })
    const post = () => session.request({ ':path': '/api/v1/namespaces', ':method': 'POST' })
    const statusOf = async (stream: ReturnType<typeof post>) => {
      stream.end(Buffer.alloc(MIB))
      const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
      stream.close()
      return headers[':status']
    }
    // The body that is over the budget is the one that arrives last, which may be one that waits.
    const early: unknown[] = []
    const until = async (wanted: number) => {
      for (let tries = 0; tries < 100; tries++) {
        if ((await statusOf(post())) === wanted || early.includes(wanted)) return
        await sleep(20)
      }
      assert.fail(`never answered ${wanted}`)
    }
    try {
      const waiting = Array.from({ length: 5 }, post)
      for (const stream of waiting) {
        stream.once('response', (headers) => early.push(headers[':status']))
        stream.write(Buffer.alloc(MIB))
      }
      await until(429)
      for (const stream of waiting) stream.close()
      // The bytes are given back, and the body is read; it is no object.
      await until(400)
    } finally {
      session.destroy()
      await small.close()
    }
  })

  it('refuses large bodies in both protocols and goes on', async () => {
    const huge = 'x'.repeat(4 * 1024 * 1024)
    await as(home.admin, async (api) => {
      const reply = await api.send('POST', '/api/v1/namespaces', { body: huge })
      assert.equal(reply.status, 413)
      assert.equal(reply.body.reason, 'RequestEntityTooLarge')
      const words = 'Request entity too large: limit is 3145728; use a Bundle with a Source for larger content'
      assert.equal(reply.body.message, words)
      assert.equal((await api.send('GET', '/healthz')).status, 200)
    })
    const session = h2()
    try {
      const stream = session.request({ ':path': '/api/v1/namespaces', ':method': 'POST' })
      stream.end(huge)
      const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
      assert.equal(headers[':status'], 413)
      stream.close()
      assert.equal(await h2Get(session, '/healthz'), 'ok')
    } finally {
      session.destroy()
    }
  })

  it('closes sockets that say nothing, before and after the handshake', async () => {
    const port = Number(new URL(home.url).port)
    const silent = Array.from({ length: 200 }, () => connectTcp(port, '127.0.0.1'))
    const shaken: Socket[] = ['h2', 'http/1.1'].map(connectAs)
    for (const socket of silent) socket.on('error', () => {})
    await Promise.all(
      [...silent, ...shaken].map((socket) => (socket.closed ? Promise.resolve() : once(socket.resume(), 'close'))),
    )
    await as(home.admin, async (api) => assert.equal((await api.send('GET', '/healthz')).status, 200))
  })

  it('ends a request whose body never comes', async () => {
    const session = h2()
    try {
      const stream = session.request(
        { ':path': '/api/v1/namespaces', ':method': 'POST', 'content-length': '10' },
        { endStream: false },
      )
      stream.on('error', () => {})
      await once(stream, 'close')
      assert.equal(await h2Get(session, '/healthz'), 'ok')
    } finally {
      session.destroy()
    }
  })

  it('cuts who takes nothing of a watch, in both protocols; others hear every change', async () => {
    const path = '/api/v1/namespaces/default/configmaps'
    const lazyH1 = connectAs('http/1.1')
    lazyH1.write(`GET ${path}?watch=true HTTP/1.1\r\nHost: x\r\n\r\n`)
    const session = h2()
    const lazyH2 = session.request({ ':path': `${path}?watch=true` })
    const [beginning] = (await once(lazyH1, 'data')) as [Buffer]
    assert.match(beginning.toString(), /^HTTP\/1\.1 200 /)
    await once(lazyH2, 'response')
    lazyH1.pause()
    lazyH2.pause()
    const cut = [once(lazyH1, 'close'), once(lazyH2, 'close')]
    await as(home.admin, async (api) => {
      const seen = api.watch(`${path}?watch=true`, (events) => events.length === 40)
      for (let n = 0; n < 40; n += 1) {
        const metadata = { name: `large-${n}` }
        const data = { text: 'x'.repeat(900_000) }
        await api.ok('POST', path, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data })
      }
      assert.equal((await seen).length, 40)
    })
    // Longer than the server's patience, whose timer runs in this process, too; then they look and find the end.
    await sleep(2 * SLOW_READER_MS)
    lazyH1.resume()
    lazyH2.resume()
    await Promise.all(cut)
    session.destroy()
  })

  const SHARED = utf8('one piece for all\n')
  async function* some(): AsyncGenerator<Uint8Array> {
    for (const piece of [SHARED, utf8(''), SHARED, new Uint8Array(100_000).fill(65), utf8('é\n'), SHARED]) {
      await new Promise((resolve) => setImmediate(resolve))
      yield piece
    }
  }

  /** What comes of a bare request, until the other side closes. */
  async function exchange(request: string): Promise<string> {
    const socket = connectAs('http/1.1')
    socket.write(request)
    const chunks: Buffer[] = []
    for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk)
    return Buffer.concat(chunks).toString('latin1')
  }

  it('sends the pieces of a stream in order and in chunks, each answer in its turn', async () => {
    pieces = some
    const whole = Buffer.concat(await Array.fromAsync(some())).toString('latin1')
    const get = (version: string, then = 'keep-alive') =>
      `GET /pieces HTTP/${version}\r\nHost: x\r\nConnection: ${then}\r\n\r\n`
    const text = await exchange(get('1.1').repeat(3) + get('1.1', 'close'))
    const answers = text.split(/(?=HTTP\/1\.1 200 OK\r\n)/).map((answer) => {
      const [head, body] = halves(answer, '\r\n\r\n')
      assert.match(head, /Transfer-Encoding: chunked/i)
      return unchunked(body)
    })
    assert.deepEqual(answers, [whole, whole, whole, whole])
    // Who knows no chunks gets none.
    const [head, body] = halves(await exchange(get('1.0')), '\r\n\r\n')
    assert.doesNotMatch(head, /chunked/)
    assert.equal(body, whole)
  })

  it('waits for who is slow to take small pieces, and cuts who takes none', async () => {
    const piece = new Uint8Array(50_000).fill(65)
    let given = 0
    const ended = Promise.withResolvers<void>()
    pieces = async function* () {
      try {
        for (; given < 4_000; given += 1) yield piece
      } finally {
        ended.resolve()
      }
    }
    const lazy = connectAs('http/1.1')
    lazy.write('GET /pieces HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(lazy, 'data')
    lazy.pause()
    await ended.promise
    assert.ok(given < 1_000, `${given} pieces for a client that takes nothing`)
    lazy.destroy()
  })

  it('survives nonsense on the wire', async () => {
    const port = Number(new URL(home.url).port)
    const socket = connectTcp(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.end('GET / HTTP/1.1\r\n\r\n')
    socket.resume()
    await once(socket, 'close')
    await as(home.admin, async (api) => assert.equal((await api.send('GET', '/healthz')).status, 200))
  })

  it('lets a client in although another address holds all connections', async (t) => {
    const small = await startApiHome(undefined, { maxConnections: 4 })
    t.after(() => small.close())
    const port = Number(new URL(small.url).port)
    const silent = await openSilent(port, 6)
    t.after(() => silent.forEach((socket) => socket.destroy()))
    const from = { port, host: '127.0.0.1', localAddress: '127.0.0.2', ca: small.ca, ALPNProtocols: ['http/1.1'] }
    assert.deepEqual(statusesIn(await sendRaw(connectTls(from), rawGet('/readyz', 'h'))), [200])
  })

  it('closes while watches are open', async () => {
    const own = await startApiHome()
    const { transport, close } = createUndiciTransport({
      server: own.url,
      ca: own.ca,
      cert: own.admin.certificate,
      key: new Secret(own.admin.privateKey),
    })
    const api = createApi(transport, 'default')
    const watching = api.watch('/api/v1/namespaces?watch=true', () => false).catch(() => [])
    await api.ok('GET', '/healthz')
    await own.close()
    await watching
    await close()
  })
})

function halves(text: string, between: string): [string, string] {
  const at = text.indexOf(between)
  return [text.slice(0, at), text.slice(at + between.length)]
}

/** The body of an answer in chunks; nothing may follow its end. */
function unchunked(text: string): string {
  const [size, rest] = halves(text, '\r\n')
  const length = Number.parseInt(size, 16)
  assert.equal(rest.slice(length, length + 2), '\r\n')
  if (length > 0) return rest.slice(0, length) + unchunked(rest.slice(length + 2))
  assert.equal(rest.length, 2)
  return ''
}
