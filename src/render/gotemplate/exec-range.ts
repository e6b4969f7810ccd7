/** What `range` goes through, in Go's order. */
import { formatValue } from './format.ts'
import { compareStrings } from './go-string.ts'
import { GoBytes, GoInt, goInt, dereference } from './value.ts'

/** How a list of nodes ended. */
export type Flow = 'next' | 'break' | 'continue'

/** Why a value cannot be gone through with that many variables; undefined when it can. */
export function rangeProblem(value: unknown, variables: number): string | undefined {
  if (value instanceof GoInt) {
    return variables > 1 ? `can't use ${formatValue(value)} to iterate over more than one variable` : undefined
  }
  const isFine =
    value === undefined || value === null || Array.isArray(value) || value instanceof Map || value instanceof GoBytes
  return isFine ? undefined : `range can't iterate over ${formatValue(dereference(value))}`
}

/** Calls `iterate` for each element; false when there was none. */
export function forEachElement(value: unknown, iterate: (index: unknown, element: unknown) => Flow): boolean {
  if (Array.isArray(value)) {
    // Go reads the slice header once: elements appended meanwhile are not seen.
    const { length } = value
    for (let index = 0; index < length; index++) {
      if (iterate(goInt(index), value[index] ?? null) === 'break') break
    }
    return length > 0
  }
  if (value instanceof Map) {
    // Go takes keys and values before the first round: what the body changes is not seen.
    const entries = [...(value as Map<string, unknown>)].sort(([a], [b]) => compareStrings(a, b))
    for (const [key, element] of entries) {
      if (iterate(key, element ?? null) === 'break') break
    }
    return entries.length > 0
  }
  if (value instanceof GoBytes) {
    for (const [index, byte] of value.bytes.entries()) {
      if (iterate(goInt(index), new GoInt(byte, 'uint8')) === 'break') break
    }
    return value.bytes.length > 0
  }
  if (!(value instanceof GoInt)) return false
  for (let index = 0n; index < value.value; index++) {
    if (iterate(undefined, new GoInt(index, value.type)) === 'break') break
  }
  return value.value > 0n
}
