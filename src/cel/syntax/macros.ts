/** `has`, `all`, `exists`, `exists_one`, `map`, `filter`, the two-variable forms, and the optionals' own macros. */
import { ACCUMULATOR } from './ast.ts'
import type { CallExpr, Expr } from './ast.ts'
import { CelSyntaxError } from './lexer.ts'
import type { NodeFactory } from './parser.ts'

/** What a macro call stands for; undefined when the call is none. */
export function expandMacro(call: CallExpr, make: NodeFactory): Expr | undefined {
  if (call.target === undefined) return call.fn === 'has' && call.args.length === 1 ? expandHas(call) : undefined
  const expand = MACROS.get(`${call.fn}/${call.args.length}`)
  return expand?.({ call, range: call.target, args: call.args, make, at: call.at })
}

interface Expansion {
  readonly call: CallExpr
  readonly range: Expr
  readonly args: readonly Expr[]
  readonly make: NodeFactory
  readonly at: number
}

function expandHas(call: CallExpr): Expr {
  const [arg] = call.args
  if (arg?.kind === 'select' && !arg.isTest) return { ...arg, id: call.id, isTest: true, at: call.at }
  throw new CelSyntaxError('invalid argument to has() macro', arg?.at ?? call.at)
}

function nameOf(expr: Expr | undefined, what: string): string {
  if (expr?.kind === 'ident' && !expr.name.startsWith('.')) {
    if (expr.name === '__result__')
      throw new CelSyntaxError('iteration variable overwrites accumulator variable', expr.at)
    return expr.name
  }
  throw new CelSyntaxError(what, expr?.at ?? 0)
}

interface Loop {
  readonly vars: readonly [string, string?]
  readonly init: Expr
  readonly condition: Expr
  readonly step: Expr
  readonly result: Expr
}

function fold({ make, range, at }: Expansion, loop: Loop): Expr {
  const { vars, init, condition, step, result } = loop
  const names = { iterVar: vars[0], iterVar2: vars[1], accuVar: ACCUMULATOR }
  return { kind: 'fold', id: make.nextId(), at, range, ...names, init, condition, step, result }
}

type Quantifier = (macro: Expansion, vars: readonly [string, string?], predicate: Expr) => Expr

const all: Quantifier = (macro, vars, predicate) => {
  const { make, at } = macro
  const accumulator = () => make.ident(ACCUMULATOR, at)
  return fold(macro, {
    vars,
    init: make.literal(true, at),
    condition: make.call('@not_strictly_false', [accumulator()], at),
    step: make.call('_&&_', [accumulator(), predicate], at),
    result: accumulator(),
  })
}

const exists: Quantifier = (macro, vars, predicate) => {
  const { make, at } = macro
  const accumulator = () => make.ident(ACCUMULATOR, at)
  return fold(macro, {
    vars,
    init: make.literal(false, at),
    condition: make.call('@not_strictly_false', [make.call('!_', [accumulator()], at)], at),
    step: make.call('_||_', [accumulator(), predicate], at),
    result: accumulator(),
  })
}

const existsOne: Quantifier = (macro, vars, predicate) => {
  const { make, at } = macro
  const accumulator = () => make.ident(ACCUMULATOR, at)
  const more = make.call('_+_', [accumulator(), make.literal(1n, at)], at)
  return fold(macro, {
    vars,
    init: make.literal(0n, at),
    condition: make.literal(true, at),
    step: make.call('_?_:_', [predicate, more, accumulator()], at),
    result: make.call('_==_', [accumulator(), make.literal(1n, at)], at),
  })
}

function collect(macro: Expansion, vars: readonly [string, string?], step: Expr, filter?: Expr): Loop {
  const { make, at } = macro
  return {
    vars,
    init: make.list([], at),
    condition: make.literal(true, at),
    step: filter ? make.call('_?_:_', [filter, step, make.ident(ACCUMULATOR, at)], at) : step,
    result: make.ident(ACCUMULATOR, at),
  }
}

function append(make: NodeFactory, item: Expr, at: number): Expr {
  return make.call('_+_', [make.ident(ACCUMULATOR, at), make.list([item], at)], at)
}

function map(macro: Expansion): Expr {
  const { args, make, at } = macro
  const name = nameOf(args[0], 'argument is not an identifier')
  const [filter, item] = args.length === 3 ? [args[1], args[2]!] : [undefined, args[1]!]
  return fold(macro, collect(macro, [name], append(make, item, at), filter))
}

function filter(macro: Expansion): Expr {
  const { args, make, at } = macro
  const name = nameOf(args[0], 'argument is not an identifier')
  return fold(macro, collect(macro, [name], append(make, make.ident(name, at), at), args[1]))
}

function twoNames(args: readonly Expr[]): [string, string] {
  const what = 'argument must be a simple name'
  const names: [string, string] = [nameOf(args[0], what), nameOf(args[1], what)]
  if (names[0] === names[1]) throw new CelSyntaxError(`duplicate variable name: ${names[0]}`, args[1]!.at)
  return names
}

const one = (quantifier: Quantifier) => (macro: Expansion) =>
  quantifier(macro, [nameOf(macro.args[0], 'argument must be a simple name')], macro.args[1]!)
const two = (quantifier: Quantifier) => (macro: Expansion) => quantifier(macro, twoNames(macro.args), macro.args[2]!)

function transformList(macro: Expansion): Expr {
  const { args, make, at } = macro
  const [condition, item] = args.length === 4 ? [args[2], args[3]!] : [undefined, args[2]!]
  return fold(macro, collect(macro, twoNames(args), append(make, item, at), condition))
}

function transformMap(macro: Expansion, isEntry: boolean): Expr {
  const { args, make, at } = macro
  const names = twoNames(args)
  const [condition, item] = args.length === 4 ? [args[2], args[3]!] : [undefined, args[2]!]
  const key = isEntry ? [] : [make.ident(names[0], at)]
  const step = make.call('cel.@mapInsert', [make.ident(ACCUMULATOR, at), ...key, item], at)
  const loop = collect(macro, names, step, condition)
  return fold(macro, { ...loop, init: { kind: 'map', id: make.nextId(), at, entries: [] } })
}

// optMap and optFlatMap bind the optional's value to a name: a fold that never loops, as in cel-go.
function optMap(macro: Expansion, isFlat: boolean): Expr {
  const { args, make, at, range } = macro
  const name = nameOf(args[0], 'optMap() variable name must be a simple identifier')
  const target = range
  const value: Expr = { kind: 'call', id: make.nextId(), at, fn: 'value', target, args: [] }
  const bound: Expr = {
    kind: 'fold',
    id: make.nextId(),
    at,
    range: make.list([], at),
    iterVar: '#unused',
    iterVar2: undefined,
    accuVar: name,
    init: value,
    condition: make.literal(false, at),
    step: make.ident(name, at),
    result: args[1]!,
  }
  const has: Expr = { kind: 'call', id: make.nextId(), at, fn: 'hasValue', target, args: [] }
  const none = make.call('optional.none', [], at)
  return make.call('_?_:_', [has, isFlat ? bound : make.call('optional.of', [bound], at), none], at)
}

// A sort by a key is a sort of the items by the list of their keys.
function sortBy(macro: Expansion): Expr {
  const { call, make, at, range } = macro
  return { ...call, id: make.nextId(), at, fn: '@sortByAssociatedKeys', target: range, args: [map(macro)] }
}

const MACROS: ReadonlyMap<string, (macro: Expansion) => Expr> = new Map([
  ['all/2', one(all)],
  ['exists/2', one(exists)],
  ['exists_one/2', one(existsOne)],
  ['existsOne/2', one(existsOne)],
  ['map/2', map],
  ['map/3', map],
  ['filter/2', filter],
  ['all/3', two(all)],
  ['exists/3', two(exists)],
  ['existsOne/3', two(existsOne)],
  ['exists_one/3', two(existsOne)],
  ['transformList/3', transformList],
  ['transformList/4', transformList],
  ['transformMap/3', (macro) => transformMap(macro, false)],
  ['transformMap/4', (macro) => transformMap(macro, false)],
  ['transformMapEntry/3', (macro) => transformMap(macro, true)],
  ['transformMapEntry/4', (macro) => transformMap(macro, true)],
  ['sortBy/2', sortBy],
  ['optMap/2', (macro) => optMap(macro, false)],
  ['optFlatMap/2', (macro) => optMap(macro, true)],
])
