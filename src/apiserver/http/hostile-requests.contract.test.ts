/** The API's door takes any bytes over HTTP/1.1 and HTTP/2, from strangers and from an administrator, and goes on. */
import assert from 'node:assert/strict'
import { connect as connectH2 } from 'node:http2'
import type { ClientHttp2Session, OutgoingHttpHeaders } from 'node:http2'
import { after, before, describe, it } from 'node:test'
import { connect } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import fc from 'fast-check'
import { startApiHome } from '../../testing/control-plane/embedded-api.ts'
import type { ApiHome } from '../../testing/control-plane/embedded-api.ts'
import { connectTo, HOSTILE_TARGETS, pester, rawGet, sendRaw, statusesIn } from '../../testing/hub/hostile-requests.ts'

const TARGETS = [
  '/healthz',
  '/version',
  '/openapi/v2',
  '/openapi/v3',
  '/apis',
  '/api/v1/namespaces?limit=1&continue=x',
  '/api/v1/namespaces/default/configmaps/a',
  '/api/v1/namespaces/default/configmaps?labelSelector=a%20in%20(&fieldSelector==',
  '/api/v1/watch/namespaces',
  '/api/v1/namespaces/default/pods/a/eviction',
  '/apis/apps/v1/namespaces/default/deployments/a/scale',
  '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
]

describe('hostile requests to the API', () => {
  let home: ApiHome
  let port: number
  before(async () => {
    home = await startApiHome()
    port = Number(new URL(home.url).port)
  })
  after(() => home?.close())

  const open = (protocol: string, more = {}): TLSSocket =>
    connect({ port, host: '127.0.0.1', ca: home.ca, ALPNProtocols: [protocol], ...more })
  const administrator = () => ({ cert: home.admin.certificate, key: home.admin.privateKey })
  const checkAlive = async (): Promise<void> => {
    const answer = await sendRaw(open('http/1.1'), rawGet('/healthz', 'x'))
    assert.deepEqual(statusesIn(answer), [200], answer)
  }

  it('over HTTP/1.1, without and with a certificate', async () => {
    for (const who of [{}, administrator()]) {
      await pester({ open: () => open('http/1.1', who), host: 'x', targets: TARGETS, checkAlive })
    }
  })

  it('without TLS', async () => {
    for (const target of HOSTILE_TARGETS) await sendRaw(connectTo(port), rawGet(target, 'x'), 50)
    await checkAlive()
  })

  it('as requests of HTTP/2', async () => {
    const some = fc.oneof(fc.constantFrom('*', '//', 'http://['), fc.string({ maxLength: 30, minLength: 1 }))
    const request = fc.record({
      ':path': fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...HOSTILE_TARGETS, ...TARGETS) }, some),
      ':method': fc.constantFrom('GET', 'GET', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'odd'),
      ':authority': fc.oneof(fc.constantFrom('x', '[', 'a b', '127.0.0.1:0'), some),
      ':scheme': fc.constantFrom('https', 'https', 'http', 'x'),
      accept: some,
      cookie: some,
    })
    const property = fc.asyncProperty(request, async (headers) => {
      const session = connectH2(home.url, { ca: home.ca, ...administrator() })
      session.on('error', () => {})
      const status = await statusOf(session, headers)
      session.destroy()
      assert.notEqual(status, 500)
      await checkAlive()
    })
    await fc.assert(property, { seed: 20_190_102, numRuns: 100 })
  })

  it('as frames of HTTP/2 that are none', async () => {
    const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])
    const frame = fc
      .tuple(fc.nat(12), fc.nat(255), fc.constantFrom(0, 1, 2, 3, 0x7fffffff), fc.uint8Array({ maxLength: 60 }))
      .map(([type, flags, stream, payload]) => {
        const head = Buffer.from([0, 0, payload.length, type, flags, 0, 0, 0, 0])
        head.writeUInt32BE(stream, 5)
        return Buffer.concat([head, payload])
      })
    const frames = fc.tuple(fc.boolean(), fc.array(frame, { minLength: 1, maxLength: 6 }))
    const property = fc.asyncProperty(frames, async ([begins, list]) => {
      await sendRaw(open('h2'), Buffer.concat([...(begins ? [preface, settings] : []), ...list]), 50)
      await checkAlive()
    })
    await fc.assert(property, { seed: 20_190_102, numRuns: 100 })
  })
})

/** The status of an answer; undefined when the request or its answer breaks off. */
function statusOf(session: ClientHttp2Session, headers: OutgoingHttpHeaders): Promise<unknown> {
  return new Promise((resolve) => {
    session.once('close', () => resolve(undefined))
    try {
      const stream = session.request(headers, { endStream: true })
      stream.on('response', (answer) => resolve(answer[':status']))
      stream.on('error', () => resolve(undefined))
      stream.on('close', () => resolve(undefined))
      stream.resume()
    } catch {
      // Node's own client refuses to send it.
      resolve(undefined)
    }
  })
}
