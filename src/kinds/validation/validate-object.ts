/**
 * What an API server does to an object before it stores it, for our kinds and foreign kinds alike:
 * prune (drop what the schema does not know) → default → validate. All of it walks structural data; see `walk/`.
 */
import { compileRegex } from '../../cel/library/regex.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Kind } from '../define-kind.ts'
import type { KubeObject, UnknownObject } from '../meta.ts'
import { METADATA_SCHEMA, metadataErrors, metadataUpdateErrors, typeMetaErrors } from './metadata.ts'
import type { StructuralSchema } from '../schema/structural.ts'
import { applyDefaults } from '../schema/apply-defaults.ts'
import { invalid, NO_FIELD } from './field-error.ts'
import type { FieldError, FieldReason } from './field-error.ts'
import { duplicateItemErrors } from './duplicate-items.ts'
import { embeddedErrors } from './embedded-objects.ts'
import { dropNulls, pruneUnknown } from '../schema/prune.ts'
import { hasRules, ruleErrors } from './cel-rules.ts'
import { validateValue } from './validate-value.ts'
import type { PatternMatcher } from './validate-value.ts'

/** How to validate. */
export interface ValidateOptions {
  /** The stored object, on updates. */
  readonly old?: KubeObject
  /** Set when only the status is being written: the rest is the stored object's and is not checked again. */
  readonly subresource?: 'status'
  /** Is told what is wrong and yet forgiven, because it was so before. */
  readonly warn?: (text: string) => void
  /** Matches patterns; without it the engine of JavaScript, which is right for patterns of our own. */
  readonly matches?: PatternMatcher
}

/** Drops the fields a kind does not know, in place, and returns their paths: for `fieldValidation` Strict and Warn. */
export function pruneObject(kind: Pick<Kind, 'schema'>, object: KubeObject): string[] {
  const { rest, whole } = schemasOf(kind.schema)
  const dropped = [
    ...pruneUnknown(object.metadata, METADATA_SCHEMA).map((path) => `metadata.${path}`),
    ...pruneUnknown(object, rest),
  ]
  dropNulls(object, whole)
  return dropped
}

const EMPTIED = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const

/** Fills in a kind's defaults, in place. */
export function defaultObject(kind: Pick<Kind, 'schema' | 'dropEmpty' | 'fillIn'>, object: KubeObject): void {
  // Metadata is a Go struct for every kind: never absent, and an empty list or map in it is as good as none.
  const body = object as unknown as JsonObject
  body['metadata'] ??= {}
  const metadata = body['metadata'] as JsonObject
  for (const field of EMPTIED) {
    const value = metadata[field]
    if (typeof value === 'object' && Object.keys(value ?? {}).length === 0) delete metadata[field]
  }
  kind.dropEmpty?.(object as UnknownObject)
  applyDefaults(object, kind.schema)
  kind.fillIn?.(object as UnknownObject)
}

/** All that is wrong with an object, in Kubernetes' words. Prune and default it first. */
export function validateObject(kind: Kind, object: KubeObject, options: ValidateOptions = {}): FieldError[] {
  const typeErrors = typeMetaErrors(kind, object)
  if (typeErrors.length > 0) return typeErrors
  const { old, warn } = options
  const errors: FieldError[] = metaErrors(kind, object, old)
  errors.push(...valueErrors(kind, object, options))
  errors.push(...embeddedErrors(object, kind.schema))
  if (old === undefined || duplicateItemErrors(old, kind.schema).length === 0) {
    // Kubernetes' own kinds may say what is there twice by its key.
    const twice = duplicateItemErrors(object, kind.schema)
    if (twice.length > 0) errors.push(...unsaid(twice, errors))
  }
  if (hasRules(kind.schema)) {
    if (errors.some((error) => BLOCKING.has(error.reason))) errors.push(RULES_NOT_CHECKED)
    else errors.push(...ruleErrors(kind.schema, object, old, warn))
  }
  return errors
}

/** Errors of a list's items that no error of a field of the item says already. */
function unsaid(twice: readonly FieldError[], errors: readonly FieldError[]): FieldError[] {
  const said = new Set<string>()
  for (const { field } of errors) {
    for (let dot = field.indexOf('.'); dot >= 0; dot = field.indexOf('.', dot + 1)) said.add(field.slice(0, dot))
  }
  return twice.filter(({ field }) => !said.has(field))
}

// With these the object is so wrong that rules would only stumble.
const BLOCKING: ReadonlySet<FieldReason> = new Set([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
])

const RULES_NOT_CHECKED = invalid(
  NO_FIELD,
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
)

function metaErrors(kind: Kind, object: KubeObject, old: KubeObject | undefined): FieldError[] {
  const errors: FieldError[] = []
  const metadata = (object.metadata as KubeObject['metadata'] | undefined) ?? { name: '' }
  validateValue({ schema: METADATA_SCHEMA, value: metadata, old: undefined, path: 'metadata' }, checkInto(errors))
  // Rules about names and labels read strings: a wrong type is said once, above.
  if (errors.length > 0) return errors
  return old ? metadataUpdateErrors(metadata, old.metadata) : metadataErrors(kind, metadata)
}

function valueErrors(kind: Kind, object: KubeObject, options: ValidateOptions): FieldError[] {
  const errors: FieldError[] = []
  const { old, subresource, matches = kind.custom ? matchesInLinearTime : matchesPattern } = options
  if (subresource === 'status') {
    const schema = kind.schema.properties?.['status']
    const value = (object as unknown as JsonObject)['status']
    if (schema === undefined || value === undefined) return errors
    const oldStatus = isObject(old) ? old['status'] : undefined
    validateValue({ schema, value, old: oldStatus, path: '' }, checkInto(errors, matches, 'status'))
  } else {
    validateValue({ schema: kind.schema, value: object, old, path: '' }, checkInto(errors, matches))
    const own = kind.ownErrors?.(object as UnknownObject) ?? []
    // What both say is said once, in the words that say more.
    const said = new Set(own.map(textOf))
    return [...errors.filter((error) => !said.has(textOf(error))), ...own]
  }
  return errors
}

/** Field and reason. */
function textOf({ field, reason }: FieldError): string {
  return `${reason} ${field}`
}

function checkInto(errors: FieldError[], matches: PatternMatcher = matchesPattern, prefix = '') {
  return { errors, matches, prefix }
}

/** Matches with RE2: a pattern from outside must not be able to take for ever. */
const matchesInLinearTime: PatternMatcher = (pattern, text) => compileRegex(pattern).matcher(text).find()

/** Matches with JavaScript's engine; Go's syntax is nearly a part of its. */
export const matchesPattern: PatternMatcher = (pattern, text) => expressionOf(pattern).test(text)

/** Patterns of built-in and native kinds, which are as many as there are: others are matched in linear time. */
const expressions = new Map<string, RegExp>()

function expressionOf(pattern: string): RegExp {
  const known = expressions.get(pattern) ?? compile(pattern)
  expressions.set(pattern, known)
  return known
}

function compile(pattern: string): RegExp {
  const flags = /^\(\?([is]+)\)/.exec(pattern)
  const source = flags ? pattern.slice(flags[0].length) : pattern
  try {
    return new RegExp(source, `u${flags?.[1] ?? ''}`)
  } catch {
    // Escapes like `\-` are fine in Go and only refused by the `u` flag.
    return new RegExp(source, flags?.[1] ?? '')
  }
}

interface Schemas {
  /** All but the metadata. */
  readonly rest: StructuralSchema
  /** With the metadata that every kind has. */
  readonly whole: StructuralSchema
}

/** Made once for each kind: a copy of a large schema for every object costs more than the look at the object. */
const derived = new WeakMap<StructuralSchema, Schemas>()

function schemasOf(schema: StructuralSchema): Schemas {
  const known = derived.get(schema)
  if (known) return known
  const schemas = {
    rest: { ...schema, 'x-kubernetes-embedded-resource': true as const },
    whole: { ...schema, properties: { ...schema.properties, metadata: METADATA_SCHEMA } },
  }
  derived.set(schema, schemas)
  return schemas
}
