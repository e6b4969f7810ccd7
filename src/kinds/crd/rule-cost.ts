/** The CEL rules of a definition: whether they compile, and whether they may cost too much. */
import { compileCel, celEnvironment } from '../../cel/cel.ts'
import { declareSchema, maxCardinality } from '../../cel/declare-schema.ts'
import { isObject } from '../../core/json.ts'
import type { StructuralSchema, ValidationRule } from '../schema/structural.ts'
import { forbidden, invalid, notSupported, required } from '../validation/field-error.ts'
import type { FieldError } from '../validation/field-error.ts'
import { GoStruct } from '../validation/go-text.ts'
import { compileRule } from '../validation/cel-rules.ts'

const RULE_LIMIT = 10_000_000
const TOTAL_LIMIT = 100_000_000
const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired']

interface Place {
  readonly path: string
  readonly isRoot: boolean
  /** How many values of this schema one object can hold; undefined: as many as fit into a request. */
  readonly cardinality: number | undefined
  /** The list above whose items have no old selves. */
  readonly uncorrelatable: string | undefined
}

interface Costs {
  readonly errors: FieldError[]
  readonly expensive: { readonly path: string; readonly cost: number }[]
  total: number
}

/** What is wrong with a schema's rules. */
export function validateRuleCosts(schema: StructuralSchema, path: string): FieldError[] {
  const costs: Costs = { errors: [], expensive: [], total: 0 }
  visit(schema, { path, isRoot: true, cardinality: 1, uncorrelatable: undefined }, costs)
  if (costs.total <= TOTAL_LIMIT) return costs.errors
  const most = costs.expensive.toSorted((a, b) => b.cost - a.cost).slice(0, 4)
  return [
    ...costs.errors,
    ...most.map((rule) =>
      forbidden(rule.path, 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'),
    ),
    forbidden(
      path,
      costMessage(
        'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema',
        costs.total,
        TOTAL_LIMIT,
      ),
    ),
  ]
}

function visit(schema: StructuralSchema, place: Place, costs: Costs): void {
  const { path } = place
  for (const [index, rule] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    checkRule(rule, schema, { ...place, path: `${path}.x-kubernetes-validations[${index}]` }, costs)
  }
  const below = (at: string, count: number | undefined, uncorrelatable = place.uncorrelatable): Place => ({
    path: `${path}.${at}`,
    isRoot: false,
    cardinality: place.cardinality === undefined || count === undefined ? undefined : place.cardinality * count,
    uncorrelatable,
  })
  for (const [field, child] of Object.entries(schema.properties ?? {}))
    visit(child, below(`properties[${field}]`, 1), costs)
  if (isObject(schema.additionalProperties)) {
    visit(schema.additionalProperties, below('additionalProperties', schema.maxProperties), costs)
  }
  if (schema.items) {
    const isKeyed = schema['x-kubernetes-list-type'] === 'map'
    visit(
      schema.items,
      below('items', schema.maxItems, isKeyed ? place.uncorrelatable : (place.uncorrelatable ?? path)),
      costs,
    )
  }
}

function checkRule(rule: ValidationRule, schema: StructuralSchema, place: Place, costs: Costs): void {
  const { path } = place
  const say = (error: FieldError) => costs.errors.push(error)
  if (rule.rule.trim() === '') {
    say(required(`${path}.rule`, 'rule is not specified'))
    return
  }
  checkTexts(rule, schema, path, say)
  const compiled = compileRule(rule, schema, place.isRoot)
  if (typeof compiled === 'string') {
    say(invalid(`${path}.rule`, shownRule(rule), compiled))
    return
  }
  if (rule.optionalOldSelf !== undefined && !compiled.usesOldSelf) {
    say(invalid(`${path}.optionalOldSelf`, rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'))
  }
  if (compiled.usesOldSelf && place.uncorrelatable !== undefined) {
    const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${place.uncorrelatable}`
    say(invalid(`${path}.rule`, rule.rule, detail))
  }
  const declared = declareSchema(schema, place.isRoot)
  const count = place.cardinality ?? maxCardinality(declared)
  const cost = compiled.program.estimate.max * count
  costs.total += cost
  if (cost > RULE_LIMIT) {
    costs.expensive.push({ path: `${path}.rule`, cost })
    say(forbidden(`${path}.rule`, costMessage('estimated rule cost', cost, RULE_LIMIT)))
  }
  checkMessage(rule, schema, place, costs)
}

function checkTexts(
  rule: ValidationRule,
  schema: StructuralSchema,
  path: string,
  say: (error: FieldError) => void,
): void {
  const { message, reason, fieldPath } = rule
  if (message !== undefined && message !== '' && message.trim() === '') {
    say(invalid(`${path}.message`, message, 'message must be non-empty if specified'))
  } else if (message?.trim().includes('\n')) say(invalid(`${path}.message`, message, 'must not contain line breaks'))
  else if (rule.rule.includes('\n') && !message && rule.messageExpression === undefined) {
    say(required(`${path}.message`, 'message must be specified if rule contains line breaks'))
  }
  if (reason !== undefined && !REASONS.includes(reason)) say(notSupported(`${path}.reason`, reason, REASONS))
  if (fieldPath !== undefined && !leadsSomewhere(schema, fieldPath)) {
    say(invalid(`${path}.fieldPath`, fieldPath, 'must be a valid path'))
  }
}

function leadsSomewhere(schema: StructuralSchema, fieldPath: string): boolean {
  if (!/^(?:\.[^.[\]]+|\['(?:[^'\\]|\\.)*'\])+$/.test(fieldPath)) return false
  let node: StructuralSchema | undefined = schema
  for (const [, plain, quoted] of fieldPath.matchAll(/\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]/g)) {
    const name = plain ?? quoted!.replace(/\\(.)/g, '$1')
    node = node?.properties?.[name] ?? (isObject(node?.additionalProperties) ? node.additionalProperties : undefined)
  }
  return node !== undefined
}

function checkMessage(rule: ValidationRule, schema: StructuralSchema, place: Place, costs: Costs): void {
  if (rule.messageExpression === undefined) return
  const at = `${place.path}.messageExpression`
  if (rule.messageExpression.trim() === '') {
    costs.errors.push(required(at, 'messageExpression must be non-empty if specified'))
    return
  }
  const self = declareSchema(schema, place.isRoot, 'selfType')!
  const program = compileCel(rule.messageExpression, celEnvironment({ self, oldSelf: self }))
  if (!program.ok) {
    costs.errors.push(invalid(at, shownRule(rule), `messageExpression compilation failed: ${program.message}`))
  } else if (program.type.kind !== 'string') {
    costs.errors.push(invalid(at, shownRule(rule), 'messageExpression must evaluate to a string'))
  } else {
    const cost = program.estimate.max * (place.cardinality ?? maxCardinality(self))
    costs.total += cost
    if (cost > RULE_LIMIT) {
      costs.expensive.push({ path: at, cost })
      costs.errors.push(forbidden(at, costMessage('estimated messageExpression cost', cost, RULE_LIMIT)))
    }
  }
}

// As the server's own form of a rule prints it.
function shownRule(rule: ValidationRule): GoStruct {
  return new GoStruct({
    Rule: rule.rule,
    Message: rule.message ?? '',
    MessageExpression: rule.messageExpression ?? '',
    Reason: rule.reason ?? null,
    FieldPath: rule.fieldPath ?? '',
    OptionalOldSelf: rule.optionalOldSelf ?? null,
  })
}

function costMessage(what: string, cost: number, limit: number): string {
  const over = cost / limit
  const factor = over > 100 ? 'more than 100x' : over < 1.5 ? `${over.toFixed(6)}x` : `${over.toFixed(1)}x`
  return `${what} exceeds budget by factor of ${factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}
