import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { StructuralSchema } from '../../schema/structural.ts'
import { invalid, required } from '../../validation/field-error.ts'
import type { FieldError } from '../../validation/field-error.ts'
import { fieldSchema } from '../../schema/merge-keys.ts'
import { REQUIRED_FIELDS } from './required-fields.ts'
import type { RequiredField } from './required-fields.ts'
import { typeNameOfSchema } from '../definitions.ts'
import type { ValueValidator } from './value-validators.ts'
import { FIELD_VALIDATORS } from './field-validators.ts'
import { readPath } from '../read-path.ts'
import { POD_RULES } from './pod-rules.ts'
import type { ValueLocation, CrossFieldRule } from './cross-field-rule.ts'
import { WORKLOAD_RULES } from './workload-rules.ts'

/** What Kubernetes' own validation says against an object, beyond its schema. */
export function builtinValidationErrors(value: unknown, schema: StructuralSchema): FieldError[] {
  const errors: FieldError[] = []
  look(value, schema, { path: '', above: [] }, errors)
  return errors
}

/** Every write of a pod or a workload comes through here: what has no rules costs nothing, and what is right little. */
function look(value: unknown, schema: StructuralSchema, place: ValueLocation, errors: FieldError[]): void {
  const { path, above } = place
  if (Array.isArray(value)) {
    const { items } = schema
    if (!items || !rulesOf(items).areAny) return
    for (const [index, item] of value.entries()) look(item, items, { path: `${path}[${index}]`, above }, errors)
    return
  }
  const { areAny, asks, forms, rule } = rulesOf(schema)
  if (!areAny || !isObject(value)) return
  for (const ask of asks) errors.push(...errorsOf(ask, value, path))
  for (const [field, form] of forms) {
    const child = value[field]
    if (child === undefined || child === null || form(child, field).length === 0) continue
    // Where it is, is worked out for what is wrong alone.
    errors.push(...form(child, placeOf(path, field)))
  }
  const inside = [value, ...above]
  for (const field of Object.keys(value)) {
    const known = fieldSchema(schema, field)
    if (!known || !rulesOf(known).areAny) continue
    look(value[field], known, { path: placeOf(path, field), above: inside }, errors)
  }
  if (rule) errors.push(...rule(value, place))
}

function errorsOf(ask: RequiredField, object: JsonObject, path: string): FieldError[] {
  const { oneOf, where, unless, ofSeveral } = ask
  if (ofSeveral !== undefined) {
    const items = object[ofSeveral]
    if (!Array.isArray(items) || items.length < 2) return []
    return items.flatMap((item, index) =>
      isObject(item) && !isThere(item, oneOf[0]!, ask) ? [errorOf(ask, `${placeOf(path, ofSeveral)}[${index}]`)] : [],
    )
  }
  if (where && !where.slice(1).includes(String(object[where[0]]))) return []
  if (unless?.some(([path, word]) => readPath(object, path) === word)) return []
  return oneOf.some((field) => isThere(object, field, ask)) ? [] : [errorOf(ask, path)]
}

function errorOf(ask: RequiredField, path: string): FieldError {
  const field = nameOf(ask, path)
  return ask.invalid === undefined ? required(field, ask.detail) : invalid(field, ask.invalid, ask.detail ?? '')
}

function nameOf({ oneOf, names = oneOf[0]! }: RequiredField, path: string): string {
  if (names === 'object') return path
  if (names === 'list') return path.slice(0, path.lastIndexOf('['))
  if (names === 'parent') return path.slice(0, path.lastIndexOf('.'))
  return placeOf(path, names)
}

function placeOf(path: string, field: string): string {
  return path === '' ? field : `${path}.${field}`
}

/** To Go, an empty text, a zero and an empty list are nothing; an empty object is something. */
function isThere(object: JsonObject, path: string, { nor }: RequiredField): boolean {
  const value = readPath(object, path)
  if (Array.isArray(value)) return value.length > 0
  return value !== undefined && value !== null && value !== '' && value !== 0 && value !== nor
}

const RULES: Readonly<Record<string, CrossFieldRule>> = { ...POD_RULES, ...WORKLOAD_RULES }

/** What is asked of values of a schema, and whether anything is of them or of what is in them. */
interface Rules {
  readonly areAny: boolean
  readonly asks: readonly RequiredField[]
  readonly forms: readonly (readonly [field: string, form: ValueValidator])[]
  readonly rule: CrossFieldRule | undefined
}

const known = new WeakMap<StructuralSchema, Rules>()

function rulesOf(schema: StructuralSchema): Rules {
  let rules = known.get(schema)
  if (!rules) {
    const name = typeNameOfSchema(schema) ?? ''
    const parts = [schema.items, schema.additionalProperties, ...Object.values(schema.properties ?? {})]
    const isOwn = [REQUIRED_FIELDS, FIELD_VALIDATORS, RULES].some((table) => Object.hasOwn(table, name))
    rules = {
      areAny: isOwn || parts.some((part) => isObject(part) && rulesOf(part).areAny),
      asks: REQUIRED_FIELDS[name] ?? [],
      forms: Object.entries(FIELD_VALIDATORS[name] ?? {}),
      rule: RULES[name],
    }
    known.set(schema, rules)
  }
  return rules
}
