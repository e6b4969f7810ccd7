/**
 * Go values as the templates see them.
 *
 *   Go                      here
 *   float64                 number
 *   int, int64, uint…       GoInt (bigint inside, with its type)
 *   string                  string (see go-string.ts)
 *   bool                    boolean
 *   map[string]any          Map (shared and mutable, as in Go)
 *   []any, []string         Array (elements typed through `typed`)
 *   []byte                  GoBytes
 *   a named type            GoNamed around one of these, where the same storage is also seen under its plain type
 *   struct with methods     GoStruct
 *   nil in an interface     null
 *   no value at all         undefined (reflect's zero Value)
 *
 * The last two differ in Go's templates: a field of `null` is an error, a field of `undefined` is `undefined`.
 */
import type { GoFunction } from './function.ts'

/** Go's reflect.Kind, as far as templates meet it. */
export type GoKind =
  | 'invalid'
  | 'bool'
  | 'int'
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'uint'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'float64'
  | 'complex128'
  | 'string'
  | 'map'
  | 'slice'
  | 'struct'
  | 'ptr'
  | 'func'

/** Integer types. */
export type IntType = 'int' | 'int8' | 'int16' | 'int32' | 'int64' | 'uint' | 'uint8' | 'uint16' | 'uint32' | 'uint64'

const BITS: Readonly<Record<IntType, number>> = {
  int: 64,
  int8: 8,
  int16: 16,
  int32: 32,
  int64: 64,
  uint: 64,
  uint8: 8,
  uint16: 16,
  uint32: 32,
  uint64: 64,
}

/** An integer of a Go type; it wraps where Go's would. */
export class GoInt {
  readonly value: bigint
  readonly type: IntType

  constructor(value: bigint | number, type: IntType = 'int') {
    const whole = typeof value === 'bigint' ? value : BigInt(value)
    this.value = type.startsWith('u') ? BigInt.asUintN(BITS[type], whole) : BigInt.asIntN(BITS[type], whole)
    this.type = type
  }

  toString(): string {
    return this.value.toString()
  }
}

/** A Go int. */
export function goInt(value: bigint | number): GoInt {
  return new GoInt(value, 'int')
}

/** A Go int64. */
export function goInt64(value: bigint | number): GoInt {
  return new GoInt(value, 'int64')
}

/** What a named Go type adds to a map, slice or string-like value. */
export interface GoTypeInfo {
  /** As `%T` prints it: `common.Values`, `[]string`. */
  readonly type: string
  readonly methods?: ReadonlyMap<string, GoFunction>
  /** fmt.Stringer. */
  readonly print?: () => string
  /** What a missing key of a map with another element type than interface {} gives: `""` for map[string]string. */
  readonly missing?: unknown
  /** fmt.Stringer of the pointer: used where Go can take the address, which is when the value itself is printed. */
  readonly addressedPrint?: () => string
  /** What encoding/json makes of it, when that is not what it holds. */
  readonly json?: () => unknown
}

const INFO = Symbol('go type')

type Informed = { [INFO]?: GoTypeInfo }

/** Gives a Map or Array a Go type that is not map[string]interface {} or []interface {}. */
export function typed<T extends object>(value: T, info: GoTypeInfo): T {
  Object.defineProperty(value, INFO, { value: info, enumerable: false })
  return value
}

/** The named type of a Map or Array; undefined for the plain types. */
export function typeInfo(value: object): GoTypeInfo | undefined {
  return (value as Informed)[INFO]
}

/** A nil slice: empty, `null` in JSON. */
export function nilSlice(type = '[]interface {}'): unknown[] {
  return typed([] as unknown[], { type, json: () => null })
}

/** A nil map: empty, `null` in JSON, and nothing can be put into it. */
export function nilMap(): Map<string, unknown> {
  return typed(new Map<string, unknown>(), { type: 'map[string]interface {}', json: () => null })
}

/** Whether a value is nil: none at all, or a nil map or slice. */
export function isNil(value: unknown): boolean {
  if (value === null || value === undefined) return true
  return (value instanceof Map || Array.isArray(value)) && typeInfo(value)?.json?.() === null
}

/** A value seen under a named type. The plain value inside is shared with all of its holders. */
export class GoNamed {
  readonly value: unknown
  readonly info: GoTypeInfo

  constructor(value: unknown, info: GoTypeInfo) {
    this.value = value
    this.info = info
  }
}

/** The plain value of a GoNamed. */
export function plainValue(value: unknown): unknown {
  return value instanceof GoNamed ? value.value : value
}

/** A JSON object whose keys keep their order, as in a struct. */
export class JsonObject extends Map<string, unknown> {}

/** A []byte. */
export class GoBytes {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}

/** A []string. */
export function stringSlice(items: string[]): string[] {
  return typed(items, { type: '[]string' })
}

/** A Go struct, mostly behind a pointer: fields and methods by name, nothing else. */
export class GoStruct {
  readonly type: string
  readonly fields: ReadonlyMap<string, unknown>
  readonly methods: ReadonlyMap<string, GoFunction>
  readonly print: (() => string) | undefined
  readonly addressedPrint: (() => string) | undefined
  readonly json: (() => unknown) | undefined
  /** Fields of an embedded struct. */
  readonly promoted: ReadonlyMap<string, unknown> | undefined = undefined

  constructor(type: string, fields: Iterable<readonly [string, unknown]>, more: Omit<GoTypeInfo, 'type'> = {}) {
    this.type = type
    // A Map is kept as it is: its owner may watch what is read of it.
    this.fields = fields instanceof Map ? (fields as Map<string, unknown>) : new Map(fields)
    this.methods = more.methods ?? new Map<string, GoFunction>()
    this.print = more.print
    this.addressedPrint = more.addressedPrint
    this.json = more.json
  }
}

/** The target of a pointer, which is printed in its place; a value that is not a pointer is returned as it is. */
export function dereference(value: unknown): unknown {
  if (!(value instanceof GoStruct) || !value.type.startsWith('*')) return value
  return new GoStruct(value.type.slice(1), value.fields, value)
}

/** A value inside an interface. Go cannot take its address, so methods of the pointer do not print it. */
export function boxed(value: unknown): unknown {
  if (!(value instanceof GoStruct) || !value.addressedPrint) return value
  const { methods, print, json } = value
  return new GoStruct(value.type, value.fields, { methods, ...(print && { print }), ...(json && { json }) })
}

/** reflect's Kind of a value. */
export function kindOf(value: unknown): GoKind {
  if (value === undefined || value === null) return 'invalid'
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'number':
      return 'float64'
    case 'boolean':
      return 'bool'
    case 'object':
      if (value instanceof GoInt) return value.type
      if (value instanceof Map) return 'map'
      if (Array.isArray(value)) return 'slice'
      if (value instanceof GoNamed) return kindOf(value.value)
      if (value instanceof GoBytes) return 'slice'
      if (value instanceof GoStruct) return value.type.startsWith('*') ? 'ptr' : 'struct'
      return 'func'
    default:
      return 'func'
  }
}

/** The Go type as `%T` prints it; a nil interface is `interface {}` where an expression has that static type. */
export function typeName(value: unknown): string {
  if (value === undefined) return '<nil>'
  if (value === null) return 'interface {}'
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'number':
      return 'float64'
    case 'boolean':
      return 'bool'
    default:
      if (value instanceof GoInt || value instanceof GoStruct) return value.type
      if (value instanceof Map) return typeInfo(value)?.type ?? 'map[string]interface {}'
      if (Array.isArray(value)) return typeInfo(value)?.type ?? '[]interface {}'
      if (value instanceof GoNamed) return value.info.type
      if (value instanceof GoBytes) return '[]uint8'
      return 'func()'
  }
}

/** text/template's truth. */
export function isTrue(value: unknown): boolean {
  if (value === undefined || value === null) return false
  if (typeof value === 'boolean') return value
  if (typeof value === 'string') return value !== ''
  if (typeof value === 'number') return value !== 0
  if (value instanceof GoInt) return value.value !== 0n
  if (value instanceof Map) return value.size > 0
  if (Array.isArray(value)) return value.length > 0
  if (value instanceof GoNamed) return isTrue(value.value)
  if (value instanceof GoBytes) return value.bytes.length > 0
  return true
}
