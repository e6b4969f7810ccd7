/** Answers of the gateway: JSON for people's eyes, bytes for documents and blobs, one form of refusal. */
import { utf8 } from '../core/bytes.ts'
import { digestOf } from '../core/crypto/digest.ts'
import { ApiError } from '../core/errors.ts'
import { bytesBody } from '../core/http.ts'
import type { HttpRequest, HttpResponse } from '../core/http.ts'
import { WireError } from '../wire/validate.ts'

/** A JSON answer. */
export function jsonResponse(value: object, status = 200, headers: Record<string, string> = {}): HttpResponse {
  return bytesResponse(utf8(JSON.stringify(value)), 'application/json', { status, headers })
}

/** An answer of bytes. */
export function bytesResponse(
  bytes: Uint8Array,
  contentType: string,
  more: { readonly status?: number; readonly headers?: Record<string, string> } = {},
): HttpResponse {
  return {
    status: more.status ?? 200,
    headers: { 'content-type': contentType, 'content-length': String(bytes.byteLength), ...more.headers },
    body: bytesBody(bytes),
  }
}

// One pack goes to thousands of clusters: its digest is worked out once.
const tags = new WeakMap<Uint8Array, string>()

function tagOf(bytes: Uint8Array): string {
  const known = tags.get(bytes)
  if (known !== undefined) return known
  const tag = `"${digestOf(bytes)}"`
  tags.set(bytes, tag)
  return tag
}

/** An answer of bytes that can go on where it ended: the tag says which bytes they are, `range` what is still wanted of them. */
export function resumableResponse(
  bytes: Uint8Array,
  request: Pick<HttpRequest, 'headers'>,
  headers: Record<string, string> = {},
): HttpResponse {
  const etag = tagOf(bytes)
  const common = { ...headers, etag, 'accept-ranges': 'bytes' }
  const wanted = /^bytes=(\d{1,15})-$/.exec(request.headers['range'] ?? '')
  const from = wanted && request.headers['if-range'] === etag ? Number(wanted[1]) : 0
  if (from === 0 || from > bytes.byteLength)
    return bytesResponse(bytes, 'application/octet-stream', { headers: common })
  const range = `bytes ${from}-${Math.max(from, bytes.byteLength - 1)}/${bytes.byteLength}`
  return bytesResponse(bytes.subarray(from), 'application/octet-stream', {
    status: 206,
    headers: { ...common, 'content-range': range },
  })
}

/** What a failure looks like from outside: the API's own refusals as they are, malformed requests as 400, all else without detail. */
export function errorResponse(caught: unknown): HttpResponse {
  if (caught instanceof WireError) {
    return jsonResponse({ reason: caught.reason, message: caught.message }, caught.reason === 'TooLarge' ? 413 : 400)
  }
  if (!(caught instanceof ApiError)) {
    return jsonResponse({ reason: 'InternalError', message: 'the gateway failed; see its log' }, 500)
  }
  const after = caught.details.retryAfterSeconds
  const headers: Record<string, string> = after === undefined ? {} : { 'retry-after': String(after) }
  return jsonResponse({ reason: caught.reason, message: caught.message }, caught.code, headers)
}

/** The one answer for everything that is not there for this caller, whether it exists or not. */
export function notFound(): ApiError {
  return new ApiError('NotFound', 'not found')
}
