/** Go's text/template parser: tokens in, trees out. Errors read `template: FILE:LINE: what`. */
import { goQuote } from './go-string.ts'
import type { Delimiters, Token, TokenType } from './lex.ts'
import { TokenStream, tokenText } from './token-stream.ts'
import { nodeText } from './node.ts'
import type {
  BranchNode,
  BreakNode,
  ChainNode,
  CommandNode,
  ListNode,
  Node,
  Operand,
  PipeNode,
  TemplateNode,
  VariableNode,
} from './node.ts'
import { parseNumber, unquote } from './number.ts'

/** A parsed template: a file's own text, or one `define` in it. */
export interface Tree {
  readonly name: string
  /** The file it stands in, for error messages. */
  readonly parseName: string
  readonly text: string
  readonly root: ListNode
}

/** Text that is not a template. */
export class TemplateParseError extends Error {
  override readonly name = 'TemplateParseError'
}

/** Whether a list holds nothing but white space; an empty redefinition never replaces a template. */
export function isEmptyList(list: ListNode): boolean {
  return list.nodes.every((node) => node.type === 'text' && node.text.trim() === '')
}

const OPERAND_STARTS: readonly TokenType[] = [
  'bool',
  'charConstant',
  'complex',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'rawString',
  'string',
  'variable',
  'leftParen',
]

/** What cannot take the value before it in a pipeline. */
const NOT_CALLED: readonly Operand['type'][] = ['bool', 'dot', 'nil', 'number', 'string']

/** Where a list ended. */
interface Ending {
  readonly type: 'end' | 'else'
  readonly pos: number
}

type Item = Node | Ending

/** Variables and loops of a template while it is parsed. */
interface Scope {
  vars: string[]
  rangeDepth: number
}

/** Parses a file into its own tree and the trees of its defines, by name. */
export function parseTemplate(
  name: string,
  text: string,
  hasFunction: (name: string) => boolean,
  delimiters?: Delimiters,
): Map<string, Tree> {
  return new Parser(name, new TokenStream(text, delimiters), { text, hasFunction }).parseFile()
}

class Parser {
  readonly #name: string
  readonly #text: string
  readonly #hasFunction: (name: string) => boolean
  readonly #tokens: TokenStream
  #actionLine = 0
  #scope: Scope = { vars: ['$'], rangeDepth: 0 }
  readonly #trees = new Map<string, Tree>()

  constructor(
    name: string,
    tokens: TokenStream,
    source: { readonly text: string; readonly hasFunction: (name: string) => boolean },
  ) {
    this.#name = name
    this.#text = source.text
    this.#hasFunction = source.hasFunction
    this.#tokens = tokens
  }

  parseFile(): Map<string, Tree> {
    const root: ListNode = { type: 'list', pos: this.#tokens.peek().pos, nodes: [] }
    while (this.#tokens.peek().type !== 'eof') {
      if (this.#tokens.peek().type === 'leftDelim') {
        const delim = this.#tokens.next()
        if (this.#tokens.nextNonSpace().type === 'define') {
          this.#inOwnScope(() => this.#definition())
          continue
        }
        this.#tokens.backup2(delim)
      }
      const item = this.#textOrAction()
      if (isEnding(item)) return this.#fail(`unexpected ${endingText(item)}`)
      root.nodes.push(item)
    }
    this.#add(this.#name, root)
    return this.#trees
  }

  #inOwnScope(parse: () => void): void {
    const outer = this.#scope
    this.#scope = { vars: ['$'], rangeDepth: 0 }
    parse()
    this.#scope = outer
  }

  #definition(): void {
    const context = 'define clause'
    const token = this.#tokens.nextNonSpace()
    if (token.type !== 'string' && token.type !== 'rawString') this.#unexpected(token, context)
    const name = this.#unquoted(token)
    this.#expect('rightDelim', context)
    const { list, ending } = this.#itemList()
    if (ending.type !== 'end') this.#fail(`unexpected ${endingText(ending)} in ${context}`)
    this.#add(name, list)
  }

  #add(name: string, root: ListNode): void {
    const present = this.#trees.get(name)
    if (!present || isEmptyList(present.root)) {
      this.#trees.set(name, { name, parseName: this.#name, text: this.#text, root })
    } else if (!isEmptyList(root)) {
      this.#fail(`template: multiple definition of template ${goQuote(name)}`)
    }
  }

  #itemList(): { list: ListNode; ending: Ending } {
    const list: ListNode = { type: 'list', pos: this.#tokens.peekNonSpace().pos, nodes: [] }
    while (this.#tokens.peekNonSpace().type !== 'eof') {
      const item = this.#textOrAction()
      if (isEnding(item)) return { list, ending: item }
      list.nodes.push(item)
    }
    return this.#fail('unexpected EOF')
  }

  #textOrAction(): Item {
    const token = this.#tokens.nextNonSpace()
    if (token.type === 'text') return { type: 'text', pos: token.pos, text: token.text }
    if (token.type !== 'leftDelim') return this.#unexpected(token, 'input')
    this.#actionLine = token.line
    const item = this.#action()
    this.#actionLine = 0
    return item
  }

  #action(): Item {
    const token = this.#tokens.nextNonSpace()
    switch (token.type) {
      case 'block':
        return this.#block()
      case 'break':
      case 'continue':
        return this.#breakOrContinue(token.type, token)
      case 'else':
        return this.#else()
      case 'end':
        return { type: 'end', pos: this.#expect('rightDelim', 'end').pos }
      case 'if':
      case 'range':
      case 'with':
        return this.#branch(token.type)
      case 'template':
        return this.#template()
      default: {
        this.#tokens.backup()
        const first = this.#tokens.peek()
        return { type: 'action', pos: first.pos, line: first.line, pipe: this.#pipeline('command', 'rightDelim') }
      }
    }
  }

  #breakOrContinue(type: 'break' | 'continue', token: Token): BreakNode {
    const next = this.#tokens.nextNonSpace()
    if (next.type !== 'rightDelim') this.#unexpected(next, `{{${type}}}`)
    if (this.#scope.rangeDepth === 0) this.#fail(`{{${type}}} outside {{range}}`)
    return { type, pos: token.pos, line: token.line }
  }

  #else(): Ending {
    const peeked = this.#tokens.peekNonSpace()
    if (peeked.type === 'if' || peeked.type === 'with') return { type: 'else', pos: peeked.pos }
    return { type: 'else', pos: this.#expect('rightDelim', 'else').pos }
  }

  #branch(type: 'if' | 'range' | 'with'): BranchNode {
    const depth = this.#scope.vars.length
    const pipe = this.#pipeline(type, 'rightDelim')
    if (type === 'range') this.#scope.rangeDepth += 1
    const { list, ending } = this.#itemList()
    if (type === 'range') this.#scope.rangeDepth -= 1
    let elseList: ListNode | undefined
    if (ending.type === 'else') {
      if (type !== 'range' && this.#tokens.peek().type === type) {
        this.#tokens.next()
        elseList = { type: 'list', pos: ending.pos, nodes: [this.#branch(type)] }
      } else {
        const otherwise = this.#itemList()
        if (otherwise.ending.type !== 'end') this.#fail(`expected end; found ${endingText(otherwise.ending)}`)
        elseList = otherwise.list
      }
    }
    this.#scope.vars.length = depth
    return { type, pos: pipe.pos, line: pipe.line, pipe, list, elseList }
  }

  #block(): TemplateNode {
    const context = 'block clause'
    const token = this.#tokens.nextNonSpace()
    const name = this.#templateName(token, context)
    const pipe = this.#pipeline(context, 'rightDelim')
    this.#inOwnScope(() => {
      const { list, ending } = this.#itemList()
      if (ending.type !== 'end') this.#fail(`unexpected ${endingText(ending)} in ${context}`)
      this.#add(name, list)
    })
    return { type: 'template', pos: token.pos, line: token.line, name, pipe }
  }

  #template(): TemplateNode {
    const context = 'template clause'
    const token = this.#tokens.nextNonSpace()
    const name = this.#templateName(token, context)
    let pipe: PipeNode | undefined
    if (this.#tokens.nextNonSpace().type !== 'rightDelim') {
      this.#tokens.backup()
      pipe = this.#pipeline(context, 'rightDelim')
    }
    return { type: 'template', pos: token.pos, line: token.line, name, pipe }
  }

  #templateName(token: Token, context: string): string {
    if (token.type !== 'string' && token.type !== 'rawString') this.#unexpected(token, context)
    return this.#unquoted(token)
  }

  #pipeline(context: string, end: TokenType): PipeNode {
    const first = this.#tokens.peekNonSpace()
    const pipe: PipeNode = { type: 'pipe', pos: first.pos, line: first.line, isAssign: false, decl: [], commands: [] }
    this.#declarations(pipe, context)
    for (;;) {
      const token = this.#tokens.nextNonSpace()
      if (token.type === end) {
        this.#checkPipeline(pipe, context)
        return pipe
      }
      if (!OPERAND_STARTS.includes(token.type)) this.#unexpected(token, context)
      this.#tokens.backup()
      pipe.commands.push(this.#command())
    }
  }

  #declarations(pipe: PipeNode, context: string): void {
    while (this.#tokens.peekNonSpace().type === 'variable') {
      const variable = this.#tokens.next()
      // In `$x foo` the space must come back, so that $x is seen as an argument.
      const afterVariable = this.#tokens.peek()
      const next = this.#tokens.peekNonSpace()
      if (next.type === 'assign' || next.type === 'declare') {
        pipe.isAssign = next.type === 'assign'
        this.#tokens.nextNonSpace()
        this.#declare(pipe, variable)
        return
      }
      if (next.type === 'char' && next.text === ',') {
        this.#tokens.nextNonSpace()
        this.#declare(pipe, variable)
        if (context === 'range' && pipe.decl.length < 2) {
          if (['variable', 'rightDelim', 'rightParen'].includes(this.#tokens.peekNonSpace().type)) continue
          this.#fail('range can only initialize variables')
        }
        this.#fail(`too many declarations in ${context}`)
      }
      if (afterVariable.type === 'space') this.#tokens.backup3(variable, afterVariable)
      else this.#tokens.backup2(variable)
      return
    }
  }

  #declare(pipe: PipeNode, variable: Token): void {
    pipe.decl.push(variableNode(variable.pos, variable.text))
    this.#scope.vars.push(variable.text)
  }

  #checkPipeline(pipe: PipeNode, context: string): void {
    if (pipe.commands.length === 0) this.#fail(`missing value for ${context}`)
    for (let index = 1; index < pipe.commands.length; index += 1) {
      if (NOT_CALLED.includes(pipe.commands[index]!.args[0]!.type)) {
        this.#fail(`non executable command in pipeline stage ${index + 1}`)
      }
    }
  }

  #command(): CommandNode {
    const command: CommandNode = { type: 'command', pos: this.#tokens.peekNonSpace().pos, args: [] }
    for (;;) {
      this.#tokens.peekNonSpace()
      const operand = this.#operand()
      if (operand) command.args.push(operand)
      const token = this.#tokens.next()
      if (token.type === 'space') continue
      if (token.type === 'rightDelim' || token.type === 'rightParen') this.#tokens.backup()
      else if (token.type !== 'pipe') this.#unexpected(token, 'operand')
      break
    }
    if (command.args.length === 0) this.#fail('empty command')
    return command
  }

  #operand(): Operand | undefined {
    const node = this.#term()
    if (!node || this.#tokens.peek().type !== 'field') return node
    const chain: ChainNode = { type: 'chain', pos: this.#tokens.peek().pos, node, fields: [] }
    while (this.#tokens.peek().type === 'field') chain.fields.push(this.#tokens.next().text.slice(1))
    switch (node.type) {
      case 'field':
        return { type: 'field', pos: chain.pos, names: [...node.names, ...chain.fields] }
      case 'variable':
        return { type: 'variable', pos: chain.pos, names: [...node.names, ...chain.fields] }
      case 'bool':
      case 'string':
      case 'number':
      case 'nil':
      case 'dot':
        return this.#fail(`unexpected . after term ${goQuote(nodeText(node))}`)
      default:
        return chain
    }
  }

  #term(): Operand | undefined {
    const token = this.#tokens.nextNonSpace()
    const { pos, text } = token
    switch (token.type) {
      case 'identifier':
        if (!this.#hasFunction(text)) this.#fail(`function ${goQuote(text)} not defined`)
        return { type: 'identifier', pos, name: text }
      case 'dot':
      case 'nil':
        return { type: token.type, pos }
      case 'variable':
        if (!this.#scope.vars.includes(text)) this.#fail(`undefined variable ${goQuote(text)}`)
        return variableNode(pos, text)
      case 'field':
        return { type: 'field', pos, names: [text.slice(1)] }
      case 'bool':
        return { type: 'bool', pos, value: text === 'true' }
      case 'charConstant':
      case 'complex':
      case 'number':
        return parseNumber(pos, text, token.type) ?? this.#fail(numberProblem(text, token.type))
      case 'leftParen':
        return this.#pipeline('parenthesized pipeline', 'rightParen')
      case 'string':
      case 'rawString':
        return { type: 'string', pos, quoted: text, text: this.#unquoted(token) }
      default:
        this.#tokens.backup()
        return undefined
    }
  }

  #unquoted(token: Token): string {
    return unquote(token.text) ?? this.#fail('invalid syntax')
  }

  #expect(type: TokenType, context: string): Token {
    const token = this.#tokens.nextNonSpace()
    return token.type === type ? token : this.#unexpected(token, context)
  }

  #unexpected(token: Token, context: string): never {
    if (token.type !== 'error') this.#fail(`unexpected ${tokenText(token)} in ${context}`)
    let extra = ''
    if (this.#actionLine !== 0 && this.#actionLine !== token.line) {
      extra = ` in action started at ${this.#name}:${this.#actionLine}`
      if (token.text.endsWith(' action')) extra = extra.slice(' in action'.length)
    }
    return this.#fail(token.text + extra)
  }

  #fail(problem: string): never {
    throw new TemplateParseError(`template: ${this.#name}:${this.#tokens.line}: ${problem}`)
  }
}

function variableNode(pos: number, text: string): VariableNode {
  return { type: 'variable', pos, names: [text] }
}

function isEnding(item: Item): item is Ending {
  return item.type === 'end' || item.type === 'else'
}

function endingText(ending: Ending): string {
  return `{{${ending.type}}}`
}

function numberProblem(text: string, type: TokenType): string {
  // strconv.UnquoteChar has words of its own for a constant without a character.
  if (type === 'charConstant') return text === "''" ? 'invalid syntax' : `malformed character constant: ${text}`
  if (/^[+-]?[0-9_]+$/.test(text)) return `integer overflow: ${goQuote(text)}`
  return `illegal number syntax: ${goQuote(text)}`
}
