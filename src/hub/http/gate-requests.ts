/**
 * The hub's calls out for gates. A RolloutPlan's author chooses the address, so it is treated as foreign: https only,
 * no redirect, nothing on this machine or on its link (where clouds hand out credentials), bounded time and bytes.
 * The operator's list of hosts narrows that to those it names, and may name what is closed otherwise.
 */
import request from 'undici/lib/api/api-request.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import { hex, hmacSha256, fromUtf8, utf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { allowHost } from '../../core/text/egress.ts'
import type { EgressRules, EgressTarget } from '../../core/text/egress.ts'
import type { Clock } from '../../core/time/clock.ts'
import { deadline } from '../../core/async/deadline.ts'
import { toError } from '../../core/errors.ts'
import { readBody } from '../../core/http.ts'
import { isObject } from '../../core/json.ts'
import type { AskGatePort, GateQuestion, GateReply } from '../../controllers/controllers.ts'
import { authorizationOf } from '../../source/credentials.ts'
import type { Credentials } from '../../source/credentials.ts'
import { guardedLookup } from '../../source/egress-lookup.ts'
import { gateEgress } from './egress-rules.ts'

/** How long a call may take, how much of an answer is read, and how many series and samples it may have. */
export const GATE_REQUEST_LIMITS = {
  ms: 10_000,
  webhookBytes: 64 * 1024,
  metricBytes: 2 * 1024 * 1024,
  series: 200,
  message: 500,
}

interface GateCallsOptions {
  readonly clock: Clock
  /**
   * `host`, `host:port` or patterns like `*.example.com`; undefined: every host over https whose address is not
   * closed.
   */
  readonly hosts?: readonly string[]
}

/** Makes the port; it never throws. */
export function createGateRequests({ clock, hosts }: GateCallsOptions): AskGatePort {
  return async (question, signal) => {
    try {
      const target = allow(question.url, hosts)
      return await deadline({ clock, ms: GATE_REQUEST_LIMITS.ms, signal, what: target.url.host }, async (inner) =>
        question.kind === 'Webhook'
          ? await askWebhook(question, target, clock, inner)
          : await askMetric(question, target, inner),
      )
    } catch (caught) {
      return { kind: 'Unreachable', message: said(toError(caught)) }
    }
  }
}

interface Target {
  readonly url: URL
  readonly rules: EgressRules
  readonly allowed: EgressTarget
}

function allow(text: string, hosts: readonly string[] | undefined): Target {
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw new Error('an address of a gate has no user in it')
  const rules = gateEgress(hosts)
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const isPlain = url.protocol !== 'https:'
  if (isPlain && !hosts) {
    throw new Error(`${url.origin} is not https; the hub's operator may allow it with --gate-hosts ${url.host}`)
  }
  return { url, rules, allowed: allowHost(rules, { hostname: url.hostname, port }) }
}

interface Call {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  readonly maxBytes: number
  readonly signal: AbortSignal
}

async function call(
  url: URL,
  { rules, allowed }: Target,
  credentials: Credentials | undefined,
  { method, headers, body, maxBytes, signal }: Call,
): Promise<unknown> {
  const dispatcher = new Agent({
    connect: {
      timeout: GATE_REQUEST_LIMITS.ms,
      lookup: guardedLookup(rules, allowed),
      ...compact({ ca: credentials?.ca === undefined ? undefined : credentials.ca }),
      ...(credentials?.certificate === undefined || credentials.key === undefined
        ? {}
        : { cert: credentials.certificate, key: credentials.key }),
    },
    headersTimeout: GATE_REQUEST_LIMITS.ms,
    bodyTimeout: GATE_REQUEST_LIMITS.ms,
    maxResponseSize: maxBytes,
    pipelining: 0,
  })
  try {
    const response = await request.call(
      dispatcher,
      compact({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        signal,
        headers: { 'user-agent': 'flotilla', accept: 'application/json', ...headers },
        body,
      }),
    )
    const { statusCode } = response
    if (statusCode >= 300 && statusCode < 400) {
      throw new Error(`${url.host} redirects (${statusCode}), which is not followed`)
    }
    const bytes = await readBody(response.body, maxBytes).catch((caught: unknown) => {
      const isLong =
        caught instanceof RangeError || (caught as { code?: string }).code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE'
      throw isLong ? new Error(`${url.host} answers with more than ${maxBytes} bytes`) : caught
    })
    const text = fromUtf8(bytes)
    if (statusCode !== 200) throw new Error(`${url.host} answers with ${statusCode}${errorOf(text)}`)
    return parse(text, url.host)
  } finally {
    void dispatcher.destroy().catch(() => {}) // it is of no more use
  }
}

function parse(text: string, host: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${host} answers with text that is not JSON`)
  }
}

function errorOf(text: string): string {
  try {
    const body: unknown = JSON.parse(text)
    const error = isObject(body) ? (body['error'] ?? body['message']) : undefined
    return typeof error === 'string' ? `: ${error.slice(0, GATE_REQUEST_LIMITS.message)}` : ''
  } catch {
    return ''
  }
}

async function askWebhook(
  question: Extract<GateQuestion, { kind: 'Webhook' }>,
  target: Target,
  clock: Clock,
  signal: AbortSignal,
): Promise<GateReply> {
  const body = utf8(JSON.stringify(question.body))
  const at = String(Math.floor(clock.now() / 1000))
  const token = question.credentials?.token
  const signature: Record<string, string> =
    token === undefined ? {} : { 'flotilla-signature': `sha256=${signGateRequest(token, at, fromUtf8(body))}` }
  const answer = await call(target.url, target, question.credentials, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'flotilla-timestamp': at, ...signature },
    body,
    maxBytes: GATE_REQUEST_LIMITS.webhookBytes,
    signal,
  })
  if (!isObject(answer) || typeof answer['allowed'] !== 'boolean') {
    throw new Error(`${target.url.host} answers without "allowed": true or false`)
  }
  const message = typeof answer['message'] === 'string' ? oneLine(answer['message']) : ''
  return { kind: 'Said', allowed: answer['allowed'], message }
}

/**
 * What the receiver of a question computes with the shared token: HMAC-SHA256 over `timestamp.body`, in hexadecimal.
 */
export function signGateRequest(token: string, timestamp: string, body: string): string {
  return hex(hmacSha256(utf8(token.trim()), `${timestamp}.${body}`))
}

async function askMetric(
  question: Extract<GateQuestion, { kind: 'Metric' }>,
  target: Target,
  signal: AbortSignal,
): Promise<GateReply> {
  const { query, startMs, endMs, stepMs, credentials } = question
  const url = new URL(`${target.url.pathname.replace(/\/$/, '')}/api/v1/query_range`, target.url)
  const seconds = (ms: number) => String(ms / 1000)
  const asked = { query, start: seconds(startMs), end: seconds(endMs), step: seconds(stepMs), timeout: '5s' }
  url.search = new URLSearchParams(asked).toString()
  const authorization = authorizationOf(credentials)
  const answer = await call(url, target, credentials, {
    method: 'GET',
    headers: authorization === undefined ? {} : { authorization },
    maxBytes: GATE_REQUEST_LIMITS.metricBytes,
    signal,
  })
  const data = isObject(answer) && answer['status'] === 'success' ? answer['data'] : undefined
  const result = isObject(data) && data['resultType'] === 'matrix' ? data['result'] : undefined
  if (!Array.isArray(result)) throw new Error(`${url.host} does not answer like Prometheus`)
  if (result.length > GATE_REQUEST_LIMITS.series) {
    throw new Error(
      `the query has ${result.length} series, more than ${GATE_REQUEST_LIMITS.series}; join them, for example with sum or max`,
    )
  }
  return { kind: 'Series', answer: { startMs, endMs, stepMs, series: result.map((one) => samplesOf(one, url.host)) } }
}

function samplesOf(series: unknown, host: string): [number, number][] {
  const values = isObject(series) ? series['values'] : undefined
  if (!Array.isArray(values)) throw new Error(`${host} does not answer like Prometheus`)
  return values.map((pair: unknown): [number, number] => {
    if (!Array.isArray(pair) || typeof pair[0] !== 'number' || typeof pair[1] !== 'string') {
      throw new Error(`${host} does not answer like Prometheus`)
    }
    // Prometheus writes +Inf, -Inf and NaN; no bound but the missing one holds them.
    const value = pair[1] === '+Inf' ? Infinity : pair[1] === '-Inf' ? -Infinity : Number(pair[1])
    return [pair[0] * 1000, pair[1] === '' ? Number.NaN : value]
  })
}

function said(error: Error): string {
  const { cause } = error
  const inner = cause instanceof Error ? cause.message : ''
  return oneLine(error.message === '' || error.message === 'fetch failed' ? inner : error.message)
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, GATE_REQUEST_LIMITS.message)
}
