/**
 * What an expression can cost at most, before it ever runs: sizes come from the schema's bounds, and from what fits
 * into one request where it has none. Same rules as cel-go's and Kubernetes' estimators, so that a rule is refused here
 * and there alike.
 */
import type { CallExpr, Expr, FoldExpr } from '../syntax/ast.ts'
import { ACCUMULATOR } from '../syntax/ast.ts'
import type { CheckedExpr } from '../checker.ts'
import { dottedName } from '../checker.ts'
import { COST_PER_CHARACTER } from './call-cost.ts'
import { libraryCost, regexCost } from './library-cost.ts'
import type { EstimatedCall, CallEstimate, CallOperand } from './library-cost.ts'
import { add, capCost, fixedCost, MAX_COST, multiply, scale, union, UNKNOWN, ZERO } from './cost-range.ts'
import type { CostRange } from './cost-range.ts'
import { optionalValueType } from '../types.ts'
import type { CelType } from '../types.ts'
import { textSize } from '../values.ts'

/** The estimated cost of a checked expression, given the declared types of its variables. */
export function estimateCost(expr: Expr, checked: CheckedExpr, variables: ReadonlyMap<string, CelType>): CostRange {
  return new Estimator(checked, variables).cost(expr)
}

interface EntrySize {
  readonly kind: 'list' | 'map'
  readonly key: CostRange
  readonly value: CostRange
}

interface Local {
  readonly path: readonly string[]
  readonly size: CostRange | undefined
  readonly entry: EntrySize | undefined
}

class Estimator {
  private readonly checked: CheckedExpr
  private readonly variables: ReadonlyMap<string, CelType>
  private readonly paths = new Map<number, readonly string[]>()
  private readonly sizes = new Map<number, CostRange>()
  private readonly entries = new Map<number, EntrySize>()
  private readonly locals = new Map<string, Local[]>()

  constructor(checked: CheckedExpr, variables: ReadonlyMap<string, CelType>) {
    this.checked = checked
    this.variables = variables
  }

  cost(expr: Expr): CostRange {
    switch (expr.kind) {
      case 'literal':
        return ZERO
      case 'ident':
        this.paths.set(expr.id, this.local(expr.name)?.path ?? [expr.name])
        return fixedCost(1)
      case 'select':
        return this.select(expr)
      case 'call':
        return this.call(expr)
      case 'list':
        return this.list(expr)
      case 'map':
        return this.map(expr)
      case 'struct':
        return expr.fields.reduce((sum, field) => add(sum, this.cost(field.value)), fixedCost(40))
      case 'fold':
        return expr.accuVar === ACCUMULATOR ? this.fold(expr) : this.bind(expr)
    }
  }

  private local(name: string): Local | undefined {
    return this.locals.get(name)?.at(-1)
  }

  private push(name: string, local: Local): void {
    this.locals.set(name, [...(this.locals.get(name) ?? []), local])
  }

  private pop(name: string): void {
    this.locals.get(name)?.pop()
  }

  private select(expr: Expr & { kind: 'select' }): CostRange {
    if (this.checked.names.has(expr.id) || this.checked.typeNames.has(expr.id)) {
      this.paths.set(expr.id, [this.checked.names.get(expr.id) ?? ''])
      return fixedCost(1)
    }
    const operand = this.cost(expr.operand)
    if (expr.isTest) return operand
    const type = this.checked.types.get(expr.operand.id)
    this.paths.set(expr.id, [...this.pathOf(expr.operand), expr.field])
    return type && ['map', 'object', 'param'].includes(type.kind) ? add(operand, fixedCost(1)) : operand
  }

  private list(expr: Expr & { kind: 'list' }): CostRange {
    let sum: CostRange = fixedCost(10)
    let item: CostRange = expr.items.length === 0 ? ZERO : { min: MAX_COST, max: 0 }
    for (const element of expr.items) {
      sum = add(sum, this.cost(element))
      item = union(item, this.sizeOf(element))
    }
    this.entries.set(expr.id, { kind: 'list', key: fixedCost(1), value: item })
    return sum
  }

  private map(expr: Expr & { kind: 'map' }): CostRange {
    let sum: CostRange = fixedCost(30)
    const start = expr.entries.length === 0 ? ZERO : { min: MAX_COST, max: 0 }
    let [key, value]: [CostRange, CostRange] = [start, start]
    for (const entry of expr.entries) {
      sum = add(sum, add(this.cost(entry.key), this.cost(entry.value)))
      key = union(key, this.sizeOf(entry.key))
      value = union(value, this.sizeOf(entry.value))
    }
    this.entries.set(expr.id, { kind: 'map', key, value })
    return sum
  }

  private fold(expr: FoldExpr): CostRange {
    let sum = add(this.cost(expr.range), this.cost(expr.init))
    this.push(expr.accuVar, {
      path: this.pathOf(expr.init),
      size: this.known(expr.init),
      entry: this.entryOf(expr.init),
    })
    this.pushIteration(expr)
    const loop = this.cost(expr.condition)
    const step = this.cost(expr.step)
    this.pop(expr.iterVar)
    if (expr.iterVar2 !== undefined) this.pop(expr.iterVar2)
    sum = add(sum, this.cost(expr.result))
    this.pop(expr.accuVar)
    const count = this.sizeOf(expr.range)
    sum = add(sum, multiply(count, add(step, loop)))
    if (expr.init.kind === 'literal') {
      const size = this.known(expr.init)
      if (size) this.sizes.set(expr.id, size)
    } else {
      this.sizes.set(expr.id, count)
      const entry = this.entryOf(expr.step)
      if (entry) this.entries.set(expr.id, entry)
    }
    return sum
  }

  private pushIteration(expr: FoldExpr): void {
    const entry = this.entryOf(expr.range)
    const path = this.pathOf(expr.range)
    const isList = (entry?.kind ?? this.checked.types.get(expr.range.id)?.kind) === 'list'
    const value: Local = { path: [...path, isList ? '@items' : '@values'], size: entry?.value, entry: undefined }
    const key: Local = { path: [...path, isList ? '@indices' : '@keys'], size: entry?.key, entry: undefined }
    if (expr.iterVar2 === undefined) this.push(expr.iterVar, isList ? value : key)
    else {
      this.push(expr.iterVar, key)
      this.push(expr.iterVar2, value)
    }
  }

  private bind(expr: FoldExpr): CostRange {
    let sum = add(this.cost(expr.range), this.cost(expr.init))
    this.push(expr.accuVar, {
      path: this.pathOf(expr.init),
      size: this.known(expr.init),
      entry: this.entryOf(expr.init),
    })
    sum = add(sum, this.cost(expr.result))
    this.pop(expr.accuVar)
    const size = this.known(expr.result)
    if (size) this.sizes.set(expr.id, size)
    return sum
  }

  private call(expr: CallExpr): CostRange {
    if (expr.fn === 'dyn') {
      const [arg] = expr.args
      const cost = add(this.cost(arg!), fixedCost(1))
      const size = this.known(arg!)
      if (size) this.sizes.set(expr.id, size)
      return cost
    }
    const argCosts = expr.args.map((arg) => this.cost(arg))
    const isMember = expr.target !== undefined && !this.checked.namespaced.has(expr.id)
    const targetCost = isMember ? this.cost(expr.target) : ZERO
    const ids = (this.checked.overloads.get(expr.id) ?? []).map((overload) => overload.id)
    if (expr.fn === '_?._') ids.push('select_optional_field')
    if (ids.length === 0) return ZERO
    const name = isMember || expr.target === undefined ? expr.fn : `${dottedName(expr.target)}.${expr.fn}`
    const parts = expr.args.map((arg) => this.partOf(arg))
    const target = isMember ? this.partOf(expr.target) : undefined
    let cost: CostRange = { min: MAX_COST, max: 0 }
    let size: CostRange | undefined
    for (const id of ids) {
      const one = this.callEstimate(expr, { name, id, target, parts, argCosts })
      cost = union(cost, one.cost)
      if (one.size) size = size ? union(size, one.size) : one.size
      if (id === 'index_list' || id === 'index_map') {
        size = this.entryOf(expr.args[0]!)?.value
        this.paths.set(expr.id, [...this.pathOf(expr.args[0]!), id === 'index_list' ? '@items' : '@values'])
      }
      size ??= this.known(expr)
    }
    if (size) this.sizes.set(expr.id, size)
    return add(targetCost, cost)
  }

  private partOf(expr: Expr): CallOperand {
    const path = this.pathOf(expr)
    return { expr, type: this.checked.types.get(expr.id), path: path[0] === ACCUMULATOR ? [] : path }
  }

  private partSize(part: CallOperand): CostRange {
    if (part.expr) return this.sizeOf(part.expr)
    return this.declaredSize(part.path) ?? UNKNOWN
  }

  private callEstimate(
    expr: CallExpr,
    call: EstimatedCall & { readonly argCosts: readonly CostRange[] },
  ): CallEstimate {
    const args = call.argCosts.reduce(add, ZERO)
    const own = libraryCost(call, (part) => this.partSize(part))
    if (own) return { ...own, cost: add(own.cost, args) }
    const size = (index: number) => this.partSize(call.parts[index]!)
    switch (call.id) {
      case 'string_format':
        return { cost: add(scale(this.partSize(call.target!), COST_PER_CHARACTER), args) }
      case 'string_to_bytes':
        return {
          cost: add(scale(size(0), COST_PER_CHARACTER), args),
          size: { min: size(0).min, max: capCost(size(0).max * 4) },
        }
      case 'bytes_to_string':
        return { cost: add(scale(size(0), COST_PER_CHARACTER), args), size: { min: size(0).min / 4, max: size(0).max } }
      case 'starts_with_string':
      case 'ends_with_string':
        return { cost: add(scale(size(0), COST_PER_CHARACTER), args) }
      case 'in_list':
        return { cost: add(size(1), args) }
      case 'matches':
        return { cost: add(regexCost(size(0), size(1)), args) }
      case 'matches_string':
        return { cost: add(regexCost(this.partSize(call.target!), size(0)), args) }
      case 'contains_string':
        return {
          cost: add(
            multiply(scale(this.partSize(call.target!), COST_PER_CHARACTER), scale(size(0), COST_PER_CHARACTER)),
            args,
          ),
        }
      case 'logical_or':
      case 'logical_and':
        return { cost: { min: call.argCosts[0]!.min, max: args.max } }
      case 'conditional': {
        const entry = unionEntries(this.entryOf(expr.args[1]!), this.entryOf(expr.args[2]!))
        if (entry) this.entries.set(expr.id, entry)
        return {
          cost: add(call.argCosts[0]!, union(call.argCosts[1]!, call.argCosts[2]!)),
          size: union(size(1), size(2)),
        }
      }
      case 'add_string':
      case 'add_bytes':
      case 'add_list': {
        const total = add(size(0), size(1))
        const entry = unionEntries(this.entryOf(expr.args[0]!), this.entryOf(expr.args[1]!))
        if (entry) this.entries.set(expr.id, entry)
        return {
          cost: add(call.id === 'add_list' ? fixedCost(1) : scale(total, COST_PER_CHARACTER), args),
          size: total,
        }
      }
      default:
        if (!/^(?:less|greater)_(?:equals_)?(?:string|bytes)$|^(?:not_)?equals$/.test(call.id)) {
          return { cost: add(fixedCost(1), args) }
        }
        return { cost: add(scale(comparison(size(0), size(1)), COST_PER_CHARACTER), args) }
    }
  }

  private pathOf(expr: Expr): readonly string[] {
    if (expr.kind === 'ident') {
      const local = this.local(expr.name)
      if (local) return local.path
    }
    return this.paths.get(expr.id) ?? []
  }

  private entryOf(expr: Expr): EntrySize | undefined {
    return this.entries.get(expr.id) ?? (expr.kind === 'ident' ? this.local(expr.name)?.entry : undefined)
  }

  private sizeOf(expr: Expr): CostRange {
    return this.known(expr) ?? UNKNOWN
  }

  private known(expr: Expr): CostRange | undefined {
    const computed = this.sizes.get(expr.id) ?? literalSize(expr)
    if (computed) return computed
    const declared = this.declaredSize(this.pathOf(expr))
    if (declared) {
      this.sizes.set(expr.id, declared)
      return declared
    }
    const type = this.checked.types.get(expr.id)
    if (type && isScalar(type)) return fixedCost(1)
    return expr.kind === 'ident' ? this.local(expr.name)?.size : undefined
  }

  /** The schema's bound of what a path leads to. */
  private declaredSize(path: readonly string[]): CostRange | undefined {
    const [root, ...rest] = path
    let type = root === undefined ? undefined : this.variables.get(root)
    for (const name of rest) {
      if (type === undefined) return undefined
      type = partType(type, name)
    }
    if (type === undefined || (type.kind === 'dyn' && type.maxElements === undefined)) return undefined
    return { min: 0, max: 'maxElements' in type ? (type.maxElements ?? 0) : 0 }
  }
}

function partType(type: CelType, name: string): CelType | undefined {
  const inner = optionalValueType(type) ?? type
  switch (name) {
    case '@items':
    case '@values':
      return inner.kind === 'list' ? inner.item : inner.kind === 'map' ? inner.value : undefined
    case '@keys':
      return inner.kind === 'map' ? inner.key : undefined
    default:
      return inner.kind === 'object' ? inner.fields.get(name) : undefined
  }
}

function unionEntries(a: EntrySize | undefined, b: EntrySize | undefined): EntrySize | undefined {
  return a && b ? { kind: a.kind, key: union(a.key, b.key), value: union(a.value, b.value) } : undefined
}

function comparison(a: CostRange, b: CostRange): CostRange {
  const max = Math.min(a.max, b.max)
  return { min: max > 0 ? 1 : 0, max }
}

function isScalar(type: CelType): boolean {
  const inner = optionalValueType(type)
  if (inner) return isScalar(inner)
  return ['bool', 'double', 'duration', 'int', 'timestamp', 'uint'].includes(type.kind)
}

function literalSize(expr: Expr): CostRange | undefined {
  switch (expr.kind) {
    case 'literal':
      if (typeof expr.value === 'string') return fixedCost(textSize(expr.value))
      return fixedCost(expr.value instanceof Uint8Array ? expr.value.length : 1)
    case 'list':
      return fixedCost(expr.items.length)
    case 'map':
      return fixedCost(expr.entries.length)
    default:
      return undefined
  }
}
