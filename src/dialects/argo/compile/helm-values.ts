/** The values of an Application as one map: `values` or `valuesObject`, and over them the parameters. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { jsonFromTable, tableFromJson } from '../../../render/helm/values/dict.ts'
import type { Dict } from '../../../render/helm/values/dict.ts'
import { parseInto, StrvalsError } from '../../../render/helm/values/strvals.ts'
import type { ArgoSource } from '../application.ts'
import type { Environment } from './build-environment.ts'
import { asValueTemplate, hasPlaceholders } from '../generators/cluster-placeholders.ts'
import { readText } from '../files/read-text.ts'

/** The values of a chart. */
export interface ChartValues {
  readonly values: JsonObject
  /** Whether a value depends on the cluster. */
  readonly isTemplated: boolean
}

/** What values are read with. */
export interface ValuesScene {
  readonly environment: Environment
  /** The texts of `helm.fileParameters` by parameter. */
  readonly files: readonly (readonly [name: string, text: string])[]
  wrong(message: string): void
}

/** Reads the values; reports values that cannot be parsed. */
export function valuesOf(
  helm: NonNullable<ArgoSource['helm']>,
  { environment, files, wrong }: ValuesScene,
): ChartValues {
  const { values: text = '', valuesObject, parameters = [] } = helm
  const texts = [text, valuesObject ?? {}, parameters.map(({ name = '', value = '' }) => environment(name + value))]
  const isTemplated = hasPlaceholders(JSON.stringify(texts))
  const filled = (one: string): string => (isTemplated ? asValueTemplate(one) : one)
  const base = valuesObject ? filledIn(valuesObject, filled) : valuesText(filled(text), wrong)
  const table = tableFromJson(base) as Dict
  const set = (name: string, text: string, kind: 'string' | 'typed', option: string): void => {
    try {
      parseInto(`${name}=${text}`, table, { kind })
    } catch (caught) {
      if (!(caught instanceof StrvalsError)) throw caught
      wrong(`helm.${option}: ${name}: ${caught.message}`)
    }
  }
  for (const { name = '', value = '', forceString } of parameters) {
    // As in Argo CD, a comma is part of the value, unless the value is a list.
    const given = filled(environment(value))
    const escaped = given.startsWith('{') ? given : given.replaceAll(/(?<!\\),/g, '\\,')
    set(environment(name), escaped, forceString ? 'string' : 'typed', 'parameters')
  }
  // As with `helm --set-file`, the whole text is the value.
  for (const [name, text] of files) set(name, text.replaceAll(/[\\,{]/g, '\\$&'), 'string', 'fileParameters')
  return { values: jsonFromTable(table) as JsonObject, isTemplated }
}

function valuesText(text: string, wrong: (message: string) => void): JsonObject {
  const value = readText(text, 'helm.values', wrong)
  if (isObject(value)) return value
  if (value !== null && value !== undefined) wrong('helm.values must be a map of values')
  return {}
}

function filledIn(value: unknown, filled: (text: string) => string): JsonObject {
  const each = (item: unknown): unknown => {
    if (typeof item === 'string') return filled(item)
    if (Array.isArray(item)) return item.map(each)
    return isObject(item) ? filledIn(item, filled) : item
  }
  return Object.fromEntries(Object.entries(value as JsonObject).map(([key, item]) => [filled(key), each(item)]))
}
