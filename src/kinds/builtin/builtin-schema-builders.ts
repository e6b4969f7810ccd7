/** The words Kubernetes' own kinds are written in: as in `../schema/schema-builders.ts`, without bounds, since Kubernetes has none there. */
import type { Static, TObject, TProperties, TSchema, TSchemaOptions, TUnsafe } from 'typebox'
import { Type } from '../../core/schema/typebox.ts'
import { kindOf } from '../define-kind.ts'
import type { Kind, KindParts } from '../define-kind.ts'
import type { KubeObject } from '../meta.ts'
import { toStructural } from '../schema/structural.ts'

export const TEXT = Type.String()
export const BOOL = Type.Boolean()
export const INT32 = Type.Integer({ format: 'int32' })
export const INT64 = Type.Integer({ format: 'int64' })

/** A time; Kubernetes writes null for none. */
export const TIME = Type.Unsafe<string | null>({ type: 'string', format: 'date-time', nullable: true })

/** An amount such as `500m`. */
export const QUANTITY = Type.Unsafe<number | string>({ 'x-kubernetes-int-or-string': true })

/** A field that may be absent. */
export const optional = Type.Optional

/** An object with known fields. */
export function objectWith<P extends TProperties>(properties: P, keywords: TSchemaOptions = {}): TObject<P> {
  return Type.Object(properties, keywords)
}

/** A text with a default. */
export function textOr(value: string): TUnsafe<string> {
  return Type.Unsafe<string>({ type: 'string', default: value })
}

/** A number with a default. */
export function intOr(value: number, format: 'int32' | 'int64' = 'int32'): TUnsafe<number> {
  return Type.Unsafe<number>({ type: 'integer', format, default: value })
}

/** Free keys, one type of value. */
export function mapOf<S extends TSchema>(value: S, keywords: TSchemaOptions = {}): TUnsafe<Record<string, Static<S>>> {
  return Type.Unsafe({ type: 'object', additionalProperties: value, ...keywords })
}

/** A list that is replaced as a whole. */
export function atomicList<S extends TSchema>(items: S): TUnsafe<Static<S>[]> {
  return Type.Unsafe({ type: 'array', items, 'x-kubernetes-list-type': 'atomic' })
}

/** A list of objects told apart by some of their fields. */
export function listMap<S extends TSchema>(keys: readonly string[], items: S): TUnsafe<Static<S>[]> {
  return Type.Unsafe({
    type: 'array',
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': [...keys],
  })
}

/** Known fields, and others that are kept as they are. */
export function openObject<P extends TProperties>(
  properties: P,
): TUnsafe<Static<TObject<P>> & { [field: string]: unknown }> {
  const { type, required, properties: known } = Type.Object(properties)
  return Type.Unsafe({
    type,
    ...(required ? { required } : {}),
    properties: known,
    'x-kubernetes-preserve-unknown-fields': true,
  })
}

/** An object whose fields are kept as they are. */
export const ANY = Type.Unsafe<{ [field: string]: unknown }>({
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
})

/** A kind of Kubernetes' own; `fields` are those beside apiVersion, kind and metadata. */
export function defineBuiltin<P extends TProperties>(
  parts: Omit<KindParts, 'fields'> & { readonly fields: TObject<P> },
): Kind<KubeObject & Static<TObject<P>>> {
  const { properties = {}, required } = toStructural(parts.fields)
  return kindOf({ ...parts, fields: properties, ...(required ? { required } : {}) })
}
