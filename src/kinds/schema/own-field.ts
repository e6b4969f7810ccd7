/** Fields of data from outside: a key like `__proto__` is a key like any other. */
import type { JsonObject } from '../../core/json.ts'

/** The value of an object's own field, or undefined. */
export function ownField<T>(object: { readonly [key: string]: T } | undefined, key: string): T | undefined {
  return object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined
}

/** Sets an object's own field, whatever its name. */
export function setOwnField(object: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  } else object[key] = value
}
