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

/** One token. */
export interface Token {
  readonly type: TokenType
  readonly pos: number
  readonly text: string
  /** The line on which it starts, from 1. */
  readonly line: number
}

const isSpace = (char: string | undefined) => char === ' ' || char === '\t' || char === '\r' || char === '\n'
const isAlphaNumeric = (char: string) => char === '_' || /^[\p{L}\p{Nd}]$/u.test(char)

/** Formats a rune as Go's %#U: `U+0023 '#'`. */
function runeName(char: string): string {
  if (char === '') return 'U+FFFFFFFFFFFFFFFF'
  const code = char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(char) ? `U+${code} '${char}'` : `U+${code}`
}

/** The tokens of a template; the last one is `eof` or `error`. */
export function lex(input: string): Token[] {
  const tokens: Token[] = []
  let pos = 0
  let start = 0
  let line = 1
  let startLine = 1
  let parenDepth = 0

  const peek = () => (pos < input.length ? String.fromCodePoint(input.codePointAt(pos)!) : '')
  const advance = (): string => {
    const char = peek()
    pos += char.length
    if (char === '\n') line += 1
    return char
  }
  const retreat = (char: string) => {
    pos -= char.length
    if (char === '\n') line -= 1
  }
  const emit = (type: TokenType) => {
    tokens.push({ type, pos: start, text: input.slice(start, pos), line: startLine })
    start = pos
    startLine = line
  }
  const ignore = () => {
    line += countNewlines(input, start, pos)
    start = pos
    startLine = line
  }
  const fail = (message: string): 'stop' => {
    tokens.push({ type: 'error', pos: start, text: message, line: startLine })
    return 'stop'
  }
  const accept = (valid: string): boolean => {
    if (peek() !== '' && valid.includes(peek())) {
      advance()
      return true
    }
    return false
  }
  const acceptRun = (valid: string) => {
    while (accept(valid));
  }

  /** Whether the right delimiter is here, and whether it trims. */
  const rightDelim = (at: number): 'none' | 'plain' | 'trim' => {
    if (isSpace(input[at]) && input[at + 1] === '-' && input.startsWith('}}', at + 2)) return 'trim'
    return input.startsWith('}}', at) ? 'plain' : 'none'
  }
  const skipSpaceAfterTrim = () => {
    while (isSpace(input[pos])) pos += 1
    ignore()
  }
  const atTerminator = (): boolean => {
    const char = peek()
    return char === '' || isSpace(char) || '.,|:)('.includes(char) || input.startsWith('}}', pos)
  }

  function lexText(): 'action' | 'stop' {
    for (;;) {
      const open = input.indexOf('{{', pos)
      if (open < 0) {
        pos = input.length
        if (pos > start) {
          emitText()
        }
        tokens.push({ type: 'eof', pos, text: '', line })
        return 'stop'
      }
      const trims = input[open + 2] === '-' && isSpace(input[open + 3])
      let end = open
      if (trims) while (end > start && isSpace(input[end - 1])) end -= 1
      pos = end
      if (pos > start) emitText()
      pos = open
      ignoreFrom(end)
      const comment = input.startsWith('/*', open + 2 + (trims ? 2 : 0))
      if (!comment) {
        pos = open + 2
        emit('leftDelim')
        if (trims) {
          pos += 2
          ignore()
        }
        parenDepth = 0
        return 'action'
      }
      pos = open + 2 + (trims ? 2 : 0) + 2
      const close = input.indexOf('*/', pos)
      if (close < 0) return fail('unclosed comment')
      pos = close + 2
      const delim = rightDelim(pos)
      if (delim === 'none') return fail('comment ends before closing delimiter')
      pos += delim === 'trim' ? 4 : 2
      ignore()
      if (delim === 'trim') skipSpaceAfterTrim()
    }
  }

  function emitText() {
    const end = pos
    tokens.push({ type: 'text', pos: start, text: input.slice(start, end), line: startLine })
    line += countNewlines(input, start, end)
    start = end
    startLine = line
  }
  function ignoreFrom(from: number) {
    start = from
    ignore()
  }

  function lexInsideAction(): 'text' | 'action' | 'stop' {
    const delim = rightDelim(pos)
    if (delim !== 'none') {
      if (parenDepth !== 0) return fail('unclosed left paren')
      if (delim === 'trim') {
        pos += 2
        ignore()
      }
      pos += 2
      emit('rightDelim')
      if (delim === 'trim') skipSpaceAfterTrim()
      return 'text'
    }
    const char = advance()
    if (char === '') return fail('unclosed action')
    if (isSpace(char)) {
      // The last space before `-}}` belongs to the delimiter.
      while (isSpace(input[pos])) advance()
      if (input[pos] === '-' && input.startsWith('}}', pos + 1)) {
        const last = input[pos - 1]!
        retreat(last)
        if (pos === start) return 'action'
      }
      emit('space')
      return 'action'
    }
    switch (char) {
      case '=':
        emit('assign')
        return 'action'
      case ':':
        if (advance() !== '=') return fail('expected :=')
        emit('declare')
        return 'action'
      case '|':
        emit('pipe')
        return 'action'
      case '"':
        return lexQuoted('"', 'string', 'unterminated quoted string')
      case "'":
        return lexQuoted("'", 'charConstant', 'unterminated character constant')
      case '`': {
        const close = input.indexOf('`', pos)
        if (close < 0) return fail('unterminated raw quoted string')
        line += countNewlines(input, pos, close)
        pos = close + 1
        emit('rawString')
        return 'action'
      }
      case '$':
        return lexFieldOrVariable('variable')
      case '(':
        emit('leftParen')
        parenDepth += 1
        return 'action'
      case ')':
        emit('rightParen')
        parenDepth -= 1
        return parenDepth < 0 ? fail('unexpected right paren') : 'action'
    }
    if (char === '.' && !(input[pos] !== undefined && input[pos]! >= '0' && input[pos]! <= '9')) {
      if (pos < input.length) return lexFieldOrVariable('field')
    }
    if (char === '.' || char === '+' || char === '-' || (char >= '0' && char <= '9')) {
      retreat(char)
      return lexNumber()
    }
    if (isAlphaNumeric(char)) return lexIdentifier()
    if (char >= ' ' && char <= '~') {
      emit('char')
      return 'action'
    }
    return fail(`unrecognized character in action: ${runeName(char)}`)
  }

  function lexQuoted(quote: string, type: TokenType, problem: string): 'action' | 'stop' {
    for (;;) {
      let char = advance()
      if (char === '\\') {
        char = advance()
        if (char !== '' && char !== '\n') continue
      }
      if (char === '' || char === '\n') return fail(problem)
      if (char === quote) {
        emit(type)
        return 'action'
      }
    }
  }

  function lexFieldOrVariable(type: 'field' | 'variable'): 'action' | 'stop' {
    if (atTerminator()) {
      emit(type === 'variable' ? 'variable' : 'dot')
      return 'action'
    }
    while (peek() !== '' && isAlphaNumeric(peek())) advance()
    if (!atTerminator()) return fail(`bad character ${runeName(peek())}`)
    emit(type)
    return 'action'
  }

  function lexIdentifier(): 'action' | 'stop' {
    while (peek() !== '' && isAlphaNumeric(peek())) advance()
    if (!atTerminator()) return fail(`bad character ${runeName(peek())}`)
    const word = input.slice(start, pos)
    if ((KEYWORDS as readonly string[]).includes(word)) emit(word as Keyword)
    else emit(word === 'true' || word === 'false' ? 'bool' : 'identifier')
    return 'action'
  }

  function lexNumber(): 'action' | 'stop' {
    if (!scanNumber()) return fail(`bad number syntax: ${JSON.stringify(input.slice(start, pos))}`)
    if (peek() === '+' || peek() === '-') {
      if (!scanNumber() || input[pos - 1] !== 'i') {
        return fail(`bad number syntax: ${JSON.stringify(input.slice(start, pos))}`)
      }
      emit('complex')
    } else {
      emit('number')
    }
    return 'action'
  }

  function scanNumber(): boolean {
    accept('+-')
    let digits = '0123456789_'
    if (accept('0')) {
      if (accept('xX')) digits = '0123456789abcdefABCDEF_'
      else if (accept('oO')) digits = '01234567_'
      else if (accept('bB')) digits = '01_'
    }
    acceptRun(digits)
    if (accept('.')) acceptRun(digits)
    if (digits.length === 11 && accept('eE')) {
      accept('+-')
      acceptRun('0123456789_')
    }
    if (digits.length === 23 && accept('pP')) {
      accept('+-')
      acceptRun('0123456789_')
    }
    accept('i')
    if (peek() !== '' && isAlphaNumeric(peek())) {
      advance()
      return false
    }
    return true
  }

  let state: 'text' | 'action' | 'stop' = 'text'
  while (state !== 'stop') state = state === 'text' ? lexText() : lexInsideAction()
  return tokens
}

function countNewlines(text: string, from: number, to: number): number {
  let count = 0
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count += 1
  return count
}
