import { utf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import type { ApiError } from '../../core/errors.ts'
import { bytesBody } from '../../core/http.ts'
import type { HttpResponse } from '../../core/http.ts'
import { writeYaml } from '../../yaml/write/write-yaml.ts'

/** Answers as bytes: JSON or YAML, Status for refusals, warnings as headers. */

/** What a verb answers; the dispatcher gives it its bytes. */
export interface VerbResponse extends ResponseBody {
  readonly status: number
  /** Sentences for the client to print, sent as Warning headers. */
  readonly warnings?: readonly string[]
}

/** The body of an answer: an object, or its JSON where that is at hand already. */
export interface ResponseBody {
  readonly object?: unknown
  /** A text, or the pieces of a long one, which are never together in memory. */
  readonly text?: string | AsyncIterable<string>
}

/** How an answer is written. */
export interface Format {
  readonly mediaType: 'application/json' | 'application/yaml'
  readonly pretty: boolean
}

const JSON_FORMAT: Format = { mediaType: 'application/json', pretty: false }

/** A kube-apiserver writes details of these even when they are empty, and kubectl looks into them. */
const WITH_DETAILS: ReadonlySet<string> = new Set(['NotFound', 'MethodNotAllowed'])

/** A Kubernetes Status for a refusal. */
export function toStatus(error: ApiError): object {
  const { name, group, kind, uid, causes, retryAfterSeconds } = error.details
  const details = compact({
    name: name || undefined,
    group: group || undefined,
    kind: kind || undefined,
    uid: uid || undefined,
    causes: causes && causes.length > 0 ? causes : undefined,
    retryAfterSeconds: retryAfterSeconds || undefined,
  })
  return compact({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: error.message,
    reason: error.reason,
    details: Object.keys(details).length > 0 || WITH_DETAILS.has(error.reason) ? details : undefined,
    code: error.code,
  })
}

/** Whether a client wants objects exactly as they are stored. */
export function isPlainJson(format: Format & { readonly as?: string }): boolean {
  return format.as === undefined && format.mediaType === 'application/json' && !format.pretty
}

/** The bytes of an answer. */
export function respond(answer: VerbResponse, format: Format = JSON_FORMAT): HttpResponse {
  return {
    status: answer.status,
    headers: responseHeaders(format.mediaType, answer.warnings),
    body: bodyOfAnswer(answer, format),
  }
}

function bodyOfAnswer({ text, object }: ResponseBody, format: Format): HttpResponse['body'] {
  if (typeof text === 'string') return bytesBody(utf8(`${text}\n`))
  if (text !== undefined) return piecesOf(text)
  if (format.mediaType === 'application/yaml') return bytesBody(utf8(writeYaml(object)))
  return bytesBody(utf8(`${JSON.stringify(object, undefined, format.pretty ? 2 : undefined)}\n`))
}

async function* piecesOf(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const text of texts) yield utf8(text)
  yield utf8('\n')
}

/** A refusal as an answer. */
export function respondError(error: ApiError, format?: Format): HttpResponse {
  const response = respond({ status: error.code, object: toStatus(error) }, format)
  const { retryAfterSeconds } = error.details
  if (!retryAfterSeconds) return response
  return { ...response, headers: { ...response.headers, 'retry-after': String(retryAfterSeconds) } }
}

/** Plain text, as health checks answer. */
export function respondText(status: number, text: string): HttpResponse {
  return { status, headers: responseHeaders('text/plain; charset=utf-8'), body: bytesBody(utf8(text)) }
}

/** Headers every answer has. */
export function responseHeaders(contentType: string, warnings: readonly string[] = []): Record<string, string> {
  return compact({
    'content-type': contentType,
    'cache-control': 'no-cache, private',
    warning: warnings.length > 0 ? warnings.map((warning) => `299 - ${quoted(warning)}`).join(', ') : undefined,
  })
}

/** Adds a Warning header before the existing warnings of a response. */
export function withWarning(response: HttpResponse, text: string): HttpResponse {
  const { warning: others } = response.headers
  const warning = `299 - ${quoted(text)}`
  return { ...response, headers: { ...response.headers, warning: others ? `${warning}, ${others}` : warning } }
}

// A quoted-string of RFC 7230; characters a header cannot carry are dropped.
function quoted(text: string): string {
  const printable = text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/[^\x20-\x7e]/g, '?')
  return `"${printable.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}
