import { fromUtf8, utf8 } from '../core/bytes.ts'
import type { Clock } from '../core/time/clock.ts'
import type { ApiError } from '../core/errors.ts'
import { readBody } from '../core/http.ts'
import type { HttpRequest, HttpResponse, Transport } from '../core/http.ts'
import { deadline } from '../core/async/deadline.ts'
import { readWholeNumber } from '../core/read-number.ts'
import { statusToError } from './status-error.ts'

/** What a client is made of. */
export interface ClientOptions {
  readonly transport: Transport
  readonly clock: Clock
  readonly userAgent?: string
  /** How long one answer may take; watches have none. */
  readonly timeoutMs?: number
}

/** A call to a Kubernetes API; the path includes its query. */
export interface RestRequest {
  readonly method: string
  readonly path: string
  readonly accept?: string
  readonly contentType?: string
  /** Sent as JSON. */
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** The API below the typed client: JSON in and out, refusals as ApiErrors. For discovery, `/version` and Tables. */
export interface Rest {
  json(request: RestRequest): Promise<unknown>
  /** The answer as it comes, for watches; a refusal is an ApiError. */
  stream(request: RestRequest, signal: AbortSignal): Promise<HttpResponse>
}

const MAX_ANSWER_BYTES = 128 * 1024 * 1024
const MAX_STATUS_BYTES = 4 * 1024 * 1024

/** Makes the untyped client. */
export function createRest({ transport, clock, userAgent = 'flotilla', timeoutMs = 30_000 }: ClientOptions): Rest {
  async function send(request: RestRequest, signal: AbortSignal): Promise<HttpResponse> {
    const response = await transport(toHttp(request, userAgent), signal)
    if (response.status >= 200 && response.status < 300) return response
    throw await refusal(request, response)
  }

  return {
    stream: send,
    json: (request) =>
      deadline(
        { clock, ms: timeoutMs, signal: request.signal, what: `${request.method} ${request.path}` },
        async (s) => {
          const response = await send(request, s)
          const text = fromUtf8(await readBody(response.body, MAX_ANSWER_BYTES))
          return text === '' ? undefined : (JSON.parse(text) as unknown)
        },
      ),
  }
}

function toHttp(request: RestRequest, userAgent: string): HttpRequest {
  const headers: Record<string, string> = { accept: request.accept ?? 'application/json', 'user-agent': userAgent }
  if (request.body === undefined) return { method: request.method, path: request.path, headers }
  headers['content-type'] = request.contentType ?? 'application/json'
  return { method: request.method, path: request.path, headers, body: utf8(JSON.stringify(request.body)) }
}

async function refusal(request: RestRequest, response: HttpResponse): Promise<ApiError> {
  const text = new TextDecoder().decode(await readBody(response.body, MAX_STATUS_BYTES))
  const status = parsed(text)
  const plain = status === undefined && text.trim() !== '' ? `: ${text.trim().slice(0, 500)}` : ''
  const error = statusToError(
    status,
    response.status,
    `${request.method} ${request.path}: HTTP ${response.status}${plain}`,
  )
  return withRetryAfter(error, response.headers['retry-after'])
}

// Load balancers and overloaded servers say it in the header only.
function withRetryAfter(error: ApiError, header: string | undefined): ApiError {
  const seconds = readWholeNumber(header ?? '')
  if (seconds === undefined || error.details.retryAfterSeconds !== undefined) return error
  return statusToError(
    { reason: error.reason, message: error.message, details: { ...error.details, retryAfterSeconds: seconds } },
    error.code,
    error.message,
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
