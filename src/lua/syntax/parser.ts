// Tested by src/lua/lua.test.ts
/** Reads tokens into statements. */
import type { BinaryOperator, Block, Expr, FunctionBody, Statement, TableField } from './ast.ts'
import { LuaSyntaxError, tokenize } from './lexer.ts'
import type { Token } from './lexer.ts'

/** Nesting of blocks and expressions, so that neither reading nor running exhausts the stack. */
const MAX_NESTING = 100

const PRIORITIES: Readonly<Record<string, readonly [left: number, right: number]>> = {
  or: [1, 1],
  and: [2, 2],
  '<': [3, 3],
  '>': [3, 3],
  '<=': [3, 3],
  '>=': [3, 3],
  '~=': [3, 3],
  '==': [3, 3],
  '..': [5, 4],
  '+': [6, 6],
  '-': [6, 6],
  '*': [7, 7],
  '/': [7, 7],
  '%': [7, 7],
  '^': [10, 9],
}
const UNARY_PRIORITY = 8

/** The statements of a script; throws LuaSyntaxError. */
export function parseScript(source: string): Block {
  return new Parser(tokenize(source)).script()
}

class Parser {
  readonly #tokens: readonly Token[]
  #at = 0
  #nesting = 0
  /** Whether each enclosing function has `...`; the script itself has. */
  readonly #varargs: boolean[] = [true]
  /** Loops around the statement, in each enclosing function. */
  readonly #loops: number[] = [0]

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  script(): Block {
    const block = this.#block()
    if (this.#token.kind !== 'end') this.#fail()
    return block
  }

  get #token(): Token {
    return this.#tokens[this.#at]!
  }

  #is(text: string): boolean {
    const { kind, text: found } = this.#token
    return found === text && (kind === 'keyword' || kind === 'symbol')
  }

  #accept(text: string): boolean {
    if (!this.#is(text)) return false
    this.#at += 1
    return true
  }

  #expect(text: string): void {
    if (!this.#accept(text)) this.#fail(`'${text}' expected`)
  }

  #name(): string {
    const { kind, text } = this.#token
    if (kind !== 'name') this.#fail('name expected')
    this.#at += 1
    return text
  }

  #fail(expected?: string): never {
    const { line, kind, text, value } = this.#token
    const near = kind === 'string' ? JSON.stringify(value) : text
    throw new LuaSyntaxError(line, `${expected === undefined ? 'syntax error' : expected} near '${near}'`)
  }

  #nested<T>(read: () => T): T {
    this.#nesting += 1
    if (this.#nesting > MAX_NESTING) {
      throw new LuaSyntaxError(this.#token.line, `the script is nested deeper than ${MAX_NESTING} levels`)
    }
    const found = read()
    this.#nesting -= 1
    return found
  }

  #block(): Block {
    return this.#nested(() => {
      const statements: Statement[] = []
      for (;;) {
        while (this.#accept(';')) continue
        const { kind, text, line } = this.#token
        if (kind === 'end' || (kind === 'keyword' && ['end', 'else', 'elseif', 'until'].includes(text))) break
        if (this.#accept('return')) {
          const isEmpty =
            ['end', 'else', 'elseif', 'until', ';'].some((one) => this.#is(one)) || this.#token.kind === 'end'
          statements.push({ kind: 'return', values: isEmpty ? [] : this.#expressions(), line })
          this.#accept(';')
          break
        }
        statements.push(this.#statement())
      }
      return statements
    })
  }

  #statement(): Statement {
    const { line, kind, text } = this.#token
    if (kind !== 'keyword' && !this.#is('::')) return this.#expressionStatement()
    this.#at += 1
    switch (text) {
      case 'local':
        return this.#local(line)
      case 'do': {
        const block = this.#block()
        this.#expect('end')
        return { kind: 'do', block, line }
      }
      case 'while': {
        const condition = this.#expression()
        this.#expect('do')
        return { kind: 'while', condition, block: this.#loopBlock(), line }
      }
      case 'repeat': {
        const block = this.#inLoop(() => this.#block())
        this.#expect('until')
        return { kind: 'repeat', block, condition: this.#expression(), line }
      }
      case 'if':
        return this.#if(line)
      case 'for':
        return this.#for(line)
      case 'function':
        return this.#functionStatement(line)
      case 'break':
        if (this.#loops.at(-1) === 0) throw new LuaSyntaxError(line, 'break is outside of a loop')
        return { kind: 'break', line }
      case 'goto':
        return { kind: 'goto', label: this.#name(), line }
      case '::': {
        const label = this.#name()
        this.#expect('::')
        return { kind: 'label', label, line }
      }
      default:
        this.#at -= 1
        return this.#fail()
    }
  }

  #inLoop<T>(read: () => T): T {
    this.#loops[this.#loops.length - 1]! += 1
    const found = read()
    this.#loops[this.#loops.length - 1]! -= 1
    return found
  }

  #loopBlock(): Block {
    const block = this.#inLoop(() => this.#block())
    this.#expect('end')
    return block
  }

  #local(line: number): Statement {
    if (this.#accept('function')) {
      const name = this.#name()
      return { kind: 'localFunction', name, body: this.#functionBody([]), line }
    }
    const names = this.#names()
    return { kind: 'local', names, values: this.#accept('=') ? this.#expressions() : [], line }
  }

  #names(): string[] {
    const names = [this.#name()]
    while (this.#accept(',')) names.push(this.#name())
    return names
  }

  #if(line: number): Statement {
    const branches: { condition: Expr; block: Block }[] = []
    do {
      const condition = this.#expression()
      this.#expect('then')
      branches.push({ condition, block: this.#block() })
    } while (this.#accept('elseif'))
    const otherwise = this.#accept('else') ? this.#block() : undefined
    this.#expect('end')
    return { kind: 'if', branches, otherwise, line }
  }

  #for(line: number): Statement {
    const names = this.#names()
    if (names.length === 1 && this.#accept('=')) {
      const from = this.#expression()
      this.#expect(',')
      const to = this.#expression()
      const step = this.#accept(',') ? this.#expression() : undefined
      this.#expect('do')
      return { kind: 'count', name: names[0]!, from, to, step, block: this.#loopBlock(), line }
    }
    this.#expect('in')
    const values = this.#expressions()
    this.#expect('do')
    return { kind: 'each', names, values, block: this.#loopBlock(), line }
  }

  #functionStatement(line: number): Statement {
    let target: Expr = { kind: 'name', name: this.#name(), line }
    while (this.#accept('.')) target = this.#field(target, this.#name(), line)
    const isMethod = this.#accept(':')
    if (isMethod) target = this.#field(target, this.#name(), line)
    const body = this.#functionBody(isMethod ? ['self'] : [])
    return { kind: 'assign', targets: [target], values: [{ kind: 'function', body }], line }
  }

  #field(object: Expr, name: string, line: number): Expr {
    return { kind: 'index', object, key: { kind: 'constant', value: name }, line }
  }

  #functionBody(given: readonly string[]): FunctionBody {
    const { line } = this.#token
    const params = [...given]
    let hasVarargs = false
    this.#expect('(')
    if (!this.#is(')')) {
      do {
        hasVarargs = this.#accept('...')
        if (!hasVarargs) params.push(this.#name())
      } while (!hasVarargs && this.#accept(','))
    }
    this.#expect(')')
    this.#varargs.push(hasVarargs)
    this.#loops.push(0)
    const block = this.#block()
    this.#varargs.pop()
    this.#loops.pop()
    this.#expect('end')
    return { params, hasVarargs, block, line }
  }

  #expressionStatement(): Statement {
    const { line } = this.#token
    const first = this.#suffixed()
    if (!this.#is('=') && !this.#is(',')) {
      if (first.kind !== 'call' && first.kind !== 'method') this.#fail()
      return { kind: 'call', call: first, line }
    }
    const targets = [first]
    while (this.#accept(',')) targets.push(this.#suffixed())
    this.#expect('=')
    if (!targets.every(({ kind }) => kind === 'name' || kind === 'index')) {
      throw new LuaSyntaxError(line, 'only variables and fields can be assigned to')
    }
    return { kind: 'assign', targets, values: this.#expressions(), line }
  }

  #expressions(): Expr[] {
    const list = [this.#expression()]
    while (this.#accept(',')) list.push(this.#expression())
    return list
  }

  #expression(limit = 0): Expr {
    return this.#nested(() => {
      let left = this.#operand()
      for (;;) {
        const { kind, text, line } = this.#token
        const priority = kind === 'symbol' || kind === 'keyword' ? PRIORITIES[text] : undefined
        if (priority === undefined || priority[0] <= limit) return left
        this.#at += 1
        const right = this.#expression(priority[1])
        left =
          text === 'and' || text === 'or'
            ? { kind: text, left, right }
            : { kind: 'binary', operator: text as BinaryOperator, left, right, line }
      }
    })
  }

  #operand(): Expr {
    const { kind, text, value, line } = this.#token
    if (kind === 'number' || kind === 'string') {
      this.#at += 1
      return { kind: 'constant', value }
    }
    if (kind !== 'keyword' && kind !== 'symbol') return this.#suffixed()
    switch (text) {
      case 'nil':
      case 'true':
      case 'false':
        this.#at += 1
        return { kind: 'constant', value: text === 'nil' ? undefined : text === 'true' }
      case '...':
        if (this.#varargs.at(-1) !== true) throw new LuaSyntaxError(line, "cannot use '...' outside a vararg function")
        this.#at += 1
        return { kind: 'varargs' }
      case 'function':
        this.#at += 1
        return { kind: 'function', body: this.#functionBody([]) }
      case '{':
        return this.#table()
      case '-':
      case '#':
      case 'not':
        this.#at += 1
        return { kind: 'unary', operator: text, operand: this.#expression(UNARY_PRIORITY), line }
      default:
        return this.#suffixed()
    }
  }

  /** A name or parentheses, with fields, indexes and calls. */
  #suffixed(): Expr {
    const start = this.#token
    let found: Expr
    if (this.#accept('(')) {
      found = { kind: 'single', inner: this.#expression() }
      this.#expect(')')
    } else found = { kind: 'name', name: this.#name(), line: start.line }
    for (let length = 0; ; length += 1) {
      // Each suffix is a level of the tree.
      if (length > MAX_NESTING) throw new LuaSyntaxError(start.line, 'the expression is too long')
      const { line } = this.#token
      if (this.#accept('.')) found = this.#field(found, this.#name(), line)
      else if (this.#accept('[')) {
        const key = this.#expression()
        this.#expect(']')
        found = { kind: 'index', object: found, key, line }
      } else if (this.#accept(':')) {
        const name = this.#name()
        found = { kind: 'method', object: found, name, args: this.#args(), line }
      } else if (this.#is('(') || this.#is('{') || this.#token.kind === 'string') {
        found = { kind: 'call', callee: found, args: this.#args(), line }
      } else return found
    }
  }

  #args(): Expr[] {
    const { kind, value } = this.#token
    if (kind === 'string') {
      this.#at += 1
      return [{ kind: 'constant', value }]
    }
    if (this.#is('{')) return [this.#table()]
    this.#expect('(')
    const args = this.#is(')') ? [] : this.#expressions()
    this.#expect(')')
    return args
  }

  #table(): Expr {
    const { line } = this.#token
    const fields: TableField[] = []
    this.#expect('{')
    while (!this.#is('}')) {
      fields.push(this.#tableField())
      if (!this.#accept(',') && !this.#accept(';')) break
    }
    this.#expect('}')
    return { kind: 'table', fields, line }
  }

  #tableField(): TableField {
    if (this.#accept('[')) {
      const key = this.#expression()
      this.#expect(']')
      this.#expect('=')
      return { key, value: this.#expression() }
    }
    const next = this.#tokens[this.#at + 1]
    if (this.#token.kind === 'name' && next?.kind === 'symbol' && next.text === '=') {
      const key: Expr = { kind: 'constant', value: this.#name() }
      this.#expect('=')
      return { key, value: this.#expression() }
    }
    return { value: this.#expression() }
  }
}
