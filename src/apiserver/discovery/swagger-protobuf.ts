import { concatBytes, utf8 } from '../../core/bytes.ts'
import { isObject } from '../../core/json.ts'

/**
 * A Swagger document in protobuf (gnostic's OpenAPIv2): the only form in which kubectl asks for it, for Lists for one.
 */

/** The media type. */
export const SWAGGER_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

/** Pieces of a message, in order. */
type Bytes = readonly Uint8Array[]

/** Fields of a schema by field number: strings, Booleans, integers and the remaining types. */
const TEXTS: Readonly<Record<string, number>> = { $ref: 1, format: 2, title: 3, description: 4, pattern: 13 }
const FLAGS: Readonly<Record<string, number>> = {
  exclusiveMaximum: 8,
  exclusiveMinimum: 10,
  uniqueItems: 16,
  readOnly: 27,
}
const INTEGERS: Readonly<Record<string, number>> = {
  maxLength: 11,
  minLength: 12,
  maxItems: 14,
  minItems: 15,
  maxProperties: 17,
  minProperties: 18,
}
const DOUBLES: Readonly<Record<string, number>> = { multipleOf: 6, maximum: 7, minimum: 9 }

/** Encodes the version, the title and the definitions of a document. */
export function swaggerProtobuf(document: object): Uint8Array {
  const { info, definitions } = document as Record<string, unknown>
  const { title, version } = isObject(info) ? info : {}
  const schemas = isObject(definitions) ? definitions : {}
  return concatBytes([
    ...text(1, '2.0'),
    ...message(2, [...text(1, String(title)), ...text(2, String(version))]),
    ...message(8, []),
    ...message(9, named(schemas)),
  ])
}

function named(schemas: Readonly<Record<string, unknown>>): Bytes {
  return Object.entries(schemas).flatMap(([name, schema]) =>
    message(1, [...text(1, name), ...message(2, schemaBytes(schema))]),
  )
}

function schemaBytes(schema: unknown): Bytes {
  return isObject(schema) ? Object.entries(schema).flatMap(([key, value]) => fieldBytes(key, value)) : []
}

function fieldBytes(key: string, value: unknown): Bytes {
  if (typeof value === 'string' && Object.hasOwn(TEXTS, key)) return text(TEXTS[key]!, value)
  if (typeof value === 'boolean' && Object.hasOwn(FLAGS, key)) return integer(FLAGS[key]!, value ? 1 : 0)
  if (typeof value === 'number' && Object.hasOwn(INTEGERS, key)) return integer(INTEGERS[key]!, value)
  if (typeof value === 'number' && Object.hasOwn(DOUBLES, key)) return double(DOUBLES[key]!, value)
  if (key.startsWith('x-')) return message(31, [...text(1, key), ...message(2, any(value))])
  switch (key) {
    case 'default':
      return message(5, any(value))
    case 'required':
      return Array.isArray(value) ? value.flatMap((name) => text(19, String(name))) : []
    case 'enum':
      return Array.isArray(value) ? value.flatMap((item) => message(20, any(item))) : []
    case 'additionalProperties':
      return message(21, typeof value === 'boolean' ? integer(2, value ? 1 : 0) : message(1, schemaBytes(value)))
    case 'type':
      return message(22, text(1, String(value)))
    case 'items':
      return message(23, message(1, schemaBytes(value)))
    case 'properties':
      return message(25, named(isObject(value) ? value : {}))
    default:
      return []
  }
}

/** Any value as YAML, of which JSON is a part. */
function any(value: unknown): Bytes {
  return text(2, JSON.stringify(value))
}

function text(number: number, value: string): Bytes {
  const bytes = utf8(value)
  return [varint(number * 8 + 2), varint(bytes.byteLength), bytes]
}

function message(number: number, pieces: Bytes): Bytes {
  const length = pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
  return [varint(number * 8 + 2), varint(length), ...pieces]
}

function integer(number: number, value: number): Bytes {
  return [varint(number * 8), varint(value)]
}

function double(number: number, value: number): Bytes {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setFloat64(0, value, true)
  return [varint(number * 8 + 1), bytes]
}

function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(Math.trunc(value)))
  while (rest >= 0x80n) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  return new Uint8Array([...bytes, Number(rest)])
}
