/** Constants that can be judged before they are ever evaluated: durations, times and patterns written as literals. */
import type { CelProblem, Expr } from './ast.ts'
import { regexOf } from './library/regex.ts'
import { parseDurationText, parseTimestamp } from './library/time.ts'
import { CelFailure } from './values.ts'

/** What is wrong with an expression's literals. */
export function validateLiterals(expr: Expr): CelProblem[] {
  const problems: CelProblem[] = []
  visit(expr, problems)
  return problems
}

function visit(expr: Expr, problems: CelProblem[]): void {
  switch (expr.kind) {
    case 'literal':
    case 'ident':
      return
    case 'select':
      return visit(expr.operand, problems)
    case 'call':
      judge(expr, problems)
      if (expr.target) visit(expr.target, problems)
      for (const arg of expr.args) visit(arg, problems)
      return
    case 'list':
      for (const item of expr.items) visit(item, problems)
      return
    case 'map':
      for (const { key, value } of expr.entries) {
        visit(key, problems)
        visit(value, problems)
      }
      return
    case 'struct':
      for (const { value } of expr.fields) visit(value, problems)
      return
    case 'fold':
      for (const part of [expr.range, expr.init, expr.condition, expr.step, expr.result]) visit(part, problems)
  }
}

function judge(expr: Expr & { kind: 'call' }, problems: CelProblem[]): void {
  const pattern = expr.fn === 'matches' ? expr.args.at(-1) : undefined
  const [only] = expr.args
  if (pattern?.kind === 'literal' && typeof pattern.value === 'string') {
    try {
      regexOf(pattern.value)
    } catch (error) {
      if (error instanceof CelFailure) problems.push({ at: pattern.at, message: 'invalid matches argument' })
      else throw error
    }
  }
  if (expr.args.length !== 1 || only?.kind !== 'literal' || typeof only.value !== 'string') return
  if (expr.fn === 'duration' && !parseDurationText(only.value))
    problems.push({ at: only.at, message: 'invalid duration argument' })
  if (expr.fn === 'timestamp' && !parseTimestamp(only.value))
    problems.push({ at: only.at, message: 'invalid timestamp argument' })
}
