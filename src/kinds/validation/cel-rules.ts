/**
 * x-kubernetes-validations: rules in CEL, compiled once per schema node. A rule that cannot be compiled refuses the
 * object rather than let it through; all rules of an object share one budget.
 */
import { celEnvironment, compileCel, PER_OBJECT_LIMIT } from '../../cel/cel.ts'
import type { CelProgram, CelResult } from '../../cel/cel.ts'
import { declareSchema } from '../../cel/declare-schema.ts'
import type { DeclaredType } from '../../cel/declare-schema.ts'
import { optionalType } from '../../cel/types.ts'
import { CelOptional } from '../../cel/values.ts'
import { isObject, jsonEqual } from '../../core/json.ts'
import type { StructuralSchema, ValidationRule } from '../schema/structural.ts'
import { correlateOldItem } from '../schema/correlate.ts'
import { duplicate, forbidden, fieldErrorText, invalid, OMITTED, required } from './field-error.ts'
import type { FieldError } from './field-error.ts'
import { ownField } from '../schema/own-field.ts'

/** Errors of all rules of a schema over a value; what is forgiven because it did not change is said as a warning. */
export function ruleErrors(
  schema: StructuralSchema,
  value: unknown,
  old: unknown,
  warn: (text: string) => void = () => {},
): FieldError[] {
  const run: Run = { errors: [], warn, budget: PER_OBJECT_LIMIT }
  walk({ schema, value, old, path: '', isUnchanged: false, isRoot: true }, run)
  return run.errors
}

interface Run {
  readonly errors: FieldError[]
  readonly warn: (text: string) => void
  /** Below zero: no rule runs any more. */
  budget: number
}

interface Node {
  readonly schema: StructuralSchema
  readonly value: unknown
  readonly old: unknown
  readonly path: string
  /** Whether the nearest value above that can be compared with its old self is equal to it. */
  readonly isUnchanged: boolean
  readonly isRoot: boolean
}

function walk(above: Node, run: Run): void {
  const { schema, value, old, path } = above
  if (value === null || value === undefined || run.budget < 0 || !hasRules(schema)) return
  const isUnchanged = old === undefined || old === null ? above.isUnchanged : jsonEqual(value, old)
  const node: Node = { ...above, isUnchanged }
  checkRules(node, run)
  if (Array.isArray(value)) {
    if (!schema.items) return
    const oldOf = correlateOldItem(schema, old)
    for (const [index, item] of value.entries()) {
      walk(
        { schema: schema.items, value: item, old: oldOf(item), path: `${path}[${index}]`, isUnchanged, isRoot: false },
        run,
      )
    }
  } else if (isObject(value)) {
    const oldFields = isObject(old) ? old : undefined
    for (const field of Object.keys(value)) {
      const property = ownField(schema.properties, field)
      const child = property ?? (isObject(schema.additionalProperties) ? schema.additionalProperties : undefined)
      if (!child) continue
      const at = property ? (path === '' ? field : `${path}.${field}`) : `${path}[${field}]`
      walk(
        {
          schema: child,
          value: ownField(value, field),
          old: ownField(oldFields, field),
          path: at,
          isUnchanged,
          isRoot: false,
        },
        run,
      )
    }
  }
}

function checkRules(node: Node, run: Run): void {
  const { schema, path } = node
  const type = schema.type ?? ''
  for (const compiled of compiledRules(schema, node.isRoot)) {
    if (run.budget < 0) return
    if (typeof compiled === 'string') run.errors.push(invalid(path, type, `rule compile error: ${compiled}`))
    else checkRule(node, compiled, run)
  }
}

const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run'

function checkRule(node: Node, compiled: CompiledRule, run: Run): void {
  const { schema, path, value: self } = node
  const { rule, program, usesOldSelf } = compiled
  const old = node.old ?? undefined
  if (usesOldSelf && old === undefined && rule.optionalOldSelf !== true) return
  const result = program.evaluate(bindingsOf(compiled, self, old))
  const shown = rule.message?.trim() || rule.rule.trim()
  const say = (detail: string) => run.errors.push(invalid(path, schema.type ?? '', detail))
  run.budget -= result.cost
  if (!result.ok && result.isOverBudget) {
    say(`'${result.error}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown}`)
    run.budget = -1
  } else if (run.budget < 0) say(OUT_OF_BUDGET)
  else if (!result.ok) say(failure(result.error, shown))
  else if (result.value !== true) {
    const error = errorOf(node, compiled, messageOf(compiled, self, old, run) ?? defaultMessage(rule))
    // A value that was wrong before and did not change may stay.
    if (!usesOldSelf && node.isUnchanged) run.warn(fieldErrorText(error))
    else run.errors.push(error)
  }
}

function failure(error: string, shown: string): string {
  if (!error.startsWith('no such overload')) return `${error} evaluating rule: ${shown}`
  return `'${error}': call arguments did not match a supported operator, function or macro signature for rule: ${shown}`
}

function defaultMessage(rule: ValidationRule): string {
  return rule.message?.trim() || `failed rule: ${rule.rule.trim()}`
}

function bindingsOf({ rule }: CompiledRule, self: unknown, old: unknown): Record<string, unknown> {
  return rule.optionalOldSelf === true
    ? { self, oldSelf: old === undefined ? null : { value: old } }
    : { self, oldSelf: old }
}

function messageOf(compiled: CompiledRule, self: unknown, old: unknown, run: Run): string | undefined {
  const result: CelResult | undefined = compiled.message?.evaluate(bindingsOf(compiled, self, old))
  if (!result) return undefined
  run.budget -= result.cost
  const text = result.ok && typeof result.value === 'string' ? result.value.trim() : ''
  return text === '' || text.includes('\n') || text.length > 5 * 1024 ? undefined : text
}

function errorOf({ schema, value, path }: Node, { rule }: CompiledRule, detail: string): FieldError {
  const field = rule.fieldPath ? fieldAt(path, rule.fieldPath) : path
  const shown = schema.type === 'object' || schema.type === 'array' ? OMITTED : value
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

// `.spec['a.b']` below `x` is `x.spec.a.b`; below the root it is `spec.a.b`.
function fieldAt(path: string, fieldPath: string): string {
  const below = fieldPath.replace(/\['((?:[^'\\]|\\.)*)'\]/g, (_, name: string) => `.${name.replace(/\\(.)/g, '$1')}`)
  return path === '' ? below.replace(/^\./, '') : `${path}${below}`
}

/** A rule ready to run. */
export interface CompiledRule {
  readonly rule: ValidationRule
  readonly program: CelProgram
  readonly message: CelProgram | undefined
  readonly usesOldSelf: boolean
}

// Schemas are immutable data, so that what is known about a schema never changes.
const compiledBy = new WeakMap<StructuralSchema, readonly (CompiledRule | string)[]>()

/** The rules of a schema node, compiled; a text says why one cannot be. */
function compiledRules(schema: StructuralSchema, isRoot: boolean): readonly (CompiledRule | string)[] {
  const before = compiledBy.get(schema)
  if (before) return before
  const rules = schema['x-kubernetes-validations'] ?? []
  const compiled = rules.map((rule) => compileRule(rule, schema, isRoot))
  compiledBy.set(schema, compiled)
  return compiled
}

/** Compiles one rule for values of a schema, or says why it cannot be. */
export function compileRule(rule: ValidationRule, schema: StructuralSchema, isRoot: boolean): CompiledRule | string {
  const self = declareSchema(schema, isRoot, 'selfType')
  if (!self) return 'the schema has no type that rules can see'
  const environment = celEnvironment({ self, oldSelf: rule.optionalOldSelf === true ? optionalOf(self) : self })
  if (rule.rule.trim() === '') return 'rule is not specified'
  const program = compileCel(rule.rule, environment)
  if (!program.ok) return `compilation failed: ${program.message}`
  if (program.type.kind !== 'bool' && program.type.kind !== 'dyn') return 'cel expression must evaluate to a bool'
  const message = rule.messageExpression === undefined ? undefined : compileCel(rule.messageExpression, environment)
  return { rule, program, message: message?.ok ? message : undefined, usesOldSelf: program.uses.has('oldSelf') }
}

function optionalOf({ type, adapt }: DeclaredType): DeclaredType {
  return {
    type: optionalType(type),
    adapt: (raw) => (isObject(raw) ? new CelOptional(adapt(raw['value'])) : CelOptional.none),
  }
}

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
