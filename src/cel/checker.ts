/** Gives every node its type and every call its possible overloads, or says what does not fit, in cel-go's words. */
import type { CallExpr, CelProblem, Expr, FoldExpr, SelectExpr, StructExpr } from './syntax/ast.ts'
import type { Overload } from './library/overload.ts'
import {
  fieldTypeOf,
  formatType,
  listType,
  mapType,
  optionalType,
  optionalValueType,
  SIMPLE,
  Substitution,
} from './types.ts'
import type { CelType, ObjectType } from './types.ts'
import { CelDuration, CelTimestamp, CelUint, MAX_INT } from './values.ts'
import type { CelValue } from './values.ts'

/** The names an expression may use. */
export interface Declarations {
  readonly variables: ReadonlyMap<string, CelType>
  readonly functions: ReadonlyMap<string, readonly Overload[]>
  /** The type whose values `Name{field: value}` makes; undefined when there is none of that name. */
  struct?(name: string): ObjectType | undefined
}

/** What checking learned, by node id. */
export interface CheckedExpr {
  readonly type: CelType
  readonly types: ReadonlyMap<number, CelType>
  readonly overloads: ReadonlyMap<number, readonly Overload[]>
  /** Identifiers and selections that name a variable. */
  readonly names: ReadonlyMap<number, string>
  /** Identifiers and selections that name a type. */
  readonly typeNames: ReadonlyMap<number, string>
  /** Calls whose target is the first part of a dotted function's name. */
  readonly namespaced: ReadonlySet<number>
  readonly problems: readonly CelProblem[]
}

/** Checks a tree. */
export function checkExpr(expr: Expr, declarations: Declarations): CheckedExpr {
  const checker = new Checker(declarations)
  const type = checker.check(expr)
  return checker.finish(type)
}

/** The types that are names of values: `int`, `type(x) == string`. */
const TYPE_NAMES: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ...(['bool', 'int', 'uint', 'double', 'string', 'bytes'] as const).map((name) => [name, SIMPLE[name]] as const),
  ['null_type', SIMPLE.null],
  ['list', listType(SIMPLE.dyn)],
  ['map', mapType(SIMPLE.dyn, SIMPLE.dyn)],
  ['type', { kind: 'type', of: undefined }],
  ['google.protobuf.Timestamp', SIMPLE.timestamp],
  ['google.protobuf.Duration', SIMPLE.duration],
  ['optional_type', optionalType(SIMPLE.dyn)],
  ...['net.IP', 'net.CIDR', 'kubernetes.URL', 'kubernetes.Quantity', 'kubernetes.Semver', 'kubernetes.NamedFormat'].map(
    (name) => [name, { kind: 'opaque', name, params: [] }] as [string, CelType],
  ),
])

class Checker {
  private readonly declarations: Declarations
  private substitution = new Substitution()
  private readonly types = new Map<number, CelType>()
  private readonly overloads = new Map<number, readonly Overload[]>()
  private readonly names = new Map<number, string>()
  private readonly typeNames = new Map<number, string>()
  private readonly namespaced = new Set<number>()
  private readonly problems: CelProblem[] = []
  private readonly scopes: Map<string, CelType>[] = []
  private freshCount = 0

  constructor(declarations: Declarations) {
    this.declarations = declarations
  }

  finish(type: CelType): CheckedExpr {
    const types = new Map([...this.types].map(([id, found]) => [id, this.substitution.deep(found, true)] as const))
    return {
      type: this.substitution.deep(type, true),
      types,
      overloads: this.overloads,
      names: this.names,
      typeNames: this.typeNames,
      namespaced: this.namespaced,
      problems: this.problems,
    }
  }

  check(expr: Expr): CelType {
    const type = this.typeOf(expr)
    this.types.set(expr.id, type)
    return type
  }

  private fail(at: number, message: string): CelType {
    this.problems.push({ at, message })
    return SIMPLE.error
  }

  private fresh(): CelType {
    return { kind: 'param', name: `_var${this.freshCount++}` }
  }

  private typeOf(expr: Expr): CelType {
    switch (expr.kind) {
      case 'literal':
        return literalType(expr.value)
      case 'ident':
        return this.named(expr.id, expr.name) ?? this.fail(expr.at, undeclared(expr.name))
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

  private named(id: number, name: string): CelType | undefined {
    const plain = name.startsWith('.') ? name.slice(1) : name
    if (!name.startsWith('.')) {
      for (let depth = this.scopes.length - 1; depth >= 0; depth--) {
        const type = this.scopes[depth]!.get(plain)
        if (type) return type
      }
    }
    const variable = this.declarations.variables.get(plain)
    if (variable) {
      this.names.set(id, plain)
      return variable
    }
    const type = TYPE_NAMES.get(plain)
    if (!type) return undefined
    this.typeNames.set(id, plain)
    return { kind: 'type', of: type }
  }

  private select(expr: SelectExpr): CelType {
    // `google.protobuf.Timestamp` is one name, not two selections.
    const dotted = dottedName(expr)
    if (dotted !== undefined && !expr.isTest && !this.isLocal(dotted)) {
      const type = this.named(expr.id, dotted)
      if (type) return type
    }
    const operand = this.substitution.shallow(this.check(expr.operand))
    const inner = optionalValueType(operand)
    const type = this.fieldType(inner === undefined ? operand : this.substitution.shallow(inner), expr)
    if (expr.isTest) return SIMPLE.bool
    return inner === undefined ? type : optionalType(type)
  }

  private isLocal(dotted: string): boolean {
    const [root = ''] = dotted.split('.', 1)
    return this.scopes.some((scope) => scope.has(root))
  }

  private fieldType(operand: CelType, expr: { readonly field: string; readonly at: number }): CelType {
    switch (operand.kind) {
      case 'map':
        return operand.value
      case 'object':
        return fieldTypeOf(operand, expr.field) ?? this.fail(expr.at, `undefined field '${expr.field}'`)
      case 'param':
        this.substitution.assign(operand, SIMPLE.dyn)
        return SIMPLE.dyn
      case 'dyn':
      case 'error':
        return SIMPLE.dyn
      default:
        return this.fail(expr.at, `type '${formatType(operand)}' does not support field selection`)
    }
  }

  private call(expr: CallExpr): CelType {
    const { fn, target } = expr
    if (fn === '_?._') return this.optionalSelect(expr)
    if (target) {
      const prefix = dottedName(target)
      const whole = prefix === undefined ? undefined : `${prefix}.${fn}`
      const dotted = whole === undefined || this.isLocal(whole) ? undefined : this.declarations.functions.get(whole)
      if (dotted) {
        this.namespaced.add(expr.id)
        return this.resolve(expr, dotted, { name: whole!, args: expr.args.map((arg) => this.check(arg)) })
      }
    }
    const overloads = this.declarations.functions.get(fn.startsWith('.') ? fn.slice(1) : fn)
    const targets = target ? [this.check(target)] : []
    const args = [...targets, ...expr.args.map((arg) => this.check(arg))]
    if (!overloads) {
      if (target && this.substitution.shallow(targets[0]!).kind === 'error') return SIMPLE.error
      return this.fail(expr.at, undeclared(fn))
    }
    if ((fn === '_&&_' || fn === '_||_') && !this.areBools(expr.args, args)) return SIMPLE.error
    return this.resolve(expr, overloads, { name: fn, args })
  }

  private resolve(
    expr: CallExpr,
    overloads: readonly Overload[],
    call: { readonly name: string; readonly args: readonly CelType[] },
  ): CelType {
    const isMember = expr.target !== undefined && !this.namespaced.has(expr.id)
    const found: Overload[] = []
    let result: CelType | undefined
    for (const overload of overloads) {
      if (overload.isMember !== isMember || overload.params.length !== call.args.length) continue
      const { params, result: gives } = this.instance(overload)
      const attempt = this.substitution.copy()
      if (!call.args.every((arg, index) => attempt.assign(arg, params[index]!))) continue
      this.substitution = attempt
      found.push(overload)
      const type = this.substitution.deep(gives)
      if (result === undefined) result = type
      else if (result.kind !== 'dyn' && formatType(result) !== formatType(type)) result = SIMPLE.dyn
    }
    if (result === undefined) {
      const types = call.args.map((arg) => formatType(this.substitution.deep(arg, true)))
      if (call.args.some((arg) => this.substitution.shallow(arg).kind === 'error')) return SIMPLE.error
      const shown = isMember ? `${types[0]}.(${types.slice(1).join(', ')})` : `(${types.join(', ')})`
      return this.fail(expr.at, `found no matching overload for '${call.name}' applied to '${shown}'`)
    }
    this.overloads.set(expr.id, found)
    return result
  }

  private instance(overload: Overload): { readonly params: readonly CelType[]; readonly result: CelType } {
    const fresh = new Map<string, CelType>()
    const renew = (type: CelType): CelType => {
      switch (type.kind) {
        case 'param': {
          const known = fresh.get(type.name) ?? this.fresh()
          fresh.set(type.name, known)
          return known
        }
        case 'list':
          return { ...type, item: renew(type.item) }
        case 'map':
          return { ...type, key: renew(type.key), value: renew(type.value) }
        case 'opaque':
          return { ...type, params: type.params.map(renew) }
        case 'type':
          return type.of === undefined ? type : { kind: 'type', of: renew(type.of) }
        default:
          return type
      }
    }
    return { params: overload.params.map(renew), result: renew(overload.result) }
  }

  private optionalSelect(expr: CallExpr): CelType {
    const [operand, field] = expr.args
    const type = this.substitution.shallow(this.check(operand!))
    if (field?.kind !== 'literal' || typeof field.value !== 'string')
      return this.fail(expr.at, 'unsupported optional field selection')
    this.types.set(field.id, SIMPLE.string)
    const inner = optionalValueType(type)
    const target = inner === undefined ? type : this.substitution.shallow(inner)
    const result = this.fieldType(target, { field: field.value, at: expr.at })
    return optionalValueType(result) === undefined ? optionalType(result) : result
  }

  private list(expr: Expr & { kind: 'list' }): CelType {
    let item: CelType | undefined
    for (const [index, element] of expr.items.entries()) {
      const type = this.check(element)
      const own = expr.optional.has(index) ? this.unwrapOptional(type, element.at) : type
      item = this.join(item, own)
    }
    return listType(item ?? this.fresh())
  }

  private unwrapOptional(type: CelType, at: number): CelType {
    const found = this.substitution.shallow(type)
    if (found.kind === 'dyn' || found.kind === 'error') return SIMPLE.dyn
    return (
      optionalValueType(found) ??
      this.fail(at, `expected type 'optional_type(${formatType(found)})' but found '${formatType(found)}'`)
    )
  }

  private join(before: CelType | undefined, type: CelType): CelType {
    if (before === undefined) return type
    const attempt = this.substitution.copy()
    if (attempt.assign(type, before)) {
      this.substitution = attempt
      return this.substitution.wider(before, type)
    }
    // Mixed lists and maps are refused later, and not inside `format`.
    return SIMPLE.dyn
  }

  private map(expr: Expr & { kind: 'map' }): CelType {
    let key: CelType | undefined
    let value: CelType | undefined
    for (const entry of expr.entries) {
      key = this.join(key, this.check(entry.key))
      const type = this.check(entry.value)
      value = this.join(value, entry.optional ? this.unwrapOptional(type, entry.value.at) : type)
    }
    return mapType(key ?? this.fresh(), value ?? this.fresh())
  }

  private struct(expr: StructExpr): CelType {
    const type = this.declarations.struct?.(expr.name)
    for (const field of expr.fields) {
      const found = this.check(field.value)
      if (!type) continue
      const given = field.optional ? this.unwrapOptional(found, field.value.at) : found
      const wanted = fieldTypeOf(type, field.name)
      const attempt = this.substitution.copy()
      if (!wanted) this.fail(field.at, `undefined field '${field.name}'`)
      else if (attempt.assign(given, wanted)) this.substitution = attempt
      else {
        const [a, b] = [wanted, given].map((one) => formatType(this.substitution.deep(one, true)))
        this.fail(field.at, `expected type of field '${field.name}' is '${a}' but provided type is '${b}'`)
      }
    }
    return type ?? this.fail(expr.at, undeclared(expr.name))
  }

  private fold(expr: FoldExpr): CelType {
    const range = this.substitution.shallow(this.check(expr.range))
    const init = this.check(expr.init)
    this.scopes.push(new Map([[expr.accuVar, init]]))
    this.scopes.push(this.iterationScope(expr, range))
    this.assertBool(expr.condition)
    const step = this.check(expr.step)
    const attempt = this.substitution.copy()
    if (attempt.assign(step, init)) this.substitution = attempt
    else this.fail(expr.step.at, this.expected(init, step))
    this.scopes.pop()
    const result = this.check(expr.result)
    this.scopes.pop()
    return result
  }

  private iterationScope(expr: FoldExpr, range: CelType): Map<string, CelType> {
    const [first, second] = this.iterationTypes(expr, range)
    const isPair = expr.iterVar2 !== undefined
    const scope = new Map<string, CelType>()
    scope.set(expr.iterVar, isPair ? first : range.kind === 'map' ? first : second)
    if (expr.iterVar2 !== undefined) scope.set(expr.iterVar2, second)
    return scope
  }

  private iterationTypes(expr: FoldExpr, range: CelType): readonly [CelType, CelType] {
    switch (range.kind) {
      case 'list':
        return [SIMPLE.int, range.item]
      case 'map':
        return [range.key, range.value]
      case 'param':
        this.substitution.assign(range, SIMPLE.dyn)
        return [SIMPLE.dyn, SIMPLE.dyn]
      case 'dyn':
      case 'error':
        return [SIMPLE.dyn, SIMPLE.dyn]
      default:
        this.fail(
          expr.range.at,
          `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        )
        return [SIMPLE.error, SIMPLE.error]
    }
  }

  private areBools(exprs: readonly Expr[], types: readonly CelType[]): boolean {
    let are = true
    for (const [index, type] of types.entries()) {
      const found = this.substitution.shallow(type)
      if (found.kind === 'bool' || found.kind === 'dyn' || found.kind === 'error' || found.kind === 'param') continue
      this.fail(exprs[index]!.at, this.expected(SIMPLE.bool, type))
      are = false
    }
    return are
  }

  private assertBool(expr: Expr): void {
    const type = this.check(expr)
    const attempt = this.substitution.copy()
    if (attempt.assign(type, SIMPLE.bool)) this.substitution = attempt
    else this.fail(expr.at, this.expected(SIMPLE.bool, type))
  }

  private expected(wanted: CelType, found: CelType): string {
    const [a, b] = [wanted, found].map((type) => formatType(this.substitution.deep(type, true)))
    return `expected type '${a}' but found '${b}'`
  }
}

function undeclared(name: string): string {
  return `undeclared reference to '${name.replace(/^\./, '')}' (in container '')`
}

/** `a.b.c` as one name; undefined when the expression is anything else. */
export function dottedName(expr: Expr): string | undefined {
  if (expr.kind === 'ident') return expr.name
  if (expr.kind !== 'select' || expr.isTest) return undefined
  const operand = dottedName(expr.operand)
  return operand === undefined ? undefined : `${operand}.${expr.field}`
}

function literalType(value: CelValue): CelType {
  switch (typeof value) {
    case 'boolean':
      return SIMPLE.bool
    case 'bigint':
      return value > MAX_INT ? SIMPLE.uint : SIMPLE.int
    case 'number':
      return SIMPLE.double
    case 'string':
      return SIMPLE.string
    default:
      if (value === null) return SIMPLE.null
      if (value instanceof CelUint) return SIMPLE.uint
      if (value instanceof Uint8Array) return SIMPLE.bytes
      if (value instanceof CelTimestamp) return SIMPLE.timestamp
      return value instanceof CelDuration ? SIMPLE.duration : SIMPLE.dyn
  }
}
