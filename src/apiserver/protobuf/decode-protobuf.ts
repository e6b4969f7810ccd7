import { base64, fromUtf8 } from '../../core/bytes.ts'
import { ApiError, toError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import { badRequest } from '../http/api-errors.ts'
import { protobufTables } from './messages.ts'
import type { Field } from './messages.ts'
import { readFields, WireError } from './wire.ts'

/**
 * Bodies in Kubernetes' protobuf form to plain JSON. kubectl's typed commands (`create`, `run`, `auth can-i`) send
 * nothing else and do not fall back; answers are JSON, which they take.
 */

/** The media type. */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf'

const MAGIC = [0x6b, 0x38, 0x73, 0x00] // k8s\0
// A schema nests two messages for each level of its objects.
const MAX_DEPTH = 64

/** The JSON of a body; 415 for what is not understood here, 400 for what is broken. */
export function decodeProtobuf(body: Uint8Array): JsonObject {
  if (!MAGIC.every((byte, index) => body[index] === byte)) throw badRequest('the body is not protobuf of Kubernetes')
  try {
    const { apiVersion, kind, raw } = envelope(body.subarray(MAGIC.length))
    // Options come under the version of whatever they are about.
    const isOptions = kind === 'DeleteOptions'
    const message = isOptions ? 'meta.DeleteOptions' : protobufTables().kinds.get(`${apiVersion}/${kind}`)
    if (message === undefined) throw notUnderstood(`${kind} of ${apiVersion}`)
    return { apiVersion, kind, ...decodeMessage(message, raw, { path: kind, depth: 0 }) }
  } catch (error) {
    if (error instanceof WireError || error instanceof TypeError || error instanceof SyntaxError) {
      throw badRequest(`the body is not valid protobuf: ${toError(error).message}`)
    }
    throw error
  }
}

function notUnderstood(what: string): ApiError {
  return new ApiError(
    'UnsupportedMediaType',
    `${what} cannot be decoded from protobuf - accepted media types include: application/json, application/yaml`,
  )
}

/** runtime.Unknown: what it is, and its bytes. */
function envelope(bytes: Uint8Array): { apiVersion: string; kind: string; raw: Uint8Array } {
  const type = ['', '']
  let raw: Uint8Array = new Uint8Array()
  for (const { number, value } of readFields(bytes)) {
    if (typeof value === 'bigint') continue
    if (number === 1) {
      for (const field of readFields(value)) {
        if (field.number <= 2 && typeof field.value !== 'bigint') type[field.number - 1] = fromUtf8(field.value)
      }
    } else if (number === 2) raw = value
    else if (number === 3 && value.byteLength > 0) throw notUnderstood(`the encoding ${fromUtf8(value)}`)
  }
  return { apiVersion: type[0]!, kind: type[1]!, raw }
}

function decodeMessage(message: string, bytes: Uint8Array, { path, depth }: Place): JsonObject {
  if (depth > MAX_DEPTH) throw new WireError('messages are nested too deeply')
  const fields = protobufTables().messages.get(message)!
  const result: JsonObject = {}
  for (const { number, value } of readFields(bytes)) {
    const field = fields.get(number)
    if (field === undefined) {
      // Go writes zeros of fields that were never set; only a value would be lost.
      if (!isZero(value)) throw notUnderstood(`field ${number} of ${path}`)
      continue
    }
    const inside = { path: field.form === 'inline' ? path : `${path}.${field.name}`, depth }
    put(result, field, value, (item) => decodeValue(field.type, item, inside))
  }
  return result
}

type Wire = bigint | Uint8Array

function put(result: JsonObject, field: Field, value: Wire, decode: (item: Wire) => unknown): void {
  const { name, form, type, keep } = field
  switch (form) {
    case 'list':
      result[name] = [...((result[name] as unknown[] | undefined) ?? []), decode(value)]
      return
    case 'map':
      result[name] = { ...(result[name] as object | undefined), ...entry(value, type, decode) }
      return
    case 'inline':
      Object.assign(result, decode(value))
      return
    case 'one': {
      // A time that is none is null in JSON, where it is written at all.
      const decoded = decode(value) ?? (type === 'time' && keep ? null : undefined)
      if (decoded !== undefined && (keep || !isEmpty(decoded))) result[name] = decoded
    }
  }
}

interface Place {
  readonly path: string
  readonly depth: number
}

function decodeValue(type: string, value: bigint | Uint8Array, { path, depth }: Place): unknown {
  if (type === 'int' || type === 'bool') {
    if (typeof value !== 'bigint') throw new WireError(`${path} must be a number`)
    return type === 'bool' ? value !== 0n : Number(BigInt.asIntN(64, value))
  }
  if (typeof value === 'bigint') throw new WireError(`${path} must not be a number`)
  switch (type) {
    case 'string':
      return fromUtf8(value)
    case 'bytes':
      return base64(value)
    case 'time':
      return timeOf(value)
    case 'microTime':
      return timeOf(value, 6)
    case 'json':
      return jsonOf(value)
    case 'anyJson':
      return jsonOf(value) ?? null
    case 'strings':
      return [...readFields(value)].map((item) => decodeValue('string', item.value, { path, depth }))
    case 'quantity':
      return textField(value, 1)
    case 'intOrString':
      return intOrString(value)
    case 'double':
      if (value.byteLength !== 8) throw new WireError(`${path} must be a number of eight bytes`)
      return new DataView(value.buffer, value.byteOffset).getFloat64(0, true)
    case 'schemaOrBool':
    case 'schemaOrArray':
    case 'schemaOrStrings':
      return schemaOr(type, value, { path, depth })
    default:
      return decodeMessage(type, value, { path, depth: depth + 1 })
  }
}

const SCHEMA = 'apiextensions.JSONSchemaProps'

/** JSONSchemaPropsOr…: a schema, or a Boolean, a list of schemas or a list of strings. */
function schemaOr(type: `schemaOr${string}`, bytes: Uint8Array, { path, depth }: Place): unknown {
  const schemaAt = type === 'schemaOrBool' ? 2 : 1
  const list: unknown[] = []
  let isAllowed = false
  for (const { number, value } of readFields(bytes)) {
    if (number === schemaAt) return decodeValue(SCHEMA, value, { path, depth })
    if (type === 'schemaOrBool') isAllowed = value !== 0n
    else list.push(decodeValue(type === 'schemaOrArray' ? SCHEMA : 'string', value, { path, depth }))
  }
  return type === 'schemaOrBool' ? isAllowed : list
}

/** A map entry is a message of its key and its value; an absent key or value is the zero value. */
function entry(value: bigint | Uint8Array, type: string, decode: (item: Uint8Array) => unknown): JsonObject {
  if (typeof value === 'bigint') throw new WireError('a map must not be a number')
  let key = ''
  let item: Uint8Array = new Uint8Array()
  for (const field of readFields(value)) {
    if (typeof field.value === 'bigint') throw new WireError(`a map of ${type} holds a number`)
    if (field.number === 1) key = fromUtf8(field.value)
    else if (field.number === 2) item = field.value
  }
  return Object.fromEntries([[key, decode(item)]])
}

/** A time in seconds, or with so many digits behind them. */
function timeOf(bytes: Uint8Array, digits = 0): string | undefined {
  let seconds: number | undefined
  let nanos = 0
  for (const { number, value } of readFields(bytes)) {
    if (typeof value !== 'bigint') continue
    if (number === 1) seconds = Number(BigInt.asIntN(64, value))
    else if (number === 2) nanos = Number(BigInt.asIntN(32, value))
  }
  if (seconds === undefined) return undefined
  const whole = formatTime(seconds * 1000)
  return digits === 0 ? whole : `${whole.slice(0, -1)}.${String(nanos).padStart(9, '0').slice(0, digits)}Z`
}

function jsonOf(bytes: Uint8Array): unknown {
  for (const { number, value } of readFields(bytes)) {
    if (number === 1 && typeof value !== 'bigint') return JSON.parse(fromUtf8(value)) as unknown
  }
  return undefined
}

function textField(bytes: Uint8Array, wanted: number): string {
  for (const { number, value } of readFields(bytes)) {
    if (number === wanted && typeof value !== 'bigint') return fromUtf8(value)
  }
  return ''
}

function intOrString(bytes: Uint8Array): string | number {
  let isText = false
  let int = 0
  for (const { number, value } of readFields(bytes)) {
    if (typeof value !== 'bigint') continue
    if (number === 1) isText = value !== 0n
    else if (number === 2) int = Number(BigInt.asIntN(64, value))
  }
  return isText ? textField(bytes, 3) : int
}

function isZero(value: bigint | Uint8Array): boolean {
  return typeof value === 'bigint' ? value === 0n : value.byteLength === 0
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || value === 0 || value === false
}
