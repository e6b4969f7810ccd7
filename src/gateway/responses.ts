/** Answers of the gateway: JSON, bytes for documents and blobs, and one form of error. */
import { readWholeNumber } from '../core/read-number.ts'
import { utf8 } from '../core/bytes.ts'
import { digestOf } from '../core/crypto/digest.ts'
import { ApiError } from '../core/errors.ts'
import { bytesBody } from '../core/http.ts'
import type { HttpRequest, HttpResponse } from '../core/http.ts'
import { WireError } from '../wire/validate.ts'

export function jsonResponse(value: object, status = 200, headers: Record<string, string> = {}): HttpResponse {
  return bytesResponse(utf8(JSON.stringify(value)), 'application/json', { status, headers })
}

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

// Thousands of clusters receive the same pack: its digest is computed once.
const etags = new WeakMap<Uint8Array, string>()

function etagFor(bytes: Uint8Array): string {
  const known = etags.get(bytes)
  if (known !== undefined) return known
  const tag = `"${digestOf(bytes)}"`
  etags.set(bytes, tag)
  return tag
}

/** An answer that a client can resume: with `if-range` equal to the etag, `range: bytes=N-` returns the rest. */
export function resumableResponse(
  bytes: Uint8Array,
  request: Pick<HttpRequest, 'headers'>,
  headers: Record<string, string> = {},
): HttpResponse {
  const etag = etagFor(bytes)
  const common = { ...headers, etag, 'accept-ranges': 'bytes' }
  const wanted = /^bytes=(\d{1,15})-$/.exec(request.headers['range'] ?? '')
  const from = wanted && request.headers['if-range'] === etag ? (readWholeNumber(wanted[1]!) ?? 0) : 0
  if (from === 0 || from > bytes.byteLength)
    return bytesResponse(bytes, 'application/octet-stream', { headers: common })
  const range = `bytes ${from}-${Math.max(from, bytes.byteLength - 1)}/${bytes.byteLength}`
  return bytesResponse(bytes.subarray(from), 'application/octet-stream', {
    status: 206,
    headers: { ...common, 'content-range': range },
  })
}

/** API errors as they are, malformed requests as 400 or 413, and internal errors without details. */
export function errorResponse(caught: unknown): HttpResponse {
  if (caught instanceof WireError) {
    return jsonResponse({ reason: caught.reason, message: caught.message }, caught.reason === 'TooLarge' ? 413 : 400)
  }
  if (!(caught instanceof ApiError)) {
    return jsonResponse(
      { reason: 'InternalError', message: 'internal error of the gateway; see the log of the hub' },
      500,
    )
  }
  const after = caught.details.retryAfterSeconds
  const headers: Record<string, string> = after === undefined ? {} : { 'retry-after': String(after) }
  return jsonResponse({ reason: caught.reason, message: caught.message }, caught.code, headers)
}

/** The same error for what does not exist and for what the caller may not read. */
export function notFound(): ApiError {
  return new ApiError('NotFound', 'not found')
}
