/** Quoted and plain scalars. */
import { COLON, HASH, NUL, QUESTION, TAB, hexValue, isBlank, isBlankOrEnd, isBreak } from '../chars.ts'
import { DOUBLE_QUOTED, PLAIN, SINGLE_QUOTED } from '../node.ts'
import type { Scanner } from './scanner.ts'
import { SCALAR, Token } from './token.ts'

const BACKSLASH = 0x5c
const QUOTE = 0x27
const DOUBLE_QUOTE = 0x22

const ESCAPES = new Map<number, string>(
  Object.entries({
    '0': '\0',
    a: '\x07',
    b: '\b',
    t: '\t',
    '\t': '\t',
    n: '\n',
    v: '\v',
    f: '\f',
    r: '\r',
    e: '\x1b',
    ' ': ' ',
    '"': '"',
    "'": "'",
    '\\': '\\',
    N: '\x85',
    _: '\xa0',
    L: '\u2028',
    P: '\u2029',
  }).map(([name, value]) => [name.charCodeAt(0), value]),
)

const ESCAPE_DIGITS = new Map([
  [0x78, 2], // x
  [0x75, 4], // u
  [0x55, 8], // U
])

/** Scans a scalar in single or double quotes. */
export function scanQuotedScalar(scanner: Scanner): Token {
  const token = new Token(SCALAR, scanner, 0)
  const quote = scanner.code
  token.style = quote === QUOTE ? SINGLE_QUOTED : DOUBLE_QUOTED
  scanner.index++
  let value = ''
  for (;;) {
    if (scanner.isDocumentIndicator()) scanner.fail('found unexpected document indicator', token)
    if (scanner.code === NUL) scanner.fail('found unexpected end of stream', token)
    const line = scanQuotedLine(scanner, quote, token)
    value += line.text
    if (line.ended) break
    value += line.escapedBreak ? scanBreaks(scanner, '') : isBreak(scanner.code) ? foldBreaks(scanner) : ''
  }
  scanner.index++
  token.value = value
  return token
}

// Up to the closing quote, the end of the line, or an escaped line break.
function scanQuotedLine(
  scanner: Scanner,
  quote: number,
  token: Token,
): { text: string; ended: boolean; escapedBreak: boolean } {
  const { text } = scanner
  let value = ''
  let from = scanner.index
  let i = from
  // Blanks before a line break are dropped, except escaped blanks.
  let kept = from
  for (;;) {
    const c = text.charCodeAt(i)
    if (c === quote) {
      if (quote === QUOTE && text.charCodeAt(i + 1) === QUOTE) {
        value += text.slice(from, i + 1)
        i += 2
        from = i
        kept = i
        continue
      }
      scanner.moveTo(i)
      return { text: value + text.slice(from, i), ended: true, escapedBreak: false }
    }
    if (isBlank(c)) {
      i++
      continue
    }
    if (isBlankOrEnd(c)) {
      scanner.moveTo(i)
      return { text: value + text.slice(from, kept), ended: false, escapedBreak: false }
    }
    if (c === BACKSLASH && quote === DOUBLE_QUOTE) {
      value += text.slice(from, i)
      scanner.moveTo(i)
      if (isBreak(text.charCodeAt(i + 1))) {
        scanner.index++
        scanner.takeBreak()
        return { text: value, ended: scanner.code === quote, escapedBreak: true }
      }
      value += scanEscape(scanner, token)
      i = scanner.index
      from = i
    } else i++
    kept = i
  }
}

function scanEscape(scanner: Scanner, token: Token): string {
  scanner.checkEnd(2)
  const name = scanner.codeAt(1)
  const simple = ESCAPES.get(name)
  if (simple !== undefined) {
    scanner.index += 2
    return simple
  }
  const digits = ESCAPE_DIGITS.get(name)
  if (digits === undefined) return scanner.fail('found unknown escape character', token)
  scanner.index += 2
  scanner.checkEnd(digits)
  let code = 0
  for (let k = 0; k < digits; k++) {
    const digit = hexValue(scanner.codeAt(k))
    if (digit < 0) scanner.fail('did not find expected hexdecimal number', token)
    code = code * 16 + digit
  }
  if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) {
    scanner.fail('found invalid Unicode character escape code', token)
  }
  scanner.index += digits
  return String.fromCodePoint(code)
}

// Line breaks and the blanks around them: one break is a space, more are one less.
function foldBreaks(scanner: Scanner): string {
  const first = scanner.takeBreak()
  const others = scanBreaks(scanner, '')
  return joinBreaks(first, others)
}

function joinBreaks(first: string, others: string): string {
  if (first !== '\n') return first + others
  return others === '' ? ' ' : others
}

function scanBreaks(scanner: Scanner, before: string): string {
  let breaks = before
  for (;;) {
    const c = scanner.code
    if (isBlank(c)) scanner.index++
    else if (isBreak(c)) breaks += scanner.takeBreak()
    else return breaks
  }
}

/** Scans a scalar without quotes. */
export function scanPlainScalar(scanner: Scanner): Token {
  const token = new Token(SCALAR, scanner, 0)
  token.style = PLAIN
  const { text } = scanner
  const flow = scanner.flowLevel > 0
  const indent = scanner.indent + 1
  let value = ''
  let afterBreak = false
  let breaks = ''
  for (;;) {
    if (scanner.isDocumentIndicator() || scanner.code === HASH) break
    const start = scanner.index
    const end = plainLineEnd(text, start, flow)
    if (end > start) {
      value += breaks + text.slice(start, end)
      breaks = ''
      afterBreak = false
      scanner.moveTo(end)
    }
    let i = end
    while (isBlank(text.charCodeAt(i))) i++
    // A comment needs a blank before it, so an indicator or `#` without one is the end.
    if (!isBreak(text.charCodeAt(i))) {
      scanner.index = i
      break
    }
    scanner.index = i
    const first = scanner.takeBreak()
    afterBreak = true
    breaks = joinBreaks(first, scanPlainBreaks(scanner, indent, token))
    if (!flow && scanner.column < indent) break
  }
  token.value = value
  if (afterBreak) scanner.simpleKeyAllowed = true
  return token
}

function scanPlainBreaks(scanner: Scanner, indent: number, token: Token): string {
  let breaks = ''
  for (;;) {
    const c = scanner.code
    if (isBlank(c)) {
      if (c === TAB && scanner.column < indent) {
        scanner.fail('found a tab character that violates indentation', token)
      }
      scanner.index++
    } else if (isBreak(c)) breaks += scanner.takeBreak()
    else return breaks
  }
}

// The end of the last character on this line that belongs to the scalar.
function plainLineEnd(text: string, start: number, flow: boolean): number {
  let i = start
  let end = start
  for (;;) {
    const c = text.charCodeAt(i)
    if (isBlankOrEnd(c)) {
      while (isBlank(text.charCodeAt(i))) i++
      const next = text.charCodeAt(i)
      if (isBlankOrEnd(next) || next === HASH) return end
      continue
    }
    if (c === COLON && isBlankOrEnd(text.charCodeAt(i + 1))) return end
    if (flow && endsPlainInFlow(c)) return end
    end = ++i
  }
}

// , ? [ ] { }
function endsPlainInFlow(c: number): boolean {
  return c === 0x2c || c === QUESTION || c === 0x5b || c === 0x5d || c === 0x7b || c === 0x7d
}
