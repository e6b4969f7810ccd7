/** A problem of an object, in the words of Kubernetes' field errors. */
import { ApiError } from '../../core/errors.ts'
import { goQuote } from '../../core/text/go-quote.ts'
import { goValue } from './go-text.ts'

/** A field error; `message` is the text after the path. */
export interface FieldError {
  /** `spec.rings[0].name`; `<nil>` where Kubernetes names no field. */
  readonly field: string
  readonly reason: FieldReason
  readonly message: string
}

/** The reasons of field errors, as causes of a Status carry them. */
export type FieldReason =
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueNotFound'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'

/** What Kubernetes calls a field when it names none. */
export const NO_FIELD = '<nil>'

/** A value that the message does not show. */
export const OMITTED = Symbol('omitted')

/** A required field is absent. */
export function required(field: string, detail = ''): FieldError {
  return { field, reason: 'FieldValueRequired', message: withDetail('Required value', detail) }
}

/** A value is malformed or out of bounds. */
export function invalid(field: string, value: unknown, detail: string): FieldError {
  const shown = value === OMITTED ? 'Invalid value' : `Invalid value: ${goValue(value)}`
  return { field, reason: 'FieldValueInvalid', message: withDetail(shown, detail) }
}

/** A value has the wrong JSON type. */
export function typeInvalid(field: string, value: unknown, detail: string): FieldError {
  return { ...invalid(field, value, detail), reason: 'FieldValueTypeInvalid' }
}

/** A value is not one of the words the field knows. */
export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const words = supported.map((word) => goQuote(word)).join(', ')
  return {
    field,
    reason: 'FieldValueNotSupported',
    message: withDetail(`Unsupported value: ${goValue(value)}`, words === '' ? '' : `supported values: ${words}`),
  }
}

/** A value may not be there under the present conditions. */
export function forbidden(field: string, detail: string): FieldError {
  return { field, reason: 'FieldValueForbidden', message: withDetail('Forbidden', detail) }
}

/** A text is too long; the message says bytes as Kubernetes' does, though characters are counted. */
export function tooLong(field: string, max: number): FieldError {
  return {
    field,
    reason: 'FieldValueTooLong',
    message: `Too long: may not be more than ${max} ${max === 1 ? 'byte' : 'bytes'}`,
  }
}

/** A list or map has too many items. */
export function tooMany(field: string, actual: number, max: number): FieldError {
  return {
    field,
    reason: 'FieldValueTooMany',
    message: `Too many: ${actual}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
  }
}

/** A list has the same item twice. */
export function duplicate(field: string, value: unknown): FieldError {
  const shown = value === OMITTED ? 'Duplicate value' : `Duplicate value: ${goValue(value)}`
  return { field, reason: 'FieldValueDuplicate', message: shown }
}

/** A value refers to an object or field that does not exist. */
export function notFound(field: string, value: string): FieldError {
  return { field, reason: 'FieldValueNotFound', message: `Not found: ${goQuote(value)}` }
}

/** `path: message`, as kubectl prints it. */
export function fieldErrorText(error: FieldError): string {
  return `${error.field}: ${error.message}`
}

/** The Invalid answer for an object with these errors, as a kube-apiserver gives it. */
export function invalidObject(
  kind: { readonly group: string; readonly kind: string },
  name: string,
  errors: readonly FieldError[],
): ApiError {
  const texts = [...new Set(errors.map(fieldErrorText))]
  const what = kind.group === '' ? kind.kind : `${kind.kind}.${kind.group}`
  return new ApiError(
    'Invalid',
    `${what} ${goQuote(name)} is invalid: ${texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`}`,
    {
      name,
      group: kind.group,
      kind: kind.kind,
      causes: errors.map(({ field, reason, message }) => ({ field, reason, message })),
    },
  )
}

function withDetail(text: string, detail: string): string {
  return detail === '' ? text : `${text}: ${detail}`
}
