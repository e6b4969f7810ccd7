import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import { bytesBody, readBody } from '../../core/http.ts'
import type { Handler, HttpRequest } from '../../core/http.ts'
import { createHistory } from './history.ts'
import { createNetwork } from './network.ts'
import type { Link } from './links.ts'
import { createSeededIds } from './seeded-ids.ts'
import { createVirtualClock } from './virtual-clock.ts'

const CALLER = { user: 'me', groups: [] }
const GET: HttpRequest = { method: 'GET', path: '/x', headers: {} }
const forever = new AbortController().signal

const hello: Handler = async ({ path }, { user }) => ({
  status: 200,
  headers: {},
  body: bytesBody(utf8(`${user} ${path}`)),
})

function made(link: Partial<Link> = {}, seed = 1) {
  const clock = createVirtualClock()
  const history = createHistory(clock)
  const network = createNetwork({ clock, ids: createSeededIds(seed), history, link })
  const send = network.transport({ from: 'a', to: 'api' }, CALLER)
  const text = async (signal = forever) => fromUtf8(await readBody((await send(GET, signal)).body, 1_000))
  return { clock, history, network, send, text }
}

describe('network', () => {
  it('carries a request and its answer, and takes time', async () => {
    const { clock, network, text } = made({ latencyMs: [10, 10] })
    network.listen('api', hello)
    const answer = text()
    await clock.advance(1_000)
    assert.equal(await answer, 'me /x')
    assert.equal(network.connections(), 0)
  })

  it('records when the last authenticated request arrived', async () => {
    const { clock, network, text } = made({ latencyMs: [10, 10] })
    network.listen('api', hello)
    const ends = { from: 'a', to: 'api' }
    const stranger = network.transport(ends, { user: 'system:anonymous', groups: [] })
    void stranger(GET, forever)
    await clock.advance(100)
    assert.equal(network.arrivedAt(ends), undefined)
    void text()
    await clock.advance(100)
    assert.equal(network.arrivedAt(ends), 110)
  })

  it('refuses connections to an endpoint without a listener', async () => {
    const { clock, text } = made()
    const refused = assert.rejects(text(), { code: 'ECONNREFUSED' })
    await clock.advance(1_000)
    await refused
  })

  it('shares no bytes between the ends', async () => {
    const { clock, network, send } = made()
    const sent = utf8('abc')
    network.listen('api', async ({ body }) => {
      body?.fill(0)
      return { status: 200, headers: {}, body: bytesBody(utf8('ok')) }
    })
    const answer = send({ ...GET, method: 'POST', body: sent }, forever)
    await clock.advance(1_000)
    await answer
    assert.equal(fromUtf8(sent), 'abc')
  })

  it('a lost request is never served, a lost answer was; the client hears nothing until the network gives up', async () => {
    let served = 0
    const lossy = made({ drop: 0.5, latencyMs: [1, 1] }, 3)
    lossy.network.listen('api', async (...call) => {
      served += 1
      return hello(...call)
    })
    const outcomes: string[] = []
    for (let tries = 0; tries < 40; tries += 1) {
      const before = served
      const began = lossy.clock.monotonicMs()
      const attempt = lossy.text().then(
        () => outcomes.push('answered'),
        (caught: { code: string }) =>
          outcomes.push(
            `${caught.code} ${served > before ? 'served' : 'not served'} ${lossy.clock.monotonicMs() - began > 60_000}`,
          ),
      )
      await lossy.clock.runUntilIdle()
      await attempt
    }
    assert.deepEqual([...new Set(outcomes)].sort(), ['ETIMEDOUT not served true', 'ETIMEDOUT served true', 'answered'])
  })

  it('breaks in the middle of a body', async () => {
    const { clock, network, send } = made({ reset: 1 })
    network.listen('api', hello)
    const received: string[] = []
    const reading = assert.rejects(
      async () => {
        for await (const chunk of (await send(GET, forever)).body) received.push(fromUtf8(chunk))
      },
      { code: 'ECONNRESET' },
    )
    await clock.advance(1_000)
    await reading
    assert.deepEqual(received, ['me'])
  })

  it('a cut holds messages back until it is healed, or for too long', async () => {
    const { clock, network, text } = made()
    network.listen('api', hello, 'hub')
    network.partition(['a'], ['hub'])
    const late = text()
    await clock.advance(30_000)
    network.healAll()
    await clock.advance(1_000)
    assert.equal(await late, 'me /x')
    network.cut({ from: 'a', to: 'api' })
    const never = assert.rejects(text(), { code: 'ETIMEDOUT' })
    await clock.advance(61_000)
    await never
  })

  it('tells the server when the client goes away', async () => {
    const { clock, network, send } = made()
    let ended = ''
    network.listen('api', async (_request, _caller, signal) => {
      async function* body() {
        try {
          yield utf8('one')
          await clock.sleep(1_000_000, signal)
        } finally {
          ended = String(signal.reason)
        }
      }
      return { status: 200, headers: {}, body: body() }
    })
    const leave = new AbortController()
    const reading = assert.rejects(async () => {
      for await (const _ of (await send(GET, leave.signal)).body);
    }, /bored/)
    await clock.advance(1_000)
    leave.abort(new Error('bored'))
    await reading
    await clock.settle()
    assert.match(ended, /bored/)
    assert.deepEqual([clock.sleepers(), network.connections()], [0, 0])
  })

  it('breaks with the process that served it, also when that came after the request was sent', async () => {
    const { clock, network, send } = made({ latencyMs: [10, 10] })
    const answer = send(GET, forever)
    network.listen('api', async () => ({ status: 200, headers: {}, body: endless() }), 'server')
    await clock.advance(100)
    const broken = assert.rejects(readBody((await answer).body, 1_000), { code: 'ECONNRESET' })
    network.killed('server')
    await clock.advance(100)
    await broken
    assert.equal(network.connections(), 0)
  })

  it('an unread body is closed when its connection breaks', async () => {
    const { clock, network, send } = made()
    let closed = false
    network.listen('api', async () => ({
      status: 200,
      headers: {},
      body: {
        [Symbol.asyncIterator]: () => ({
          next: () => new Promise<never>(() => {}),
          return: async () => {
            closed = true
            return { done: true as const, value: undefined }
          },
        }),
      },
    }))
    const answer = send(GET, forever)
    await clock.advance(1_000)
    await answer
    network.reset('api')
    assert.equal(closed, true)
  })
})

async function* endless(): AsyncGenerator<Uint8Array> {
  yield utf8('begun')
  await new Promise<never>(() => {})
}
