/**
 * The words Kubernetes' own kinds are written in: as in `../schema/schema-builders.ts`, without bounds, since
 * Kubernetes has none there.
 */
import type { Static, TObject, TProperties, TSchema, TSchemaOptions, TUnsafe } from 'typebox'
import { compact } from '../../core/compact.ts'
import { Type } from '../../core/schema/typebox.ts'
import { kindOf } from '../define-kind.ts'
import type { Kind, KindParts } from '../define-kind.ts'
import type { KubeObject } from '../meta.ts'
import { toStructural } from '../schema/structural.ts'

export const TEXT = Type.String()
export const BOOL = Type.Boolean()
export const INT64 = Type.Integer({ format: 'int64' })

/** A time; Kubernetes writes null for none. */
export const TIME = Type.Unsafe<string | null>({ type: 'string', format: 'date-time', nullable: true })
/** A field that may be absent. */
export const optional = Type.Optional

/** An object with known fields. */
export function objectWith<P extends TProperties>(properties: P, keywords: TSchemaOptions = {}): TObject<P> {
  return Type.Object(properties, keywords)
}

/** A map with free keys and values of the same type. */
export function mapOf<S extends TSchema>(value: S, keywords: TSchemaOptions = {}): TUnsafe<Record<string, Static<S>>> {
  return Type.Unsafe({ type: 'object', additionalProperties: value, ...keywords })
}

/** A list that is replaced as a whole. */
export function atomicList<S extends TSchema>(items: S): TUnsafe<Static<S>[]> {
  return Type.Unsafe({ type: 'array', items, 'x-kubernetes-list-type': 'atomic' })
}

/** A kind of Kubernetes' own; `fields` are the fields besides apiVersion, kind and metadata. */
export function defineBuiltin<P extends TProperties>(
  parts: Omit<KindParts, 'fields'> & { readonly fields: TObject<P> },
): Kind<KubeObject & Static<TObject<P>>> {
  const { properties = {}, required } = toStructural(parts.fields)
  return kindOf({ ...parts, fields: properties, ...compact({ required }) })
}
