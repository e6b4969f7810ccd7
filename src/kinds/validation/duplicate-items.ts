import { canonicalJson, isObject } from '../../core/json.ts'
import type { StructuralSchema } from '../schema/structural.ts'
import { duplicate, invalid } from './field-error.ts'
import type { FieldError } from './field-error.ts'
import { listMergeStrategy } from '../schema/merge-keys.ts'
import { ownField } from '../schema/own-field.ts'

/** Sets must not repeat an item, keyed lists not a key. */
export function duplicateItemErrors(value: unknown, schema: StructuralSchema | undefined): FieldError[] {
  const errors: FieldError[] = []
  walk(value, schema, '', errors)
  return errors
}

function walk(value: unknown, schema: StructuralSchema | undefined, path: string, errors: FieldError[]): void {
  if (schema === undefined) return
  if (Array.isArray(value)) {
    checkList(value, schema, path, errors)
    if (schema.items) value.forEach((item, index) => walk(item, schema.items, `${path}[${index}]`, errors))
  } else if (isObject(value)) {
    for (const field of Object.keys(value)) {
      const property = ownField(schema.properties, field)
      if (property) walk(ownField(value, field), property, path === '' ? field : `${path}.${field}`, errors)
      else if (isObject(schema.additionalProperties)) {
        walk(ownField(value, field), schema.additionalProperties, `${path}[${field}]`, errors)
      }
    }
  }
}

/** Lists of built-in kinds in which Kubernetes forgives what is there twice, though apply would not. */
const FORGIVEN: ReadonlySet<string> = new Set(
  'env imagePullSecrets secrets hostAliases conditions addresses hostIPs podIPs'.split(' '),
)

function isForgiven(schema: StructuralSchema, path: string): boolean {
  const key = schema['x-kubernetes-patch-merge-key']
  // Only built-in kinds have one.
  return key !== undefined && (key === 'containerPort' || FORGIVEN.has(path.slice(path.lastIndexOf('.') + 1)))
}

function checkList(list: readonly unknown[], schema: StructuralSchema, path: string, errors: FieldError[]): void {
  const merge = listMergeStrategy(schema)
  if (merge.type === 'atomic' || isForgiven(schema, path)) return
  if (merge.type === 'set') {
    for (const index of repeated(list)) errors.push(duplicate(`${path}[${index}]`, list[index]))
    return
  }
  const odd = list.findIndex((item) => item !== null && !isObject(item))
  if (odd >= 0) {
    errors.push(invalid(`${path}[${odd}]`, list[odd], 'must be an object for an array of list-type map'))
    return
  }
  // Here an absent key is a value of its own: this runs after defaulting.
  const keys = list.map((item) => {
    const fields = isObject(item) ? merge.keys.filter((key) => Object.hasOwn(item, key)) : []
    return Object.fromEntries(fields.map((key) => [key, ownField(item as Record<string, unknown>, key)]))
  })
  for (const index of repeated(keys)) errors.push(duplicate(`${path}[${index}]`, keys[index]))
}

/** Indexes of the second appearance of each item that appears more than once. */
function repeated(items: readonly unknown[]): number[] {
  const times = new Map<string, number>()
  const found: number[] = []
  items.forEach((item, index) => {
    const text = canonicalJson(item)
    const seen = (times.get(text) ?? 0) + 1
    times.set(text, seen)
    if (seen === 2) found.push(index)
  })
  return found
}
