/** Lists: Kubernetes' own functions, cel-go's list extension, and sets. */
import { compareBytes } from '../../core/bytes.ts'
import {
  ArrayList,
  CelFailure,
  CelDuration,
  CelList,
  CelMap,
  CelOptional,
  CelTimestamp,
  CelUint,
  celEquals,
  compareNumbers,
  compareStrings,
  isNumber,
  formatKey,
  MAX_INT,
  MAX_UINT,
  MIN_INT,
} from '../values.ts'
import type { CelValue } from '../values.ts'
import { parseOverloads } from './overload.ts'
import type { Implementation, Overload } from './overload.ts'
import { duration } from './time.ts'

function compare(a: CelValue, b: CelValue): number {
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b) ?? 0
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b)
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b)
  if (
    (a instanceof CelTimestamp && b instanceof CelTimestamp) ||
    (a instanceof CelDuration && b instanceof CelDuration)
  ) {
    return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0
  }
  throw new CelFailure('no such overload')
}

function isSorted(list: CelList): boolean {
  for (let index = 1; index < list.size; index++) if (compare(list.at(index - 1), list.at(index)) > 0) return false
  return true
}

function extreme(sign: number, name: string): (list: CelList) => CelValue {
  return (list) => {
    if (list.size === 0) throw new CelFailure(`${name} called on empty list`)
    let best = list.at(0)
    for (const item of list) if (compare(item, best) * sign > 0) best = item
    return best
  }
}

const SUMS: Readonly<Record<string, (list: CelList) => CelValue>> = {
  int: (list) => {
    let sum = 0n
    for (const item of list) {
      sum += item as bigint
      if (sum > MAX_INT || sum < MIN_INT) throw new CelFailure('integer overflow')
    }
    return sum
  },
  uint: (list) => {
    let sum = 0n
    for (const item of list) {
      sum += (item as CelUint).value
      if (sum > MAX_UINT) throw new CelFailure('unsigned integer overflow')
    }
    return new CelUint(sum)
  },
  double: (list) => {
    let sum = 0
    for (const item of list) sum += item as number
    return sum
  },
  duration: (list) => {
    let sum = 0n
    for (const item of list) sum += (item as CelDuration).nanos
    return duration(sum)
  },
}

function perType(): Overload[] {
  const table: Record<string, readonly [string, Implementation]> = {}
  for (const type of ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']) {
    table[`list_${type}_is_sorted_bool`] = [`list<${type}>::isSorted(): bool`, isSorted]
    table[`list_${type}_max_${type}`] = [`list<${type}>::max(): ${type}`, extreme(1, 'max')]
    table[`list_${type}_min_${type}`] = [`list<${type}>::min(): ${type}`, extreme(-1, 'min')]
    table[`list_${type}_sort`] = [`list<${type}>::sort(): list<${type}>`, sort]
    table[`list_${type}_sort_by`] = [`list<T>::@sortByAssociatedKeys(list<${type}>): list<T>`, sortByKeys]
  }
  for (const [type, sum] of Object.entries(SUMS)) {
    table[`list_${type}_sum_${type}`] = [`list<${type}>::sum(): ${type}`, checkedSum(sum)]
  }
  return parseOverloads(table)
}

function checkedSum(sum: (list: CelList) => CelValue): (list: CelList) => CelValue {
  return (list) => {
    try {
      return sum(list)
    } catch (error) {
      // A list of dyn may hold anything.
      throw error instanceof CelFailure ? error : new CelFailure('no such overload')
    }
  }
}

function sort(list: CelList): ArrayList {
  return new ArrayList([...list].sort(compare))
}

function sortByKeys(list: CelList, keys: CelList): ArrayList {
  const pairs = Array.from(list, (item, index) => ({ item, key: keys.at(index) }))
  return new ArrayList(pairs.sort((a, b) => compare(a.key, b.key)).map((pair) => pair.item))
}

function slice(list: CelList, start: bigint, end: bigint): ArrayList {
  if (start < 0n || end < 0n) throw new CelFailure(`cannot slice(${start}, ${end}), negative indexes not supported`)
  if (start > end)
    throw new CelFailure(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`)
  if (end > BigInt(list.size)) throw new CelFailure(`cannot slice(${start}, ${end}), list is length ${list.size}`)
  const items: CelValue[] = []
  for (let index = Number(start); index < Number(end); index++) items.push(list.at(index))
  return new ArrayList(items)
}

function flatten(list: CelList, depth = 1n): ArrayList {
  if (depth < 0n) throw new CelFailure('level must be non-negative')
  const items: CelValue[] = []
  for (const item of list) {
    if (item instanceof CelList && depth > 0n) items.push(...flatten(item, depth - 1n))
    else items.push(item)
  }
  return new ArrayList(items)
}

function distinct(list: CelList): ArrayList {
  const kept: CelValue[] = []
  const seen = new Set<string>()
  const others: CelValue[] = []
  for (const item of list) {
    if (typeof item === 'object' && !(item instanceof CelUint)) {
      if (others.some((other) => celEquals(other, item))) continue
      others.push(item)
    } else {
      const text = formatKey(item)
      if (seen.has(text)) continue
      seen.add(text)
    }
    kept.push(item)
  }
  return new ArrayList(kept)
}

const MAX_RANGE = 1_000_000n

function range(count: bigint): ArrayList {
  if (count > MAX_RANGE) throw new CelFailure(`lists.range(${count}) is longer than ${MAX_RANGE}`)
  return new ArrayList(Array.from({ length: Math.max(0, Number(count)) }, (_, index) => BigInt(index)))
}

const includes = (list: CelList, item: CelValue): boolean => {
  for (const other of list) if (celEquals(other, item)) return true
  return false
}
const containsAll = (list: CelList, part: CelList): boolean => {
  for (const item of part) if (!includes(list, item)) return false
  return true
}
const intersects = (a: CelList, b: CelList): boolean => {
  for (const item of a) if (includes(b, item)) return true
  return false
}

function indexIn(list: CelList, item: CelValue): bigint {
  for (let index = 0; index < list.size; index++) if (celEquals(list.at(index), item)) return BigInt(index)
  return -1n
}

function lastIndexIn(list: CelList, item: CelValue): bigint {
  for (let index = list.size - 1; index >= 0; index--) if (celEquals(list.at(index), item)) return BigInt(index)
  return -1n
}

const at = (list: CelList, index: number): CelOptional =>
  list.size === 0 ? CelOptional.none : new CelOptional(list.at(index))

/** Lists and sets. */
export const LISTS: readonly Overload[] = [
  ...perType(),
  ...parseOverloads({
    list_a_index_of_int: ['list<A>::indexOf(A): int', indexIn],
    list_a_last_index_of_int: ['list<A>::lastIndexOf(A): int', lastIndexIn],
    list_slice: ['list<T>::slice(int, int): list<T>', slice],
    list_flatten: ['list<list<T>>::flatten(): list<T>', (list: CelList) => flatten(list)],
    list_flatten_int: ['list<dyn>::flatten(int): list<dyn>', flatten],
    list_distinct: ['list<T>::distinct(): list<T>', distinct],
    list_reverse: ['list<T>::reverse(): list<T>', (list: CelList) => new ArrayList([...list].reverse())],
    lists_range: ['lists.range(int): list<int>', range],
    list_first: ['list<T>::first(): optional<T>', (list: CelList) => at(list, 0)],
    list_last: ['list<T>::last(): optional<T>', (list: CelList) => at(list, list.size - 1)],
    list_sets_contains_list: ['sets.contains(list<T>, list<T>): bool', containsAll],
    list_sets_intersects_list: ['sets.intersects(list<T>, list<T>): bool', intersects],
    list_sets_equivalent_list: [
      'sets.equivalent(list<T>, list<T>): bool',
      (a: CelList, b: CelList) => containsAll(a, b) && containsAll(b, a),
    ],
  }),
]

function isZero(value: CelValue): boolean {
  if (value instanceof CelList || value instanceof CelMap) return value.size === 0
  if (value instanceof CelUint) return value.value === 0n
  if (value instanceof CelDuration || value instanceof CelTimestamp) return value.nanos === 0n
  if (value instanceof Uint8Array) return value.length === 0
  if (value instanceof CelOptional) return value.value === undefined
  return value === null || value === false || value === 0n || value === 0 || value === ''
}

function unwrap(list: CelList): ArrayList {
  const items: CelValue[] = []
  for (const item of list) if (item instanceof CelOptional && item.value !== undefined) items.push(item.value)
  return new ArrayList(items)
}

/** Optional values. */
export const OPTIONALS: readonly Overload[] = parseOverloads({
  optional_of: ['optional.of(V): optional<V>', (value: CelValue) => new CelOptional(value)],
  optional_ofNonZeroValue: [
    'optional.ofNonZeroValue(V): optional<V>',
    (value: CelValue) => (isZero(value) ? CelOptional.none : new CelOptional(value)),
  ],
  optional_none: ['optional.none(): optional<V>', () => CelOptional.none],
  optional_unwrap: ['optional.unwrap(list<optional<V>>): list<V>', unwrap],
  optional_unwrapOpt: ['list<optional<V>>::unwrapOpt(): list<V>', unwrap],
  optional_hasValue: ['optional<V>::hasValue(): bool', (value: CelOptional) => value.value !== undefined],
  optional_value: [
    'optional<V>::value(): V',
    (value: CelOptional) => {
      if (value.value === undefined) throw new CelFailure('optional.none() dereference')
      return value.value
    },
  ],
  optional_or_optional: ['optional<V>::or(optional<V>): optional<V>', (value: CelOptional) => value],
  optional_orValue_value: ['optional<V>::orValue(V): V', (_value: CelOptional, other: CelValue) => other],
})
