/**
 * A checked tree as closures: compiled once, called often. Every step adds to the meter what cel-go would count, so
 * that an expression stops here where it would stop in Kubernetes.
 */
import { dottedName } from './checker.ts'
import type { CheckedExpr } from './checker.ts'
import type { CallExpr, Expr, FoldExpr, StructExpr } from './syntax/ast.ts'
import { callCost } from './cost/call-cost.ts'
import { isValueOfType } from './library/overload.ts'
import type { Overload } from './library/overload.ts'
import {
  ArrayList,
  CelBudgetExceeded,
  CelFailure,
  CelList,
  CelMap,
  CelOptional,
  CelTypeValue,
  CelUint,
  celToJson,
  EntryMap,
  StructValue,
  runtimeTypeName,
} from './values.ts'
import type { CelValue } from './values.ts'

/** An evaluation: its variables and its meter. */
export interface EvaluationFrame {
  readonly slots: (CelValue | undefined)[]
  /** Reads a top-level variable once it is needed. */
  readonly read: (name: string) => CelValue
  cost: number
  readonly limit: number
}

/** A compiled expression. */
export type CompiledStep = (frame: EvaluationFrame) => CelValue

/** Compiles a checked tree. */
export function compileSteps(
  expr: Expr,
  checked: CheckedExpr,
): { readonly step: CompiledStep; readonly slots: number } {
  const compiler = new Compiler(checked)
  return { step: compiler.compile(expr), slots: compiler.slotCount }
}

function charge(frame: EvaluationFrame, cost: number): void {
  frame.cost += cost
  if (frame.cost > frame.limit) throw new CelBudgetExceeded('operation cancelled: actual cost limit exceeded')
}

function setEntry(map: EntryMap, key: CelValue, value: CelValue, isOptional: boolean): void {
  if (!isOptional) map.set(key, value)
  else if (!(value instanceof CelOptional))
    throw new CelFailure(`cannot initialize optional entry from non-optional value ${runtimeTypeName(value)}`)
  else if (value.value !== undefined) map.set(key, value.value)
}

class Compiler {
  slotCount = 0
  private readonly checked: CheckedExpr
  private readonly scopes: Map<string, number>[] = []
  private readonly variables = new Map<string, number>()

  constructor(checked: CheckedExpr) {
    this.checked = checked
  }

  compile(expr: Expr): CompiledStep {
    switch (expr.kind) {
      case 'literal': {
        const { value } = expr
        return () => value
      }
      case 'ident':
        return this.ident(expr.id, expr.name)
      case 'select':
        return this.select(expr)
      case 'call':
        return this.call(expr)
      case 'list':
        return this.list(expr)
      case 'map':
        return this.map(expr)
      case 'struct':
        return this.struct(expr)
      case 'fold':
        return this.fold(expr)
    }
  }

  private ident(id: number, name: string): CompiledStep {
    for (let depth = this.scopes.length - 1; depth >= 0; depth--) {
      const slot = this.scopes[depth]!.get(name)
      if (slot === undefined) continue
      return (frame) => {
        charge(frame, 1)
        return raise(frame.slots[slot]!)
      }
    }
    return this.named(id) ?? fails(`no such attribute: ${name}`)
  }

  private named(id: number): CompiledStep | undefined {
    const type = this.checked.typeNames.get(id)
    if (type !== undefined) {
      const value = new CelTypeValue(type)
      return () => value
    }
    const name = this.checked.names.get(id)
    if (name === undefined) return undefined
    const slot = this.variables.get(name) ?? this.slotCount++
    this.variables.set(name, slot)
    return (frame) => {
      charge(frame, 1)
      return (frame.slots[slot] ??= frame.read(name))
    }
  }

  private select(expr: Expr & { kind: 'select' }): CompiledStep {
    const whole = this.named(expr.id)
    if (whole !== undefined) return whole
    const operand = this.compile(expr.operand)
    const { field } = expr
    if (expr.isTest) return (frame) => isPresent(operand(frame), field)
    return (frame) => {
      const value = operand(frame)
      charge(frame, 1)
      return fieldOf(value, field)
    }
  }

  private call(expr: CallExpr): CompiledStep {
    const args = expr.args.map((arg) => this.compile(arg))
    switch (expr.fn) {
      case '_&&_':
        return both(args[0]!, args[1]!, false)
      case '_||_':
        return both(args[0]!, args[1]!, true)
      case '_?_:_':
        return (frame) => {
          const condition = args[0]!(frame)
          if (typeof condition !== 'boolean') throw new CelFailure('no such overload')
          return condition ? args[1]!(frame) : args[2]!(frame)
        }
      case '@not_strictly_false':
        return notStrictlyFalse(args[0]!)
      case '_[_]':
        return (frame) => {
          const operand = args[0]!(frame)
          const index = args[1]!(frame)
          charge(frame, 1)
          return indexOf(operand, index)
        }
      case '_[?_]':
      case '_?._':
        return (frame) => {
          const operand = args[0]!(frame)
          const index = args[1]!(frame)
          charge(frame, 1)
          return optionalIndex(operand, index)
        }
      case 'or':
      case 'orValue':
        if (expr.target) return this.orElse(expr, args[0]!)
        break
      case '@in':
        // cel-go makes a set of a constant list, whose test costs nothing.
        if (expr.args[1]!.kind === 'list' && expr.args[1]!.items.every((item) => item.kind === 'literal')) {
          return this.plainCall(expr, args, 0)
        }
        break
      default:
        break
    }
    return this.plainCall(expr, args)
  }

  private orElse(expr: CallExpr, alternative: CompiledStep): CompiledStep {
    const target = this.compile(expr.target!)
    const isValue = expr.fn === 'orValue'
    return (frame) => {
      const value = target(frame)
      if (!(value instanceof CelOptional)) throw new CelFailure('no such overload')
      if (value.value === undefined) return alternative(frame)
      return isValue ? value.value : value
    }
  }

  private plainCall(expr: CallExpr, args: readonly CompiledStep[], fixedCost?: number): CompiledStep {
    const isMember = expr.target !== undefined && !this.checked.namespaced.has(expr.id)
    const steps = isMember ? [this.compile(expr.target), ...args] : args
    const overloads = this.checked.overloads.get(expr.id) ?? []
    const only = overloads.length === 1 ? overloads[0] : undefined
    const { fn } = expr
    const choose =
      only && this.isCertain(expr, only) ? () => only : (values: CelValue[]) => chooseOverload(overloads, values)
    const name = isMember || expr.target === undefined ? fn : `${dottedName(expr.target)}.${fn}`
    return (frame) => {
      const values: CelValue[] = []
      for (const step of steps) values.push(step(frame))
      const overload = choose(values)
      const result = overload.run(...values)
      charge(frame, fixedCost ?? callCost(name, overload.id, values, result))
      return result
    }
  }

  // When every argument's type is known, the value need not be asked for its own.
  private isCertain(expr: CallExpr, overload: Overload): boolean {
    const isMember = expr.target !== undefined && !this.checked.namespaced.has(expr.id)
    const parts = isMember ? [expr.target, ...expr.args] : expr.args
    return parts.every((part, index) => {
      const param = overload.params[index]!
      return param.kind === 'param' || param.kind === 'dyn' || this.checked.types.get(part.id)?.kind === param.kind
    })
  }

  private list(expr: Expr & { kind: 'list' }): CompiledStep {
    const items = expr.items.map((item) => this.compile(item))
    const isConstant =
      expr.items.length > 0 && expr.items.every((item) => item.kind === 'literal') && expr.optional.size === 0
    if (isConstant) {
      const value = new ArrayList(expr.items.map((item) => (item as Expr & { kind: 'literal' }).value))
      return () => value
    }
    const { optional } = expr
    return (frame) => {
      const values: CelValue[] = []
      for (let index = 0; index < items.length; index++) {
        const value = items[index]!(frame)
        if (!optional.has(index)) values.push(value)
        else if (!(value instanceof CelOptional))
          throw new CelFailure(
            `cannot initialize optional list element from non-optional value ${runtimeTypeName(value)}`,
          )
        else if (value.value !== undefined) values.push(value.value)
      }
      charge(frame, 10)
      return new ArrayList(values)
    }
  }

  private map(expr: Expr & { kind: 'map' }): CompiledStep {
    const entries = expr.entries.map(({ key, value, optional }) => ({
      key: this.compile(key),
      value: this.compile(value),
      optional,
    }))
    return (frame) => {
      const map = new EntryMap()
      for (const entry of entries) setEntry(map, entry.key(frame), entry.value(frame), entry.optional)
      charge(frame, 30)
      return map
    }
  }

  private struct(expr: StructExpr): CompiledStep {
    const fields = expr.fields.map(({ name, value, optional }) => ({ name, value: this.compile(value), optional }))
    return (frame) => {
      const made = new StructValue(expr.name)
      for (const field of fields) setEntry(made, field.name, field.value(frame), field.optional)
      charge(frame, 40)
      return made
    }
  }

  private fold(expr: FoldExpr): CompiledStep {
    const range = this.compile(expr.range)
    const init = this.compile(expr.init)
    const accu = this.slotCount++
    const first = this.slotCount++
    const second = this.slotCount++
    const isPair = expr.iterVar2 !== undefined
    this.scopes.push(new Map([[expr.accuVar, accu]]))
    this.scopes.push(
      new Map([[expr.iterVar, first], ...(expr.iterVar2 === undefined ? [] : [[expr.iterVar2, second] as const])]),
    )
    const condition = this.compile(expr.condition)
    const step = this.compile(expr.step)
    this.scopes.pop()
    const result = this.compile(expr.result)
    this.scopes.pop()
    // Only `all` and `exists` have a condition that an error leaves open.
    const canRecover = expr.condition.kind !== 'literal'
    return (frame) => {
      const over = range(frame)
      const { slots } = frame
      // A fold inside a fold's body runs many times: its own slots are set anew each time.
      const start = growing(init(frame))
      slots[accu] = start
      for (const [key, value] of iterate(over, isPair)) {
        slots[first] = key
        slots[second] = value
        if (condition(frame) === false) break
        slots[accu] = canRecover ? settle(step, frame) : step(frame)
      }
      const end = slots[accu]
      if (end instanceof ArrayList || end instanceof EntryMap) end.isGrowing = false
      return result(frame)
    }
  }
}

// `all` and `exists` go on past an error: a later item may decide. The error is kept as the accumulator until then.
class Pending extends CelTypeValue {
  readonly failure: CelFailure
  constructor(failure: CelFailure) {
    super('error')
    this.failure = failure
  }
}

function settle(step: CompiledStep, frame: EvaluationFrame): CelValue {
  try {
    return step(frame)
  } catch (error) {
    if (error instanceof CelFailure) return new Pending(error)
    throw error
  }
}

function growing(value: CelValue): CelValue {
  if (value instanceof ArrayList && value.size === 0) return new ArrayList([], true)
  if (value instanceof EntryMap && value.size === 0) value.isGrowing = true
  return value
}

function* iterate(over: CelValue, isPair: boolean): Generator<readonly [CelValue, CelValue | undefined]> {
  if (over instanceof CelList) {
    for (let index = 0; index < over.size; index++) {
      const item = over.at(index)
      yield isPair ? [BigInt(index), item] : [item, undefined]
    }
  } else if (over instanceof CelMap) {
    for (const key of over.keys()) yield isPair ? [key, over.get(key)!] : [key, undefined]
  } else throw new CelFailure(`got '${runtimeTypeName(over)}', expected iterable type`)
}

function fails(message: string): CompiledStep {
  return () => {
    throw new CelFailure(message)
  }
}

// Turns the kept error of a fold back into one.
function raise(value: CelValue): CelValue {
  if (value instanceof Pending) throw value.failure
  return value
}

// An error on one side does not matter when the other decides.
function both(left: CompiledStep, right: CompiledStep, deciding: boolean): CompiledStep {
  const asBool = (value: CelValue): boolean => {
    if (typeof value === 'boolean') return value
    throw new CelFailure('no such overload')
  }
  return (frame) => {
    let failure: CelFailure | undefined
    try {
      if (asBool(left(frame)) === deciding) return deciding
    } catch (error) {
      if (!(error instanceof CelFailure)) throw error
      failure = error
    }
    const other = asBool(right(frame))
    if (other === deciding) return deciding
    if (failure) throw failure
    return other
  }
}

function notStrictlyFalse(inner: CompiledStep): CompiledStep {
  return (frame) => {
    charge(frame, 1)
    try {
      return inner(frame) !== false
    } catch (error) {
      if (error instanceof CelFailure) return true
      throw error
    }
  }
}

function chooseOverload(overloads: readonly Overload[], values: readonly CelValue[]): Overload {
  for (const overload of overloads) {
    if (overload.params.every((param, index) => isValueOfType(values[index]!, param))) return overload
  }
  throw new CelFailure('no such overload')
}

function isPresent(operand: CelValue, field: string): boolean {
  if (operand instanceof CelMap) return operand.get(field) !== undefined
  if (operand instanceof CelOptional) return operand.value !== undefined && isPresent(operand.value, field)
  throw new CelFailure('no such overload')
}

function fieldOf(operand: CelValue, field: string): CelValue {
  if (operand instanceof CelMap) {
    const value = operand.get(field)
    if (value === undefined) throw new CelFailure(`no such key: ${field}`)
    return value
  }
  if (operand instanceof CelOptional) {
    if (operand.value === undefined) return operand
    return optionalIndex(operand.value, field)
  }
  throw new CelFailure('no such overload')
}

function indexOf(operand: CelValue, index: CelValue): CelValue {
  if (operand instanceof CelOptional) {
    return operand.value === undefined ? operand : optionalIndex(operand.value, index)
  }
  if (operand instanceof CelList) {
    const position = positionOf(index)
    if (position < 0 || position >= operand.size) throw new CelFailure(`index out of bounds: ${position}`)
    return operand.at(position)
  }
  if (operand instanceof CelMap) {
    const value = operand.get(index)
    if (value === undefined) throw new CelFailure(`no such key: ${keyShown(index)}`)
    return value
  }
  throw new CelFailure('no such overload')
}

function positionOf(index: CelValue): number {
  if (typeof index === 'bigint') return Number(index)
  if (index instanceof CelUint) return Number(index.value)
  if (typeof index === 'number' && Number.isInteger(index)) return index
  if (typeof index === 'number') throw new CelFailure(`unsupported index value ${index} in list`)
  throw new CelFailure(`unsupported index type '${runtimeTypeName(index)}' in list`)
}

function keyShown(index: CelValue): string {
  return String(celToJson(index))
}

function optionalIndex(operand: CelValue, index: CelValue): CelValue {
  if (operand instanceof CelOptional) {
    return operand.value === undefined ? operand : optionalIndex(operand.value, index)
  }
  if (operand instanceof CelMap) {
    const value = operand.get(index)
    return value === undefined ? CelOptional.none : new CelOptional(value)
  }
  if (operand instanceof CelList) {
    const position = positionOf(index)
    return position < 0 || position >= operand.size ? CelOptional.none : new CelOptional(operand.at(position))
  }
  // What has neither fields nor items has not this one either.
  return CelOptional.none
}
