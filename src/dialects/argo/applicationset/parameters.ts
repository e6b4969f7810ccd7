// Tested by src/dialects/argo/applicationset/generate.test.ts.
/** Parameters of generators as Go's values: read, merged and flattened as Argo CD does. */
import { isObject } from '../../../core/json.ts'
import { formatValue } from '../../../render/gotemplate/format.ts'
import { GoInt, typed, typeInfo } from '../../../render/gotemplate/value.ts'
import { ApplicationSetError } from './applicationset-error.ts'
import type { GenerateBudget } from './limits.ts'
import type { Parameters, TextRenderer } from './render-text.ts'

/** JSON as Go's values: objects are maps, numbers are float64. */
export function toGo(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toGo)
  if (isObject(value)) return new Map(Object.entries(value).map(([key, item]) => [key, toGo(item)]))
  return value ?? null
}

/** A map[string]string. */
export function stringMap(entries: Readonly<Record<string, string>>): Map<string, string> {
  return typed(new Map(Object.entries(entries)), { type: 'map[string]string', missing: '' })
}

function isEmpty(value: unknown): boolean {
  if (value instanceof Map) return value.size === 0
  if (value instanceof GoInt) return value.value === 0n
  if (Array.isArray(value)) return value.length === 0
  return value === undefined || value === null || value === '' || value === false || value === 0
}

/** Merges a map into another: it wins, map by map; an empty map does not replace another. */
export function mergeInto(into: Parameters, from: ReadonlyMap<string, unknown>): void {
  for (const [key, item] of from) {
    if (item === null) {
      into.set(key, null)
      continue
    }
    const own = into.get(key)
    if (own instanceof Map && item instanceof Map) {
      if (typeInfo(own) && !typeInfo(item) && item.size > 0) {
        throw new ApplicationSetError(`${key}: a map of any values cannot be merged into labels or values`)
      }
      mergeInto(own as Parameters, item as Parameters)
      if (!isEmpty(own)) continue
    }
    into.set(key, item)
  }
}

/** Two flat parameter sets in one; a key with two different values is an error. */
export function combineTexts(a: Parameters, b: Parameters): Parameters {
  const out: Parameters = new Map([...a].map(([key, value]) => [key, formatValue(value)]))
  for (const [key, value] of b) {
    const text = formatValue(value)
    const own = out.get(key)
    if (own !== undefined && own !== text) {
      throw new ApplicationSetError(
        `found duplicate key ${key} with different value, a: ${formatValue(own)} ,b: ${text}`,
      )
    }
    out.set(key, text)
  }
  return out
}

const MAX_NAME = 4096
const MAX_LEVELS = 100
const SHOWN = 60

/** All values by their dotted names, as text: `{a: {b: [1]}}` is `a.b.0`. */
export function flatten(parameters: ReadonlyMap<string, unknown>, budget: GenerateBudget): Map<string, string> {
  const out = new Map<string, string>()
  const put = (name: string, value: unknown, { inList, level }: { inList: boolean; level: number }): void => {
    // A long name would be repeated for each value below it.
    if (name.length > MAX_NAME) throw unusable(name, `has a name of more than ${MAX_NAME} characters; use shorter keys`)
    if (level > MAX_LEVELS) throw unusable(name, `is nested more than ${MAX_LEVELS} levels deep; use fewer levels`)
    if (value instanceof Map && !(inList && typeInfo(value))) {
      for (const [key, item] of value as Parameters) put(`${name}.${key}`, item, { inList, level: level + 1 })
    } else if (Array.isArray(value) && !typeInfo(value)) {
      for (const [index, item] of value.entries()) put(`${name}.${index}`, item, { inList: true, level: level + 1 })
    } else {
      budget.named(name)
      out.set(name, formatValue(value))
    }
  }
  for (const [key, value] of parameters) put(key, value, { inList: false, level: 1 })
  return out
}

function unusable(name: string, why: string): ApplicationSetError {
  return new ApplicationSetError(`parameter ${JSON.stringify(name.slice(0, SHOWN))} ${why}`)
}

/** Adds `values` of a generator, which are filled with the parameters as they were before. */
export function addValues(
  values: Readonly<Record<string, string>> | undefined,
  parameters: Parameters,
  renderer: TextRenderer,
): void {
  const filled = Object.entries(values ?? {}).map(([key, text]) => [key, renderer.render(text, parameters)] as const)
  if (filled.length === 0) return
  if (renderer.isGo) parameters.set('values', stringMap(Object.fromEntries(filled)))
  else for (const [key, text] of filled) parameters.set(`values.${key}`, text)
}
