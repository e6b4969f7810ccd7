import { fromUtf8 } from '../core/bytes.ts'
import { ApiError, toError } from '../core/errors.ts'
import type { HttpRequest } from '../core/http.ts'
import { isObject } from '../core/json.ts'
import type { JsonObject } from '../core/json.ts'
import { readYamlDocument } from '../yaml/read.ts'
import { YamlError } from '../yaml/yaml.ts'
import { decodeProtobuf, PROTOBUF } from './protobuf/decode-protobuf.ts'
import { badRequest } from './refusals.ts'
import { scanJson } from './scan-json.ts'

/** Bodies to plain JSON, with everything refused that would hurt later: depth, duplicate keys, prototype keys. */

/** The largest body of a request, as in Kubernetes. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024

/** A body, read. */
export interface Decoded {
  readonly value: unknown
  /** Paths of keys that came twice. */
  readonly duplicates: readonly string[]
}

/** The media type of a request's body, without parameters; JSON when it does not say. */
export function contentTypeOf(request: HttpRequest): string {
  const header = request.headers['content-type'] ?? ''
  const type = header.split(';')[0]!.trim().toLowerCase()
  return type === '' ? 'application/json' : type
}

/** Reads a JSON, YAML or protobuf body; throws 400, 413 or 415. */
export function decodeBody(request: HttpRequest, contentType = contentTypeOf(request)): Decoded {
  const body = request.body ?? new Uint8Array()
  if (body.byteLength > MAX_BODY_BYTES) {
    throw new ApiError('RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY_BYTES}`)
  }
  if (contentType === PROTOBUF) {
    const value = decodeProtobuf(body)
    refuseUnsafeKeys(value, '')
    return { value, duplicates: [] }
  }
  const isJson = contentType === 'application/json' || contentType.endsWith('+json')
  if (!isJson && contentType !== 'application/yaml' && contentType !== 'application/apply-patch+yaml') {
    throw new ApiError(
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml`,
    )
  }
  const decoded = isJson ? decodeJson(textOf(body)) : decodeYaml(textOf(body))
  refuseUnsafeKeys(decoded.value, '')
  return decoded
}

/** Reads a body that must be an object. */
export function decodeObject(request: HttpRequest, contentType?: string): Decoded & { readonly value: JsonObject } {
  const { value, duplicates } = decodeBody(request, contentType)
  if (!isObject(value)) throw badRequest(`the body must be an object, got ${describe(value)}`)
  return { value, duplicates }
}

function decodeJson(text: string): Decoded {
  const { duplicates, problem } = scanJson(text)
  if (problem) throw badRequest(`the body is not acceptable JSON: ${problem}`)
  try {
    return { value: JSON.parse(text) as unknown, duplicates }
  } catch (error) {
    throw badRequest(`the body is not valid JSON: ${toError(error).message}`)
  }
}

function decodeYaml(text: string): Decoded {
  // JSON is YAML; taking the short way keeps its limits and its list of duplicates.
  if (/^\s*\{/.test(text)) {
    try {
      return decodeJson(text)
    } catch {
      // not JSON after all: a flow mapping
    }
  }
  try {
    const duplicates: string[] = []
    return { value: readYamlDocument(text, { limits: { maxBytes: MAX_BODY_BYTES } }).value, duplicates }
  } catch (error) {
    if (error instanceof YamlError) throw badRequest(`the body is not acceptable YAML: ${error.message}`)
    throw error
  }
}

function textOf(body: Uint8Array): string {
  try {
    return fromUtf8(body)
  } catch {
    throw badRequest('the body is not valid UTF-8')
  }
}

// A `__proto__` key would change objects that are built from this one key by key; no Kubernetes field has that name.
function refuseUnsafeKeys(value: unknown, path: string): void {
  if (Array.isArray(value)) {
    value.forEach((item, index) => refuseUnsafeKeys(item, `${path}[${index}]`))
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const below = path === '' ? key : `${path}.${key}`
      if (key === '__proto__') throw badRequest(`the field name ${below} is not allowed`)
      refuseUnsafeKeys(value[key], below)
    }
  }
}

function describe(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
