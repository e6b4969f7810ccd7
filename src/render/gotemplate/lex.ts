/** Go's text/template lexer: text and actions in, tokens out. Positions are indexes into the source string. */

/** What a token is. Keywords have their own word as type. */
export type TokenType =
  | 'error'
  | 'eof'
  | 'text'
  | 'leftDelim'
  | 'rightDelim'
  | 'space'
  | 'bool'
  | 'char'
  | 'charConstant'
  | 'complex'
  | 'number'
  | 'string'
  | 'rawString'
  | 'assign'
  | 'declare'
  | 'pipe'
  | 'leftParen'
  | 'rightParen'
  | 'field'
  | 'variable'
  | 'identifier'
  | 'dot'
  | Keyword

/** Words that are no names. */
export const KEYWORDS = [
  'block',
  'break',
  'continue',
  'define',
  'else',
  'end',
  'if',
  'nil',
  'range',
  'template',
  'with',
] as const

/** A reserved word. */
export type Keyword = (typeof KEYWORDS)[number]

export interface Token {
  readonly type: TokenType
  readonly pos: number
  readonly text: string
  /** The line on which it starts, from 1. */
  readonly line: number
}

const isSpace = (char: string | undefined) => char === ' ' || char === '\t' || char === '\r' || char === '\n'

const UNICODE_WORD = /[_\p{L}\p{Nd}]*/uy
const ASCII_WORD = /\w*/y
const SPACES = /[ \t\r\n]*/y
/** All parts after the first digit are optional, so the expression never fails and never backtracks. */
const NUMBER =
  /[+-]?(?:0[xX][0-9a-fA-F_]*(?:\.[0-9a-fA-F_]*)?(?:[pP][+-]?[0-9_]*)?|0[oO][0-7_]*(?:\.[0-7_]*)?|0[bB][01_]*(?:\.[01_]*)?|[0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]*)?)i?/y
const STRING_STOP = /["\\\n]/g
const CHAR_STOP = /['\\\n]/g

/** Tokens of a single character. */
const SINGLE: Readonly<Record<string, TokenType>> = { '=': 'assign', '|': 'pipe', '(': 'leftParen', ')': 'rightParen' }

const WORDS: ReadonlyMap<string, TokenType> = new Map<string, TokenType>([
  ...KEYWORDS.map((word) => [word, word] as const),
  ['true', 'bool'],
  ['false', 'bool'],
])

/**
 * The common tokens, read by a single expression: names, fields, variables, a space, texts, pipes, brackets and
 * numbers.
 */
const USUAL =
  /(?:[A-Za-z]\w*|\.(?:[A-Za-z]\w*)?|\$\w*)(?=[ \t\r\n.,|:()]|\}\})| (?![ \t\r\n]|-\}\})|"[^"\\\n]*"|[|()]|\d+(?=[ \t\r\n|)]|\}\})/y

/** The type of a common token by its first character; a number or a word if the character is not listed. */
const USUAL_TYPES: ReadonlyMap<number, TokenType> = new Map<number, TokenType>([
  [0x20, 'space'],
  [0x22, 'string'],
  [0x24, 'variable'],
  [0x28, 'leftParen'],
  [0x29, 'rightParen'],
  [0x2e, 'field'],
  [0x7c, 'pipe'],
])

/** Where a match of a sticky expression that always matches ends. */
function endOf(sticky: RegExp, text: string, from: number): number {
  sticky.lastIndex = from
  sticky.test(text)
  return sticky.lastIndex
}

/** The end of the letters, digits and underscores here. */
function wordEnd(text: string, from: number): number {
  const end = endOf(ASCII_WORD, text, from)
  return text.charCodeAt(end) > 0x7f ? endOf(UNICODE_WORD, text, end) : end
}

/** Formats a rune as Go's %#U: `U+0023 '#'`. */
function runeName(char: string): string {
  if (char === '') return 'U+FFFFFFFFFFFFFFFF'
  const code = char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(char) ? `U+${code} '${char}'` : `U+${code}`
}

/** What actions begin and end with. */
export interface Delimiters {
  readonly left: string
  readonly right: string
}

const CURLY: Delimiters = { left: '{{', right: '}}' }

/** The tokens of a template; the last token is `eof` or `error`. */
export function lex(input: string, delimiters: Delimiters = CURLY): Token[] {
  return new Lexer(input, delimiters).run()
}

type State = 'text' | 'action' | 'stop'

class Lexer {
  readonly #input: string
  readonly #tokens: Token[] = []
  #pos = 0
  /** Where the token starts that is being read, and on which line. */
  #start = 0
  #line = 1
  #parenDepth = 0
  readonly #left: string
  readonly #right: string

  constructor(input: string, { left, right }: Delimiters) {
    this.#input = input
    this.#left = left
    this.#right = right
  }

  run(): Token[] {
    let state: State = 'text'
    while (state !== 'stop') state = state === 'text' ? this.#text() : this.#insideAction()
    return this.#tokens
  }

  /** Emits the text up to `end` as a token. */
  #emit(type: TokenType, end: number): 'action' {
    this.#tokens.push({ type, pos: this.#start, text: this.#input.slice(this.#start, end), line: this.#line })
    this.#skipTo(end)
    return 'action'
  }

  /** The same for what has no line break in it. */
  #emitInLine(type: TokenType, end: number): 'action' {
    this.#tokens.push({ type, pos: this.#start, text: this.#input.slice(this.#start, end), line: this.#line })
    this.#start = end
    this.#pos = end
    return 'action'
  }

  /** Drops the text up to `end`; the next token starts there. */
  #skipTo(end: number): void {
    const input = this.#input
    for (let at = input.indexOf('\n', this.#start); at >= 0 && at < end; at = input.indexOf('\n', at + 1)) {
      this.#line += 1
    }
    this.#start = end
    this.#pos = end
  }

  #fail(message: string): 'stop' {
    this.#tokens.push({ type: 'error', pos: this.#start, text: message, line: this.#line })
    return 'stop'
  }

  /** The character at a place, which may take two units. */
  #charAt(at: number): string {
    return at < this.#input.length ? String.fromCodePoint(this.#input.codePointAt(at)!) : ''
  }

  /** Whether the right delimiter is at a place, and whether it trims. */
  #rightDelim(at: number): 'none' | 'plain' | 'trim' {
    const input = this.#input
    if (input.startsWith(this.#right, at)) return 'plain'
    return isSpace(input[at]) && input[at + 1] === '-' && input.startsWith(this.#right, at + 2) ? 'trim' : 'none'
  }

  #skipSpaces(): void {
    this.#skipTo(endOf(SPACES, this.#input, this.#pos))
  }

  /** Text up to the next action, and the comments on the way. */
  #text(): State {
    const input = this.#input
    const { length } = this.#left
    for (;;) {
      const open = input.indexOf(this.#left, this.#pos)
      if (open < 0) {
        if (input.length > this.#start) this.#emit('text', input.length)
        this.#tokens.push({ type: 'eof', pos: input.length, text: '', line: this.#line })
        return 'stop'
      }
      const trims = input[open + length] === '-' && isSpace(input[open + length + 1])
      let end = open
      if (trims) while (end > this.#start && isSpace(input[end - 1])) end -= 1
      if (end > this.#start) this.#emit('text', end)
      this.#skipTo(open)
      const inside = open + length + (trims ? 2 : 0)
      if (!input.startsWith('/*', inside)) {
        this.#emitInLine('leftDelim', open + length)
        if (trims) this.#skipTo(inside)
        this.#parenDepth = 0
        return 'action'
      }
      const close = input.indexOf('*/', inside + 2)
      if (close < 0) return this.#fail('unclosed comment')
      const delim = this.#rightDelim(close + 2)
      if (delim === 'none') return this.#fail('comment ends before closing delimiter')
      this.#skipTo(close + 2 + (delim === 'trim' ? 2 : 0) + this.#right.length)
      if (delim === 'trim') this.#skipSpaces()
    }
  }

  /** Takes usual tokens as long as there are some. */
  #usual(): void {
    const input = this.#input
    const tokens = this.#tokens
    const line = this.#line
    let pos = this.#pos
    let depth = this.#parenDepth
    for (USUAL.lastIndex = pos; USUAL.test(input); pos = USUAL.lastIndex) {
      const code = input.charCodeAt(pos)
      if (code === OPEN) depth += 1
      else if (code === CLOSE && --depth < 0) break
      const text = code === SPACE ? ' ' : input.slice(pos, USUAL.lastIndex)
      let type = USUAL_TYPES.get(code) ?? (code <= NINE ? 'number' : (WORDS.get(text) ?? 'identifier'))
      if (code === DOT && text.length === 1) type = 'dot'
      tokens.push({ type, pos, text, line })
    }
    this.#parenDepth = Math.max(depth, 0)
    this.#start = pos
    this.#pos = pos
  }

  #insideAction(): State {
    // The expression for the common tokens knows `}}` alone.
    if (this.#right === CURLY.right) this.#usual()
    const input = this.#input
    const at = this.#pos
    const delim = this.#rightDelim(at)
    if (delim !== 'none') return this.#endAction(delim)
    const char = this.#charAt(at)
    if (char === '') return this.#fail('unclosed action')
    if (isSpace(char)) return this.#spaces()
    const single = SINGLE[char]
    if (single !== undefined) {
      this.#emitInLine(single, at + 1)
      if (single === 'leftParen') this.#parenDepth += 1
      else if (single === 'rightParen') this.#parenDepth -= 1
      return this.#parenDepth < 0 ? this.#fail('unexpected right paren') : 'action'
    }
    switch (char) {
      case ':':
        return input[at + 1] === '=' ? this.#emit('declare', at + 2) : this.#fail('expected :=')
      case '"':
        return this.#quoted(STRING_STOP, 'string', 'unterminated quoted string')
      case "'":
        return this.#quoted(CHAR_STOP, 'charConstant', 'unterminated character constant')
      case '`': {
        const close = input.indexOf('`', at + 1)
        return close < 0 ? this.#fail('unterminated raw quoted string') : this.#emit('rawString', close + 1)
      }
      case '$':
        return this.#fieldOrVariable('variable', 'variable')
    }
    if (char === '.' && at + 1 < input.length && !isDigit(input[at + 1]!)) return this.#fieldOrVariable('field', 'dot')
    if (char === '.' || char === '+' || char === '-' || isDigit(char)) return this.#number()
    if (wordEnd(input, at) > at) return this.#identifier()
    if (char >= ' ' && char <= '~') return this.#emit('char', at + 1)
    return this.#fail(`unrecognized character in action: ${runeName(char)}`)
  }

  #endAction(delim: 'plain' | 'trim'): State {
    if (this.#parenDepth !== 0) return this.#fail('unclosed left paren')
    if (delim === 'trim') this.#skipTo(this.#pos + 2)
    this.#emitInLine('rightDelim', this.#pos + this.#right.length)
    if (delim === 'trim') this.#skipSpaces()
    return 'text'
  }

  #spaces(): State {
    const end = endOf(SPACES, this.#input, this.#pos)
    // The last space before `-}}` belongs to the delimiter. More spaces precede it, or this would be the delimiter.
    const trims = this.#input[end] === '-' && this.#input.startsWith(this.#right, end + 1)
    return this.#emit('space', trims ? end - 1 : end)
  }

  #quoted(stop: RegExp, type: TokenType, problem: string): State {
    const input = this.#input
    let at = this.#pos + 1
    for (;;) {
      stop.lastIndex = at
      if (!stop.test(input)) return this.#fail(problem)
      at = stop.lastIndex
      const char = input[at - 1]
      if (char === '\n') return this.#fail(problem)
      if (char !== '\\') return this.#emit(type, at)
      if (at >= input.length || input[at] === '\n') return this.#fail(problem)
      at += 1
    }
  }

  /** What starts with `.` or `$`, with a name or without. */
  #fieldOrVariable(type: TokenType, alone: TokenType): State {
    const from = this.#pos + 1
    if (this.#isTerminator(from)) return this.#emit(alone, from)
    return this.#word(from, type)
  }

  #identifier(): State {
    return this.#word(this.#pos, undefined)
  }

  #word(from: number, type: TokenType | undefined): State {
    const end = wordEnd(this.#input, from)
    if (!this.#isTerminator(end)) return this.#fail(`bad character ${runeName(this.#charAt(end))}`)
    return this.#emitInLine(type ?? WORDS.get(this.#input.slice(from, end)) ?? 'identifier', end)
  }

  /** Whether a name may end here. */
  #isTerminator(at: number): boolean {
    const char = this.#input[at]
    return char === undefined || isSpace(char) || '.,|:)('.includes(char) || this.#input.startsWith(this.#right, at)
  }

  #number(): State {
    const end = this.#numberEnd(this.#pos)
    if (end === undefined) return 'stop'
    const sign = this.#input[end]
    if (sign !== '+' && sign !== '-') return this.#emit('number', end)
    const imaginary = this.#numberEnd(end)
    if (imaginary === undefined) return 'stop'
    return this.#input[imaginary - 1] === 'i' ? this.#emit('complex', imaginary) : this.#badNumber(imaginary)
  }

  /** Where the number ends; undefined when it runs into a letter, which is told. */
  #numberEnd(from: number): number | undefined {
    const end = endOf(NUMBER, this.#input, from)
    if (wordEnd(this.#input, end) === end) return end
    this.#badNumber(end + this.#charAt(end).length)
    return undefined
  }

  #badNumber(end: number): 'stop' {
    return this.#fail(`bad number syntax: ${JSON.stringify(this.#input.slice(this.#start, end))}`)
  }
}

const SPACE = 0x20
const OPEN = 0x28
const CLOSE = 0x29
const DOT = 0x2e
const NINE = 0x39

function isDigit(char: string): boolean {
  return char >= '0' && char <= '9'
}
