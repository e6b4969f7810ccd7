import { base64, fromUtf8 } from '../../core/bytes.ts'
import { ApiError, toError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json.ts'
import { formatTime } from '../../core/time.ts'
import { badRequest } from '../refusals.ts'
import { MESSAGES, PROTOBUF_KINDS } from './messages.ts'
import { readFields, WireError } from './wire.ts'

/**
 * Bodies in Kubernetes' protobuf form to plain JSON. kubectl's typed commands (`create namespace`, `create token`,
 * `auth can-i`) send nothing else and do not fall back; answers are JSON, which they take.
 */

/** The media type. */
export const PROTOBUF = 'application/vnd.kubernetes.protobuf'

const MAGIC = [0x6b, 0x38, 0x73, 0x00] // k8s\0
const MAX_DEPTH = 32

/** The JSON of a body; 415 for what is not understood here, 400 for what is broken. */
export function decodeProtobuf(body: Uint8Array): JsonObject {
  if (!MAGIC.every((byte, index) => body[index] === byte)) throw badRequest('the body is not protobuf of Kubernetes')
  try {
    const { apiVersion, kind, raw } = envelope(body.subarray(MAGIC.length))
    if (!PROTOBUF_KINDS.has(`${apiVersion}/${kind}`)) throw notUnderstood(`${kind} of ${apiVersion}`)
    return { apiVersion, kind, ...decodeMessage(kind, raw, kind) }
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
    `${what} is not understood in protobuf here - accepted media types include: application/json, application/yaml`,
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

function decodeMessage(message: string, bytes: Uint8Array, path: string, depth = 0): JsonObject {
  if (depth > MAX_DEPTH) throw new WireError('messages are nested too deeply')
  const fields = MESSAGES[message]!
  const result: JsonObject = {}
  for (const { number, value } of readFields(bytes)) {
    const field = Object.hasOwn(fields, number) ? fields[number] : undefined
    if (field === undefined) {
      // Go writes zeros of fields that were never set; only a value would be lost.
      if (!isZero(value)) throw notUnderstood(`field ${number} of ${path}`)
      continue
    }
    const [name = '', ...words] = field.split(' ')
    const type = words.at(-1)!
    if (type === 'skip') continue
    const one = (item: bigint | Uint8Array) => decodeValue(type, item, { path: `${path}.${name}`, depth })
    if (words[0] === 'list') result[name] = [...((result[name] as unknown[] | undefined) ?? []), one(value)]
    else if (words[0] === 'map') result[name] = { ...(result[name] as object | undefined), ...entry(value, type, one) }
    else {
      const decoded = one(value)
      if (words[0] === 'keep' || !isEmpty(decoded)) result[name] = decoded
    }
  }
  return result
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
    case 'json':
      return jsonOf(value)
    case 'strings':
      return [...readFields(value)].map((item) => decodeValue('string', item.value, { path, depth }))
    case 'quantity':
      return textField(value, 1)
    case 'intOrString':
      return intOrString(value)
    default:
      return decodeMessage(type, value, path, depth + 1)
  }
}

/** A map's entry is a message of its key and its value; an absent one is zero. */
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

function timeOf(bytes: Uint8Array): string | undefined {
  for (const { number, value } of readFields(bytes)) {
    if (number === 1 && typeof value === 'bigint') return formatTime(Number(BigInt.asIntN(64, value)) * 1000)
  }
  return undefined
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
