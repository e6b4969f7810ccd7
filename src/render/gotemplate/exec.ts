/**
 * Executes trees, step for step as Go's text/template does, including which node an error is blamed on. `undefined` is
 * reflect's zero Value and `null` a nil interface (see value.ts); MISSING says that a pipeline has no value yet.
 */
import { canBeNil, methodOf } from './assignable.ts'
import { goQuote } from './go-string.ts'
import { GoError, paramTypeName } from './function.ts'
import type { GoFunction, ParamType } from './function.ts'
import { formatValue } from './format.ts'
import { nodeText } from './node.ts'
import type {
  AnyNode,
  BranchNode,
  ChainNode,
  CommandNode,
  FieldNode,
  IdentifierNode,
  ListNode,
  NumberNode,
  Operand,
  PipeNode,
  TemplateNode,
  VariableNode,
} from './node.ts'
import { locate, TemplateExecError } from './exec-options.ts'
import type { ExecOptions } from './exec-options.ts'
import {
  constantProblem,
  idealConstant,
  literalAs,
  literalProblem,
  REFUSED,
  valueAs,
  valueProblem,
} from './exec-arguments.ts'
import { forEachElement, rangeProblem } from './exec-range.ts'
import type { Flow } from './exec-range.ts'
import type { Tree } from './parse.ts'
import { GoInt, GoNamed, GoStruct, isTrue, kindOf, plainValue, dereference, typeInfo, typeName } from './value.ts'

const MISSING = Symbol('no previous value')

const MAX_DEPTH = 100_000

/** Runs a tree on data and returns what it wrote. */
export function executeTemplate(tree: Tree, data: unknown, options: ExecOptions): string {
  const output: string[] = []
  const state = new State(tree, options, output, 0)
  state.push('$', data)
  state.walkList(data, tree.root)
  return output.join('')
}

const NO_ARGUMENTS: readonly Operand[] = []

/** A value a field is taken of, and whether its static type is interface {}. */
interface Receiver {
  readonly value: unknown
  readonly boxed: boolean
}

class State {
  readonly #tree: Tree
  readonly #options: ExecOptions
  readonly #output: string[]
  readonly #depth: number
  readonly #names: string[] = []
  readonly #values: unknown[] = []
  // Elements of maps and slices have the static type interface {}, which error messages name instead of what is inside.
  readonly #boxed: boolean[] = []
  #dotIsBoxed = false
  #node: AnyNode | undefined

  constructor(tree: Tree, options: ExecOptions, output: string[], depth: number) {
    this.#tree = tree
    this.#options = options
    this.#output = output
    this.#depth = depth
  }

  push(name: string, value: unknown): void {
    this.#names.push(name)
    this.#values.push(value)
    this.#boxed.push(false)
  }

  #pop(mark: number): void {
    this.#names.length = mark
    this.#values.length = mark
    this.#boxed.length = mark
  }

  #setVar(name: string, value: unknown): void {
    const at = this.#names.lastIndexOf(name)
    if (at < 0) this.#fail(`undefined variable: ${name}`)
    this.#values[at] = value
    this.#boxed[at] = false
  }

  #setTopVar(at: number, value: unknown, boxed: boolean): void {
    this.#values[at] = value
    this.#boxed[at] = boxed
  }

  /** Walks a list with a dot of its own. */
  #walkWith(dot: unknown, list: ListNode, boxed: boolean): Flow {
    const outer = this.#dotIsBoxed
    this.#dotIsBoxed = boxed
    const flow = this.walkList(dot, list)
    this.#dotIsBoxed = outer
    return flow
  }

  #write(piece: string, node: AnyNode): void {
    this.#output.push(piece)
    this.#options.wrote?.(piece.length, this.#tree, node)
    this.#options.trace?.(piece, this.#tree, node)
  }

  walkList(dot: unknown, list: ListNode): Flow {
    for (const node of list.nodes) {
      this.#options.step?.(this.#tree, node)
      this.#node = node
      switch (node.type) {
        case 'text':
          this.#write(node.text, node)
          break
        case 'action': {
          const value = this.#pipeline(dot, node.pipe)
          if (node.pipe.decl.length === 0) this.#print(node, value)
          break
        }
        case 'if':
        case 'with': {
          const flow = this.#ifOrWith(dot, node)
          if (flow !== 'next') return flow
          break
        }
        case 'range': {
          const flow = this.#range(dot, node)
          if (flow !== 'next') return flow
          break
        }
        case 'break':
        case 'continue':
          return node.type
        case 'template':
          this.#template(dot, node)
          break
      }
    }
    return 'next'
  }

  #print(node: AnyNode, value: unknown): void {
    this.#node = node
    if (value === undefined) return this.#write('<no value>', node)
    if (value instanceof GoStruct && value.addressedPrint) return this.#write(value.addressedPrint(), node)
    if (kindOf(value) === 'func') this.#fail(`can't print ${nodeText(node)} of type ${typeName(value)}`)
    this.#write(formatValue(dereference(value)), node)
  }

  #ifOrWith(dot: unknown, node: BranchNode): Flow {
    const mark = this.#names.length
    const value = this.#pipeline(dot, node.pipe)
    let flow: Flow = 'next'
    if (isTrue(value))
      flow = node.type === 'with' ? this.#walkWith(value, node.list, false) : this.walkList(dot, node.list)
    else if (node.elseList) flow = this.walkList(dot, node.elseList)
    this.#pop(mark)
    return flow
  }

  #range(dot: unknown, node: BranchNode): Flow {
    this.#node = node
    const outerMark = this.#names.length
    const value = plainValue(this.#pipeline(dot, node.pipe))
    const mark = this.#names.length
    const { decl, isAssign } = node.pipe
    const boxed =
      typeof value === 'object' && !(value instanceof GoInt) && value !== null && typeInfo(value) === undefined
    const iterate = (index: unknown, element: unknown): Flow => {
      this.#options.step?.(this.#tree, node)
      if (decl.length > 0) {
        if (isAssign) this.#setVar(decl[0]!.names[0]!, decl.length > 1 ? index : element)
        else this.#setTopVar(mark - 1, element, boxed)
      }
      if (decl.length > 1) {
        if (isAssign) this.#setVar(decl[1]!.names[0]!, element)
        else this.#setTopVar(mark - 2, index, false)
      }
      const flow = this.#walkWith(element, node.list, boxed)
      this.#pop(mark)
      return flow
    }
    const problem = rangeProblem(value, decl.length)
    if (problem !== undefined) this.#fail(problem)
    const iterated = forEachElement(value, iterate)
    let flow: Flow = 'next'
    if (!iterated && node.elseList) flow = this.walkList(dot, node.elseList)
    this.#pop(outerMark)
    return flow
  }

  #template(dot: unknown, node: TemplateNode): void {
    this.#node = node
    const tree = this.#options.template(node.name)
    if (!tree) return this.#fail(`template ${goQuote(node.name)} not defined`)
    if (this.#depth >= MAX_DEPTH) this.#fail(`exceeded maximum template depth (${MAX_DEPTH})`)
    const data = node.pipe ? this.#pipeline(dot, node.pipe) : undefined
    const inner = new State(tree, this.#options, this.#output, this.#depth + 1)
    inner.push('$', data)
    inner.walkList(data, tree.root)
  }

  #pipeline(dot: unknown, pipe: PipeNode): unknown {
    this.#node = pipe
    let value: unknown = MISSING
    for (const command of pipe.commands) {
      // The value inside an interface; a nil interface is no value.
      value = this.#command(dot, command, value) ?? undefined
    }
    for (const variable of pipe.decl) {
      if (pipe.isAssign) this.#setVar(variable.names[0]!, value)
      else this.push(variable.names[0]!, value)
    }
    return value
  }

  #notAFunction(args: readonly Operand[], final: unknown): void {
    if (args.length > 1 || final !== MISSING) this.#fail(`can't give argument to non-function ${nodeText(args[0]!)}`)
  }

  #command(dot: unknown, command: CommandNode, final: unknown): unknown {
    const first = command.args[0]!
    switch (first.type) {
      case 'field':
        return this.#fieldNode(dot, first, command.args, final)
      case 'chain':
        return this.#chainNode(dot, first, command.args, final)
      case 'identifier':
        return this.#function(dot, first, { at: command, args: command.args, final })
      case 'pipe':
        // Parenthesized pipeline. The arguments are all inside the pipeline; final must be absent.
        this.#notAFunction(command.args, final)
        return this.#pipeline(dot, first)
      case 'variable':
        return this.#variableNode(dot, first, command.args, final)
      default:
        break
    }
    this.#node = first
    this.#notAFunction(command.args, final)
    switch (first.type) {
      case 'bool':
        return first.value
      case 'dot':
        return dot
      case 'nil':
        return this.#fail('nil is not a command')
      case 'number':
        return this.#idealConstant(first)
      case 'string':
        return first.text
    }
  }

  #idealConstant(node: NumberNode): unknown {
    this.#node = node
    const value = idealConstant(node)
    return value === REFUSED ? this.#fail(constantProblem(node)) : value
  }

  #fieldNode(dot: unknown, field: FieldNode, args: readonly Operand[], final: unknown): unknown {
    this.#node = field
    return this.#fieldChain(
      dot,
      { value: dot, boxed: this.#dotIsBoxed },
      { node: field, names: field.names, args, final },
    )
  }

  #chainNode(dot: unknown, chain: ChainNode, args: readonly Operand[], final: unknown): unknown {
    this.#node = chain
    if (chain.node.type === 'nil') this.#fail(`indirection through explicit nil in ${nodeText(chain)}`)
    const receiver = this.#argument(dot, 'value', chain.node)
    return this.#fieldChain(dot, { value: receiver, boxed: false }, { node: chain, names: chain.fields, args, final })
  }

  #variableNode(dot: unknown, variable: VariableNode, args: readonly Operand[], final: unknown): unknown {
    this.#node = variable
    const at = this.#names.lastIndexOf(variable.names[0]!)
    if (at < 0) this.#fail(`undefined variable: ${variable.names[0]}`)
    const value = this.#values[at]
    if (variable.names.length === 1) {
      this.#notAFunction(args, final)
      return value
    }
    const names = variable.names.slice(1)
    return this.#fieldChain(dot, { value, boxed: this.#boxed[at]! }, { node: variable, names, args, final })
  }

  #fieldChain(
    dot: unknown,
    start: Receiver,
    chain: { node: AnyNode; names: readonly string[]; args: readonly Operand[]; final: unknown },
  ): unknown {
    let receiver = start
    const { names, node } = chain
    const last = names.length - 1
    for (let at = 0; at <= last; at++) {
      const name = names[at]!
      const args = at < last ? NO_ARGUMENTS : chain.args
      const final = at < last ? MISSING : chain.final
      const map = plainValue(receiver.value)
      // An entry of a plain map, which most steps are.
      const entry =
        map instanceof Map && map === receiver.value && !typeInfo(map) && args.length < 2 && final === MISSING
          ? (map as Map<string, unknown>).get(name)
          : undefined
      const value = entry ?? this.#field(dot, receiver, { name, node, args, final })
      receiver = { value, boxed: map instanceof Map && typeInfo(map)?.missing === undefined }
    }
    return receiver.value
  }

  #field(
    dot: unknown,
    receiver: Receiver,
    field: { name: string; node: AnyNode; args: readonly Operand[]; final: unknown },
  ): unknown {
    const { name, node, args, final } = field
    const { boxed } = receiver
    let { value } = receiver
    if (value === undefined) {
      if (this.#options.missingKey === 'error') this.#fail(`nil data; no entry for key ${goQuote(name)}`)
      return undefined
    }
    if (value === null) return this.#fail(`nil pointer evaluating interface {}.${name}`)
    const method = methodOf(value, name)
    if (method) return this.#call(dot, method, { name, node, args: args.slice(1), final })
    const hasArgs = args.length > 1 || final !== MISSING
    const type = boxed ? 'interface {}' : typeName(value)
    if (value instanceof GoNamed) ({ value } = value)
    if (value instanceof GoStruct) {
      if (value.fields.has(name)) {
        if (hasArgs) this.#fail(`${name} has arguments but cannot be invoked as function`)
        return value.fields.get(name) ?? null
      }
      if (value.promoted?.has(name)) return value.promoted.get(name) ?? null
    } else if (value instanceof Map) {
      if (hasArgs) this.#fail(`${name} is not a method but has arguments`)
      if (!value.has(name)) {
        if (this.#options.missingKey === 'error') this.#fail(`map has no entry for key ${goQuote(name)}`)
        if (this.#options.missingKey === 'invalid') return undefined
        return typeInfo(value)?.missing ?? null
      }
      return (value as Map<string, unknown>).get(name) ?? null
    }
    return this.#fail(`can't evaluate field ${name} in type ${type}`)
  }

  #function(
    dot: unknown,
    node: IdentifierNode,
    call: { at: AnyNode; args: readonly Operand[]; final: unknown },
  ): unknown {
    this.#node = node
    const fun = this.#options.functions.get(node.name)
    if (!fun) return this.#fail(`${goQuote(node.name)} is not a defined function`)
    const args = call.args.slice(1)
    if (node.name === 'and' || node.name === 'or') return this.#andOr(dot, node.name, args, call.final)
    return this.#call(dot, fun, { name: node.name, node: call.at, args, final: call.final })
  }

  /** `and` and `or` stop at the first argument that decides. */
  #andOr(dot: unknown, name: 'and' | 'or', args: readonly Operand[], final: unknown): unknown {
    if (args.length === 0 && final === MISSING) this.#fail(`wrong number of args for ${name}: want at least 1 got 0`)
    let value: unknown
    for (const arg of args) {
      value = this.#argument(dot, 'value', arg)
      if (isTrue(value) === (name === 'or')) return value
    }
    return final === MISSING ? value : this.#validate(final, 'value')
  }

  #call(
    dot: unknown,
    fun: GoFunction,
    call: { name: string; node: AnyNode; args: readonly Operand[]; final: unknown },
  ): unknown {
    const { name, args, final } = call
    const fixed = fun.params.length
    const count = args.length + (final === MISSING ? 0 : 1)
    if (fun.variadic === undefined) {
      if (count !== fixed) this.#fail(`wrong number of args for ${name}: want ${fixed} got ${count}`)
    } else if (count < fixed) {
      this.#fail(`wrong number of args for ${name}: want at least ${fixed} got ${args.length}`)
    }
    const typeAt = (index: number): ParamType => (index < fixed ? fun.params[index]! : fun.variadic!)
    const values = args.map((arg, index) => this.#argument(dot, typeAt(index), arg))
    if (final !== MISSING) values.push(this.#validate(final, typeAt(args.length)))
    try {
      if (name === 'call' && call.node.type === 'command') throw notCallable(values[0], args[0])
      return fun.call(values)
    } catch (error) {
      if (!(error instanceof GoError || error instanceof TemplateExecError)) throw error
      this.#node = call.node
      return this.#fail(`error calling ${name}: ${error.message}`, error)
    }
  }

  #argument(dot: unknown, type: ParamType, node: Operand): unknown {
    this.#node = node
    switch (node.type) {
      case 'dot':
        return this.#validate(dot, type)
      case 'nil':
        if (canBeNil(type)) return type === 'value' ? undefined : null
        return this.#fail(`cannot assign nil to ${paramTypeName(type)}`)
      case 'field':
        return this.#validate(this.#fieldNode(dot, node, [node], MISSING), type)
      case 'variable':
        return this.#validate(this.#variableNode(dot, node, [], MISSING), type)
      case 'pipe':
        return this.#validate(this.#pipeline(dot, node), type)
      case 'identifier':
        return this.#validate(this.#function(dot, node, { at: node, args: [], final: MISSING }), type)
      case 'chain':
        return this.#validate(this.#chainNode(dot, node, [], MISSING), type)
      default:
        return this.#literal(node, type)
    }
  }

  #literal(node: Operand & { type: 'bool' | 'number' | 'string' }, type: ParamType): unknown {
    const value = literalAs(node, type)
    return value === REFUSED ? this.#fail(literalProblem(node, type)) : value
  }

  #validate(value: unknown, type: ParamType): unknown {
    const converted = valueAs(value, type)
    return converted === REFUSED ? this.#fail(valueProblem(value, type)) : converted
  }

  #fail(problem: string, cause?: Error): never {
    const name = this.#tree.name
    const options = cause ? { cause } : undefined
    if (!this.#node) throw new TemplateExecError(`template: ${name}: ${problem}`, options)
    const location = locate(this.#tree, this.#node)
    throw new TemplateExecError(
      `template: ${location}: executing ${goQuote(name)} at <${nodeText(this.#node)}>: ${problem}`,
      options,
    )
  }
}

/** No value of a chart is a function: `call` can only complain. */
function notCallable(value: unknown, node: AnyNode | undefined): GoError {
  if (value === undefined || value === null) return new GoError('call of nil')
  // A piped value has no source text: a string stands for itself, values of the remaining types are described by their
  // type.
  const name = node ? nodeText(node) : typeof value === 'string' ? value : `<${typeName(value)} Value>`
  return new GoError(`non-function ${name} of type ${typeName(value)}`)
}
