import { isObject, jsonClone } from '../../core/json.ts'

/** RFC 7386: null removes, objects merge, all other values replace. */
export function applyMergePatch(value: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return jsonClone(patch)
  const result: Record<string, unknown> = isObject(value) ? { ...value } : {}
  for (const [key, change] of Object.entries(patch)) {
    if (change === null) delete result[key]
    else result[key] = applyMergePatch(result[key], change)
  }
  return result
}
