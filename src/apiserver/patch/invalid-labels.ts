import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { invalid, invalidObject } from '../../kinds/validation/field-error.ts'
import { goJsonType } from '../../kinds/validation/go-text.ts'
import { isCustom } from '../server/registry.ts'

/** Patches that leave labels or annotations which are not strings. */

interface Patch {
  readonly isStrategic: boolean
  /** The patch itself. */
  readonly value: unknown
}

/**
 * Labels that are no map of texts, in Go's words: strategic merge is done on structs, the others on text that is read
 * again.
 */
export function refuseInvalidLabels(kind: Kind, patched: JsonObject, { isStrategic, value }: Patch): void {
  const { metadata } = patched
  if (!isObject(metadata)) return
  for (const field of ['labels', 'annotations'] as const) {
    const place = isCustom(kind) ? field : `metadata.${field}`
    const why = isStrategic ? structProblem(metadata[field]) : textProblem(metadata[field], place)
    if (why === undefined) continue
    const text = isStrategic ? goText(value) : JSON.stringify(patched)
    throw invalidObject({ group: '', kind: '' }, '', [invalid('patch', text, why)])
  }
}

const oddIn = (map: JsonObject) => Object.values(map).find((value) => value !== null && typeof value !== 'string')

function structProblem(map: unknown): string | undefined {
  if (map === undefined || map === null) return undefined
  if (!isObject(map)) return `cannot restore map from ${Array.isArray(map) ? 'slice' : goJsonType(map)}`
  const odd = oddIn(map)
  if (typeof odd === 'number') return `cannot convert ${Number.isInteger(odd) ? 'int64' : 'float64'} to string`
  return odd === undefined ? undefined : 'unrecognized type: string'
}

function textProblem(map: unknown, place: string): string | undefined {
  if (map === undefined || map === null) return undefined
  const odd = isObject(map) ? oddIn(map) : map
  if (odd === undefined) return undefined
  const wanted = isObject(map) ? 'string' : 'map[string]string'
  return `json: cannot unmarshal ${goJsonType(odd)} into Go struct field ObjectMeta.${place} of type ${wanted}`
}

/** A value as Go prints it. */
function goText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`
  if (!isObject(value)) return String(value)
  const keys = Object.keys(value).sort()
  return `map[${keys.map((key) => `${key}:${goText(value[key])}`).join(' ')}]`
}
