import { isObject } from '../../core/json.ts'
import type { StructuralSchema } from './structural.ts'
import { fieldSchema } from './merge-keys.ts'
import { ownField } from './own-field.ts'

const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

/**
 * Drops the fields a schema does not know, in place, and returns their paths, sorted: what strict decoding complains
 * about.
 */
export function pruneUnknown(value: unknown, schema: StructuralSchema | undefined): string[] {
  const dropped: string[] = []
  prune(value, schema, { path: '', dropped, keeps: false })
  return dropped.sort()
}

interface Place {
  readonly path: string
  readonly dropped: string[]
  /** True for the items of a list that preserves unknown fields. */
  readonly keeps: boolean
}

function prune(value: unknown, schema: StructuralSchema | undefined, place: Place): void {
  const keeps = place.keeps || schema?.['x-kubernetes-preserve-unknown-fields'] === true
  if (Array.isArray(value)) {
    if (keeps && schema?.items === undefined) return
    for (const [index, item] of value.entries()) {
      prune(item, schema?.items, { ...place, path: `${place.path}[${index}]`, keeps })
    }
  } else if (isObject(value)) {
    for (const field of Object.keys(value)) {
      if (schema?.['x-kubernetes-embedded-resource'] === true && META_FIELDS.has(field)) continue
      const path = place.path === '' ? field : `${place.path}.${field}`
      if (ownField(schema?.properties, field) !== undefined || schema?.additionalProperties !== undefined) {
        prune(ownField(value, field), fieldSchema(schema, field), { ...place, path, keeps: false })
      } else if (!keeps) {
        place.dropped.push(path)
        delete value[field]
      }
    }
  }
}

/** Drops nulls that may not be null and have no default, in place, as Go's decoding of typed objects does. */
export function dropNulls(value: unknown, schema: StructuralSchema | undefined): void {
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(item, schema?.items)
  } else if (isObject(value)) {
    for (const field of Object.keys(value)) {
      const child = fieldSchema(schema, field)
      if (
        ownField(value, field) === null &&
        child !== undefined &&
        child.nullable !== true &&
        child.default === undefined
      ) {
        delete value[field]
      } else dropNulls(ownField(value, field), child)
    }
  }
}
