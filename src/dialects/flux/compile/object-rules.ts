/** `healthCheckExprs` and rules of ignored fields, as the health rules and ignored fields of a Bundle. */
import { parse } from '../../../cel/syntax/parser.ts'
import type { Expr } from '../../../cel/syntax/ast.ts'
import { compact } from '../../../core/compact.ts'
import { toError } from '../../../core/errors.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { BundleOptions } from '../../../kinds/fields/bundle-options.ts'
import { compileHealthRules } from '../../../plan/health/health-rules.ts'
import { HealthExpressionError, healthReader } from '../health/health-expressions.ts'
import { listOf, textOf } from './compile-source.ts'
import { groupOf } from '../../../plan/objects/object-id.ts'

type HealthRules = NonNullable<BundleOptions['health']>

/** Names of types, which Flux's expressions read as types and not as fields of the object. */
const TYPES = new Set(['bool', 'bytes', 'double', 'dyn', 'int', 'list', 'map', 'null_type', 'string', 'uint'])
/** What stands before the dot of functions such as `sets.contains`. */
const NAMESPACES = new Set(['format', 'ip', 'lists', 'math', 'optional', 'sets', 'strings'])
const MAX_RULES = 64
const MAX_EXPRESSION = 4096

/** What is wrong with `healthCheckExprs`, in Flux's words; undefined if the agents can evaluate all. */
export function healthProblem(value: unknown): string | undefined {
  const entries = listOf(value)
  if (entries.length > MAX_RULES) return `healthCheckExprs has ${entries.length} entries; write at most ${MAX_RULES}`
  try {
    healthReader(entries.map(expressionsOf))
    const tooLong = compileRules(entries).findIndex((rule) =>
      [rule.failed, rule.progressing, rule.ready].some((source) => (source ?? '').length > MAX_EXPRESSION),
    )
    if (tooLong >= 0) {
      return `healthCheckExprs[${tooLong}] is too long; an expression has at most ${MAX_EXPRESSION} characters`
    }
    // Agents check the types of an expression before they evaluate it; Flux does not.
    const compiled = compileHealthRules({ health: compileRules(entries) })
    return compiled.ok ? undefined : `healthCheckExprs: ${compiled.problem}`
  } catch (caught) {
    if (caught instanceof HealthExpressionError) return `healthCheckExprs: ${caught.message}`
    throw caught
  }
}

/**
 * The health rules of a Bundle. Flux asks `inProgress`, `failed` and `current` in this order, and the agent asks
 * `failed` first: an object that is in progress must therefore not be failed.
 */
export function compileHealth(value: unknown): HealthRules | undefined {
  const entries = listOf(value)
  return entries.length === 0 ? undefined : compileRules(entries)
}

function compileRules(entries: readonly JsonObject[]): HealthRules {
  return entries.map(expressionsOf).map(({ apiVersion, kind, inProgress, failed, current }) => {
    const progressing = inProgress === '' ? undefined : qualifyFields(inProgress)
    const isFailed = failed === '' ? undefined : qualifyFields(failed)
    return compact({
      group: groupOf({ apiVersion }),
      kind: kind === '' ? undefined : kind,
      failed: isFailed !== undefined && progressing !== undefined ? `!(${progressing}) && (${isFailed})` : isFailed,
      progressing,
      ready: qualifyFields(current),
    })
  })
}

function expressionsOf(entry: JsonObject) {
  const [apiVersion, kind, inProgress, failed, current] = (
    ['apiVersion', 'kind', 'inProgress', 'failed', 'current'] as const
  ).map((field) => textOf(entry[field]))
  return { apiVersion: apiVersion!, kind: kind!, inProgress: inProgress!, failed: failed!, current: current! }
}

/** The expression over `object`: in Flux's, each field at the top of the object is a variable. */
export function qualifyFields(source: string): string {
  let out = ''
  let from = 0
  for (const at of [...freeNames(readExpression(source))].toSorted((a, b) => a - b)) {
    out += `${source.slice(from, at)}object.`
    from = at
  }
  return out + source.slice(from)
}

function readExpression(source: string): Expr {
  try {
    return parse(source)
  } catch (caught) {
    throw new HealthExpressionError(`failed to parse the expression '${source}': ${toError(caught).message}`)
  }
}

/** Where names stand that no macro binds. */
function freeNames(root: Expr): ReadonlySet<number> {
  const found = new Set<number>()
  const walk = (expr: Expr | undefined, bound: ReadonlySet<string>): void => {
    switch (expr?.kind) {
      case 'ident':
        if (!bound.has(expr.name) && !TYPES.has(expr.name)) found.add(expr.at)
        return
      case 'select':
        walk(expr.operand, bound)
        return
      case 'call': {
        const isNamespace = expr.target?.kind === 'ident' && NAMESPACES.has(expr.target.name)
        for (const one of [isNamespace ? undefined : expr.target, ...expr.args]) walk(one, bound)
        return
      }
      case 'list':
        for (const one of expr.items) walk(one, bound)
        return
      case 'map':
        for (const { key, value } of expr.entries) for (const one of [key, value]) walk(one, bound)
        return
      case 'struct':
        for (const { value } of expr.fields) walk(value, bound)
        return
      case 'fold': {
        walk(expr.range, bound)
        walk(expr.init, bound)
        const own = [expr.iterVar, expr.accuVar, ...(expr.iterVar2 === undefined ? [] : [expr.iterVar2])]
        const inner = new Set([...bound, ...own])
        walk(expr.condition, inner)
        walk(expr.step, inner)
        walk(expr.result, new Set([...bound, expr.accuVar]))
        return
      }
      default:
    }
  }
  walk(root, new Set())
  return found
}

/** What is wrong with rules of ignored fields below the given path; undefined if they can be followed. */
export function ignoreProblem(value: unknown, path: string): string | undefined {
  for (const { target } of listOf(value)) {
    const name = isObject(target) ? textOf(target['name']) : ''
    if (!/^([A-Za-z0-9.:-]*|\.\*)$/.test(name)) {
      return `${path}.target.name is ${JSON.stringify(name)}; write a name or .*`
    }
  }
  return undefined
}

/** Rules of ignored fields. */
export function compileIgnore(value: unknown): BundleOptions['ignore'] {
  const rules = listOf(value).map(({ paths, target }) => {
    const selected = isObject(target) ? target : {}
    const glob = (field: string): string | undefined => {
      const name = textOf(selected[field])
      return name === '.*' ? '*' : name || undefined
    }
    return compact({
      group: glob('group'),
      kind: glob('kind'),
      namespace: glob('namespace'),
      name: glob('name'),
      pointers: Array.isArray(paths) ? paths.filter((pointer) => typeof pointer === 'string') : [],
    })
  })
  return rules.length === 0 ? undefined : rules
}
