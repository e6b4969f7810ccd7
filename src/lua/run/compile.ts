// Tested by src/lua/lua.test.ts
/** Compiles the statements of a script to functions over a frame. */
import type { Block, Expr, FunctionBody, Statement } from '../syntax/ast.ts'
import { LuaSyntaxError } from '../syntax/lexer.ts'
import { operate } from './operators.ts'
import type { Cell, Frame, Scope } from './scope.ts'
import { isTrue, LuaError, LuaTable, toNumber, toText, typeName, Unlocated } from './values.ts'
import type { Budget, LuaFunction, LuaValue } from './values.ts'

/** What a run shares: global variables, the library of strings, and the budget. */
export interface Machine {
  readonly globals: Map<string, LuaValue>
  readonly strings: LuaTable
  readonly budget: Budget
}

type Evaluate = (frame: Frame, machine: Machine) => LuaValue
type EvaluateAll = (frame: Frame, machine: Machine) => readonly LuaValue[]

/** How a statement ended: normally, or by leaving the blocks around it. */
type Outcome = undefined | 'break' | { readonly label: string } | readonly LuaValue[]
/** Runs statements. */
export type Execute = (frame: Frame, machine: Machine) => Outcome

/** Compiles a block in a scope of its own. */
export function compileBlock(block: Block, scope: Scope): Execute {
  const labels = new Map<string, number>()
  for (const [at, statement] of block.entries()) {
    if (statement.kind !== 'label') continue
    if (labels.has(statement.label))
      throw new LuaSyntaxError(statement.line, `label '${statement.label}' is defined twice`)
    labels.set(statement.label, at)
  }
  const steps = scope.block(new Set(labels.keys()), () => block.map((statement) => compileStatement(statement, scope)))
  return (frame, machine) => {
    for (let at = 0; at < steps.length; at += 1) {
      machine.budget.step()
      const outcome = steps[at]!(frame, machine)
      if (outcome === undefined) continue
      const target = typeof outcome === 'object' && 'label' in outcome ? labels.get(outcome.label) : undefined
      if (target === undefined) return outcome
      at = target
    }
    return undefined
  }
}

function compileStatement(statement: Statement, scope: Scope): Execute {
  switch (statement.kind) {
    case 'local': {
      const values = compileAll(statement.values, scope)
      const places = statement.names.map((name) => scope.declare(name))
      return (frame, machine) => {
        machine.budget.step(places.length - 1)
        const found = values(frame, machine)
        for (const [at, place] of places.entries()) frame.cells[place] = { value: found[at] }
        return undefined
      }
    }
    case 'localFunction': {
      // A local function can call itself.
      const place = scope.declare(statement.name)
      const make = compileFunction(statement.body, statement.name, scope)
      return (frame, machine) => {
        const cell: Cell = { value: undefined }
        frame.cells[place] = cell
        cell.value = make(frame, machine)
        return undefined
      }
    }
    case 'assign':
      return compileAssignment(statement, scope)
    case 'call': {
      const call = compileMany(statement.call, scope)
      return (frame, machine) => {
        call(frame, machine)
        return undefined
      }
    }
    case 'do':
      return compileBlock(statement.block, scope)
    case 'while':
    case 'repeat':
      return compileLoop(statement, scope)
    case 'if':
      return compileIf(statement, scope)
    case 'count':
      return compileCount(statement, scope)
    case 'each':
      return compileEach(statement, scope)
    case 'return': {
      const values = compileAll(statement.values, scope)
      return (frame, machine) => values(frame, machine)
    }
    case 'break':
      return () => 'break'
    case 'goto': {
      const { label } = statement
      scope.checkLabel(label, statement.line)
      const outcome = { label }
      return () => outcome
    }
    case 'label':
      return () => undefined
  }
}

function compileAssignment({ targets, values }: Extract<Statement, { kind: 'assign' }>, scope: Scope): Execute {
  const [only] = values
  const isNamed = only?.kind === 'function' && targets.length === 1
  const all = isNamed ? compileAll(values, scope, describe(targets[0]!)) : compileAll(values, scope)
  const writers = targets.map((target) => compileWrite(target, scope))
  return (frame, machine) => {
    machine.budget.step(writers.length - 1)
    const places = writers.map((prepare) => prepare(frame, machine))
    const found = all(frame, machine)
    for (const [at, write] of places.entries()) write(found[at])
    return undefined
  }
}

type Write = (value: LuaValue) => void

/** Evaluates table and key of a target, and then assigns. */
function compileWrite(target: Expr, scope: Scope): (frame: Frame, machine: Machine) => Write {
  if (target.kind === 'index') {
    const object = compileOne(target.object, scope)
    const key = compileOne(target.key, scope)
    return (frame, machine) => {
      const table = object(frame, machine)
      const at = key(frame, machine)
      return (value) => {
        if (!(table instanceof LuaTable)) throw failure(target.line, noTable(table, at))
        if (at === undefined || Number.isNaN(at)) throw failure(target.line, 'table index is nil or NaN')
        machine.budget.allocate(1)
        table.set(at, value)
      }
    }
  }
  if (target.kind !== 'name') throw new LuaSyntaxError(0, 'only variables and fields can be assigned to')
  const place = scope.find(target.name, target.line)
  if (place.kind === 'global') {
    return (_frame, { globals }) =>
      (value) =>
        void globals.set(place.name, value)
  }
  return ({ cells, captured }) =>
    (value) => {
      ;(place.kind === 'local' ? cells : captured)[place.at]!.value = value
    }
}

function compileLoop(statement: Extract<Statement, { kind: 'while' | 'repeat' }>, scope: Scope): Execute {
  if (statement.kind === 'while') {
    const condition = compileOne(statement.condition, scope)
    const body = compileBlock(statement.block, scope)
    return (frame, machine) => {
      while (isTrue(condition(frame, machine))) {
        machine.budget.step()
        const outcome = body(frame, machine)
        if (outcome === 'break') return undefined
        if (outcome !== undefined) return outcome
      }
      return undefined
    }
  }
  // The condition sees the local variables of the block.
  const done: { condition?: Evaluate } = {}
  const body = scope.block(new Set(), () => {
    const steps = compileOpenBlock(statement.block, scope)
    done.condition = compileOne(statement.condition, scope)
    return steps
  })
  return (frame, machine) => {
    do {
      machine.budget.step()
      const outcome = body(frame, machine)
      if (outcome === 'break') return undefined
      if (outcome !== undefined) return outcome
    } while (!isTrue(done.condition!(frame, machine)))
    return undefined
  }
}

/** The statements of a block whose names stay visible behind it. */
function compileOpenBlock(block: Block, scope: Scope): Execute {
  const labelled = block.find(({ kind }) => kind === 'label')
  if (labelled) throw new LuaSyntaxError(labelled.line, 'a label in a repeat loop is not available')
  const steps = block.map((statement) => compileStatement(statement, scope))
  return (frame, machine) => {
    for (const step of steps) {
      machine.budget.step()
      const outcome = step(frame, machine)
      if (outcome !== undefined) return outcome
    }
    return undefined
  }
}

function compileIf({ branches, otherwise }: Extract<Statement, { kind: 'if' }>, scope: Scope): Execute {
  const compiled = branches.map(({ condition, block }) => ({
    condition: compileOne(condition, scope),
    run: compileBlock(block, scope),
  }))
  const last = otherwise && compileBlock(otherwise, scope)
  return (frame, machine) => {
    for (const { condition, run } of compiled) {
      machine.budget.step()
      if (isTrue(condition(frame, machine))) return run(frame, machine)
    }
    return last?.(frame, machine)
  }
}

function compileCount(statement: Extract<Statement, { kind: 'count' }>, scope: Scope): Execute {
  const { line } = statement
  const [from, to] = [statement.from, statement.to].map((one) => compileOne(one, scope))
  const step = statement.step && compileOne(statement.step, scope)
  return scope.block(new Set(), () => {
    const place = scope.declare(statement.name)
    const body = compileBlock(statement.block, scope)
    return (frame, machine) => {
      const by = step ? step(frame, machine) : 1
      const [first, last, increment] = [from!(frame, machine), to!(frame, machine), by].map(toNumber)
      if (first === undefined) throw failure(line, "'for' initial value must be a number")
      if (last === undefined) throw failure(line, "'for' limit must be a number")
      if (increment === undefined) throw failure(line, "'for' step must be a number")
      for (let value = first; increment > 0 ? value <= last : value >= last; value += increment) {
        machine.budget.step()
        frame.cells[place] = { value }
        const outcome = body(frame, machine)
        if (outcome === 'break') return undefined
        if (outcome !== undefined) return outcome
      }
      return undefined
    }
  })
}

function compileEach(statement: Extract<Statement, { kind: 'each' }>, scope: Scope): Execute {
  const values = compileAll(statement.values, scope)
  return scope.block(new Set(), () => {
    const places = statement.names.map((name) => scope.declare(name))
    const body = compileBlock(statement.block, scope)
    return (frame, machine) => {
      const [iterator, state, start] = values(frame, machine)
      let control = start
      for (;;) {
        machine.budget.step()
        const found = callValue(iterator, [state, control], { machine, line: statement.line })
        if (found[0] === undefined) return undefined
        control = found[0]
        machine.budget.step(places.length - 1)
        for (const [at, place] of places.entries()) frame.cells[place] = { value: found[at] }
        const outcome = body(frame, machine)
        if (outcome === 'break') return undefined
        if (outcome !== undefined) return outcome
      }
    }
  })
}

/** All values of a list: the last expression may give many. */
function compileAll(exprs: readonly Expr[], scope: Scope, name?: string): EvaluateAll {
  const last = exprs.at(-1)
  if (!last) return () => []
  const before = exprs.slice(0, -1).map((one) => compileOne(one, scope))
  if (!['call', 'method', 'varargs'].includes(last.kind)) {
    const one = last.kind === 'function' ? compileFunction(last.body, name ?? '', scope) : compileOne(last, scope)
    return (frame, machine) => {
      machine.budget.step(before.length)
      return [...before.map((each) => each(frame, machine)), one(frame, machine)]
    }
  }
  const rest = compileMany(last, scope)
  if (before.length === 0) return rest
  return (frame, machine) => {
    const first = before.map((each) => each(frame, machine))
    const others = rest(frame, machine)
    // A list is a copy of its values, and `...` can have many.
    machine.budget.step(first.length + others.length)
    return [...first, ...others]
  }
}

/** All values of one expression. */
function compileMany(expr: Expr, scope: Scope): EvaluateAll {
  switch (expr.kind) {
    case 'varargs':
      return ({ varargs }) => varargs
    case 'call': {
      const callee = compileOne(expr.callee, scope)
      const args = compileAll(expr.args, scope)
      const name = describe(expr.callee)
      return (frame, machine) =>
        callValue(callee(frame, machine), args(frame, machine), { machine, line: expr.line, name })
    }
    case 'method': {
      const object = compileOne(expr.object, scope)
      const args = compileAll(expr.args, scope)
      return (frame, machine) => {
        const self = object(frame, machine)
        const method = indexValue(self, expr.name, { machine, line: expr.line })
        return callValue(method, [self, ...args(frame, machine)], { machine, line: expr.line, name: expr.name })
      }
    }
    default: {
      const one = compileOne(expr, scope)
      return (frame, machine) => [one(frame, machine)]
    }
  }
}

function compileOne(expr: Expr, scope: Scope): Evaluate {
  switch (expr.kind) {
    case 'constant': {
      const { value } = expr
      return () => value
    }
    case 'name': {
      const place = scope.find(expr.name, expr.line)
      if (place.kind === 'global') return (_frame, { globals }) => globals.get(place.name)
      const { at } = place
      return place.kind === 'local' ? ({ cells }) => cells[at]!.value : ({ captured }) => captured[at]!.value
    }
    case 'index': {
      if (expr.object.kind === 'name' && expr.key.kind === 'constant' && typeof expr.key.value === 'string') {
        scope.checkField(expr.object.name, expr.key.value, expr.line)
      }
      const object = compileOne(expr.object, scope)
      const key = compileOne(expr.key, scope)
      return (frame, machine) => {
        machine.budget.step()
        return indexValue(object(frame, machine), key(frame, machine), { machine, line: expr.line })
      }
    }
    case 'varargs':
      return ({ varargs }) => varargs[0]
    case 'call':
    case 'method': {
      const all = compileMany(expr, scope)
      return (frame, machine) => all(frame, machine)[0]
    }
    case 'single':
      return compileOne(expr.inner, scope)
    case 'function':
      return compileFunction(expr.body, '', scope)
    case 'and':
    case 'or': {
      const left = compileOne(expr.left, scope)
      const right = compileOne(expr.right, scope)
      const isAnd = expr.kind === 'and'
      return (frame, machine) => {
        machine.budget.step()
        const found = left(frame, machine)
        return isTrue(found) === isAnd ? right(frame, machine) : found
      }
    }
    case 'binary': {
      const left = compileOne(expr.left, scope)
      const right = compileOne(expr.right, scope)
      const { operator, line } = expr
      return (frame, machine) => {
        // A statement can have thousands of operators.
        machine.budget.step()
        return located(line, () => operate(operator, left(frame, machine), right(frame, machine), machine.budget))
      }
    }
    case 'unary':
      return compileUnary(expr, scope)
    case 'table':
      return compileTable(expr, scope)
  }
}

function compileUnary({ operator, operand, line }: Extract<Expr, { kind: 'unary' }>, scope: Scope): Evaluate {
  const value = compileOne(operand, scope)
  switch (operator) {
    case 'not':
      return (frame, machine) => !isTrue(value(frame, machine))
    case '-':
      return (frame, machine) => {
        const found = value(frame, machine)
        const number = toNumber(found)
        if (number === undefined) throw failure(line, `cannot negate a ${typeName(found)}`)
        return -number
      }
    case '#':
      return (frame, machine) => {
        const found = value(frame, machine)
        if (typeof found === 'string' || found instanceof LuaTable) return found.length
        throw failure(line, `attempt to get the length of a ${typeName(found)} value`)
      }
  }
}

function compileTable({ fields, line }: Extract<Expr, { kind: 'table' }>, scope: Scope): Evaluate {
  const parts = fields.map(({ key, value }, at) =>
    key
      ? { key: compileOne(key, scope), value: compileOne(value, scope) }
      : // The last of the positions may give many values. Each expression is compiled once.
        {
          key: undefined,
          values: at === fields.length - 1 ? compileMany(value, scope) : compileAll([single(value)], scope),
        },
  )
  return (frame, machine) => {
    machine.budget.allocate(1 + parts.length)
    const table = new LuaTable()
    let position = 1
    for (const part of parts) {
      if (part.key) {
        const at = part.key(frame, machine)
        if (at === undefined || Number.isNaN(at)) throw failure(line, 'table index is nil or NaN')
        table.set(at, part.value(frame, machine))
        continue
      }
      for (const value of part.values(frame, machine)) {
        machine.budget.allocate(1)
        table.set(position, value)
        position += 1
      }
    }
    return table
  }
}

function single(inner: Expr): Expr {
  return { kind: 'single', inner }
}

function compileFunction(body: FunctionBody, name: string, outer: Scope): Evaluate {
  const scope = outer.inner()
  const params = body.params.map((param) => scope.declare(param))
  const run = compileBlock(body.block, scope)
  const captures = scope.captures()
  return (frame, machine): LuaFunction => {
    machine.budget.allocate(1 + captures.length)
    const captured = captures.map((place) =>
      place.kind === 'local' ? frame.cells[place.at]! : frame.captured[place.kind === 'captured' ? place.at : 0]!,
    )
    return {
      name,
      call: (args) => {
        machine.budget.step(params.length)
        const cells: Cell[] = []
        for (const [at, place] of params.entries()) cells[place] = { value: args[at] }
        const varargs = body.hasVarargs ? args.slice(params.length) : []
        const outcome = run({ cells, captured, varargs }, machine)
        return Array.isArray(outcome) ? (outcome as readonly LuaValue[]) : []
      },
    }
  }
}

interface CallSite {
  readonly machine: Machine
  readonly line: number
  readonly name?: string
}

function callValue(
  callee: LuaValue,
  args: readonly LuaValue[],
  { machine, line, name }: CallSite,
): readonly LuaValue[] {
  const { budget } = machine
  budget.step(1 + args.length)
  if (typeof callee !== 'object' || callee instanceof LuaTable) {
    const what = name === undefined || name === '' ? '' : ` '${name}'`
    throw failure(line, `attempt to call a ${typeName(callee)} value${what}`)
  }
  return located(line, () => budget.nested(() => callee.call(args)))
}

function indexValue(object: LuaValue, key: LuaValue, { machine, line }: CallSite): LuaValue {
  if (object instanceof LuaTable) return object.get(key)
  if (typeof object === 'string') return machine.strings.get(key)
  throw failure(line, noTable(object, key))
}

function noTable(object: LuaValue, key: LuaValue): string {
  return `attempt to index a non-table object(${typeName(object)}) with key '${toText(key)}'`
}

function located<T>(line: number, run: () => T): T {
  try {
    return run()
  } catch (caught) {
    if (caught instanceof Unlocated) throw failure(line, toText(caught.value))
    throw caught
  }
}

function failure(line: number, message: string): LuaError {
  return new LuaError(`<string>:${line}: ${message}`)
}

function describe(expr: Expr): string {
  if (expr.kind === 'name') return expr.name
  if (expr.kind !== 'index' || expr.key.kind !== 'constant') return ''
  return `${describe(expr.object)}.${String(expr.key.value)}`
}
