/**
 * CEL's values in JavaScript: int is bigint, double is number, uint has a class, so that the three never mix by
 * accident. Lists and maps are views: an object of a megabyte is not copied to read one field of it.
 */
import { compareBytes } from '../core/bytes.ts'

/** The largest int. */
export const MAX_INT = 2n ** 63n - 1n
/** The smallest int. */
export const MIN_INT = -(2n ** 63n)
/** The largest uint. */
export const MAX_UINT = 2n ** 64n - 1n

/** An expression that cannot be evaluated; `||` and `&&` may still have an answer. */
export class CelFailure extends Error {}

/** The budget is used up: nothing catches this inside an expression. */
export class CelBudgetExceeded extends Error {}

/** An unsigned integer. */
export class CelUint {
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

/** A moment, in nanoseconds since 1970. */
export class CelTimestamp {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

/** A span of time, in nanoseconds. */
export class CelDuration {
  readonly nanos: bigint
  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

/** A type as a value: what `type(x)` gives. */
export class CelTypeValue {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/** A value that may be absent. */
export class CelOptional {
  readonly value: CelValue | undefined
  constructor(value: CelValue | undefined) {
    this.value = value
  }
  static readonly none = new CelOptional(undefined)
}

/** A value of a library's own type, like a quantity or an address. */
export abstract class CelOpaque {
  abstract readonly typeName: string
  abstract equals(other: CelOpaque): boolean
  /** What JSON shows of it; libraries whose values have a text say it. */
  toString(): string {
    return this.typeName
  }
}

/** How a list counts when it is compared or added to: Kubernetes' list types. */
export interface ListMerge {
  readonly type: 'atomic' | 'set' | 'map'
  readonly keys: readonly string[]
}

/** A list. */
export abstract class CelList {
  abstract readonly size: number
  abstract at(index: number): CelValue

  *[Symbol.iterator](): Generator<CelValue> {
    for (let index = 0; index < this.size; index++) yield this.at(index)
  }

  /**
   * Set for lists of a schema that says `set` or `map`. Last, for a property before `*[…]` would be multiplied by it.
   */
  readonly merge: ListMerge | undefined = undefined
}

/** A list that has its items; an accumulator's may grow. */
export class ArrayList extends CelList {
  readonly items: CelValue[]
  isGrowing: boolean
  constructor(items: CelValue[], isGrowing = false) {
    super()
    this.items = items
    this.isGrowing = isGrowing
  }
  get size(): number {
    return this.items.length
  }
  at(index: number): CelValue {
    return this.items[index]!
  }
}

/** Two lists seen as one: adding lists must not cost their length. */
export class ConcatList extends CelList {
  private readonly left: CelList
  private readonly right: CelList
  readonly size: number
  constructor(left: CelList, right: CelList) {
    super()
    this.left = left
    this.right = right
    this.size = left.size + right.size
  }
  at(index: number): CelValue {
    return index < this.left.size ? this.left.at(index) : this.right.at(index - this.left.size)
  }
}

/** Turns JSON into values. */
export type Adapter = (raw: unknown) => CelValue

/** A JSON array seen as a list. */
export class JsonList extends CelList {
  readonly raw: readonly unknown[]
  private readonly adapt: Adapter
  override readonly merge: ListMerge | undefined
  constructor(raw: readonly unknown[], adapt: Adapter, merge?: ListMerge) {
    super()
    this.raw = raw
    this.adapt = adapt
    this.merge = merge
  }
  get size(): number {
    return this.raw.length
  }
  at(index: number): CelValue {
    return this.adapt(this.raw[index])
  }
}

/** A map, or an object of a schema. */
export abstract class CelMap {
  abstract readonly size: number
  /** undefined when the key is absent. */
  abstract get(key: CelValue): CelValue | undefined
  abstract keys(): Iterable<CelValue>
  /** Objects have fields, not keys; their type's name is shown by `type()`. */
  readonly typeName: string = 'map'
}

/** A map that has its entries; an accumulator's may grow. */
export class EntryMap extends CelMap {
  readonly entries = new Map<string, readonly [CelValue, CelValue]>()
  isGrowing = false
  get size(): number {
    return this.entries.size
  }
  get(key: CelValue): CelValue | undefined {
    return this.entries.get(formatKey(key))?.[1]
  }
  has(key: CelValue): boolean {
    return this.entries.has(formatKey(key))
  }
  set(key: CelValue, value: CelValue): void {
    this.entries.set(formatKey(key), [key, value])
  }
  *keys(): Iterable<CelValue> {
    for (const [key] of this.entries.values()) yield key
  }
}

/** A value of a named type that an expression made: `Name{field: value}`. */
export class StructValue extends EntryMap {
  override readonly typeName: string
  constructor(typeName: string) {
    super()
    this.typeName = typeName
  }
}

/** A JSON object seen as a map with string keys. */
export class JsonMap extends CelMap {
  readonly raw: Readonly<Record<string, unknown>>
  protected readonly adapt: Adapter
  constructor(raw: Readonly<Record<string, unknown>>, adapt: Adapter) {
    super()
    this.raw = raw
    this.adapt = adapt
  }
  get size(): number {
    return Object.keys(this.raw).length
  }
  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.raw, key)) return undefined
    const value = this.raw[key]
    return value === undefined ? undefined : this.adapt(value)
  }
  keys(): Iterable<CelValue> {
    return Object.keys(this.raw)
  }
}

/** Any value. */
export type CelValue =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | CelUint
  | CelTimestamp
  | CelDuration
  | CelTypeValue
  | CelOptional
  | CelOpaque
  | CelList
  | CelMap

/** Values of JSON whose schema is not known: whole numbers are ints, as Kubernetes decodes them. */
export function fromJson(raw: unknown): CelValue {
  switch (typeof raw) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return raw
    case 'number':
      return Number.isSafeInteger(raw) ? BigInt(raw) : raw
    case 'object':
      if (raw === null) return null
      if (Array.isArray(raw)) return new JsonList(raw, fromJson)
      if (isCelObject(raw)) return raw
      return new JsonMap(raw as Record<string, unknown>, fromJson)
    default:
      return null
  }
}

/** Whether a JavaScript object is already a value. */
function isCelObject(raw: object): raw is Exclude<CelValue, null | boolean | bigint | number | string> {
  return (
    raw instanceof CelMap ||
    raw instanceof CelList ||
    raw instanceof CelOpaque ||
    raw instanceof CelUint ||
    raw instanceof CelTimestamp ||
    raw instanceof CelDuration ||
    raw instanceof CelOptional ||
    raw instanceof CelTypeValue ||
    raw instanceof Uint8Array
  )
}

/** The name of a value's type, as errors and `type()` print it. */
export function runtimeTypeName(value: CelValue): string {
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int'
    case 'number':
      return 'double'
    case 'string':
      return 'string'
    default:
      if (value === null) return 'null_type'
      if (value instanceof CelList) return 'list'
      if (value instanceof CelMap) return value.typeName
      if (value instanceof CelUint) return 'uint'
      if (value instanceof CelTimestamp) return 'google.protobuf.Timestamp'
      if (value instanceof CelDuration) return 'google.protobuf.Duration'
      if (value instanceof CelTypeValue) return 'type'
      if (value instanceof CelOptional) return 'optional_type'
      if (value instanceof Uint8Array) return 'bytes'
      return value.typeName
  }
}

/** A text that is equal for keys that are equal: 1, 1u and 1.0 are one key. */
export function formatKey(key: CelValue): string {
  switch (typeof key) {
    case 'string':
      return `s${key}`
    case 'boolean':
      return `b${key}`
    case 'bigint':
      return `n${key}`
    case 'number':
      return Number.isInteger(key) ? `n${BigInt(key)}` : `d${key}`
    default:
      if (key instanceof CelUint) return `n${key.value}`
      throw new CelFailure(`unsupported key type: ${runtimeTypeName(key)}`)
  }
}

/** Whether a value is one of the three kinds of number. */
export function isNumber(value: CelValue): value is bigint | number | CelUint {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof CelUint
}

/** Compares numbers of any kind on one line; undefined when one is NaN. */
export function compareNumbers(a: bigint | number | CelUint, b: bigint | number | CelUint): number | undefined {
  const isDouble = typeof a === 'number' || typeof b === 'number'
  const [left, right] = [a, b].map((value) => {
    const plain = value instanceof CelUint ? value.value : value
    // As in cel-go, an integer beside a double is rounded to one.
    return isDouble ? Number(plain) : plain
  }) as [bigint | number, bigint | number]
  if (left < right) return -1
  if (left > right) return 1
  return Number.isNaN(left) || Number.isNaN(right) ? undefined : 0
}

/** Compares strings by code points, as Go compares their bytes. */
export function compareStrings(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let index = 0; index < shared; index++) {
    const left = a.charCodeAt(index)
    const right = b.charCodeAt(index)
    if (left === right) continue
    // A surrogate stands for a code point above every other unit.
    const isLeftHigh = left >= 0xd800 && left <= 0xdfff
    const isRightHigh = right >= 0xd800 && right <= 0xdfff
    if (isLeftHigh !== isRightHigh) return isLeftHigh ? 1 : -1
    return left < right ? -1 : 1
  }
  return a.length - b.length
}

/** CEL's equality: numbers by value across kinds, the rest only with its own kind. */
export function celEquals(a: CelValue, b: CelValue): boolean {
  if (isNumber(a)) return isNumber(b) && compareNumbers(a, b) === 0
  if (typeof a !== 'object' || a === null || b === null || typeof b !== 'object') return a === b
  if (a instanceof CelList) return b instanceof CelList && listsEqual(a, b)
  if (a instanceof CelMap) return b instanceof CelMap && mapsEqual(a, b)
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.nanos === b.nanos
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos
  if (a instanceof CelTypeValue) return b instanceof CelTypeValue && a.name === b.name
  if (a instanceof Uint8Array) return b instanceof Uint8Array && compareBytes(a, b) === 0
  if (a instanceof CelOptional) {
    if (!(b instanceof CelOptional)) return false
    return a.value === undefined || b.value === undefined ? a.value === b.value : celEquals(a.value, b.value)
  }
  return b instanceof CelOpaque && a instanceof CelOpaque && a.typeName === b.typeName && a.equals(b)
}

function listsEqual(a: CelList, b: CelList): boolean {
  if (a.size !== b.size) return false
  if (a.merge !== undefined && a.merge.type !== 'atomic') return unorderedEqual(a, b, a.merge)
  for (let index = 0; index < a.size; index++) if (!celEquals(a.at(index), b.at(index))) return false
  return true
}

// Order means nothing in lists of type set and map.
function unorderedEqual(a: CelList, b: CelList, merge: ListMerge): boolean {
  const others = new Map<string, CelValue>()
  for (const item of b) others.set(itemIdentity(item, merge), item)
  for (const item of a) {
    const other = others.get(itemIdentity(item, merge))
    if (other === undefined || !celEquals(item, other)) return false
  }
  return true
}

/** What makes an item of a keyed list or set the same item. */
export function itemIdentity(item: CelValue, merge: ListMerge): string {
  if (merge.type === 'map' && item instanceof CelMap) {
    return merge.keys.map((key) => scalarText(item.get(key))).join('\n')
  }
  return scalarText(item)
}

function scalarText(value: CelValue | undefined): string {
  if (value === undefined || value === null) return '-'
  if (value instanceof CelMap || value instanceof CelList) return JSON.stringify(celToJson(value))
  return typeof value === 'object' ? String(celToJson(value)) : JSON.stringify(formatKey(value))
}

function mapsEqual(a: CelMap, b: CelMap): boolean {
  if (a.size !== b.size) return false
  for (const key of a.keys()) {
    const other = b.get(key)
    if (other === undefined || !celEquals(a.get(key)!, other)) return false
  }
  return true
}

/** A value as JSON; times and durations as their text, bytes as base64. */
export function celToJson(value: CelValue): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value.toString()
  }
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof CelUint) return celToJson(value.value)
  if (value instanceof CelList) return Array.from(value, celToJson)
  if (value instanceof CelMap) {
    return Object.fromEntries(Array.from(value.keys(), (key) => [String(celToJson(key)), celToJson(value.get(key)!)]))
  }
  if (value instanceof CelTimestamp) return timestampText(value)
  if (value instanceof CelDuration) return durationText(value)
  if (value instanceof CelTypeValue) return value.name
  if (value instanceof CelOptional) return value.value === undefined ? null : celToJson(value.value)
  if (value instanceof Uint8Array) return value.toBase64()
  return value.toString()
}

/** RFC 3339 in UTC, with as many decimals as it needs. */
export function timestampText(value: CelTimestamp): string {
  return Temporal.Instant.fromEpochNanoseconds(value.nanos).toString()
}

/** Seconds, as CEL writes durations: `3600s`, `0.25s`. */
export function durationText(value: CelDuration): string {
  const { nanos } = value
  const magnitude = nanos < 0n ? -nanos : nanos
  const fraction = (magnitude % 1_000_000_000n).toString().padStart(9, '0').replace(/0+$/, '')
  return `${nanos < 0n ? '-' : ''}${magnitude / 1_000_000_000n}${fraction === '' ? '' : `.${fraction}`}s`
}

/** How many code points a text has. */
export function textSize(text: string): number {
  let size = text.length
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index)
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = text.charCodeAt(index + 1)
      if (next >= 0xdc00 && next <= 0xdfff) {
        size--
        index++
      }
    }
  }
  return size
}

/** What `size()` gives, and 1 for what has no size: the measure of costs. */
export function sizeOf(value: CelValue): number {
  if (typeof value === 'string') return textSize(value)
  if (value instanceof CelList || value instanceof CelMap) return value.size
  if (value instanceof Uint8Array) return value.length
  if (value instanceof CelOptional) return value.value === undefined ? 1 : sizeOf(value.value)
  return value instanceof CelOpaque && 'size' in value ? Number(value.size) : 1
}
