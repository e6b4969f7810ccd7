/** Reads conditions of any kind's status. */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'

export function conditionOf(status: JsonObject, type: string): JsonObject | undefined {
  const conditions = status['conditions']
  return Array.isArray(conditions)
    ? conditions.find((item): item is JsonObject => isObject(item) && item['type'] === type)
    : undefined
}

/** The message of a condition, or the fallback. */
export function conditionMessage(condition: JsonObject | undefined, fallback: string): string {
  const message = condition?.['message']
  return typeof message === 'string' && message !== '' ? message : fallback
}
