// Tested by src/blobs/s3/s3-blobs.real.test.ts
/**
 * Requests to one bucket: signed by the clock of the server, with a deadline for each try, and tried again with jitter
 * while the server is away or busy. An answer that a later try cannot change is returned.
 */
import { deadline } from '../../core/async/deadline.ts'
import { fromUtf8, hex, sha256 } from '../../core/bytes.ts'
import { toError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import { backoffMs } from '../../core/time/backoff.ts'
import type { Clock } from '../../core/time/clock.ts'
import { parseHttpDate } from '../../core/time/time.ts'
import { createCredentialReader } from './s3-credentials.ts'
import { bucketUrl } from './s3-settings.ts'
import type { S3Settings } from './s3-settings.ts'
import type { PlainAnswer, SendHttp } from './send-http.ts'
import { queryText, signHeaders, signQuery } from './sign-request.ts'
import type { Signing, UnsignedRequest } from './sign-request.ts'
import { elementText } from './xml-text.ts'

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Without the prefix of the settings; undefined for the bucket itself. */
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Defaults to 1 MiB: answers that are not a blob. */
  readonly maxBytes?: number
  /** Sends the request once. The server refuses it this many seconds after `at`, a time of its own clock. */
  readonly once?: { readonly at: number; readonly seconds: number }
}

export interface S3Answer {
  readonly status: number
  readonly headers: PlainAnswer['headers']
  readonly body: Uint8Array
  /** Code of an error, for example `NoSuchKey`. Empty for answers without a body. */
  readonly code: string
  /** Time of the server in milliseconds since 1970. */
  readonly at: number
}

export interface S3Client {
  send(request: S3Request): Promise<S3Answer>
  /** An error that names the request and the words of the server. */
  refusal(request: S3Request, answer: S3Answer): Error
  /** `s3://BUCKET/PREFIX`, for messages. */
  readonly url: string
  /** Begins every key. */
  readonly keyPrefix: string
}

export interface S3ClientOptions {
  readonly settings: S3Settings
  readonly clock: Clock
  readonly ids: Pick<Ids, 'fraction'>
  readonly http: SendHttp
  /** Number of tries. Defaults to 6, over about 10 seconds. */
  readonly tries?: number
}

const TRIES = 6
const BACKOFF = { baseMs: 300, maxMs: 5_000, jitter: 0.5 }
/** Each try may take this long, and longer for the bytes at a slow pace. */
const TRY_MS = 20_000
const SLOW_BYTES_PER_MS = 256
const SMALL_ANSWER_BYTES = 1024 * 1024
/** Clocks may differ by this much before the difference counts. */
const SKEW_MS = 30_000
const NEW_CREDENTIALS = ['ExpiredToken', 'InvalidAccessKeyId', 'InvalidToken', 'TokenRefreshRequired']

export function createS3Client({ settings, clock, ids, http, tries = TRIES }: S3ClientOptions): S3Client {
  const { region, bucket, prefix } = settings
  const { origin, host, path: base } = addressOf(settings)
  const { credentials: source } = settings
  const credentials = source.from === 'none' ? undefined : createCredentialReader(source, { clock, send: http })
  const url = bucketUrl(settings)
  /** How far the server is ahead of this machine. */
  let skewMs = 0

  async function tryOnce(request: S3Request, signal: AbortSignal): Promise<S3Answer> {
    const { method, key, query = {}, headers = {}, body = new Uint8Array(), once } = request
    const path = key === undefined ? base || '/' : `${base}/${prefix}${key}`
    const unsigned: UnsignedRequest = { method, host, path, query, headers }
    const signing = (at: number, given: Signing['credentials']): Signing => ({ credentials: given, region, at })
    const given = await credentials?.current(signal)
    const signed = !given
      ? { query, headers }
      : once === undefined
        ? { query, headers: signHeaders(unsigned, hex(sha256(body)), signing(clock.now() + skewMs, given)) }
        : { query: signQuery(unsigned, once.seconds, signing(once.at, given)), headers }
    const text = queryText(signed.query)
    const sent = {
      origin,
      method,
      path: text === '' ? path : `${path}?${text}`,
      headers: signed.headers,
      body: body.byteLength > 0 || method === 'PUT' ? body : undefined,
      maxBytes: request.maxBytes ?? SMALL_ANSWER_BYTES,
    }
    const answer = await http(sent, signal)
    const at = parseHttpDate(String(answer.headers['date'] ?? '')) ?? clock.now() + skewMs
    const ahead = at - clock.now()
    skewMs = Math.abs(ahead) > SKEW_MS ? ahead : 0
    return { ...answer, at, code: answer.status >= 300 ? codeOf(answer) : '' }
  }

  async function tryInTime(request: S3Request): Promise<S3Answer> {
    const bytes = (request.body?.byteLength ?? 0) + (request.maxBytes ?? 0)
    const ms = TRY_MS + bytes / SLOW_BYTES_PER_MS
    return await deadline({ clock, ms, what: `${request.method} to ${url}` }, (signal) => tryOnce(request, signal))
  }

  /** Whether a later try may have another outcome. */
  function mayChange({ status, code }: S3Answer): boolean {
    if (NEW_CREDENTIALS.includes(code)) credentials?.forget()
    return status >= 500 || status === 429 || status === 408 || code === 'RequestTimeTooSkewed' || !isSettled(code)
  }

  return {
    url,
    keyPrefix: prefix,
    async send(request) {
      for (let failures = 0; ; failures++) {
        const isLast = request.once !== undefined || failures + 1 >= tries
        const answer = await tryInTime(request).catch((caught: unknown) => {
          if (isLast) throw unreachable(request, { url, origin }, caught)
          return undefined
        })
        if (answer && (isLast || !mayChange(answer))) return answer
        await clock.sleep(backoffMs(failures, ids.fraction(), BACKOFF))
      }
    },
    refusal: (request, answer) => refusalOf(request, answer, { url, origin, bucket }),
  }
}

function isSettled(code: string): boolean {
  return !NEW_CREDENTIALS.includes(code) && code !== 'ConditionalRequestConflict' && code !== 'OperationAborted'
}

function addressOf({ endpoint, bucket, addressing }: S3Settings): {
  readonly origin: string
  readonly host: string
  readonly path: string
} {
  const { protocol, host } = new URL(endpoint)
  return addressing === 'virtual'
    ? { origin: `${protocol}//${bucket}.${host}`, host: `${bucket}.${host}`, path: '' }
    : { origin: `${protocol}//${host}`, host, path: `/${bucket}` }
}

function codeOf({ body }: PlainAnswer): string {
  try {
    return elementText(fromUtf8(body), 'Code') ?? ''
  } catch {
    return '' // a proxy answered in another encoding
  }
}

function refusalOf(
  { method, key }: S3Request,
  { status, code, body, headers }: S3Answer,
  { url, origin, bucket }: { readonly url: string; readonly origin: string; readonly bucket: string },
): Error {
  const message = body.byteLength > 0 ? elementText(new TextDecoder().decode(body), 'Message') : undefined
  const region = headers['x-amz-bucket-region']
  const words = [status, code, message && `(${message})`, region && `(the bucket is in region ${String(region)})`]
  const todo =
    code === 'NoSuchBucket'
      ? `create the bucket ${bucket}`
      : status === 403
        ? 'the account needs s3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket'
        : undefined
  const error = new Error(
    `${method} ${key === undefined ? url : `${url}/${key}`} at ${origin}: ${words.filter(Boolean).join(' ')}`,
  )
  // A server that is busy or starting counts as one that does not answer: callers try again later.
  if (status >= 500 || status === 429) return Object.assign(error, { code: 'ECONNREFUSED' })
  return todo === undefined ? error : Object.assign(error, { todo })
}

function unreachable(
  { method, key }: S3Request,
  { url, origin }: { readonly url: string; readonly origin: string },
  caught: unknown,
): Error {
  const cause = toError(caught)
  const what = key === undefined ? url : `${url}/${key}`
  const error = new Error(`${method} ${what} at ${origin}: ${cause.message || 'no answer'}`, { cause })
  return Object.assign(error, { code: 'code' in cause ? cause.code : 'ECONNRESET' })
}
