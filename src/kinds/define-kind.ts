import type { Static, TObject, TProperties } from 'typebox'
import { compact } from '../core/compact.ts'
import type { KubeObject, ObjectMeta, ResourceType, Scope, UnknownObject } from './meta.ts'
import { toStructural } from './schema/structural.ts'
import type { StructuralSchema } from './schema/structural.ts'
import type { FieldError } from './validation/field-error.ts'

/** The group of Flotilla's own kinds. */
export const GROUP = 'flotilla.dev'

/** The version of Flotilla's own kinds; changes within it are additive. */
const VERSION = 'v1alpha1'

/** What a cell of a table holds. */
export type Cell = string | number | boolean | null

/** A column of `kubectl get`, in the form of a CRD's additionalPrinterColumns. */
export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  readonly jsonPath: string
  readonly description?: string
  readonly format?: string
  /** Above 0: shown with `-o wide` only. */
  readonly priority?: number
  /** For Kubernetes' own kinds, whose columns are more than a path; `now` is in milliseconds. */
  readonly cell?: (object: UnknownObject, now: number) => Cell
}

/** An object shown in docs and tried in tests; apiVersion and kind are filled in. */
export interface Example {
  readonly metadata: ObjectMeta
  readonly [field: string]: unknown
}

/** Where a scale subresource finds its numbers. */
export interface ScaleSubresource {
  readonly specReplicasPath: string
  readonly statusReplicasPath: string
  readonly labelSelectorPath?: string
}

/**
 * Which changes of a kind's status become Warning Events. Every condition makes an Event when its status or reason
 * changes; `Reconciling` and `Stalled` do not, because they repeat `Ready`. For example, a Bundle declares
 * `{ warnWhenTrue: ['Reverted'], warnWhenFalse: ['Linted', 'Rendered'] }`.
 */
export interface StatusEvents {
  /** Condition types whose status `True` is a failure. */
  readonly warnWhenTrue?: readonly string[]
  /** Condition types whose status `False` is a failure. */
  readonly warnWhenFalse?: readonly string[]
  /** Values of `status.state` that are failures; leaving such a state for `Ready` makes a Normal Event. */
  readonly warnInState?: readonly string[]
  /**
   * A value of the status, as a path like `['artifact', 'revision']`, whose change makes an Event of the condition
   * `Ready`, also if its reason stays: each revision has its own Event.
   */
  readonly revision?: readonly string[]
}

/** Everything the API says about a kind, as data. */
export interface Kind<T extends KubeObject = KubeObject> extends ResourceType<T> {
  readonly singular: string
  readonly listKind: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** One or two sentences that begin with a noun phrase. */
  readonly description: string
  /** The form of names. Defaults to `subdomain`. */
  readonly nameFormat?: 'subdomain' | 'label' | 'pathSegment' | 'address'
  /** Versions of other systems that have the same fields, and are served besides; objects are stored in `version`. */
  readonly olderVersions?: readonly string[]
  /** The whole object: apiVersion, kind, metadata and the kind's own fields. */
  readonly schema: StructuralSchema
  readonly subresources: { readonly status: boolean; readonly scale?: ScaleSubresource }
  /** Defaults to Normal Events for all conditions. */
  readonly events?: StatusEvents
  /** Verbs that the API serves. Defaults to all verbs. Kinds with `create` alone are requests and are never stored. */
  readonly verbs?: readonly string[]
  /** For Kubernetes' own kinds: drops, in place, what counts as absent. */
  dropEmpty?(object: UnknownObject): void
  /** For Kubernetes' own kinds: fills in, in place, what depends on other fields, after the schema's defaults. */
  fillIn?(object: UnknownObject): void
  /** For Kubernetes' own kinds: what its own validation says against an object, beyond its schema. */
  ownErrors?(object: UnknownObject): readonly FieldError[]
  /** For Kubernetes' own kinds: the object that Go writes for empty input. */
  readonly blank?: Readonly<Record<string, unknown>>
  /** Set for kinds that a CustomResourceDefinition defined at run time. */
  readonly custom?: CustomTraits
  /** Top-level fields a list can be selected by, besides name and namespace. */
  readonly selectable?: readonly string[]
  /** Columns after NAME; the last is usually AGE. */
  readonly columns: readonly Column[]
  readonly examples: readonly KubeObject[]
}

/** What only kinds defined at run time have. */
export interface CustomTraits {
  /** The apiVersion its objects are stored in. */
  readonly storedAs: string
  /** The schema of that version: objects are pruned and defaulted by it when they are read. */
  readonly storedSchema: StructuralSchema
  /** Paths, besides name and namespace, that field selectors may use. */
  readonly selectableFields: readonly string[]
  /** The definition is being deleted. */
  readonly isTerminating: boolean
  /** Sent as a warning with every answer. */
  readonly deprecation?: string
}

/** The type of a kind's objects. */
export type ObjectOfKind<K> = K extends Kind<infer T> ? T : never

/** The AGE column of all kinds. */
export const AGE: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }

interface Naming {
  readonly kind: string
  readonly plural: string
  readonly scope: Scope
  readonly shortNames?: readonly string[]
  readonly description: string
  readonly events?: StatusEvents
  readonly columns?: readonly Column[]
  readonly examples?: readonly Example[]
}

/** An object with a spec and no status. */
export interface SpecObject<S> extends KubeObject {
  spec: S
}

/** An object with a spec and a status. */
export interface StatusObject<S, St> extends SpecObject<S> {
  status?: St
}

/** Defines one of Flotilla's own kinds: its type, schema, columns and docs come from here. */
export function defineKind<S extends TProperties, St extends TProperties>(
  definition: Naming & { readonly spec: TObject<S>; readonly status: TObject<St> },
): Kind<StatusObject<Static<TObject<S>>, Static<TObject<St>>>>
export function defineKind<S extends TProperties>(
  definition: Naming & { readonly spec: TObject<S>; readonly status?: undefined },
): Kind<SpecObject<Static<TObject<S>>>>
export function defineKind(definition: Naming & { readonly spec: TObject; readonly status?: TObject }): Kind {
  const spec = toStructural(definition.spec)
  const status = definition.status && toStructural(definition.status)
  return kindOf({
    ...definition,
    group: GROUP,
    version: VERSION,
    categories: ['flotilla'],
    subresources: { status: status !== undefined },
    fields: compact({ spec, status }),
    required: ['spec'],
  })
}

/** A kind from its parts, for Flotilla's own and for Kubernetes' alike. */
export interface KindParts extends Naming {
  readonly group: string
  readonly version: string
  readonly categories?: readonly string[]
  readonly subresources?: Kind['subresources']
  readonly nameFormat?: Kind['nameFormat']
  readonly verbs?: Kind['verbs']
  readonly olderVersions?: Kind['olderVersions']
  readonly selectable?: Kind['selectable']
  /** The kind's own top-level fields. */
  readonly fields: Readonly<Record<string, StructuralSchema>>
  readonly required?: readonly string[]
}

/** Puts a kind together: names derived, schema completed, examples given their apiVersion and kind. */
export function kindOf<T extends KubeObject>(parts: KindParts): Kind<T> {
  const { group, version, kind, plural, scope, description } = parts
  const apiVersion = group === '' ? version : `${group}/${version}`
  const schema: StructuralSchema = compact({
    type: 'object',
    description,
    required: parts.required && parts.required.length > 0 ? parts.required : undefined,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      ...parts.fields,
    },
  })
  return compact({
    group,
    version,
    kind,
    plural,
    scope,
    description,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames: parts.shortNames ?? [],
    categories: parts.categories ?? [],
    subresources: parts.subresources ?? { status: false },
    nameFormat: parts.nameFormat,
    verbs: parts.verbs,
    olderVersions: parts.olderVersions,
    selectable: parts.selectable,
    events: parts.events,
    columns: parts.columns ?? [AGE],
    examples: (parts.examples ?? []).map((example) => ({ apiVersion, kind, ...example })),
    schema,
  })
}
