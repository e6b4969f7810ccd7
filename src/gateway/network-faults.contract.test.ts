/**
 * Real sockets on bad ways: through a proxy, over a thin line, with resets in the middle of an answer, and back at once
 * after a restart.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { createConnectHub } from '../agent/link/connect-hub.ts'
import { createHubApi } from '../agent/link/hub-api.ts'
import { createPartialDownloads } from '../agent/link/partial-downloads.ts'
import { generateKeyPair, utf8 } from '../core/bytes.ts'
import { digestOf } from '../core/crypto/digest.ts'
import { readBody } from '../core/http.ts'
import type { Caller, Handler, HttpResponse } from '../core/http.ts'
import { silentLogger } from '../core/log.ts'
import { systemClock } from '../core/time/system-clock.ts'
import { startConnectProxy, startRelay } from '../testing/agents/network-proxies.ts'
import { countingIds } from '../testing/fixtures/wire-builders.ts'
import { createTransportCa, issueAgentCertificate, issueGatewayCertificate } from '../wire/trust/hub-keys.ts'
import { resumableResponse } from './responses.ts'
import { listenForAgents } from './https-listener.ts'

const serial = new Uint8Array(16).fill(7)
const now = systemClock.now()
const newCa = () => createTransportCa({ newKeyPair: generateKeyPair, now, serial })
const ca = newCa()
const served = generateKeyPair('p256')
const own = generateKeyPair('p256')
const signal = new AbortController().signal
const blob = utf8(countingIds(4).suffix(200_000))

async function listen(t: TestContext, more: { handle?: Handler; port?: number; ticketKeys?: Uint8Array } = {}) {
  const callers: Caller[] = []
  const sans = ['127.0.0.1']
  const listener = await listenForAgents({
    host: '127.0.0.1',
    port: more.port ?? 0,
    certificate: issueGatewayCertificate(ca, { publicKey: served.publicKey, sans, serial, now }),
    privateKey: served.privateKey,
    cas: [ca.certificate],
    clock: systemClock,
    log: silentLogger,
    ...(more.ticketKeys && { ticketKeys: more.ticketKeys }),
    handle:
      more.handle ??
      (async (request, caller) => {
        callers.push(caller)
        return resumableResponse(blob, request)
      }),
  })
  let closed = false
  const close = async () => {
    if (!closed) await listener.close()
    closed = true
  }
  t.after(close)
  return { port: listener.port, callers, close, replaceKeys: listener.replaceKeys, counts: listener.counts }
}

/** An answer that goes on for ever, a piece at a time. */
function endless(): HttpResponse {
  async function* body() {
    for (;;) {
      yield utf8('beat')
      await systemClock.sleep(20)
    }
  }
  return { status: 200, headers: {}, body: body() }
}

const { certificate } = issueAgentCertificate(ca, { clusterId: 'c-1', publicKey: own.publicKey, serial, now })
const CREDENTIALS = { cas: [ca.certificate], certificate, privateKey: own.privateKey }

async function fetchOver(port: number, proxy?: string) {
  const hub = createConnectHub(() => proxy)({ endpoint: `https://127.0.0.1:${port}`, ...CREDENTIALS })
  const api = createHubApi({
    transport: hub.transport,
    clock: systemClock,
    instance: 'a'.repeat(20),
    partials: createPartialDownloads(),
  })
  try {
    return await api.blob(digestOf(blob), signal)
  } finally {
    await hub.close()
  }
}

describe('a way to the hub', () => {
  it('may lead through a proxy that knows CONNECT: the certificate is still the agent’s own', async (t) => {
    const { port, callers } = await listen(t)
    const seen: string[] = []
    const proxy = await startConnectProxy(seen)
    t.after(() => proxy.close())
    assert.deepEqual(await fetchOver(port, `http://127.0.0.1:${proxy.port}`), blob)
    assert.deepEqual(seen, [`127.0.0.1:${port}`])
    assert.equal(callers[0]?.user, 'cluster:c-1')
  })

  it('may break off in the middle: what came is kept', async (t) => {
    const { port } = await listen(t)
    const relay = await startRelay(port)
    t.after(() => relay.close())
    relay.cuts.push(60_000, 90_000)
    assert.deepEqual(await fetchOver(relay.port), blob)
    assert.equal(relay.connections(), 3)
    // Handshakes and half a TLS record each time come on top; from the beginning it would be 350,000.
    assert.ok(relay.delivered() < 300_000, `${relay.delivered()} bytes for ${blob.byteLength}`)
  })

  it('may be slow: pieces arrive one by one, and no agent is cut off', async (t) => {
    const { port } = await listen(t)
    const relay = await startRelay(port)
    t.after(() => relay.close())
    relay.bytesPerSecond = 81_920
    assert.deepEqual(await fetchOver(relay.port), blob)
  })
})

describe('TLS sessions', () => {
  const endpointOf = (port: number) => `https://127.0.0.1:${port}`
  const ask = async (connect: ReturnType<typeof createConnectHub>, port: number) => {
    const hub = connect({ endpoint: endpointOf(port), ...CREDENTIALS })
    const answer = await hub.transport({ method: 'GET', path: '/x', headers: {} }, signal)
    await readBody(answer.body, 1_000_000)
    await hub.close()
  }

  it('are resumed after a restart with the same ticket keys, and prove the same agent', async (t) => {
    const ticketKeys = new Uint8Array(48).fill(3)
    const connect = createConnectHub()
    const first = await listen(t, { ticketKeys })
    await ask(connect, first.port)
    await first.close()
    const again = await listen(t, { ticketKeys, port: first.port })
    await ask(connect, again.port)
    assert.deepEqual(
      [...first.callers, ...again.callers].map(({ user }) => user),
      ['cluster:c-1', 'cluster:c-1'],
    )
    assert.deepEqual(
      [first.counts(), again.counts()],
      [
        { connections: 1, resumed: 0 },
        { connections: 1, resumed: 1 },
      ],
    )
  })

  it('end with their CA: an open answer is cut when it is not trusted any more, and with a new certificate alone it is not', async (t) => {
    const { port, replaceKeys } = await listen(t, { handle: async () => endless() })
    const hub = createConnectHub()({ endpoint: endpointOf(port), ...CREDENTIALS })
    t.after(() => hub.close())
    const answer = await hub.transport({ method: 'GET', path: '/x', headers: {} }, signal)
    const pieces = answer.body[Symbol.asyncIterator]()
    await pieces.next()
    const sans = ['127.0.0.1']
    const again = issueGatewayCertificate(ca, { publicKey: served.publicKey, sans, serial, now })
    const keys = { certificate: again, privateKey: served.privateKey, ticketKeys: new Uint8Array(48).fill(3) }
    replaceKeys({ ...keys, cas: [ca.certificate] })
    assert.equal((await pieces.next()).done, false)
    replaceKeys({ ...keys, cas: [newCa().certificate, ca.certificate] })
    assert.equal((await pieces.next()).done, false)
    replaceKeys({ ...keys, cas: [newCa().certificate] })
    await assert.rejects(async () => {
      for (;;) await pieces.next()
    })
  })

  it('prove nothing once their CA is not trusted any more', async (t) => {
    const connect = createConnectHub()
    const { port, callers, replaceKeys, counts } = await listen(t, { ticketKeys: new Uint8Array(48).fill(3) })
    await ask(connect, port)
    const other = newCa()
    // The same ticket keys: the session could be resumed, and the certificate is not asked for again.
    const renewed = issueGatewayCertificate(ca, { publicKey: served.publicKey, sans: ['127.0.0.1'], serial, now })
    replaceKeys({
      certificate: renewed,
      privateKey: served.privateKey,
      cas: [other.certificate],
      ticketKeys: new Uint8Array(48).fill(3),
    })
    await ask(connect, port)
    assert.deepEqual(
      callers.map(({ user }) => user),
      ['cluster:c-1', 'system:anonymous'],
    )
    assert.equal(counts().resumed, 1)
  })
})
