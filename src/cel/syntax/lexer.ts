/** Source text to tokens with positions. */
import type { CelProblem } from './ast.ts'
import { CelUint } from '../values.ts'
import type { CelValue } from '../values.ts'

/** What a token is. */
export type TokenKind = 'ident' | 'number' | 'string' | 'punct' | 'end'

/** A token. */
export interface Token {
  readonly kind: TokenKind
  readonly text: string
  readonly at: number
  /** Of numbers (without sign) and strings. */
  readonly value?: CelValue
}

/** Thrown while reading a source that is not CEL. */
export class CelSyntaxError extends Error {
  readonly problem: CelProblem
  constructor(message: string, at: number) {
    super(message)
    this.problem = { message, at }
  }
}

const SPACE = /(?:[\t\n\f\r ]+|\/\/[^\n]*)+/y
const NUMBER = /0x[0-9a-fA-F]+[uU]?|(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|\d+[uU]?/y
const IDENT = /[a-zA-Z_][a-zA-Z0-9_]*/y
const STRING_START = /(?:[rR][bB]?|[bB][rR]?)?(?:"""|'''|"|')/y
const PUNCT = /==|!=|<=|>=|&&|\|\||[-+*/%<>!?:.,()[\]{}]/y

/** All tokens of a source, the last one being the end. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  const match = (form: RegExp): string | undefined => {
    form.lastIndex = at
    return form.exec(source)?.[0]
  }
  while (at < source.length) {
    const space = match(SPACE)
    if (space !== undefined) {
      at += space.length
      continue
    }
    const start = match(STRING_START)
    if (start !== undefined) {
      const token = readString(source, at, start)
      tokens.push(token)
      at += token.text.length
      continue
    }
    const ident = match(IDENT)
    if (ident !== undefined) {
      tokens.push({ kind: 'ident', text: ident, at })
      at += ident.length
      continue
    }
    const number = match(NUMBER)
    if (number !== undefined) {
      tokens.push({ kind: 'number', text: number, at, value: numberOf(number) })
      at += number.length
      continue
    }
    const punct = match(PUNCT)
    if (punct === undefined) {
      throw new CelSyntaxError(`Syntax error: token recognition error at: '${source[at]}'`, at)
    }
    tokens.push({ kind: 'punct', text: punct, at })
    at += punct.length
  }
  tokens.push({ kind: 'end', text: '<EOF>', at: source.length })
  return tokens
}

// Magnitudes only: the sign, and with it the range check, is the parser's.
function numberOf(text: string): CelValue {
  if (text.startsWith('0x')) return /u$/i.test(text) ? new CelUint(BigInt(text.slice(0, -1))) : BigInt(text)
  if (/[uU]$/.test(text)) return new CelUint(BigInt(text.slice(0, -1)))
  return /[.eE]/.test(text) ? Number(text) : BigInt(text)
}

function readString(source: string, at: number, start: string): Token {
  const prefix = start.replace(/["']+$/, '').toLowerCase()
  const quote = start.slice(prefix.length)
  const isRaw = prefix.includes('r')
  const isBytes = prefix.includes('b')
  let end = at + start.length
  while (!source.startsWith(quote, end)) {
    const char = source[end]
    if (char === undefined || (quote.length === 1 && (char === '\n' || char === '\r'))) {
      throw new CelSyntaxError(`Syntax error: token recognition error at: '${source.slice(at, end)}'`, at)
    }
    end += char === '\\' && !isRaw ? 2 : 1
  }
  const body = source.slice(at + start.length, end)
  const text = source.slice(at, end + quote.length)
  const value = isBytes ? bytesOf(body, isRaw, at) : isRaw ? body : unescapeText(body, at)
  return { kind: 'string', text, at, value }
}

const ESCAPE =
  /\\(?:([abfnrtv\\?"'`])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|([^]?))/g
const SIMPLE: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

function unescapeText(body: string, at: number): string {
  return body.replace(ESCAPE, (...groups: unknown[]) => {
    const [simple, hex, short, long, octal, other] = groups.slice(1, 7)
    if (simple !== undefined) return SIMPLE[simple as string] ?? (simple as string)
    if (other !== undefined) throw new CelSyntaxError(`unable to unescape string`, at)
    const code =
      octal === undefined ? Number.parseInt((hex ?? short ?? long) as string, 16) : Number.parseInt(octal as string, 8)
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      throw new CelSyntaxError(`invalid unicode code point`, at)
    }
    return String.fromCodePoint(code)
  })
}

function bytesOf(body: string, isRaw: boolean, at: number): Uint8Array {
  const encoder = new TextEncoder()
  if (isRaw) return encoder.encode(body)
  const parts: number[] = []
  let last = 0
  for (const match of body.matchAll(ESCAPE)) {
    parts.push(...encoder.encode(body.slice(last, match.index)))
    const [, simple, hex, short, long, octal] = match
    // In bytes, \x and octal escapes are octets, not code points.
    if (hex !== undefined) parts.push(Number.parseInt(hex, 16))
    else if (octal !== undefined) parts.push(Number.parseInt(octal, 8))
    else if (short !== undefined || long !== undefined) throw new CelSyntaxError('unable to unescape string', at)
    else if (simple !== undefined) parts.push(...encoder.encode(SIMPLE[simple] ?? simple))
    else throw new CelSyntaxError('unable to unescape string', at)
    last = match.index + match[0].length
  }
  parts.push(...encoder.encode(body.slice(last)))
  return Uint8Array.from(parts)
}
