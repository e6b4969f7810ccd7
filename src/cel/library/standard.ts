/** The language's own operators and functions. */
import { compareBytes } from '../../core/bytes.ts'
import {
  ArrayList,
  CelDuration,
  CelFailure,
  CelTypeValue,
  CelUint,
  celEquals,
  celToJson,
  compareNumbers,
  compareStrings,
  ConcatList,
  EntryMap,
  itemIdentity,
  MAX_INT,
  MAX_UINT,
  MIN_INT,
  textSize,
  runtimeTypeName,
} from '../values.ts'
import type { CelList, CelMap, CelTimestamp, CelValue } from '../values.ts'
import { parseOverloads } from './overload.ts'
import type { Implementation, Overload } from './overload.ts'
import { duration, timestamp } from './time.ts'

const int = (value: bigint): bigint => {
  if (value > MAX_INT || value < MIN_INT) throw new CelFailure('integer overflow')
  return value
}
const uint = (value: bigint): CelUint => {
  if (value > MAX_UINT || value < 0n) throw new CelFailure('unsigned integer overflow')
  return new CelUint(value)
}
const nonZero = (value: bigint, what: string): bigint => {
  if (value === 0n) throw new CelFailure(`${what} by zero`)
  return value
}

const arithmetic = parseOverloads({
  add_int64: ['_+_(int, int): int', (a: bigint, b: bigint) => int(a + b)],
  add_uint64: ['_+_(uint, uint): uint', (a: CelUint, b: CelUint) => uint(a.value + b.value)],
  add_double: ['_+_(double, double): double', (a: number, b: number) => a + b],
  add_string: ['_+_(string, string): string', (a: string, b: string) => a + b],
  add_bytes: ['_+_(bytes, bytes): bytes', (a: Uint8Array, b: Uint8Array) => Uint8Array.from([...a, ...b])],
  add_list: ['_+_(list<A>, list<A>): list<A>', addLists],
  add_duration_duration: [
    '_+_(duration, duration): duration',
    (a: CelDuration, b: CelDuration) => duration(a.nanos + b.nanos),
  ],
  add_timestamp_duration: [
    '_+_(timestamp, duration): timestamp',
    (a: CelTimestamp, b: CelDuration) => timestamp(a.nanos + b.nanos),
  ],
  add_duration_timestamp: [
    '_+_(duration, timestamp): timestamp',
    (a: CelDuration, b: CelTimestamp) => timestamp(a.nanos + b.nanos),
  ],
  subtract_int64: ['_-_(int, int): int', (a: bigint, b: bigint) => int(a - b)],
  subtract_uint64: ['_-_(uint, uint): uint', (a: CelUint, b: CelUint) => uint(a.value - b.value)],
  subtract_double: ['_-_(double, double): double', (a: number, b: number) => a - b],
  subtract_duration_duration: [
    '_-_(duration, duration): duration',
    (a: CelDuration, b: CelDuration) => duration(a.nanos - b.nanos),
  ],
  subtract_timestamp_duration: [
    '_-_(timestamp, duration): timestamp',
    (a: CelTimestamp, b: CelDuration) => timestamp(a.nanos - b.nanos),
  ],
  subtract_timestamp_timestamp: [
    '_-_(timestamp, timestamp): duration',
    (a: CelTimestamp, b: CelTimestamp) => new CelDuration(int(a.nanos - b.nanos)),
  ],
  multiply_int64: ['_*_(int, int): int', (a: bigint, b: bigint) => int(a * b)],
  multiply_uint64: ['_*_(uint, uint): uint', (a: CelUint, b: CelUint) => uint(a.value * b.value)],
  multiply_double: ['_*_(double, double): double', (a: number, b: number) => a * b],
  divide_int64: ['_/_(int, int): int', (a: bigint, b: bigint) => int(a / nonZero(b, 'division'))],
  divide_uint64: ['_/_(uint, uint): uint', (a: CelUint, b: CelUint) => uint(a.value / nonZero(b.value, 'division'))],
  divide_double: ['_/_(double, double): double', (a: number, b: number) => a / b],
  modulo_int64: ['_%_(int, int): int', (a: bigint, b: bigint) => int(a % nonZero(b, 'modulus'))],
  modulo_uint64: ['_%_(uint, uint): uint', (a: CelUint, b: CelUint) => uint(a.value % nonZero(b.value, 'modulus'))],
  negate_int64: ['-_(int): int', (a: bigint) => int(-a)],
  negate_double: ['-_(double): double', (a: number) => -a],
  logical_not: ['!_(bool): bool', (a: boolean) => !a],
  logical_and: ['_&&_(bool, bool): bool', (a: boolean, b: boolean) => a && b],
  logical_or: ['_||_(bool, bool): bool', (a: boolean, b: boolean) => a || b],
  conditional: ['_?_:_(bool, A, A): A', (a: boolean, b: CelValue, c: CelValue) => (a ? b : c)],
  not_strictly_false: ['@not_strictly_false(bool): bool', (a: boolean) => a],
  equals: ['_==_(A, A): bool', celEquals],
  not_equals: ['_!=_(A, A): bool', (a: CelValue, b: CelValue) => !celEquals(a, b)],
  index_list: ['_[_](list<A>, int): A', notCalled],
  index_map: ['_[_](map<A, B>, A): B', notCalled],
  optional_list_index_value: ['_[_](optional<list<V>>, int): optional<V>', notCalled],
  optional_map_index_value: ['_[_](optional<map<K, V>>, K): optional<V>', notCalled],
  list_optindex_optional_int: ['_[?_](list<V>, int): optional<V>', notCalled],
  optional_list_optindex_optional_int: ['_[?_](optional<list<V>>, int): optional<V>', notCalled],
  map_optindex_optional_value: ['_[?_](map<K, V>, K): optional<V>', notCalled],
  optional_map_optindex_optional_value: ['_[?_](optional<map<K, V>>, K): optional<V>', notCalled],
  in_list: ['@in(A, list<A>): bool', isInList],
  in_map: ['@in(A, map<A, B>): bool', (key: CelValue, map: CelMap) => map.get(key) !== undefined],
  size_string: ['size(string): int', (a: string) => BigInt(textSize(a))],
  size_bytes: ['size(bytes): int', (a: Uint8Array) => BigInt(a.length)],
  size_list: ['size(list<A>): int', (a: CelList) => BigInt(a.size)],
  size_map: ['size(map<A, B>): int', (a: CelMap) => BigInt(a.size)],
  string_size: ['string::size(): int', (a: string) => BigInt(textSize(a))],
  bytes_size: ['bytes::size(): int', (a: Uint8Array) => BigInt(a.length)],
  list_size: ['list<A>::size(): int', (a: CelList) => BigInt(a.size)],
  map_size: ['map<A, B>::size(): int', (a: CelMap) => BigInt(a.size)],
  type: ['type(A): type<A>', (a: CelValue) => new CelTypeValue(runtimeTypeName(a))],
  to_dyn: ['dyn(A): dyn', (a: CelValue) => a],
  '@mapInsert_map_key_value': ['cel.@mapInsert(map<K, V>, K, V): map<K, V>', insert],
  '@mapInsert_map_map': ['cel.@mapInsert(map<K, V>, map<K, V>): map<K, V>', insertAll],
  contains_string: ['string::contains(string): bool', (a: string, b: string) => a.includes(b)],
  starts_with_string: ['string::startsWith(string): bool', (a: string, b: string) => a.startsWith(b)],
  ends_with_string: ['string::endsWith(string): bool', (a: string, b: string) => a.endsWith(b)],
})

// Selection by index is compiled, not called: it must see absence, not only values.
function notCalled(): CelValue {
  throw new CelFailure('no such overload')
}

function addLists(left: CelList, right: CelList): CelValue {
  if (left instanceof ArrayList && left.isGrowing) {
    for (const item of right) left.items.push(item)
    return left
  }
  const { merge } = left
  if (merge === undefined || merge.type === 'atomic') return new ConcatList(left, right)
  // Kubernetes' sets and keyed lists: what is there is replaced in its place, the rest is appended.
  const items = new Map<string, CelValue>()
  for (const item of left) items.set(itemIdentity(item, merge), item)
  for (const item of right) items.set(itemIdentity(item, merge), item)
  return new ArrayList([...items.values()])
}

function isInList(item: CelValue, list: CelList): boolean {
  for (const other of list) if (celEquals(item, other)) return true
  return false
}

function insert(map: CelMap, key: CelValue, value: CelValue): CelValue {
  const target = map instanceof EntryMap && map.isGrowing ? map : copyOf(map)
  if (target.has(key)) throw new CelFailure(`insert failed: key ${String(celToJson(key))} already exists`)
  target.set(key, value)
  return target
}

function insertAll(map: CelMap, more: CelMap): CelValue {
  let result: CelValue = map
  for (const key of more.keys()) result = insert(result as CelMap, key, more.get(key)!)
  return result
}

function copyOf(map: CelMap): EntryMap {
  const copy = new EntryMap()
  for (const key of map.keys()) copy.set(key, map.get(key)!)
  return copy
}

type Order = (a: never, b: never) => number | undefined

const bool: Order = (a: boolean, b: boolean) => Number(a) - Number(b)
const nanos: Order = (a: CelDuration | CelTimestamp, b: CelDuration | CelTimestamp) =>
  a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0

const ORDERED: readonly (readonly [name: string, types: string, order: Order])[] = [
  ['bool', 'bool, bool', bool],
  ['int64', 'int, int', compareNumbers],
  ['int64_double', 'int, double', compareNumbers],
  ['int64_uint64', 'int, uint', compareNumbers],
  ['uint64', 'uint, uint', compareNumbers],
  ['uint64_double', 'uint, double', compareNumbers],
  ['uint64_int64', 'uint, int', compareNumbers],
  ['double', 'double, double', compareNumbers],
  ['double_int64', 'double, int', compareNumbers],
  ['double_uint64', 'double, uint', compareNumbers],
  ['string', 'string, string', compareStrings],
  ['bytes', 'bytes, bytes', compareBytes],
  ['timestamp', 'timestamp, timestamp', nanos],
  ['duration', 'duration, duration', nanos],
]

function comparisons(): Overload[] {
  const table: Record<string, readonly [string, Implementation]> = {}
  for (const [name, types, order] of ORDERED) {
    const compare = order as unknown as (a: CelValue, b: CelValue) => number | undefined
    const against = (test: (sign: number) => boolean) => (a: CelValue, b: CelValue) => {
      const sign = compare(a, b)
      return sign !== undefined && test(sign)
    }
    table[`less_${name}`] = [`_<_(${types}): bool`, against((sign) => sign < 0)]
    table[`less_equals_${name}`] = [`_<=_(${types}): bool`, against((sign) => sign <= 0)]
    table[`greater_${name}`] = [`_>_(${types}): bool`, against((sign) => sign > 0)]
    table[`greater_equals_${name}`] = [`_>=_(${types}): bool`, against((sign) => sign >= 0)]
  }
  return parseOverloads(table)
}

/** Operators, comparisons, size, type and the plain string functions. */
export const STANDARD: readonly Overload[] = [...arithmetic, ...comparisons()]
