import type { TSchema } from 'typebox'
import { kindOf } from '../define-kind.ts'
import type { Column, Kind } from '../define-kind.ts'
import type { Scope } from '../meta.ts'
import { toStructural } from '../schema/structural.ts'

/** The group of read-only kinds: the hub computes their objects from other objects for each request. */
export const VIEW_GROUP = 'view.flotilla.dev'

interface ViewDefinition {
  readonly kind: string
  readonly plural: string
  readonly scope: Scope
  readonly shortNames: readonly string[]
  readonly description: string
  readonly fields: Readonly<Record<string, TSchema>>
  /** Fields a list can be selected by. */
  readonly selectable: readonly string[]
  readonly columns: readonly Column[]
}

const VERSION = 'v1alpha1'
const READ = ['get', 'list', 'watch'] as const

/** A kind of another system as rows of `view.flotilla.dev`. Short names stay with the system's own kind. */
export function inViewGroup(kind: Kind): Kind {
  return { ...kind, group: VIEW_GROUP, version: VERSION, shortNames: [], categories: [], verbs: READ }
}

/** Defines a kind of rows. */
export function defineView({ fields, ...definition }: ViewDefinition): Kind {
  return kindOf({
    ...definition,
    group: VIEW_GROUP,
    version: VERSION,
    categories: [],
    verbs: READ,
    fields: Object.fromEntries(Object.entries(fields).map(([field, schema]) => [field, toStructural(schema)])),
  })
}
