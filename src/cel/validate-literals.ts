/**
 * What can be judged before an expression is ever evaluated: durations, times, patterns and formats written as
 * literals, and lists and maps of a single type throughout.
 */
import type { CallExpr, CelProblem, Expr } from './syntax/ast.ts'
import { formatClauses } from './library/format-text.ts'
import { compileRegex } from './library/regex.ts'
import { isTimestamp, parseDurationText, parseTimestamp } from './library/time.ts'
import { formatType, optionalValueType } from './types.ts'
import type { CelType } from './types.ts'
import { CelFailure } from './values.ts'

/** What is wrong with an expression's literals. */
export function validateLiterals(expr: Expr, types: ReadonlyMap<number, CelType>): CelProblem[] {
  const validator: Validator = { types, problems: [] }
  visit(expr, validator, false)
  return validator.problems
}

interface Validator {
  readonly types: ReadonlyMap<number, CelType>
  readonly problems: CelProblem[]
}

function visit(expr: Expr, validator: Validator, isFormatted: boolean): void {
  const inside = isFormatted || (expr.kind === 'call' && expr.fn === 'format')
  for (const part of partsOf(expr)) visit(part, validator, inside)
  if (expr.kind === 'call') judge(expr, validator)
  if (isFormatted) return
  if (expr.kind === 'list') sameTypes(expr.items, (index) => expr.optional.has(index), validator)
  if (expr.kind === 'map') {
    const { entries } = expr
    sameTypes(
      entries.map(({ key }) => key),
      () => false,
      validator,
    )
    sameTypes(
      entries.map(({ value }) => value),
      (index) => entries[index]!.optional,
      validator,
    )
  }
}

function partsOf(expr: Expr): readonly Expr[] {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return []
    case 'select':
      return [expr.operand]
    case 'call':
      return expr.target ? [expr.target, ...expr.args] : expr.args
    case 'list':
      return expr.items
    case 'map':
      return expr.entries.flatMap(({ key, value }) => [key, value])
    case 'struct':
      return expr.fields.map(({ value }) => value)
    case 'fold':
      return [expr.range, expr.init, expr.condition, expr.step, expr.result]
  }
}

function sameTypes(
  items: readonly Expr[],
  isOptional: (index: number) => boolean,
  { types, problems }: Validator,
): void {
  let first: string | undefined
  for (const [index, item] of items.entries()) {
    const type = types.get(item.id)
    if (!type) continue
    const name = formatType(isOptional(index) ? (optionalValueType(type) ?? type) : type)
    first ??= name
    if (name === first) continue
    problems.push({ at: item.at, message: `expected type '${first}' but found '${name}'` })
    return
  }
}

function judge(expr: CallExpr, { types, problems }: Validator): void {
  const { fn, args, target } = expr
  const last = args.at(-1)
  if (fn === 'matches' && last?.kind === 'literal' && typeof last.value === 'string' && !isPattern(last.value)) {
    problems.push({ at: last.at, message: 'invalid matches argument' })
  }
  if (fn === 'format' && target?.kind === 'literal' && typeof target.value === 'string' && last?.kind === 'list') {
    const found = formatClauses(
      target.value,
      last.items.map((item) => types.get(item.id)),
    )
    if (found) problems.push({ at: last.items[found.index ?? -1]?.at ?? expr.at, message: found.message })
  }
  if (args.length !== 1 || target || last?.kind !== 'literal') return
  if (fn === 'timestamp' && typeof last.value === 'bigint' && !isTimestamp(last.value)) {
    problems.push({ at: last.at, message: 'invalid timestamp argument' })
  }
  if (typeof last.value !== 'string') return
  if (fn === 'duration' && !parseDurationText(last.value))
    problems.push({ at: last.at, message: 'invalid duration argument' })
  if (fn === 'timestamp' && !parseTimestamp(last.value))
    problems.push({ at: last.at, message: 'invalid timestamp argument' })
}

function isPattern(text: string): boolean {
  try {
    compileRegex(text)
    return true
  } catch (error) {
    if (error instanceof CelFailure) return false
    throw error
  }
}
