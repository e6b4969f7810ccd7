/**
 * The vocabulary kinds are written in. Each word is a TypeBox schema whose JSON is structural as it stands (what a CRD
 * accepts), so nothing else of TypeBox is used in kinds: `Type.Union` and `Type.Record` emit keywords a CRD refuses.
 *
 * A field with a `default` is present in the TypeScript type and not required in the schema: defaulting comes before
 * validation.
 */
import type { TObject, TProperties, TSchema, TSchemaOptions, TUnsafe, Static } from 'typebox'
import { compact } from '../../core/compact.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { JsonObject } from '../../core/json.ts'
import { Type } from '../../core/schema/typebox.ts'
import type { Condition } from '../meta.ts'

/** Options of a field besides its type. */
export interface FieldOptions {
  readonly description?: string
  readonly default?: unknown
  readonly nullable?: boolean
  /** The value may not change once it is there. */
  readonly immutable?: boolean
  /** Further CEL rules. */
  readonly rules?: readonly { readonly rule: string; readonly message: string }[]
}

/** Bounds of a string; `max` is in characters. */
export interface TextOptions extends FieldOptions {
  readonly max?: number
  readonly min?: number
  readonly pattern?: string
}

/** Bounds of a number. */
export interface NumberOptions extends FieldOptions {
  readonly minimum?: number
  readonly maximum?: number
}

/** Bounds of a list or map. */
export interface ListOptions extends FieldOptions {
  readonly max?: number
  readonly min?: number
}

/** Marks a field that may be absent. */
export const optional = Type.Optional

/** Default maximum of items of a list or map. */
const DEFAULT_MAX_ITEMS = 256

const NAME = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'
const DURATION = '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$'

/** An object with known fields; unknown fields are pruned. */
export function object<P extends TProperties>(properties: P, options: FieldOptions = {}): TObject<P> {
  return Type.Object(properties, fieldOf(options))
}

/** A string of at most `max` characters (defaults to 256). */
export function text(options: TextOptions = {}): TUnsafe<string> {
  const { max = 256, min, pattern } = options
  return Type.Unsafe<string>(compact({ type: 'string', maxLength: max, minLength: min, pattern, ...fieldOf(options) }))
}

/** The name of an object: a DNS subdomain. */
export function name(options: FieldOptions = {}): TUnsafe<string> {
  return text({ ...options, max: 253, min: 1, pattern: NAME })
}

/** `namespace/name`. */
export function namespacedName(options: FieldOptions = {}): TUnsafe<string> {
  return text({ ...options, max: 317, min: 3, pattern: '^[a-z0-9][-a-z0-9]*/[a-z0-9][-a-z0-9.]*$' })
}

/** Id of an entry of a document: `namespace/name` of a Bundle, or `namespace/delivery:name` of a Delivery. */
export function entryId(options: FieldOptions = {}): TUnsafe<string> {
  return text({ ...options, max: 326, min: 3, pattern: '^[a-z0-9][-a-z0-9]*/(delivery:)?[a-z0-9][-a-z0-9.]*$' })
}

/** A whole number, not negative unless `minimum` says so. */
export function int(options: NumberOptions = {}): TUnsafe<number> {
  const { minimum = 0, maximum } = options
  return Type.Unsafe<number>(compact({ type: 'integer', format: 'int64', minimum, maximum, ...fieldOf(options) }))
}

/** True or false. */
export function flag(options: FieldOptions = {}): TUnsafe<boolean> {
  return Type.Unsafe<boolean>({ type: 'boolean', ...fieldOf(options) })
}

/** One of a few words. */
export function enumOf<const V extends readonly string[]>(values: V, options: FieldOptions = {}): TUnsafe<V[number]> {
  return Type.Unsafe<V[number]>({ type: 'string', enum: [...values], ...fieldOf(options) })
}

/** A map with free keys and values of the same type. */
export function mapOf<S extends TSchema>(value: S, options: ListOptions = {}): TUnsafe<Record<string, Static<S>>> {
  const { max = DEFAULT_MAX_ITEMS } = options
  return Type.Unsafe<Record<string, Static<S>>>({
    type: 'object',
    maxProperties: max,
    additionalProperties: value,
    ...fieldOf(options),
  })
}

/** String keys to short strings: labels and the like. */
export function stringMap(options: ListOptions = {}): TUnsafe<Record<string, string>> {
  return mapOf(text(), options)
}

/** A list that is replaced as a whole. */
export function listOf<S extends TSchema>(item: S, options: ListOptions = {}): TUnsafe<Static<S>[]> {
  return listWith({ 'x-kubernetes-list-type': 'atomic' }, item, options)
}

/** A list without duplicates; appliers own single items. */
export function setOf<S extends TSchema>(item: S, options: ListOptions = {}): TUnsafe<Static<S>[]> {
  return listWith({ 'x-kubernetes-list-type': 'set' }, item, options)
}

/** A list of objects told apart by the fields `keys`; appliers own single items. */
export function listMap<P extends TProperties>(
  keys: readonly (keyof P & string)[],
  item: TObject<P>,
  options: ListOptions = {},
): TUnsafe<Static<TObject<P>>[]> {
  return listWith({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [...keys] }, item, options)
}

function listWith<S extends TSchema>(keywords: TSchemaOptions, item: S, options: ListOptions): TUnsafe<Static<S>[]> {
  const { max = DEFAULT_MAX_ITEMS, min } = options
  return Type.Unsafe<Static<S>[]>(
    compact({ type: 'array', maxItems: max, minItems: min, items: item, ...keywords, ...fieldOf(options) }),
  )
}

/** A count, or a percentage like `25%`. */
export function intOrString(options: NumberOptions & { readonly pattern?: string } = {}): TUnsafe<number | string> {
  const { minimum, maximum, pattern } = options
  return Type.Unsafe<number | string>(
    compact({ 'x-kubernetes-int-or-string': true, maxLength: 32, pattern, minimum, maximum, ...fieldOf(options) }),
  )
}

/** A Go duration like `1h30m`. */
export function duration(options: FieldOptions = {}): TUnsafe<string> {
  return text({ ...options, max: 64, pattern: DURATION })
}

/** An RFC 3339 time. */
export function time(options: FieldOptions = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ type: 'string', format: 'date-time', ...fieldOf(options) })
}

/** The name of immutable bytes: `sha256:` and 64 hexadecimal digits. */
export function digest(options: FieldOptions = {}): TUnsafe<Digest> {
  return Type.Unsafe<Digest>({ type: 'string', maxLength: 71, pattern: '^sha256:[0-9a-f]{64}$', ...fieldOf(options) })
}

/** An object whose fields are not known here and are kept as they are. */
export function rawObject(options: FieldOptions = {}): TUnsafe<JsonObject> {
  return Type.Unsafe<JsonObject>({
    type: 'object',
    'x-kubernetes-preserve-unknown-fields': true,
    ...fieldOf(options),
  })
}

/** The same schema with additional CRD keywords. */
export function withKeywords<S extends TSchema>(schema: S, keywords: TSchemaOptions): S {
  return Type.Unsafe({ ...schema, ...keywords }) as unknown as S
}

/** Conditions of a status, at most one of each type. */
export const Conditions = Type.Optional(
  Type.Unsafe<Condition[]>(
    listMap(
      ['type'],
      object({
        type: text({ max: 316, min: 1, description: 'Type of the condition in CamelCase, for example `Ready`.' }),
        status: enumOf(['True', 'False', 'Unknown'], {
          description: 'Status of the condition: `True`, `False` or `Unknown`.',
        }),
        observedGeneration: optional(
          int({ description: '`metadata.generation` that the condition was determined from.' }),
        ),
        lastTransitionTime: time({ description: 'Time of the last change of the status.' }),
        reason: text({ max: 1024, min: 1, description: 'Reason of the last transition in CamelCase, for programs.' }),
        message: text({ max: 32768, description: 'Explanation of the condition for people.' }),
      }),
      { max: 32, description: 'Conditions of the object, at most one of each type. Set by the hub.' },
    ),
  ),
)

/** Kubernetes' label selector; an empty selector matches all objects. */
export function labelSelector(options: FieldOptions = {}) {
  return withKeywords(
    object(
      {
        matchLabels: optional(
          mapOf(text({ max: 63 }), {
            max: 64,
            description: 'Labels that a cluster must have with exactly these values.',
          }),
        ),
        matchExpressions: optional(
          listOf(
            object({
              key: text({ max: 317, min: 1, description: 'Key of the label.' }),
              operator: enumOf(['In', 'NotIn', 'Exists', 'DoesNotExist'], {
                description: 'Relation of the label to `values`.',
              }),
              values: optional(
                listOf(text({ max: 63 }), {
                  max: 256,
                  description: 'Values for `In` and `NotIn`. Must be empty for `Exists` and `DoesNotExist`.',
                }),
              ),
            }),
            { max: 64, description: 'Requirements for labels. All of them must be met.' },
          ),
        ),
      },
      options,
    ),
    { 'x-kubernetes-map-type': 'atomic' },
  )
}

/** The rule of immutability. */
export const IMMUTABLE_RULE = 'self == oldSelf'

function fieldOf(options: FieldOptions): TSchemaOptions {
  const rules = [
    ...(options.immutable ? [{ rule: IMMUTABLE_RULE, message: 'field is immutable' }] : []),
    ...(options.rules ?? []),
  ]
  return compact({
    description: options.description,
    default: options.default,
    nullable: options.nullable ? true : undefined,
    'x-kubernetes-validations': rules.length > 0 ? rules : undefined,
  })
}
