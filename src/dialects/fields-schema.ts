/** Schemas from tables of fields: known fields have their types, and fields that no table has are kept. */
import type { StructuralSchema } from '../kinds/schema/structural.ts'
import { isListOf } from './field-table.ts'
import type { Fields, Shape } from './field-table.ts'

const KEPT = { 'x-kubernetes-preserve-unknown-fields': true } as const
const TEXTS: StructuralSchema = { type: 'object', additionalProperties: { type: 'string' } }

const SCHEMAS: Readonly<Record<Extract<Shape, string>, StructuralSchema>> = {
  text: { type: 'string' },
  flag: { type: 'boolean' },
  int: { type: 'integer' },
  limit: { 'x-kubernetes-int-or-string': true },
  texts: { type: 'array', items: { type: 'string' } },
  textMap: TEXTS,
  map: { type: 'object', ...KEPT },
  maps: { type: 'array', items: { type: 'object', ...KEPT } },
  selector: { type: 'object', ...KEPT },
}

/** The schema of an object with these fields. */
export function fieldsSchema(
  fields: Fields,
  options: Pick<StructuralSchema, 'description' | 'required'> = {},
): StructuralSchema {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, { shape, how }]) => {
      const schema = shapeSchema(shape)
      return [name, how === '' ? schema : { ...schema, description: how }]
    }),
  )
  return { type: 'object', ...options, properties, ...KEPT }
}

function shapeSchema(shape: Shape): StructuralSchema {
  if (typeof shape === 'string') return SCHEMAS[shape]
  return isListOf(shape) ? { type: 'array', items: fieldsSchema(shape.items) } : fieldsSchema(shape)
}
