/** reflect.DeepEqual: types must agree, also the types of numbers. */
import { GoBytes, GoInt, GoNamed, typeName } from '../../../gotemplate/value.ts'

/** Whether two values are deeply equal in Go. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if ((a === null || a === undefined) && (b === null || b === undefined)) return true
  if (a === null || b === null || a === undefined || b === undefined) return false
  if (typeName(a) !== typeName(b)) return false
  if (a instanceof GoNamed && b instanceof GoNamed) return deepEqual(a.value, b.value)
  if (a instanceof GoBytes && b instanceof GoBytes) {
    return a.bytes.length === b.bytes.length && a.bytes.every((byte, at) => byte === b.bytes[at])
  }
  if (a instanceof GoInt && b instanceof GoInt) return a.value === b.value
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => deepEqual(item, b[index]))
  }
  if (a instanceof Map && b instanceof Map) {
    return (
      a.size === b.size &&
      [...(a as Map<string, unknown>)].every(([key, item]) => b.has(key) && deepEqual(item, b.get(key)))
    )
  }
  return a === b
}
