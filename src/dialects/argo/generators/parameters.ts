/** Parameters of generators as maps: made flat for plain templates, joined as Argo CD joins them. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import type { Parameters } from './fill-template.ts'

/** Every text below a value by its dotted name: `{a: {b: [x]}}` is `a.b.0`. */
export function flattened(value: unknown, name = ''): Record<string, string> {
  const items = Array.isArray(value) ? Object.entries(value) : isObject(value) ? Object.entries(value) : undefined
  if (!items) return { [name]: typeof value === 'string' ? value : value === null ? '<nil>' : JSON.stringify(value) }
  const dotted = name === '' ? '' : `${name}.`
  return Object.assign({}, ...items.map(([key, item]) => flattened(item, `${dotted}${key}`)))
}

/** Two maps as one: what the second says wins, map by map; what is empty there says nothing. */
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

/** A name as Argo CD makes one of anything. */
export function normalized(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^-a-z0-9.]/g, '-')
    .slice(0, 253)
    .replaceAll(/^[-.]+|[-.]+$/g, '')
}

/** YAML or JSON as Argo CD reads it; what cannot be read is told. */
export function readText(text: string, file: string, wrong: (message: string) => void): unknown {
  try {
    return readFirstYaml(text, { file, resolver: '1.1', duplicateKeys: 'last' }).value
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    wrong(caught.message)
    return undefined
  }
}

/** The maps of a list, or the one map there is; anything else is told. */
export function mapsOf(value: unknown, what: string, wrong: (message: string) => void): JsonObject[] {
  const items: unknown[] = Array.isArray(value) ? value : value === null || value === undefined ? [] : [value]
  if (items.every(isObject)) return items
  wrong(`${what} must hold maps of parameters`)
  return []
}
