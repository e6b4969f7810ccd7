import { fromUtf8, hex } from '../../core/bytes.ts'
import { ApiError, toError } from '../../core/errors.ts'
import type { HttpRequest } from '../../core/http.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { readYamlDocument } from '../../yaml/read/read-yaml.ts'
import { YamlError } from '../../yaml/yaml.ts'
import { decodeProtobuf, PROTOBUF } from '../protobuf/decode-protobuf.ts'
import { badRequest } from './api-errors.ts'
import { MAX_DEPTH, scanJson, UNSAFE_KEY } from './scan-json.ts'
import type { KeyPlace } from './scan-json.ts'

/** Bodies to plain JSON. Refuses input that is dangerous later: excessive depth, duplicate keys, prototype keys. */

/** The largest body of a request, as in Kubernetes. */
export const MAX_BODY_BYTES = 3 * 1024 * 1024
export { MAX_DEPTH }

/** A body, read. */
export interface Decoded {
  readonly value: unknown
  /** Duplicate fields; the last value counts. */
  readonly repeated: DuplicateKeys
  /** True when the reader has seen every key and none is unsafe. */
  readonly isSafe?: boolean
}

/** Keys of a body that came twice, in the words of the format. */
export interface DuplicateKeys {
  readonly places: readonly { readonly text: string; readonly offset: number }[]
  /** The beginning of a refusal, for YAML only, which tells all of its problems at once. */
  readonly preface?: string
  /** Where a key stands in the body, for telling problems in the order of the text. */
  offsetOf(path: string): number
}

/** The media type of a request's body, without parameters; JSON when it does not say. */
export function contentTypeOf(request: HttpRequest): string {
  const header = request.headers['content-type'] ?? ''
  const type = header.split(';')[0]!.trim().toLowerCase()
  return type === '' ? 'application/json' : type
}

/** Kubernetes' refusal of a large body, and what to do: content has no such limit in a Source. */
export function bodyTooLarge(): ApiError {
  const instead = 'use a Bundle with a Source for larger content'
  return new ApiError('RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY_BYTES}; ${instead}`)
}

/** Reads a JSON, YAML or protobuf body; throws 400, 413 or 415. */
export function decodeBody(request: HttpRequest, contentType = contentTypeOf(request)): Decoded {
  const body = request.body ?? new Uint8Array()
  if (body.byteLength > MAX_BODY_BYTES) throw bodyTooLarge()
  if (contentType === PROTOBUF) {
    const value = decodeProtobuf(body)
    refuseUnsafeKeys(value, '')
    return { value, repeated: NOTHING_TWICE }
  }
  const isJson = contentType === 'application/json' || contentType.endsWith('+json')
  if (!isJson && contentType !== 'application/yaml' && contentType !== 'application/apply-patch+yaml') {
    throw new ApiError(
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml`,
    )
  }
  const decoded = isJson ? decodeJson(textOf(body)) : decodeYaml(textOf(body))
  if (!decoded.isSafe) refuseUnsafeKeys(decoded.value, '')
  return decoded
}

/** Reads the body of a create or an update; what is no JSON at all is refused in the words of its kind. */
export function decodeObjectOfKind(
  kind: Pick<Kind, 'kind'>,
  request: HttpRequest,
): Decoded & { readonly value: JsonObject } {
  const body = request.body ?? new Uint8Array()
  const first = /^\s*([^\s{[\d"tfn-])/.exec(String.fromCharCode(...body.subarray(0, 100)))?.[1]
  if (contentTypeOf(request) === 'application/json' && first !== undefined) {
    const shown = `${hex(body.subarray(0, 30))}${body.byteLength > 30 ? ' ...' : ''}`
    const why = `couldn't get version/kind; json parse error: invalid character '${first}' looking for beginning of value (${shown})`
    throw badRequest(`the object provided is unrecognized (must be of type ${kind.kind}): ${why}`)
  }
  return decodeObject(request)
}

/** Reads a body that must be an object. */
export function decodeObject(request: HttpRequest, contentType?: string): Decoded & { readonly value: JsonObject } {
  const { value, repeated } = decodeBody(request, contentType)
  if (!isObject(value)) throw badRequest(`the body must be an object, got ${describe(value)}`)
  return { value, repeated }
}

function decodeJson(text: string): Decoded {
  const { duplicates, hasUnsafeKey, problem } = scanJson(text)
  if (problem) throw badRequest(`the body is not acceptable JSON: ${problem}`)
  try {
    return { value: JSON.parse(text) as unknown, repeated: repeatedIn(text, duplicates), isSafe: !hasUnsafeKey }
  } catch (error) {
    throw badRequest(`the body is not valid JSON: ${toError(error).message}`)
  }
}

const NOTHING_TWICE: DuplicateKeys = { places: [], offsetOf: () => Infinity }

function repeatedIn(text: string, duplicates: readonly KeyPlace[]): DuplicateKeys {
  let offsets: Map<string, number> | undefined
  return {
    places: duplicates.map(({ path, offset }) => ({ text: `duplicate field ${JSON.stringify(path)}`, offset })),
    offsetOf(path) {
      if (!offsets) {
        const found = (offsets = new Map<string, number>())
        scanJson(text, (key) => found.has(key.path) || found.set(key.path, key.offset))
      }
      return offsets.get(path) ?? Infinity
    },
  }
}

// As Go's library heads its list of what is wrong with a document that it could read.
const YAML_PREFACE = 'yaml: unmarshal errors:'

function decodeYaml(text: string): Decoded {
  // JSON is YAML; taking the short way keeps its limits. Duplicates are told in the words of YAML.
  if (/^\s*\{/.test(text)) {
    try {
      const decoded = decodeJson(text)
      if (decoded.repeated.places.length === 0) return decoded
    } catch {
      // not JSON after all: a flow mapping
    }
  }
  const limits = { maxBytes: MAX_BODY_BYTES }
  const notAcceptable = (error: YamlError) => badRequest(`the body is not acceptable YAML: ${error.message}`)
  try {
    return { value: readYamlDocument(text, { limits, duplicateKeys: 'strict' }).value, repeated: NOTHING_TWICE }
  } catch (error) {
    if (!(error instanceof YamlError)) throw error
    const problems = error.goMessage.startsWith(YAML_PREFACE) ? error.goMessage.split('\n').slice(1) : []
    const isRepeated = problems.length > 0 && problems.every((problem) => problem.endsWith(' already set in map'))
    if (!isRepeated) throw notAcceptable(error)
    const places = problems.map((problem) => ({ text: problem.trim(), offset: -1 }))
    try {
      const { value } = readYamlDocument(text, { limits, duplicateKeys: 'last' })
      return { value, repeated: { ...NOTHING_TWICE, places, preface: YAML_PREFACE } }
    } catch (again) {
      // Keys that repeat were the first problem, and not the only one.
      throw again instanceof YamlError ? notAcceptable(again) : again
    }
  }
}

function textOf(body: Uint8Array): string {
  try {
    return fromUtf8(body)
  } catch {
    throw badRequest('the body is not valid UTF-8')
  }
}

function refuseUnsafeKeys(value: unknown, path: string): void {
  if (Array.isArray(value)) {
    value.forEach((item, index) => refuseUnsafeKeys(item, `${path}[${index}]`))
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const below = path === '' ? key : `${path}.${key}`
      if (key === UNSAFE_KEY) throw badRequest(`the field name ${below} is not allowed`)
      refuseUnsafeKeys(value[key], below)
    }
  }
}

function describe(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`
}
