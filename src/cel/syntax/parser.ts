/** Tokens to a syntax tree: recursive descent over CEL's small grammar, macros expanded on the way. */
import type { CallExpr, Expr } from './ast.ts'
import { CelSyntaxError, tokenize } from './lexer.ts'
import type { Token } from './lexer.ts'
import { expandMacro } from './macros.ts'
import { CelUint, MAX_INT, MAX_UINT, MIN_INT } from '../values.ts'
import type { CelValue } from '../values.ts'

/** Longer sources are refused unread. */
const MAX_SOURCE = 100_000
const MAX_DEPTH = 250

const RESERVED: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)

const STARTS = `{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}`

/** The tree of a source; throws a CelSyntaxError that says where it stops being CEL. */
export function parse(source: string): Expr {
  if (source.length > MAX_SOURCE) {
    throw new CelSyntaxError(`expression code point size exceeds limit: size: ${source.length}, limit ${MAX_SOURCE}`, 0)
  }
  return new Parser(source).whole()
}

/** Makes the nodes of a tree. */
export interface NodeFactory {
  literal(value: CelValue, at: number): Expr
  ident(name: string, at: number): Expr
  call(fn: string, args: readonly Expr[], at: number): Expr
  list(items: readonly Expr[], at: number): Expr
  nextId(): number
}

class Parser implements NodeFactory {
  private readonly tokens: Token[]
  private position = 0
  private ids = 0
  private depth = 0

  constructor(source: string) {
    this.tokens = tokenize(source)
  }

  nextId(): number {
    return ++this.ids
  }

  literal(value: CelValue, at: number): Expr {
    return { kind: 'literal', id: this.nextId(), at, value }
  }

  ident(name: string, at: number): Expr {
    return { kind: 'ident', id: this.nextId(), at, name }
  }

  call(fn: string, args: readonly Expr[], at: number): Expr {
    return { kind: 'call', id: this.nextId(), at, fn, target: undefined, args }
  }

  list(items: readonly Expr[], at: number): Expr {
    return { kind: 'list', id: this.nextId(), at, items, optional: new Set() }
  }

  whole(): Expr {
    const expr = this.expression()
    const rest = this.peek()
    if (rest.kind !== 'end') {
      throw new CelSyntaxError(`Syntax error: mismatched input '${rest.text}' expecting <EOF>`, rest.at)
    }
    return expr
  }

  private peek(): Token {
    return this.tokens[this.position]!
  }

  private next(): Token {
    return this.tokens[this.position++]!
  }

  private is(text: string): boolean {
    const token = this.peek()
    return token.text === text && (token.kind === 'punct' || token.kind === 'ident')
  }

  private take(text: string): Token | undefined {
    return this.is(text) ? this.next() : undefined
  }

  private expect(text: string): Token {
    const token = this.take(text)
    if (token) return token
    const found = this.peek()
    throw new CelSyntaxError(`Syntax error: mismatched input '${found.text}' expecting '${text}'`, found.at)
  }

  private expression(): Expr {
    if (++this.depth > MAX_DEPTH) {
      throw new CelSyntaxError(`expression recursion limit exceeded: ${MAX_DEPTH}`, this.peek().at)
    }
    const condition = this.or()
    const mark = this.take('?')
    if (!mark) {
      this.depth--
      return condition
    }
    const then = this.or()
    this.expect(':')
    const otherwise = this.expression()
    this.depth--
    return this.call('_?_:_', [condition, then, otherwise], mark.at)
  }

  private or(): Expr {
    let left = this.and()
    for (let token = this.take('||'); token; token = this.take('||')) {
      left = this.call('_||_', [left, this.and()], token.at)
    }
    return left
  }

  private and(): Expr {
    let left = this.relation()
    for (let token = this.take('&&'); token; token = this.take('&&')) {
      left = this.call('_&&_', [left, this.relation()], token.at)
    }
    return left
  }

  private relation(): Expr {
    let left = this.sum()
    for (;;) {
      const token = this.operator(['==', '!=', '<=', '>=', '<', '>', 'in'])
      if (!token) return left
      const fn = token.text === 'in' ? '@in' : `_${token.text}_`
      left = this.call(fn, [left, this.sum()], token.at)
    }
  }

  private sum(): Expr {
    let left = this.product()
    for (let token = this.operator(['+', '-']); token; token = this.operator(['+', '-'])) {
      left = this.call(`_${token.text}_`, [left, this.product()], token.at)
    }
    return left
  }

  private product(): Expr {
    let left = this.unary()
    for (let token = this.operator(['*', '/', '%']); token; token = this.operator(['*', '/', '%'])) {
      left = this.call(`_${token.text}_`, [left, this.unary()], token.at)
    }
    return left
  }

  private operator(texts: readonly string[]): Token | undefined {
    for (const text of texts) {
      const token = this.take(text)
      if (token) return token
    }
    return undefined
  }

  private unary(): Expr {
    const token = this.peek()
    if (this.take('!')) {
      let count = 1
      while (this.take('!')) count++
      const operand = this.member()
      return count % 2 === 1 ? this.call('!_', [operand], token.at) : operand
    }
    if (this.is('-')) {
      let count = 0
      while (this.take('-')) count++
      const number = this.peek()
      // A minus directly before a number is a part of it: only so can the smallest integer be written.
      if (count === 1 && number.kind === 'number' && !(number.value instanceof CelUint)) {
        this.next()
        const value = number.value as bigint | number
        return this.suffixes(this.literal(this.inRange(-value, number), token.at))
      }
      const operand = this.member()
      return count % 2 === 1 ? this.call('-_', [operand], token.at) : operand
    }
    return this.member()
  }

  private inRange(value: CelValue, token: Token): CelValue {
    if (typeof value === 'bigint' && (value > MAX_INT || value < MIN_INT))
      throw new CelSyntaxError('invalid int literal', token.at)
    if (value instanceof CelUint && value.value > MAX_UINT) throw new CelSyntaxError('invalid uint literal', token.at)
    if (typeof value === 'number' && !Number.isFinite(value))
      throw new CelSyntaxError('invalid double literal', token.at)
    return value
  }

  private member(): Expr {
    return this.suffixes(this.primary())
  }

  private suffixes(start: Expr): Expr {
    let operand = start
    for (;;) {
      const token = this.peek()
      if (this.take('.')) operand = this.selector(operand, token.at)
      else if (this.take('[')) {
        const isOptional = this.take('?') !== undefined
        const index = this.expression()
        this.expect(']')
        operand = this.call(isOptional ? '_[?_]' : '_[_]', [operand, index], token.at)
      } else return operand
    }
  }

  private selector(operand: Expr, at: number): Expr {
    const isOptional = this.take('?') !== undefined
    const name = this.identifier()
    if (isOptional) return this.call('_?._', [operand, this.literal(name.text, name.at)], at)
    const open = this.take('(')
    if (!open) return { kind: 'select', id: this.nextId(), at, operand, field: name.text, isTest: false }
    return this.invocation({ fn: name.text, target: operand, at: open.at })
  }

  private identifier(): Token {
    const token = this.next()
    if (token.kind === 'ident' && !/^(?:true|false|null|in)$/.test(token.text)) return token
    throw new CelSyntaxError(
      token.kind === 'end'
        ? `Syntax error: no viable alternative at input '.'`
        : `Syntax error: no viable alternative at input '.${token.text}'`,
      token.at,
    )
  }

  private invocation(what: { fn: string; target: Expr | undefined; at: number }): Expr {
    const args: Expr[] = []
    if (!this.take(')')) {
      do args.push(this.expression())
      while (this.take(','))
      this.expect(')')
    }
    const call: CallExpr = { kind: 'call', id: this.nextId(), ...what, args }
    return expandMacro(call, this) ?? call
  }

  private primary(): Expr {
    const token = this.next()
    if (token.kind === 'number' || token.kind === 'string')
      return this.literal(this.inRange(token.value!, token), token.at)
    if (token.kind === 'punct') {
      if (token.text === '(') {
        const inner = this.expression()
        this.expect(')')
        return inner
      }
      if (token.text === '[') return this.listLiteral(token.at)
      if (token.text === '{') return this.mapLiteral(token.at)
      if (token.text === '.' && this.peek().kind === 'ident') return this.named(this.next(), '.')
    }
    if (token.kind === 'ident') {
      switch (token.text) {
        case 'true':
        case 'false':
          return this.literal(token.text === 'true', token.at)
        case 'null':
          return this.literal(null, token.at)
        case 'in':
          break
        default:
          return this.named(token, '')
      }
    }
    throw new CelSyntaxError(`Syntax error: mismatched input '${token.text}' expecting ${STARTS}`, token.at)
  }

  private named(token: Token, dot: string): Expr {
    if (RESERVED.has(token.text)) throw new CelSyntaxError(`reserved identifier: ${token.text}`, token.at)
    const name = `${dot}${token.text}`
    const open = this.take('(')
    if (open) return this.invocation({ fn: name, target: undefined, at: open.at })
    const struct = this.structAhead()
    return struct === undefined ? this.ident(name, token.at) : this.structLiteral(`${name}${struct}`, token.at)
  }

  // `a.b.C{` is the beginning of a message; looked at ahead, since `a.b` alone is a selection.
  private structAhead(): string | undefined {
    let ahead = this.position
    let suffix = ''
    while (this.tokens[ahead]?.text === '.' && this.tokens[ahead + 1]?.kind === 'ident') {
      suffix += `.${this.tokens[ahead + 1]!.text}`
      ahead += 2
    }
    const brace = this.tokens[ahead]
    if (brace?.text !== '{' || brace.kind !== 'punct') return undefined
    this.position = ahead
    return suffix
  }

  private structLiteral(name: string, at: number): Expr {
    this.expect('{')
    const fields: { name: string; value: Expr; optional: boolean; at: number }[] = []
    while (!this.is('}')) {
      const optional = this.take('?') !== undefined
      const field = this.identifier()
      this.expect(':')
      fields.push({ name: field.text, value: this.expression(), optional, at: field.at })
      if (!this.take(',')) break
    }
    this.expect('}')
    return { kind: 'struct', id: this.nextId(), at, name, fields }
  }

  private listLiteral(at: number): Expr {
    const items: Expr[] = []
    const optional = new Set<number>()
    while (!this.is(']')) {
      if (this.take('?')) optional.add(items.length)
      items.push(this.expression())
      if (!this.take(',')) break
    }
    this.expect(']')
    return { kind: 'list', id: this.nextId(), at, items, optional }
  }

  private mapLiteral(at: number): Expr {
    const entries: { key: Expr; value: Expr; optional: boolean }[] = []
    while (!this.is('}')) {
      const optional = this.take('?') !== undefined
      const key = this.expression()
      this.expect(':')
      entries.push({ key, value: this.expression(), optional })
      if (!this.take(',')) break
    }
    this.expect('}')
    return { kind: 'map', id: this.nextId(), at, entries }
  }
}
