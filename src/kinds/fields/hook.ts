/** When an object of a set is run instead of kept: it is made once per operation, waited for, and never part of the inventory. */
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

/** When what a hook made is deleted. */
export const HOOK_DELETES = ['before-creation', 'succeeded', 'failed'] as const

/** What a set says about an object that is a hook. */
export const HookSchema = object({
  on: setOf(enumOf(HOOK_EVENTS), {
    max: HOOK_EVENTS.length,
    description: 'Events of an operation at which the hook runs.',
  }),
  /** Lower ones first; of a hook that runs during the waves, which wave. */
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
  /** How long it may take; as long as a wave unless said. */
  deadlineSeconds: optional(
    int({
      minimum: 1,
      description: 'Time in seconds within which the hook must finish. Defaults to the timeout of a wave.',
    }),
  ),
})

/** What a set says about an object that is a hook. */
export type HookRules = Static<typeof HookSchema>
