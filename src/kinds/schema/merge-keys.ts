/** How lists and maps merge, and which schema a field has: what server-side apply and patches ask. */
import { isObject } from '../../core/json.ts'
import type { StructuralSchema } from './structural.ts'
import { ownField } from './own-field.ts'

/** How appliers share a list: as a whole, by value, or by the fields that tell its items apart. */
export type ListMerge =
  | { readonly type: 'atomic' }
  | { readonly type: 'set' }
  | { readonly type: 'map'; readonly keys: readonly string[] }

/** How a list of this schema merges; unknown lists are replaced as a whole. */
export function listMergeStrategy(schema: StructuralSchema | undefined): ListMerge {
  switch (schema?.['x-kubernetes-list-type']) {
    case 'set':
      return { type: 'set' }
    case 'map':
      return { type: 'map', keys: schema['x-kubernetes-list-map-keys'] ?? [] }
    case 'atomic':
    case undefined:
      return { type: 'atomic' }
  }
}

/** Whether an object of this schema is owned as a whole. */
export function isAtomicMap(schema: StructuralSchema | undefined): boolean {
  return schema?.['x-kubernetes-map-type'] === 'atomic'
}

/** The schema of an object's field, or undefined when the schema does not know it. */
export function fieldSchema(schema: StructuralSchema | undefined, field: string): StructuralSchema | undefined {
  const property = ownField(schema?.properties, field)
  if (property !== undefined) return property
  const additional = schema?.additionalProperties
  return isObject(additional) ? additional : undefined
}

/** The schema at a path; a number or `*` steps into a list. */
export function schemaAt(
  schema: StructuralSchema | undefined,
  path: readonly (string | number)[],
): StructuralSchema | undefined {
  let at = schema
  for (const step of path) {
    at = at?.type === 'array' ? at.items : fieldSchema(at, String(step))
  }
  return at
}

/** The values of an item's keys; absent keys take their schema's default, as Kubernetes' merge does. */
export function itemKey(item: unknown, keys: readonly string[], schema?: StructuralSchema): Record<string, unknown> {
  const key: Record<string, unknown> = {}
  if (!isObject(item)) return key
  for (const field of keys) {
    const value = ownField(item, field) ?? fieldSchema(schema?.items, field)?.default
    if (value !== undefined) key[field] = value
  }
  return key
}
