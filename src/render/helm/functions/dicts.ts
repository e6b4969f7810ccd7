/** Sprig's dictionaries. `set`, `unset`, `merge` change the map they are given, for every later reader, as in Go. */
import { GoError, goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { compareStrings } from '../../gotemplate/go-string.ts'
import { GoNamed, isNil, nilMap, plainValue, stringSlice, typed, typeInfo, typeName } from '../../gotemplate/value.ts'
import { strval } from './convert.ts'
import { isEmpty } from './lists.ts'

type Dict = Map<string, unknown>

/** An argument of type map; a nil map is undefined. */
function dictOf(value: unknown): Dict | undefined {
  return value instanceof Map ? value : undefined
}

function dict(pairs: readonly unknown[]): Dict {
  const result: Dict = new Map()
  for (let at = 0; at < pairs.length; at += 2) {
    result.set(strval(pairs[at]), at + 1 < pairs.length ? (pairs[at + 1] ?? null) : '')
  }
  return result
}

/**
 * mergo's merge of maps. Tables are merged in place, a table that is missing is shared with its source. Without
 * `overwrite` only empty values are filled; with it all given values win, also empty values.
 */
function mergeInto(target: Dict, source: Dict, overwrite: boolean): void {
  for (const [key, value] of source) {
    const present = plainValue(target.get(key))
    if (value === null || value === undefined) {
      if (overwrite) target.set(key, null)
      continue
    }
    const given = plainValue(value)
    if (present instanceof Map && given instanceof Map) {
      mergeInto(present, given, overwrite)
      if (present.size > 0) continue
    }
    if (overwrite || isEmpty(present)) target.set(key, value)
  }
}

function merge(overwrite: boolean): GoFunction {
  return goFunction(
    ['map'],
    ([given, ...sources]) => {
      let target = isNil(given) ? undefined : dictOf(given)
      for (const source of sources) {
        if (!(source instanceof Map) || isNil(source)) continue
        // A merge into nil creates a new map that the caller does not see.
        target ??= new Map()
        mergeInto(target, source, overwrite)
      }
      return target ?? nilMap()
    },
    'map',
  )
}

/** copystructure: new maps and lists of the same types; scalars are shared. */
function deepCopy(value: unknown): unknown {
  if (value instanceof GoNamed) return new GoNamed(deepCopy(value.value), value.info)
  if (value instanceof Map) {
    const copy = new Map([...value].map(([key, item]) => [key, deepCopy(item)]))
    const info = typeInfo(value)
    return info ? typed(copy, info) : copy
  }
  if (Array.isArray(value)) {
    const copy = value.map(deepCopy)
    const info = typeInfo(value)
    return info ? typed(copy, info) : copy
  }
  return value
}

function notA(type: string, value: unknown): GoError {
  const is = value === null || value === undefined ? 'nil' : typeName(value)
  return new GoError(`interface conversion: interface {} is ${is}, not ${type}`)
}

function isPlainMap(value: unknown): value is Dict {
  return value instanceof Map && typeName(value) === 'map[string]interface {}'
}

function dig(args: readonly unknown[]): unknown {
  if (args.length < 3) throw new GoError('dig needs at least three arguments')
  const target = args.at(-1)
  const fallback = args.at(-2)
  if (!isPlainMap(target)) throw notA('map[string]interface {}', target)
  const path = args.slice(0, -2).map((key) => {
    if (typeof key !== 'string') throw notA('string', key)
    return key
  })
  let at: Dict = target
  for (const [index, key] of path.entries()) {
    if (!at.has(key)) return fallback
    const next = at.get(key)
    if (index === path.length - 1) return next
    if (!isPlainMap(next)) throw notA('map[string]interface {}', next)
    at = next
  }
  return fallback
}

function pickOrOmit(keep: boolean): GoFunction {
  return goFunction(
    ['map'],
    ([source, ...keys]) => {
      const entries = [...(dictOf(source) ?? [])]
      return new Map(entries.filter(([key]) => keys.includes(key) === keep))
    },
    'string',
  )
}

const mergeFill = merge(false)
const mergeOver = merge(true)
const copy = goFunction(['any'], ([value]) => {
  if (value === null || value === undefined) {
    throw new GoError('reflect: call of reflect.Value.Type on zero Value')
  }
  return deepCopy(value)
})

/** Dictionaries. */
export const DICT_FUNCTIONS: Readonly<Record<string, GoFunction>> = {
  dict: goFunction([], dict, 'any'),
  get: goFunction(['map', 'string'], ([map, key]) => {
    const source = dictOf(map)
    return source?.has(String(key)) ? (source.get(String(key)) ?? null) : ''
  }),
  set: goFunction(['map', 'string', 'any'], ([map, key, value]) => {
    if (isNil(map)) throw new GoError('assignment to entry in nil map')
    dictOf(map)?.set(String(key), value ?? null)
    return map
  }),
  unset: goFunction(['map', 'string'], ([map, key]) => {
    dictOf(map)?.delete(String(key))
    return map ?? nilMap()
  }),
  hasKey: goFunction(['map', 'string'], ([map, key]) => dictOf(map)?.has(String(key)) ?? false),
  pluck: goFunction(
    ['string'],
    ([key, ...maps]) => maps.map(dictOf).flatMap((map) => (map?.has(String(key)) ? [map.get(String(key))] : [])),
    'map',
  ),
  keys: goFunction(
    [],
    (maps) => stringSlice(maps.flatMap((map) => [...(dictOf(map)?.keys() ?? [])].sort(compareStrings))),
    'map',
  ),
  values: goFunction(['map'], ([map]) =>
    [...(dictOf(map) ?? [])].sort(([a], [b]) => compareStrings(a, b)).map(([, value]) => value),
  ),
  pick: pickOrOmit(true),
  omit: pickOrOmit(false),
  merge: mergeFill,
  mustMerge: mergeFill,
  mergeOverwrite: mergeOver,
  mustMergeOverwrite: mergeOver,
  dig: goFunction([], dig, 'any'),
  deepCopy: copy,
  mustDeepCopy: copy,
}
