/**
 * The checks a schema makes of values, in the order and with the words of a kube-apiserver (kube-openapi's validators).
 * On updates, errors of values that did not change are forgiven ("ratcheting"), so that a tighter schema does not block
 * unrelated changes of old objects.
 */
import { isObject, jsonEqual } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { StructuralSchema } from '../schema/structural.ts'
import { correlateOldItem } from '../schema/correlate.ts'
import { invalid, NO_FIELD, notSupported, required, tooLong, tooMany, typeInvalid } from './field-error.ts'
import type { FieldError } from './field-error.ts'
import { hasFormat, supportedFormat } from './formats.ts'
import { goQuote } from '../../core/text/go-quote.ts'
import { goFloat, goValue } from './go-text.ts'
import { ownField } from '../schema/own-field.ts'

/** How a text is matched against a pattern; foreign patterns want an engine that cannot backtrack. */
export type PatternMatcher = (pattern: string, text: string) => boolean

/** What a check of values needs besides the value. */
export interface ValueCheck {
  readonly matches: PatternMatcher
  /** Before each path: `status` when only the status is checked. Messages never show it. */
  readonly prefix: string
  readonly errors: FieldError[]
}

interface Node {
  readonly schema: StructuralSchema
  readonly value: unknown
  /** The value before, where it is known which one that was. */
  readonly old: unknown
  readonly path: string
}

/** Checks a value against a schema; errors go to `check.errors`. */
export function validateValue(node: Node, check: ValueCheck): void {
  const { value, old, path } = node
  const before = check.errors.length
  checkType(node, check)
  if (value !== null) checkCombinations(node, check)
  if (typeof value === 'string') checkText(node, value, check)
  else if (typeof value === 'number') checkNumber(node, value, check)
  else if (Array.isArray(value)) checkList(node, value, check)
  checkEnum(node, check)
  if (isObject(value)) checkObject(node, value, check)
  if (check.errors.length > before && old !== undefined && jsonEqual(value, old) && !isTypeMeta(path)) {
    check.errors.length = before
  }
}

function isTypeMeta(path: string): boolean {
  return path === 'apiVersion' || path === 'kind'
}

function fieldOf(check: ValueCheck, path: string): string {
  if (check.prefix === '') return path === '' ? NO_FIELD : path
  return path === '' ? check.prefix : `${check.prefix}.${path}`
}

function typesOf(schema: StructuralSchema): readonly string[] {
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string']
  return schema.type === undefined ? [] : [schema.type]
}

function jsonTypeOf(value: unknown): { readonly type: string; readonly format: string } {
  if (typeof value === 'number') {
    return Number.isInteger(value) ? { type: 'integer', format: 'int64' } : { type: 'number', format: 'float64' }
  }
  return { type: Array.isArray(value) ? 'array' : typeof value, format: '' }
}

/** The case of nearly every value, told without making anything. */
function isPlainlyOf(type: StructuralSchema['type'], value: unknown): boolean {
  switch (type) {
    case 'string':
    case 'boolean':
      return typeof value === type
    case 'object':
      return isObject(value)
    case 'array':
      return Array.isArray(value)
    default:
      return false
  }
}

function checkType({ schema, value, path }: Node, check: ValueCheck): void {
  if (isPlainlyOf(schema.type, value)) return
  const types = typesOf(schema)
  const format = supportedFormat(schema)
  const wrong = (want: string, got: string) =>
    check.errors.push(
      typeInvalid(fieldOf(check, path), got, `${path} in body must be of type ${want}: ${goQuote(got)}`),
    )
  if (value === null) {
    if (types.length > 0 && schema.nullable !== true) wrong(types.join(','), 'null')
    return
  }
  const actual = jsonTypeOf(value)
  const fits = types.includes(actual.type) || (actual.type === 'integer' && types.includes('number'))
  const isText = typeof value === 'string'
  if (format !== undefined && !isText && !Array.isArray(value) && !fits && actual.format !== format) {
    wrong(format, actual.format)
  } else if (!fits && !(types.length === 0 && (format === undefined || isText))) wrong(types.join(','), actual.type)
}

function checkText({ schema, path }: Node, text: string, check: ValueCheck): void {
  const field = fieldOf(check, path)
  const { minLength, maxLength, pattern } = schema
  if (maxLength !== undefined && text.length > maxLength && characters(text) > maxLength) {
    check.errors.push(tooLong(field, maxLength))
  } else if (minLength !== undefined && characters(text) < minLength) {
    check.errors.push(invalid(field, text, `${path} in body should be at least ${minLength} chars long`))
  } else if (pattern !== undefined && !check.matches(pattern, text)) {
    check.errors.push(invalid(field, text, `${path} in body should match '${pattern}'`))
  }
  const format = supportedFormat(schema)
  const isNumber = schema.type === 'integer' || schema.type === 'number'
  if (format !== undefined && !isNumber && !hasFormat(text, format)) {
    check.errors.push(typeInvalid(field, text, `${path} in body must be of type ${format}: ${goQuote(text)}`))
  }
}

function characters(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

function checkNumber({ schema, path }: Node, value: number, check: ValueCheck): void {
  const field = fieldOf(check, path)
  const { minimum, maximum, multipleOf } = schema
  const bound = (limit: number) => (Number.isInteger(value) ? String(Math.trunc(limit)) : goFloat(limit))
  const fail = (words: string) => check.errors.push(invalid(field, value, `${path} in body should be ${words}`))
  if (schema.type === 'integer' && !fitsInteger(value, schema.format)) {
    const format = schema.format === undefined ? '(default format)' : `with format ${schema.format}`
    check.errors.push(invalid(NO_FIELD, '', `Checked value must be of type integer ${format} in ${path}`))
  }
  if (multipleOf !== undefined) {
    // A kube-apiserver truncates the factor for whole numbers, and says so in its own way.
    if (Number.isInteger(value) && multipleOf < 1) {
      check.errors.push(invalid(field, value, `factor MultipleOf declared for ${path} must be positive: 0`))
    } else if (!Number.isInteger(multipleOf < 1 ? (1 / multipleOf) * value : value / multipleOf)) {
      fail(`a multiple of ${bound(multipleOf)}`)
    }
  }
  if (minimum !== undefined && (schema.exclusiveMinimum ? value <= minimum : value < minimum)) {
    fail(`greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${bound(minimum)}`)
  }
  if (maximum !== undefined && (schema.exclusiveMaximum ? value >= maximum : value > maximum)) {
    fail(`less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${bound(maximum)}`)
  }
}

function fitsInteger(value: number, format: string | undefined): boolean {
  return Number.isInteger(value) && (format !== 'int32' || value === (value | 0))
}

function checkList({ schema, old, path }: Node, list: readonly unknown[], check: ValueCheck): void {
  const { items, minItems, maxItems } = schema
  if (items) {
    const oldOf = correlateOldItem(schema, old)
    for (const [index, item] of list.entries()) {
      validateValue({ schema: items, value: item, old: oldOf(item), path: `${path}[${index}]` }, check)
    }
  }
  if (minItems !== undefined && list.length < minItems) {
    const words = `${path} in body should have at least ${minItems} items`
    check.errors.push(invalid(fieldOf(check, path), list.length, words))
  }
  if (maxItems !== undefined && list.length > maxItems) {
    check.errors.push(tooMany(fieldOf(check, path), list.length, maxItems))
  }
}

function checkEnum({ schema, value, path }: Node, check: ValueCheck): void {
  if (!schema.enum || schema.enum.length === 0) return
  if (value !== null && schema.enum.some((word) => jsonEqual(word, value))) return
  const words = schema.enum.map((word) => (typeof word === 'string' ? word : goValue(word)))
  check.errors.push(notSupported(fieldOf(check, path), value, words))
}

function checkObject({ schema, old, path }: Node, object: JsonObject, check: ValueCheck): void {
  const size = Object.keys(object).length
  const { minProperties, maxProperties, additionalProperties } = schema
  if (minProperties !== undefined && size < minProperties) {
    const words = `${path} in body should have at least ${minProperties} properties`
    check.errors.push(invalid(fieldOf(check, path), size, words))
  }
  if (maxProperties !== undefined && size > maxProperties) {
    check.errors.push(tooMany(fieldOf(check, path), size, maxProperties))
  }
  const oldFields = isObject(old) ? old : undefined
  for (const field of Object.keys(object)) {
    const property = ownField(schema.properties, field)
    const child = property ?? (isObject(additionalProperties) ? additionalProperties : undefined)
    if (!child) continue
    const at = path === '' && property ? field : `${path}.${field}`
    validateValue({ schema: child, value: ownField(object, field), old: ownField(oldFields, field), path: at }, check)
  }
  for (const field of schema.required ?? []) {
    if (!Object.hasOwn(object, field)) {
      check.errors.push(required(fieldOf(check, path === '' ? field : `${path}.${field}`)))
    }
  }
}

function checkCombinations(node: Node, check: ValueCheck): void {
  const { anyOf, oneOf, allOf, not } = node.schema
  if (!anyOf && !oneOf && !allOf && !not) return
  const shown = goQuote(node.path)
  const fail = (words: string) => check.errors.push(invalid(check.prefix === '' ? NO_FIELD : check.prefix, '', words))
  const errorsOf = (schema: StructuralSchema) => {
    const errors: FieldError[] = []
    validateValue({ ...node, schema, old: undefined }, { ...check, errors })
    return errors
  }
  const fewest = (tried: readonly FieldError[][]) => tried.reduce((a, b) => (b.length < a.length ? b : a))
  if (anyOf && anyOf.length > 0) {
    const tried = anyOf.map(errorsOf)
    if (!tried.some((errors) => errors.length === 0)) {
      fail(`${shown} must validate at least one schema (anyOf)`)
      check.errors.push(...fewest(tried))
    }
  }
  if (oneOf && oneOf.length > 0) {
    const tried = oneOf.map(errorsOf)
    const valid = tried.filter((errors) => errors.length === 0).length
    if (valid !== 1) {
      const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`
      fail(`${shown} must validate one and only one schema (oneOf). ${found}`)
      if (valid === 0) check.errors.push(...fewest(tried))
    }
  }
  if (allOf && allOf.length > 0) {
    const tried = allOf.map(errorsOf)
    check.errors.push(...tried.flat())
    const valid = tried.filter((errors) => errors.length === 0).length
    if (valid !== allOf.length)
      fail(`${shown} must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`)
  }
  if (not && errorsOf(not).length === 0) fail(`${shown} must not validate the schema (not)`)
}
