/** Conditions of a status whose kind is not known here. */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'

/** A condition of a status by its type. */
export function conditionOf(status: JsonObject, type: string): JsonObject | undefined {
  const conditions = status['conditions']
  return Array.isArray(conditions)
    ? conditions.find((item): item is JsonObject => isObject(item) && item['type'] === type)
    : undefined
}

/** What a condition says, or what is said for it. */
export function conditionMessage(condition: JsonObject | undefined, fallback: string): string {
  const message = condition?.['message']
  return typeof message === 'string' && message !== '' ? message : fallback
}
