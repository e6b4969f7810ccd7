/** Structural schemas: what a CRD's openAPIV3Schema may contain, as plain data. The functions below walk it. */
import type { TSchema } from 'typebox'
import { isObject } from '../../core/json.ts'

/** A rule in CEL. */
export interface ValidationRule {
  readonly rule: string
  readonly message?: string
  readonly messageExpression?: string
  readonly reason?: 'FieldValueInvalid' | 'FieldValueForbidden' | 'FieldValueRequired' | 'FieldValueDuplicate'
  readonly fieldPath?: string
  readonly optionalOldSelf?: boolean
}

/** A node of a structural schema. */
export interface StructuralSchema {
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  readonly description?: string
  readonly title?: string
  readonly format?: string
  readonly default?: unknown
  readonly example?: unknown
  readonly nullable?: boolean
  readonly enum?: readonly unknown[]
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: boolean
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, StructuralSchema>>
  readonly additionalProperties?: StructuralSchema | boolean
  readonly items?: StructuralSchema
  /** Value validations only; they may not specify anything the structure does not. */
  readonly allOf?: readonly StructuralSchema[]
  readonly anyOf?: readonly StructuralSchema[]
  readonly oneOf?: readonly StructuralSchema[]
  readonly not?: StructuralSchema
  readonly externalDocs?: { readonly url?: string; readonly description?: string }
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: 'atomic' | 'granular'
  /**
   * How strategic merge treats the field, of Kubernetes' own kinds: `merge`, `replace`, `retainKeys` or two of them.
   */
  readonly 'x-kubernetes-patch-strategy'?: string
  readonly 'x-kubernetes-patch-merge-key'?: string
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[]
}

/** The structural data of a TypeBox schema: plain JSON, with defaulted fields no longer required. */
export function toStructural(schema: TSchema): StructuralSchema {
  return plain(schema) as StructuralSchema
}

function plain(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(plain)
  if (!isObject(node)) return node
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      // A default or an enum is data, not schema: its own keys (`required`, `properties`) mean nothing here.
      if (key === 'default' || key === 'enum' || key === 'example') return [key, structuredClone(value)]
      if (key === 'properties' && isObject(value)) {
        return [key, Object.fromEntries(Object.entries(value).map(([field, child]) => [field, plain(child)]))]
      }
      return [key, plain(value)]
    }),
  )
  const properties = copy['properties']
  if (Array.isArray(copy['required']) && isObject(properties)) {
    const required = copy['required'].filter((field: unknown) => {
      const child = properties[String(field)]
      return !(isObject(child) && 'default' in child)
    })
    if (required.length > 0) copy['required'] = required
    else delete copy['required']
  }
  return copy
}
