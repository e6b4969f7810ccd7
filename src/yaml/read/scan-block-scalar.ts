/** Literal and folded block scalars. */
import { HASH, NUL, SPACE, TAB, ZERO, isBlank, isBreak, isBreakOrEnd, isDigit } from '../chars.ts'
import { FOLDED, LITERAL } from '../node.ts'
import type { Scanner } from './scanner.ts'
import { SCALAR, Token } from './token.ts'

type Chomping = 'strip' | 'clip' | 'keep'

/** Scans `|` or `>` with its hints and its lines. */
export function scanBlockScalar(scanner: Scanner): Token {
  const token = new Token(SCALAR, scanner, 0)
  const literal = scanner.code === 0x7c
  token.style = literal ? LITERAL : FOLDED
  scanner.index++
  const { chomping, increment } = scanHeader(scanner, token)
  let indent = increment === 0 ? 0 : Math.max(scanner.indent, 0) + increment
  const first = scanBreaks(scanner, indent, token)
  indent = first.indent
  let breaks = first.breaks
  let value = ''
  let leadingBreak = ''
  let leadingBlank = false
  while (scanner.column === indent && scanner.code !== NUL) {
    const blank = isBlank(scanner.code)
    // Two lines that start with text are one when folded.
    if (!literal && leadingBreak === '\n' && !leadingBlank && !blank) value += breaks === '' ? ' ' : breaks
    else value += leadingBreak + breaks
    leadingBlank = blank
    const start = scanner.index
    scanner.moveToLineEnd()
    value += scanner.text.slice(start, scanner.index)
    leadingBreak = isBreak(scanner.code) ? scanner.takeBreak() : ''
    breaks = scanBreaks(scanner, indent, token).breaks
  }
  if (chomping !== 'strip') value += leadingBreak
  if (chomping === 'keep') value += breaks
  token.value = value
  return token
}

function scanHeader(scanner: Scanner, token: Token): { chomping: Chomping; increment: number } {
  let chomping = scanChomping(scanner)
  const increment = scanIncrement(scanner, token)
  if (chomping === 'clip' && increment !== 0) chomping = scanChomping(scanner)
  while (isBlank(scanner.code)) scanner.index++
  if (scanner.code === HASH) {
    scanner.comments?.scanLineComment(token)
    scanner.moveToLineEnd()
  }
  if (!isBreakOrEnd(scanner.code)) scanner.fail('did not find expected comment or line break', token)
  if (isBreak(scanner.code)) scanner.takeBreak()
  return { chomping, increment }
}

function scanChomping(scanner: Scanner): Chomping {
  const c = scanner.code
  if (c !== 0x2b && c !== 0x2d) return 'clip'
  scanner.index++
  return c === 0x2b ? 'keep' : 'strip'
}

function scanIncrement(scanner: Scanner, token: Token): number {
  const c = scanner.code
  if (!isDigit(c)) return 0
  if (c === ZERO) scanner.fail('found an indentation indicator equal to 0', token)
  scanner.index++
  return c - ZERO
}

// Indentation and empty lines. An indentation of 0 is not known yet: the deepest of the empty lines or the first text
// says it.
function scanBreaks(scanner: Scanner, indent: number, token: Token): { breaks: string; indent: number } {
  const limit = indent === 0 ? Infinity : indent
  let breaks = ''
  let deepest = 0
  for (;;) {
    while (scanner.column < limit && scanner.code === SPACE) scanner.index++
    deepest = Math.max(deepest, scanner.column)
    if (scanner.column < limit && scanner.code === TAB) {
      scanner.fail('found a tab character where an indentation space is expected', token)
    }
    if (!isBreak(scanner.code)) break
    breaks += scanner.takeBreak()
  }
  return { breaks, indent: indent === 0 ? Math.max(deepest, scanner.indent + 1, 1) : indent }
}
