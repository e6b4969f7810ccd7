/** Values whose type is not that of their field: an API server refuses the whole object. */
import { isObject } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { METADATA_SCHEMA } from '../../kinds/validation/metadata.ts'
import { fieldSchema } from '../../kinds/schema/merge-keys.ts'
import type { StructuralSchema } from '../../kinds/schema/structural.ts'
import { formatFieldPath } from '../objects/managed-fields.ts'
import type { FieldPath } from '../objects/managed-fields.ts'
import { describeObject } from '../objects/object-id.ts'
import { finding } from './finding.ts'
import type { Finding } from './finding.ts'

const MOST = 20

/** Checks the types of an object's values by the schema of its kind. */
export function lintTypes(object: UnknownObject, schema: StructuralSchema): Finding[] {
  const who = describeObject({ ...object.metadata, apiVersion: object.apiVersion, kind: object.kind })
  const whole = { ...schema, properties: { ...schema.properties, metadata: METADATA_SCHEMA } }
  const found: WrongType[] = []
  look(object, whole, [], found)
  return found.slice(0, MOST).map(({ place, want, got }) => {
    const field = formatFieldPath(object, place)
    const quotes = want === 'string' && got !== 'object' && got !== 'array' ? { todo: 'put the value in quotes' } : {}
    return finding('wrong-type', `${who}: ${field} must be of type ${want}, and is of type ${got}`, {
      place,
      ...quotes,
    })
  })
}

interface WrongType {
  readonly place: FieldPath
  readonly want: string
  readonly got: string
}

function look(value: unknown, schema: StructuralSchema | undefined, place: FieldPath, found: WrongType[]): void {
  // An API server drops a null that the schema does not allow, as an absent field.
  if (schema === undefined || value === null || value === undefined) return
  const want = wantedType(schema)
  const got = typeOf(value)
  if (want !== undefined && !isOfType(want, got)) {
    found.push({ place, want, got })
    return
  }
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) look(item, schema.items, [...place, index], found)
  } else if (isObject(value)) {
    for (const [field, child] of Object.entries(value))
      look(child, fieldSchema(schema, field), [...place, field], found)
  }
}

const INT_OR_STRING = 'integer or string'

function wantedType(schema: StructuralSchema): string | undefined {
  return schema['x-kubernetes-int-or-string'] === true ? INT_OR_STRING : schema.type
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return typeof value
}

function isOfType(want: string, got: string): boolean {
  if (want === got) return true
  if (want === 'number') return got === 'integer'
  // A quantity may be a number with a fraction.
  return want === INT_OR_STRING && (got === 'integer' || got === 'string' || got === 'number')
}
