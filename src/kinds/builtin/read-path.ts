/**
 * Reading objects whose shape is known to Kubernetes and not to the compiler: what is absent or of another type is
 * empty.
 */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'

/** The value below a path of fields. */
export function readPath(value: unknown, path: string): unknown {
  if (!path.includes('.')) return isObject(value) && Object.hasOwn(value, path) ? value[path] : undefined
  let found = value
  for (const field of path.split('.')) found = isObject(found) && Object.hasOwn(found, field) ? found[field] : undefined
  return found
}

/** The object at a path; an empty one when there is none. */
export function mapAt(value: unknown, path: string): JsonObject {
  const found = readPath(value, path)
  return isObject(found) ? found : {}
}

/** The objects of the list at a path. */
export function itemsAt(value: unknown, path: string): JsonObject[] {
  const found = readPath(value, path)
  return Array.isArray(found) ? found.filter(isObject) : []
}

/** The texts of the list at a path. */
export function textsAt(value: unknown, path: string): string[] {
  const found = readPath(value, path)
  return Array.isArray(found) ? found.map(String) : []
}

/** The text at a path, or a word for none. */
export function textAt(value: unknown, path: string, none = ''): string {
  const found = readPath(value, path)
  if (typeof found === 'string') return found === '' ? none : found
  return typeof found === 'number' || typeof found === 'boolean' ? String(found) : none
}

/** The number at a path; 0 when there is none. */
export function numberAt(value: unknown, path: string): number {
  const found = readPath(value, path)
  return typeof found === 'number' ? found : 0
}
