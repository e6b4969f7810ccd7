/** What an agent reports of single objects: typed values, and conditions that CEL rules define. */
import { celEnvironment } from '../../cel/cel.ts'
import type { CelEnvironment, CelProgram } from '../../cel/cel.ts'
import { DYNAMIC } from '../../cel/declare-schema.ts'
import { celToJson } from '../../cel/values.ts'
import type { CelValue } from '../../cel/values.ts'
import { compact } from '../../core/compact.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { VALUE_TYPES } from '../../kinds/fields/report.ts'
import { evaluateJsonPath, parseJsonPath } from '../../kinds/json-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { selects } from '../objects/object-id.ts'
import type { ObjectId } from '../objects/object-id.ts'

/** A reported value. */
interface FeedbackValue {
  readonly name: string
  readonly type: (typeof VALUE_TYPES)[number]
  readonly value: string
}

/** The condition of a rule. */
interface RuleCondition {
  readonly type: string
  /** All expressions of the rule are true. */
  readonly met: boolean
  readonly reason: 'ConditionRuleEvaluated' | 'ConditionRuleExpressionError'
  readonly message?: string
}

/** What the rules report of an object. */
export interface ObjectFeedback {
  readonly feedback: readonly FeedbackValue[]
  /** Names of requested values that do not exist. */
  readonly missing: readonly string[]
  readonly conditions: readonly RuleCondition[]
}

/** The rules of an object. */
export interface FeedbackRules {
  readonly hasRules: boolean
  readonly evaluate: (object: UnknownObject) => ObjectFeedback
}

/** Compiles an expression; notes the problem and returns undefined where it cannot be compiled. */
export type Compile = (source: string | undefined, where: string, variables?: CelEnvironment) => CelProgram | undefined

const VALUE_CHARS = 1024

/** Compiles the rules of a bundle. */
export function compileFeedback(
  options: BundleOptions,
  compile: Compile,
): { readonly rulesFor: (id: ObjectId) => FeedbackRules } {
  const withResult = celEnvironment({ object: DYNAMIC, result: DYNAMIC })
  const values = (options.feedback ?? []).map((rule, index) => ({
    rule,
    program: compile(rule.expression, `feedback[${index}].expression`),
    steps: rule.path === undefined ? undefined : parseJsonPath(rule.path.replace(/^\{(.*)\}$/, '$1')),
  }))
  const conditions = (options.conditions ?? []).map((rule, index) => ({
    rule,
    programs: rule.expressions.flatMap(
      (expression, nth) => compile(expression, `conditions[${index}].expressions[${nth}]`) ?? [],
    ),
    message: compile(rule.messageExpression, `conditions[${index}].messageExpression`, withResult),
  }))
  return {
    rulesFor: (id) => {
      const mine = values.filter(({ rule }) => selects(rule, id))
      const judged = conditions.filter(({ rule }) => selects(rule, id))
      return {
        hasRules: mine.length > 0 || judged.length > 0,
        evaluate: (object) => {
          const read = mine.map(({ rule, program, steps }) => ({
            name: rule.as,
            value: program ? programValue(program, object) : typed(steps && evaluateJsonPath(object, steps)[0]),
          }))
          return {
            feedback: read.flatMap(({ name, value }) => (value ? [{ name, ...value }] : [])),
            missing: read.flatMap(({ name, value }) => (value ? [] : [name])),
            conditions: judged.map((one) => conditionOf(one, object)),
          }
        },
      }
    },
  }
}

type TypedValue = Omit<FeedbackValue, 'name'>

function programValue(program: CelProgram, object: UnknownObject): TypedValue {
  const result = program.evaluate({ object })
  if (!result.ok) return { type: 'String', value: cut(`error: ${result.error}`) }
  return typed(celToJson(result.value)) ?? { type: 'JsonRaw', value: cut(celText(result.value)) }
}

function typed(value: unknown): TypedValue | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return { type: 'String', value: cut(value) }
  if (typeof value === 'boolean') return { type: 'Boolean', value: String(value) }
  if (typeof value === 'number' && Number.isSafeInteger(value)) return { type: 'Integer', value: String(value) }
  const raw = JSON.stringify(value)
  // A cut document would not be JSON.
  return raw.length <= VALUE_CHARS ? { type: 'JsonRaw', value: raw } : undefined
}

interface CompiledCondition {
  readonly rule: { readonly type: string; readonly message?: string | undefined }
  readonly programs: readonly CelProgram[]
  readonly message: CelProgram | undefined
}

function conditionOf({ rule, programs, message }: CompiledCondition, object: UnknownObject): RuleCondition {
  const results = programs.map((program) => program.evaluate({ object }))
  const failed = results.find((result) => !result.ok)
  if (failed && !failed.ok) {
    const { type } = rule
    return { type, met: false, reason: 'ConditionRuleExpressionError', message: cut(failed.error) }
  }
  const result = results.every((one) => one.ok && one.value === true)
  const said = message?.evaluate({ object, result })
  const text = said?.ok ? celText(said.value) : rule.message
  return compact({
    type: rule.type,
    met: result,
    reason: 'ConditionRuleEvaluated',
    message: text ? cut(text) : undefined,
  })
}

function cut(text: string): string {
  return text.length <= VALUE_CHARS ? text : `${text.slice(0, VALUE_CHARS - 1)}…`
}

/** A value of CEL as text. */
export function celText(value: CelValue): string {
  const json = celToJson(value)
  return typeof json === 'string' ? json : (JSON.stringify(json) ?? '')
}
