/** Parameters of generators as maps: flattened for plain templates, and merged as in Argo CD. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import type { Parameters } from './fill-template.ts'

/** All strings of a value by their dotted names: `{a: {b: [x]}}` is `a.b.0`. */
export function flattened(value: unknown, name = ''): Record<string, string> {
  const items = Array.isArray(value) ? Object.entries(value) : isObject(value) ? Object.entries(value) : undefined
  if (!items) return { [name]: typeof value === 'string' ? value : value === null ? '<nil>' : JSON.stringify(value) }
  const dotted = name === '' ? '' : `${name}.`
  return Object.assign({}, ...items.map(([key, item]) => flattened(item, `${dotted}${key}`)))
}

/** Merges two maps: the second wins, map by map; its empty values do not count. */
export function joined(base: JsonObject, over: JsonObject): JsonObject {
  const out: JsonObject = { ...base }
  for (const [key, item] of Object.entries(over)) {
    const own = out[key]
    if (isObject(own) && isObject(item)) out[key] = joined(own, item)
    else if (own === undefined || !isEmpty(item)) out[key] = item
  }
  return out
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (isObject(value)) return Object.keys(value).length === 0
  return value === undefined || value === null || value === '' || value === false || value === 0
}

/** `values` as templates see them. */
export function asValues(values: Readonly<Record<string, string>>, isGo: boolean): Parameters {
  if (Object.keys(values).length === 0) return {}
  return isGo ? { values } : Object.fromEntries(Object.entries(values).map(([key, value]) => [`values.${key}`, value]))
}

/** A name as Argo CD normalizes it. */
export function normalized(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^-a-z0-9.]/g, '-')
    .slice(0, 253)
    .replaceAll(/^[-.]+|[-.]+$/g, '')
}

/** Parses YAML or JSON as Argo CD does; reports a text that cannot be parsed. */
export function readText(text: string, file: string, wrong: (message: string) => void): unknown {
  try {
    return readFirstYaml(text, { file, resolver: '1.1', duplicateKeys: 'last' }).value
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    wrong(caught.message)
    return undefined
  }
}

/** The maps of a list, or a single map; reports other values. */
export function mapsOf(value: unknown, what: string, wrong: (message: string) => void): JsonObject[] {
  const items: unknown[] = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value]
  if (items.every(isObject)) return items
  wrong(`${what} must hold maps of parameters`)
  return []
}
