/** Rules about what must fit together in an object, where Kubernetes' own validation says more than the schema. */
import type { JsonObject } from '../../../core/json.ts'
import { duplicate } from '../../validation/field-error.ts'
import type { FieldError } from '../../validation/field-error.ts'

/** Where a value is. */
export interface ValueLocation {
  readonly path: string
  /** The objects it is in, the nearest first. */
  readonly above: readonly JsonObject[]
}

/** What is wrong with an object of some type. */
export type CrossFieldRule = (object: JsonObject, place: ValueLocation) => FieldError[]

/** The fields with a text that another before them has. */
export function duplicateFieldErrors(fields: readonly (readonly [field: string, text: string])[]): FieldError[] {
  const seen = new Set<string>()
  return fields.flatMap(([field, text]) => {
    if (text === '') return []
    if (seen.has(text)) return [duplicate(field, text)]
    seen.add(text)
    return []
  })
}
