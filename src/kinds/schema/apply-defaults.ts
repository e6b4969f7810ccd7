import { isObject } from '../../core/json.ts'
import type { StructuralSchema } from './structural.ts'
import { ownField, setOwnField } from './own-field.ts'

/** Fills in what the schema gives a default for, in place. A null that may not be null counts as absent. */
export function applyDefaults(value: unknown, schema: StructuralSchema | undefined): void {
  if (schema === undefined) return
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (item === null && takesDefault(schema.items)) value[index] = structuredClone(schema.items.default)
      applyDefaults(value[index], schema.items)
    }
  } else if (isObject(value)) {
    for (const [field, property] of Object.entries(schema.properties ?? {})) {
      if (property.default === undefined) continue
      const present = ownField(value, field)
      if (present === undefined || (present === null && takesDefault(property))) {
        setOwnField(value, field, structuredClone(property.default))
      }
    }
    for (const field of Object.keys(value)) {
      const property = ownField(schema.properties, field)
      if (property !== undefined) applyDefaults(ownField(value, field), property)
      else if (isObject(schema.additionalProperties)) {
        const additional: StructuralSchema = schema.additionalProperties
        if (ownField(value, field) === null && takesDefault(additional)) {
          setOwnField(value, field, structuredClone(additional.default))
        }
        applyDefaults(ownField(value, field), additional)
      }
    }
  }
}

function takesDefault(schema: StructuralSchema | undefined): schema is StructuralSchema {
  return schema !== undefined && schema.nullable !== true && schema.default !== undefined
}
