/** Keys that YAML read as booleans: an unquoted key `n` or `on` becomes `false` or `true`. */
import { isObject } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { fieldSchema } from '../../kinds/schema/merge-keys.ts'
import type { StructuralSchema } from '../../kinds/schema/structural.ts'
import { METADATA_SCHEMA } from '../../kinds/validation/metadata.ts'
import { formatFieldPath } from '../objects/managed-fields.ts'
import type { FieldPath } from '../objects/managed-fields.ts'
import { describeObject } from '../objects/object-id.ts'
import { finding } from './finding.ts'
import type { Finding } from './finding.ts'

const MOST = 20

/** The words of YAML 1.1 that become a key, for the message. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['true', 'y, yes and on'],
  ['false', 'n, no and off'],
])

/** Finds keys `true` and `false` in maps whose keys the schema leaves to the author. */
export function lintKeys(object: UnknownObject, schema: StructuralSchema): Finding[] {
  const owner = describeObject({ ...object.metadata, apiVersion: object.apiVersion, kind: object.kind })
  const whole = { ...schema, properties: { ...schema.properties, metadata: METADATA_SCHEMA } }
  const places: FieldPath[] = []
  collect(object, whole, [], places)
  return places.slice(0, MOST).map((place) => {
    const key = String(place.at(-1))
    const map = formatFieldPath(object, place.slice(0, -1))
    return finding('boolean-key', `${owner}: ${map} has the key "${key}"`, {
      place,
      todo: `put the key in quotes; without quotes, YAML reads ${WORDS.get(key)!} as ${key}`,
    })
  })
}

function collect(value: unknown, schema: StructuralSchema | undefined, place: FieldPath, places: FieldPath[]): void {
  if (schema === undefined) return
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) collect(item, schema.items, [...place, index], places)
  } else if (isObject(value)) {
    for (const [field, child] of Object.entries(value)) {
      if (schema.additionalProperties && WORDS.has(field)) places.push([...place, field])
      collect(child, fieldSchema(schema, field), [...place, field], places)
    }
  }
}
