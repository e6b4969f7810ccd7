/** How a case about validation is written down, and Kubernetes' words for what is wrong. */
import type { JsonObject } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import type { FieldError, FieldReason } from '../../kinds/validation/field-error.ts'

/** One object that must be refused, and why. */
export interface ValidationCase {
  readonly title: string
  readonly kind: Kind
  /** `create` refuses the changed example; `update` and `status` first store the example as it is. */
  readonly on: 'create' | 'update' | 'status'
  /** Spoils a copy of the kind's first example. */
  readonly spoil: (object: MutableObject) => void
  readonly causes: readonly FieldError[]
}

/** An object before it is spoiled: anything may be put anywhere. */
export interface MutableObject extends KubeObject {
  spec: JsonObject
  status?: JsonObject
}

/** Said besides where a kind has rules and an object is too wrong for them. */
export const RULES_NOT_CHECKED: FieldError = {
  field: '<nil>',
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
}

/** One thing that is wrong. */
export function cause(field: string, reason: FieldReason, message: string): FieldError {
  return { field, reason, message }
}

/** A value of another type. */
export function wrongType(field: string, want: string, got: string): FieldError {
  const message = `Invalid value: "${got}": ${field} in body must be of type ${want}: "${got}"`
  return cause(field, 'FieldValueTypeInvalid', message)
}

/** A value that may not be so. */
export function invalid(field: string, message: string): FieldError {
  return cause(field, 'FieldValueInvalid', `Invalid value: ${message}`)
}
