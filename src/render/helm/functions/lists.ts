/** Sprig's lists. Each function accepts any slice and answers with a new []interface{}, unless Go's keeps the type. */
import { GoError, goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { compareStrings } from '../../gotemplate/go-string.ts'
import {
  GoBytes,
  GoInt,
  isTrue,
  kindOf,
  nilSlice,
  plainValue,
  stringSlice,
  typed,
  typeInfo,
  typeName,
} from '../../gotemplate/value.ts'
import { count, strslice, strval, toInt64 } from './convert.ts'
import { deepEqual } from './go/deep-equal.ts'

/** What Go's reflect calls the kind of a list argument in Sprig's messages. */
function listKind(value: unknown): string {
  const kind = kindOf(value)
  return kind === 'invalid' ? 'invalid' : kind
}

function listOf(value: unknown, doing: string): readonly unknown[] {
  const list = elementsOf(value)
  if (list) return list
  if (value === null || value === undefined)
    throw new GoError('runtime error: invalid memory address or nil pointer dereference')
  throw new GoError(
    doing.includes('%s') ? doing.replace('%s', listKind(value)) : `Cannot ${doing} on type ${listKind(value)}`,
  )
}

/** The elements of any slice; undefined if the value is not a slice. */
function elementsOf(given: unknown): readonly unknown[] | undefined {
  const value = plainValue(given)
  if (Array.isArray(value)) return value
  return value instanceof GoBytes ? Array.from(value.bytes, (byte) => new GoInt(byte, 'uint8')) : undefined
}

function uniq(list: readonly unknown[]): unknown[] {
  const kept: unknown[] = []
  for (const item of list) if (!kept.some((present) => deepEqual(present, item))) kept.push(item)
  return kept
}

/** Sprig's empty: what `default`, `coalesce` and `compact` pass over. */
export function isEmpty(value: unknown): boolean {
  switch (kindOf(value)) {
    case 'invalid':
      return true
    case 'bool':
      return value === false
    case 'string':
      return plainValue(value) === ''
    case 'float64':
      return value === 0
    case 'map':
    case 'slice':
      return !isTrue(value)
    case 'struct':
    case 'ptr':
    case 'func':
      return false
    default:
      return toInt64(value) === 0n
  }
}

function chunk(size: number, list: readonly unknown[]): unknown[][] {
  const length = (given: number) => {
    if (given < 0) throw new GoError('runtime error: makeslice: len out of range')
    return given
  }
  // A size below zero has its own arithmetic, in Helm too.
  const chunks = size === 0 ? length(-1) : length(Math.floor((list.length - 1) / size) + 1)
  const parts = Array.from({ length: chunks }, (_, index) => {
    const taken = length(index === chunks - 1 ? list.length % size || size : size)
    return list.slice(index * size, index * size + taken)
  })
  return typed(parts, { type: '[][]interface {}' })
}

function sliceList(value: unknown, bounds: readonly unknown[]): unknown {
  const list = listOf(value, 'list should be type of slice or array but %s')
  if (list.length === 0) return null
  const start = bounds.length > 0 ? Number(toInt64(bounds[0])) : 0
  const end = bounds.length > 1 ? Number(toInt64(bounds[1])) : list.length
  if (start < 0 || end > list.length || start > end) throw new GoError('reflect.Value.Slice: slice index out of bounds')
  if (value instanceof GoBytes) return new GoBytes(value.bytes.subarray(start, end))
  const part = list.slice(start, end)
  const info = Array.isArray(value) ? typeInfo(value) : undefined
  return info ? typed(part, { type: info.type }) : part
}

function concat(lists: readonly unknown[]): unknown[] {
  const all = lists.flatMap((list) => {
    const elements = elementsOf(list)
    if (elements) return elements
    if (list === null || list === undefined)
      throw new GoError('runtime error: invalid memory address or nil pointer dereference')
    throw new GoError(`Cannot concat type ${listKind(list)} as list`)
  })
  return all.length > 0 ? all : nilSlice()
}

function has(needle: unknown, haystack: unknown): boolean {
  if (haystack === null || haystack === undefined) return false
  return listOf(haystack, 'find has').some((item) => deepEqual(needle, item))
}

const list1 = (doing: string, call: (list: readonly unknown[]) => unknown) =>
  goFunction(['any'], ([value]) => call(listOf(value, doing)))
const withItem = (doing: string, call: (list: readonly unknown[], item: unknown) => unknown) =>
  goFunction(['any', 'any'], ([value, item]) => call(listOf(value, doing), item))

const append = withItem('push', (list, item) => [...list, item])
const prepend = withItem('prepend', (list, item) => [item, ...list])
const first = list1('find first', (list) => list[0] ?? null)
const last = list1('find last', (list) => list.at(-1) ?? null)
const rest = list1('find rest', (list) => (list.length === 0 ? nilSlice() : list.slice(1)))
const initial = list1('find initial', (list) => (list.length === 0 ? nilSlice() : list.slice(0, -1)))
const reverse = list1('find reverse', (list) => list.toReversed())
const compact = list1('compact', (list) => list.filter((item) => !isEmpty(item)))
const unique = list1('find uniq', uniq)
const without = goFunction(
  ['any'],
  ([value, ...omit]) => listOf(value, 'find without').filter((item) => !omit.some((one) => deepEqual(one, item))),
  'any',
)
const hasItem = goFunction(['any', 'any'], ([needle, haystack]) => has(needle, haystack))
const slice = goFunction(['any'], ([value, ...bounds]) => sliceList(value, bounds), 'any')
const chunked = goFunction(['int', 'any'], ([size, value]) => chunk(count(size), listOf(value, 'Cannot chunk type %s')))
const list = goFunction([], (items) => [...items], 'any')

/** Lists. */
export const LIST_FUNCTIONS: Readonly<Record<string, GoFunction>> = {
  list,
  tuple: list,
  append,
  push: append,
  mustAppend: append,
  mustPush: append,
  prepend,
  mustPrepend: prepend,
  first,
  mustFirst: first,
  last,
  mustLast: last,
  rest,
  mustRest: rest,
  initial,
  mustInitial: initial,
  reverse,
  mustReverse: reverse,
  compact,
  mustCompact: compact,
  uniq: unique,
  mustUniq: unique,
  without,
  mustWithout: without,
  has: hasItem,
  mustHas: hasItem,
  slice,
  mustSlice: slice,
  chunk: chunked,
  mustChunk: chunked,
  concat: goFunction([], concat, 'any'),
  sortAlpha: goFunction(['any'], ([value]) =>
    stringSlice(kindOf(value) === 'slice' ? [...strslice(value)].sort(compareStrings) : [strval(value)]),
  ),
  all: goFunction([], (values) => values.every((value) => !isEmpty(value)), 'any'),
  any: goFunction([], (values) => values.some((value) => !isEmpty(value)), 'any'),
  empty: goFunction(['any'], ([value]) => isEmpty(value)),
  coalesce: goFunction([], (values) => values.find((value) => !isEmpty(value)) ?? null, 'any'),
  default: goFunction(['any'], ([fallback, given]) => (isEmpty(given) ? fallback : given), 'any'),
  ternary: goFunction(['any', 'any', 'bool'], ([yes, no, test]) => (test === true ? yes : no)),
}

/** Names a type for Sprig's `typeOf`. */
export function typeOf(value: unknown): string {
  return value === null || value === undefined ? '<nil>' : typeName(value)
}
