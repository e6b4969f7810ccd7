/** Hooks: objects that the agent creates once per operation, waits for, and never records in the inventory. */
import type { Static } from 'typebox'
import { enumOf, int, object, optional, setOf } from '../schema/schema-builders.ts'

/** The moments of an operation at which hooks run. */
export const HOOK_EVENTS = [
  'pre-install',
  'post-install',
  'pre-upgrade',
  'post-upgrade',
  'pre-rollback',
  'post-rollback',
  'pre-delete',
  'post-delete',
  'during',
  'failure',
] as const

/** A moment at which hooks run. */
export type HookEvent = (typeof HOOK_EVENTS)[number]

/** Times at which the objects of a hook are deleted. */
export const HOOK_DELETES = ['before-creation', 'succeeded', 'failed'] as const

/** Hook settings of an object of a set. */
export const HookSchema = object({
  on: setOf(enumOf(HOOK_EVENTS), {
    max: HOOK_EVENTS.length,
    description: 'Events of an operation at which the hook runs.',
  }),
  weight: int({
    minimum: -999_999_999,
    maximum: 999_999_999,
    description:
      'Order of the hook among the hooks of the same event, lowest first. For event `during`, the wave of the hook.',
  }),
  delete: setOf(enumOf(HOOK_DELETES), {
    max: HOOK_DELETES.length,
    description: 'Events at which the objects of the hook are deleted.',
  }),
  deadlineSeconds: optional(
    int({
      minimum: 1,
      description: 'Time in seconds within which the hook must finish. Defaults to the timeout of a wave.',
    }),
  ),
})

export type HookRules = Static<typeof HookSchema>
