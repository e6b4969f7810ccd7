/** CEL as Kubernetes runs it: compile once against declared variables, evaluate often within a budget. */
import type { CelProblem } from './syntax/ast.ts'
import { checkExpr } from './checker.ts'
import { estimateCost } from './cost/estimate.ts'
import type { CostRange } from './cost/cost-range.ts'
import { compileSteps } from './evaluator.ts'
import type { EvaluationFrame } from './evaluator.ts'
import { CelSyntaxError } from './syntax/lexer.ts'
import { CONVERSIONS } from './library/conversions.ts'
import { LISTS, OPTIONALS } from './library/lists.ts'
import { NETWORK } from './library/network.ts'
import type { Overload } from './library/overload.ts'
import { KUBERNETES_TYPES } from './library/kubernetes-types.ts'
import { REGEX } from './library/regex.ts'
import { STANDARD } from './library/standard.ts'
import { STRINGS } from './library/strings.ts'
import { TIME_LIBRARY } from './library/time.ts'
import { validateLiterals } from './validate-literals.ts'
import { parse } from './syntax/parser.ts'
import type { DeclaredType } from './declare-schema.ts'
import type { CelType, ObjectType } from './types.ts'
import { CelBudgetExceeded, CelFailure } from './values.ts'
import type { CelValue } from './values.ts'

/** What one evaluation may cost, as in Kubernetes. */
const PER_CALL_LIMIT = 1_000_000
/** What all rules of an object may cost together, as in Kubernetes. */
export const PER_OBJECT_LIMIT = 10_000_000

/** What expressions may use. */
export interface CelEnvironment {
  readonly variables: ReadonlyMap<string, DeclaredType>
  readonly functions: ReadonlyMap<string, readonly Overload[]>
  /** Types whose values expressions can make; none unless a host has some. */
  struct?(name: string): ObjectType | undefined
}

/** An environment with Kubernetes' libraries and the given variables, and more functions where a host has some. */
export function celEnvironment(
  variables: Readonly<Record<string, DeclaredType>>,
  functions: readonly Overload[] = [],
): CelEnvironment {
  return {
    variables: new Map(Object.entries(variables)),
    functions: functions.length === 0 ? KUBERNETES : withFunctions(functions),
  }
}

const LIBRARIES: readonly Overload[] = [
  ...STANDARD,
  ...CONVERSIONS,
  ...TIME_LIBRARY,
  ...STRINGS,
  ...REGEX,
  ...LISTS,
  ...OPTIONALS,
  ...NETWORK,
  ...KUBERNETES_TYPES,
]
const KUBERNETES = byName(LIBRARIES)

// A host's functions are a constant of its own: looked up once.
const extended = new WeakMap<readonly Overload[], ReadonlyMap<string, readonly Overload[]>>()

function withFunctions(functions: readonly Overload[]): ReadonlyMap<string, readonly Overload[]> {
  const known = extended.get(functions) ?? byName([...LIBRARIES, ...functions])
  extended.set(functions, known)
  return known
}

function byName(overloads: readonly Overload[]): Map<string, Overload[]> {
  const found = new Map<string, Overload[]>()
  for (const overload of overloads) found.set(overload.fn, [...(found.get(overload.fn) ?? []), overload])
  return found
}

/** Why a source cannot be compiled. */
export interface CelIssue {
  readonly ok: false
  /** All of it as cel-go prints it: position, sentence, and the source with a caret. */
  readonly message: string
  /** Each problem with its place; lines and columns begin with 1. */
  readonly problems: readonly { readonly message: string; readonly line: number; readonly column: number }[]
  /** True where the source does not parse; false where names, types or literals are wrong. */
  readonly isSyntaxError: boolean
}

/** What an evaluation gave. */
export type CelResult =
  | { readonly ok: true; readonly value: CelValue; readonly cost: number }
  | { readonly ok: false; readonly error: string; readonly cost: number; readonly isOverBudget: boolean }

/** A compiled expression. */
export interface CelProgram {
  readonly ok: true
  readonly source: string
  readonly type: CelType
  /** What it can cost, by the bounds its variables' types declare. */
  readonly estimate: CostRange
  /** The variables it names. */
  readonly uses: ReadonlySet<string>
  /** Evaluates with JSON (or values) per variable; never throws for what an expression or its data can do wrong. */
  evaluate(bindings: Readonly<Record<string, unknown>>, limit?: number): CelResult
}

/** Compiles an expression, or says where and why it is none. */
export function compileCel(source: string, environment: CelEnvironment): CelProgram | CelIssue {
  const { variables } = environment
  let problems: readonly CelProblem[]
  try {
    const expr = parse(source)
    const types = new Map([...variables].map(([name, declared]) => [name, declared.type] as const))
    const checked = checkExpr(expr, { ...environment, variables: types })
    problems = checked.problems.length > 0 ? checked.problems : validateLiterals(expr, checked.types)
    if (problems.length === 0) {
      const { step, slots } = compileSteps(expr, checked)
      return {
        ok: true,
        source,
        type: checked.type,
        estimate: estimateCost(expr, checked, types),
        uses: new Set(checked.names.values()),
        evaluate: (bindings, limit = PER_CALL_LIMIT) => {
          const read = (name: string): CelValue => {
            const value = bindings[name]
            if (value === undefined) throw new CelFailure(`no such attribute(s): ${name}`)
            return variables.get(name)!.adapt(value)
          }
          return run(step, { slots: Array.from<undefined>({ length: slots }), read, cost: 0, limit })
        },
      }
    }
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error
    return { ...issueOf(source, [error.problem]), isSyntaxError: true }
  }
  return { ...issueOf(source, problems), isSyntaxError: false }
}

function run(step: (frame: EvaluationFrame) => CelValue, frame: EvaluationFrame): CelResult {
  try {
    const value = step(frame)
    return { ok: true, value, cost: frame.cost }
  } catch (error) {
    const isOverBudget = error instanceof CelBudgetExceeded
    if (!isOverBudget && !(error instanceof CelFailure)) throw error
    return { ok: false, error: error.message, cost: frame.cost, isOverBudget }
  }
}

function issueOf(source: string, found: readonly CelProblem[]): Omit<CelIssue, 'isSyntaxError'> {
  const problems = [...found]
    .sort((a, b) => a.at - b.at)
    .map(({ message, at }) => {
      const before = source.slice(0, at)
      const line = before.split('\n').length
      return {
        message,
        line,
        column: before.length - before.lastIndexOf('\n'),
        text: source.split('\n')[line - 1] ?? '',
      }
    })
  const message = problems
    .map(({ message: what, line, column, text }) => {
      const dots = '.'.repeat(column - 1)
      return `ERROR: <input>:${line}:${column}: ${what}\n | ${text.replaceAll('\t', ' ')}\n | ${dots}^`
    })
    .join('\n')
  return {
    ok: false,
    message,
    problems: problems.map(({ message: what, line, column }) => ({ message: what, line, column })),
  }
}
