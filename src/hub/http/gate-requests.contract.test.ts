/** The hub's calls out, against servers that answer, stall, redirect, lie and send too much. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../core/time/system-clock.ts'
import type { GateQuestion } from '../../controllers/controllers.ts'
import { GATE_REQUEST_LIMITS, createGateRequests, signGateRequest } from './gate-requests.ts'

describe('gate calls', () => {
  let answer: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server = createServer((request, response) => answer(request, response))
  let host = ''
  before(async () => {
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  after(() => server.close())

  const asks = (hosts?: readonly string[]) => createGateRequests({ clock: systemClock, ...(hosts ? { hosts } : {}) })
  const webhook = (url: string): GateQuestion => ({ kind: 'Webhook', url, body: { rollout: 'hello-g2' } })
  const never = new AbortController().signal
  const said = async (question: GateQuestion, hosts: readonly string[] | undefined = [host]) => {
    const reply = await asks(hosts)(question, never)
    return reply.kind === 'Unreachable' ? reply.message.replaceAll(host, 'HOST') : reply
  }
  const json =
    (body: unknown, status = 200) =>
    (_: IncomingMessage, response: ServerResponse) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }

  test('a webhook is asked with a signed body, and its word is taken', async () => {
    let got: { body: string; signature: unknown; timestamp: string } | undefined
    answer = (request, response) => {
      let body = ''
      request.on('data', (part: Buffer) => (body += part.toString()))
      request.on('end', () => {
        const timestamp = String(request.headers['flotilla-timestamp'])
        got = { body, signature: request.headers['flotilla-signature'], timestamp }
        json({ allowed: false, message: 'not\nyet' })(request, response)
      })
    }
    const credentials = { secret: 'ns/cab', urls: [], token: 't0p' }
    assert.deepEqual(await said({ ...webhook(`http://${host}/ask`), credentials }), {
      kind: 'Said',
      allowed: false,
      message: 'not yet',
    })
    assert.equal(got?.body, '{"rollout":"hello-g2"}')
    assert.equal(got?.signature, `sha256=${signGateRequest('t0p', got?.timestamp ?? '', got?.body ?? '')}`)
  })

  test('CVE-2020-8559: what is not a clear answer is none, and a redirect is not followed', async () => {
    const ask = webhook(`http://${host}/`)
    answer = json({ ok: true })
    assert.equal(await said(ask), 'HOST answers without "allowed": true or false')
    answer = (_, response) => void response.end('yes')
    assert.equal(await said(ask), 'HOST answers with text that is not JSON')
    answer = json({ message: 'down for repair' }, 503)
    assert.equal(await said(ask), 'HOST answers with 503: down for repair')
    answer = (_, response) => void response.writeHead(307, { location: 'http://169.254.169.254/' }).end()
    assert.equal(await said(ask), 'HOST redirects (307), which is not followed')
    answer = json({ allowed: true, message: 'x'.repeat(GATE_REQUEST_LIMITS.webhookBytes) })
    assert.equal(await said(ask), `HOST answers with more than ${GATE_REQUEST_LIMITS.webhookBytes} bytes`)
    answer = (request) => void request.socket.destroy()
    assert.match(JSON.stringify(await said(ask)), /other side closed/)
  })

  test('who stalls is not waited for', async () => {
    answer = () => {}
    const impatient = createGateRequests({ clock: { ...systemClock, sleep: async () => {} }, hosts: [host] })
    const reply = await impatient(webhook(`http://${host}/`), never)
    assert.deepEqual(reply, { kind: 'Unreachable', message: `${host}: no answer within 10 s` })
  })

  test('only https, nothing on this machine or its link, and only hosts of the operator’s list', async () => {
    answer = json({ allowed: true })
    const ask = (url: string, hosts?: readonly string[]) => asks(hosts)(webhook(url), never)
    const why = async (url: string, hosts?: readonly string[]) => {
      const reply = await ask(url, hosts)
      return reply.kind === 'Unreachable' ? reply.message : reply.kind
    }
    assert.match(await why(`http://${host}/`), /is not https; the hub's operator may allow it with --gate-hosts/)
    const port = host.slice(host.indexOf(':'))
    for (const address of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '169.254.169.254', '0.0.0.0', '2130706433']) {
      assert.match(await why(`https://${address}${port}/`), /which gates may not reach/, address)
    }
    assert.match(
      await why(`https://localhost${port}/`),
      /has the address (127\.0\.0\.1|::1), which gates may not reach/,
    )
    assert.match(await why(`http://${host}/`, ['cab.example']), /is not in the hub's list of hosts for gates/)
    assert.match(
      await why(`http://localhost${port}/`, ['local*']),
      /which gates may not reach/,
      'a pattern names no host',
    )
    assert.equal(await why(`http://${host}/`, ['127.0.0.1']), 'Said')
    assert.equal(await why(`http://localhost${port}/`, [`localhost${port}`]), 'Said', 'the operator named it')
    assert.equal(await why('https://user:secret@cab.example/'), 'an address of a gate has no user in it')
  })

  test('Prometheus is asked for a time, and its samples come back as they are', async () => {
    const ask: GateQuestion = {
      kind: 'Metric',
      url: `http://${host}/prom/`,
      query: 'sum(rate(x[5m])) > 1',
      startMs: 1_000_000,
      endMs: 1_030_000,
      stepMs: 15_000,
      credentials: { secret: 'ns/prom', urls: [], username: 'ana', password: 'pw' },
    }
    let got: [string | undefined, string | undefined] | undefined
    const result = [
      {
        metric: {},
        values: [
          [1000, '0.5'],
          [1015, 'NaN'],
          [1030, '+Inf'],
        ],
      },
    ]
    answer = (request, response) => {
      got = [request.url, request.headers.authorization]
      json({ status: 'success', data: { resultType: 'matrix', result } })(request, response)
    }
    assert.deepEqual(await said(ask), {
      kind: 'Series',
      answer: {
        startMs: 1_000_000,
        endMs: 1_030_000,
        stepMs: 15_000,
        series: [
          [
            [1_000_000, 0.5],
            [1_015_000, Number.NaN],
            [1_030_000, Infinity],
          ],
        ],
      },
    })
    assert.equal(
      got?.[0],
      '/prom/api/v1/query_range?query=sum%28rate%28x%5B5m%5D%29%29+%3E+1&start=1000&end=1030&step=15&timeout=5s',
    )
    assert.equal(got?.[1], `Basic ${Buffer.from('ana:pw').toString('base64')}`)
    answer = json({ status: 'error', error: 'parse error: unexpected end' }, 400)
    assert.equal(await said(ask), 'HOST answers with 400: parse error: unexpected end')
    answer = json({ status: 'success', data: { resultType: 'vector', result: [] } })
    assert.equal(await said(ask), 'HOST does not answer like Prometheus')
    const many = Array.from({ length: 201 }, () => ({ values: [] }))
    answer = json({ status: 'success', data: { resultType: 'matrix', result: many } })
    assert.equal(await said(ask), 'the query has 201 series, more than 200; join them, for example with sum or max')
  })
})
