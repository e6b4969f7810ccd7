/** Requests that no client would send: raw bytes for a listener that must refuse them and go on. */
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import fc from 'fast-check'

/** Request targets that a URL parser throws on, reads as another host, or reads as another path. */
export const HOSTILE_TARGETS: readonly string[] = [
  '//',
  '///',
  '//[',
  '//a b',
  '//:99999/',
  '//evil.example/metrics',
  'http://[',
  'http://',
  'http:///',
  'http://a:b:c/',
  'https://[::1',
  'http://\u0000/',
  '*',
  ':',
  '?',
  '#',
  'x',
  '/\\',
  '/\\evil.example/',
  '/%',
  '/%zz',
  '/%00',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/../../etc/passwd',
  '/?%',
  '/?code=%',
  '/?code',
  '/?code=a&code=b',
  '/?=&&;=%ff',
  '/#/?',
  '/\u00ff\u00fe',
  '/__proto__',
  '/constructor',
  `/${'a'.repeat(20_000)}`,
  `/${'/'.repeat(5_000)}`,
  `/?${'a=b&'.repeat(3_000)}`,
]

/** Headers that a parser lets through. */
const ODD_HEADERS: readonly string[] = [
  'Cookie: =;;==;flotilla_session',
  'Cookie: flotilla_session=%zz; flotilla_session=',
  `Cookie: ${'flotilla_session=x;'.repeat(400)}`,
  'Authorization: Basic',
  'Authorization: Basic ====',
  'Authorization: Bearer ..',
  'Authorization: Bearer e30.e30.',
  'X-Hub-Signature-256: sha256=zz',
  'X-Gitlab-Token: \u00ff',
  'Content-Type: application/json; charset="',
  'Content-Type: application/vnd.kubernetes.protobuf',
  'Content-Type: application/apply-patch+yaml',
  'Content-Encoding: gzip',
  'Upgrade: websocket',
  'Upgrade: h2c',
  'HTTP2-Settings: AAAA',
  'Range: bytes=0-18446744073709551615',
  'If-None-Match: "',
  'Accept: application/json;as=Table;v=;g=,*/*;q=x',
  'Accept-Encoding: gzip;q=nan',
  'Impersonate-User: %',
  'Impersonate-Extra-%zz: x',
  'X-Remote-User: root',
  'Flotilla-Instance: \u00ff',
  'Flotilla-Time: NaN',
  'Sec-Fetch-Site: cross-site',
  'Sec-Fetch-Mode: navigate',
  '__proto__: x',
]

/** Headers that a parser refuses, or waits for more after. */
const BROKEN_HEADERS: readonly string[] = [
  'Host:',
  'Host: [',
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked, identity',
  'Expect: 100-continue',
  'Expect: the unexpected',
  'Connection: Upgrade',
  'no colon',
  ': no name',
]

/** What a listener knows, so that a part of the nonsense gets past its first look. */
export interface HostileAim {
  /** Host header that the listener takes. */
  readonly host: string
  /** Targets that the listener has an answer for. */
  readonly targets: readonly string[]
}

const BODIES = ['', '{}', '[]', '{"kind":"\u00ff"}', '{"a":'.repeat(2_000), '\u0000\u0001k8s\u0000']

/** One raw request: the larger part gets past the parser, the rest is spoiled anywhere. */
export function hostileRequest(aim: HostileAim): fc.Arbitrary<Buffer> {
  const bytes = fc.uint8Array({ maxLength: 200 }).map((some) => Buffer.from(some).toString('latin1'))
  const arbitrary = fc.oneof(
    { weight: 6, arbitrary: readableRequest(aim) },
    { weight: 3, arbitrary: brokenRequest(aim, bytes) },
    { weight: 1, arbitrary: bytes },
  )
  return arbitrary.map((text) => Buffer.from(text, 'latin1'))
}

function readableRequest({ host, targets }: HostileAim): fc.Arbitrary<string> {
  const known = fc.constantFrom(...targets)
  const pieces = fc.constantFrom('/', '//', '%', '%zz', '%00', '?', '?limit=%&watch=', '&', '..', '\\', '#')
  const spoiled = fc
    .tuple(known, fc.nat(60), pieces)
    .map(([text, at, piece]) => text.slice(0, at) + piece + text.slice(at))
  const target = fc.oneof(
    known,
    spoiled.filter((text) => text.startsWith('/')),
    fc.webPath().map((path) => `/${path.replace(/^\/+/, '')}`),
    fc.webUrl({ withQueryParameters: true }),
  )
  const method = fc.constantFrom('GET', 'GET', 'POST', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS')
  return fc
    .tuple(method, target, fc.array(fc.constantFrom(...ODD_HEADERS), { maxLength: 4 }), fc.constantFrom(...BODIES))
    .map(([verb, path, headers, body]) => {
      const length = body === '' ? [] : [`Content-Length: ${body.length}`]
      const lines = [`${verb} ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers, ...length]
      return `${lines.join('\r\n')}\r\n\r\n${body}`
    })
}

function brokenRequest({ host, targets }: HostileAim, bytes: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const method = fc.oneof(fc.constantFrom('GET', 'POST', 'CONNECT', 'PRI', 'get', ''), bytes)
  const target = fc.oneof(fc.constantFrom(...HOSTILE_TARGETS, ...targets), bytes)
  const version = fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/9.9', 'HTTP', '')
  const hosted = fc.constantFrom(`Host: ${host}`, 'Host: a b', '')
  const header = fc.oneof(fc.constantFrom(...ODD_HEADERS, ...BROKEN_HEADERS), bytes)
  const body = fc.oneof(fc.constantFrom(...BODIES, '5\r\nhello\r\nzz\r\n'), bytes)
  return fc
    .tuple(fc.tuple(method, target, version), hosted, fc.array(header, { maxLength: 3 }), body)
    .map(([line, first, headers, content]) =>
      [line.join(' '), first, 'Connection: close', ...headers, '', content].join('\r\n'),
    )
}

/** A plain request with a target as it stands, which no client library would send. */
export function rawGet(target: string, host: string, headers: readonly string[] = []): Buffer {
  const lines = [`GET ${target} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
}

/**
 * Sends raw bytes; resolves with what came back before the connection was over, or before it was silent for too long.
 */
export function sendRaw(socket: Socket, bytes: Uint8Array, silenceMs = 10_000): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', () => {})
    socket.once('close', () => resolve(Buffer.concat(chunks).toString('latin1')))
    socket.setTimeout(silenceMs, () => socket.destroy())
    socket.write(bytes)
  })
}

/** A socket to a port of this machine, or to a socket in a directory. */
export function connectTo(where: number | string): Socket {
  return typeof where === 'number' ? connect(where, '127.0.0.1') : connect(where)
}

/** The statuses of the answers in what came back; pipelined requests have several. */
export function statusesIn(text: string): number[] {
  return Array.from(text.matchAll(/^HTTP\/1\.[01] (\d{3})/gm), ([, status]) => Number(status))
}

/** How a listener is pestered. */
export interface Pestering extends HostileAim {
  /** Opens a connection to the listener. */
  open(): Socket
  /** Rejects when the listener does not do its work any more. */
  checkAlive(): Promise<void>
  readonly runs?: number
}

const SEED = 20_190_102
// A listener that waits for more of a request is left alone after this long.
const PATIENCE_MS = 60

/** Sends nonsense; fails with the request after which the listener is gone, or that it calls an error of its own. */
export async function pester({ open, checkAlive, runs = 150, ...aim }: Pestering): Promise<void> {
  for (const target of HOSTILE_TARGETS) check(await sendRaw(open(), rawGet(target, aim.host), PATIENCE_MS), target)
  await checkAlive()
  const property = fc.asyncProperty(hostileRequest(aim), async (bytes) => {
    check(await sendRaw(open(), bytes, PATIENCE_MS), bytes.toString('latin1'))
  })
  await fc.assert(property.afterEach(checkAlive), { seed: SEED, numRuns: runs })
}

function check(answer: string, request: string): void {
  if (statusesIn(answer).some((status) => status === 500)) {
    throw new Error(`nonsense is answered as an error of the listener: ${JSON.stringify(request)}\n${answer}`)
  }
}
