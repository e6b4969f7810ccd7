/**
 * x-kubernetes-validations. The rules themselves are CEL; whoever has an evaluator passes it in. Without one, exactly the
 * rule of immutability (`self == oldSelf`) is understood, and any other rule refuses the object rather than let it through.
 */
import { isObject, jsonEqual } from '../../core/json.ts'
import { IMMUTABLE_RULE } from '../schema.ts'
import type { StructuralSchema, ValidationRule } from '../structural.ts'
import { structurallyEqual } from './equal.ts'
import { duplicate, forbidden, invalid, OMITTED, required } from './field-error.ts'
import type { FieldError } from './field-error.ts'
import { oldItems } from './correlate.ts'
import { own } from './own.ts'

/** What a rule is asked about. */
export interface RuleInput {
  readonly rule: ValidationRule
  readonly schema: StructuralSchema
  readonly self: unknown
  /** The value before the update; undefined when there is none to compare with. */
  readonly oldSelf: unknown
}

/** A rule's answer: it holds, it does not (perhaps with its own message), or it could not be evaluated. */
export type RuleAnswer =
  | { readonly holds: true }
  | { readonly holds: false; readonly message?: string }
  | { readonly error: string }

/** Evaluates rules. */
export type RuleEvaluator = (input: RuleInput) => RuleAnswer

/** Knows the rule of immutability and nothing else. */
export const immutabilityOnly: RuleEvaluator = ({ rule, schema, self, oldSelf }) =>
  rule.rule.trim() === IMMUTABLE_RULE
    ? { holds: structurallyEqual(schema, self, oldSelf) }
    : { error: 'rule compile error: no evaluator for this rule is available here' }

/** Errors of all rules of a schema over a value. */
export function ruleErrors(
  schema: StructuralSchema,
  value: unknown,
  old: unknown,
  evaluate: RuleEvaluator,
): FieldError[] {
  const errors: FieldError[] = []
  walk({ schema, value, old, path: '' }, evaluate, errors)
  return errors
}

interface Node {
  readonly schema: StructuralSchema
  readonly value: unknown
  readonly old: unknown
  readonly path: string
}

function walk(node: Node, evaluate: RuleEvaluator, errors: FieldError[]): void {
  const { schema, value, old, path } = node
  if (value === null || value === undefined || !hasRules(schema)) return
  for (const rule of schema['x-kubernetes-validations'] ?? []) {
    const error = checkRule(node, rule, evaluate)
    if (error) errors.push(error)
  }
  if (Array.isArray(value)) {
    if (!schema.items) return
    const oldOf = oldItems(schema, old)
    for (const [index, item] of value.entries()) {
      walk({ schema: schema.items, value: item, old: oldOf(item), path: `${path}[${index}]` }, evaluate, errors)
    }
  } else if (isObject(value)) {
    const oldFields = isObject(old) && schema['x-kubernetes-map-type'] !== 'atomic' ? old : undefined
    for (const field of Object.keys(value)) {
      const property = own(schema.properties, field)
      const child = property ?? (isObject(schema.additionalProperties) ? schema.additionalProperties : undefined)
      if (!child) continue
      const at = property ? (path === '' ? field : `${path}.${field}`) : `${path}[${field}]`
      walk({ schema: child, value: own(value, field), old: own(oldFields, field), path: at }, evaluate, errors)
    }
  }
}

function checkRule(node: Node, rule: ValidationRule, evaluate: RuleEvaluator): FieldError | undefined {
  const { schema, value: self, old, path } = node
  const oldSelf = old ?? undefined
  const isTransition = /\boldSelf\b/.test(rule.rule)
  if (isTransition && oldSelf === undefined && rule.optionalOldSelf !== true) return undefined
  const answer = evaluate({ rule, schema, self, oldSelf })
  if ('error' in answer) return invalid(path, schema.type ?? '', answer.error)
  if (answer.holds) return undefined
  // A value that was wrong before and did not change may stay.
  if (!isTransition && oldSelf !== undefined && jsonEqual(self, oldSelf)) return undefined
  const field = rule.fieldPath ? `${path}${rule.fieldPath}` : path
  const detail = answer.message ?? rule.message?.trim() ?? `failed rule: ${rule.rule.trim()}`
  const shown = schema.type === 'object' || schema.type === 'array' ? OMITTED : self
  switch (rule.reason) {
    case 'FieldValueForbidden':
      return forbidden(field, detail)
    case 'FieldValueRequired':
      return required(field, detail)
    case 'FieldValueDuplicate':
      return duplicate(field, shown)
    case 'FieldValueInvalid':
    case undefined:
      return invalid(field, shown, detail)
  }
}

// Schemas are immutable data, so that an answer about one never changes.
const known = new WeakMap<StructuralSchema, boolean>()

/** Whether a schema has rules anywhere. */
export function hasRules(schema: StructuralSchema): boolean {
  const before = known.get(schema)
  if (before !== undefined) return before
  const found =
    (schema['x-kubernetes-validations']?.length ?? 0) > 0 ||
    Object.values(schema.properties ?? {}).some(hasRules) ||
    (isObject(schema.additionalProperties) && hasRules(schema.additionalProperties)) ||
    (schema.items !== undefined && hasRules(schema.items))
  known.set(schema, found)
  return found
}
