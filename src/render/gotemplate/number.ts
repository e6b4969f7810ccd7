/** Go's number and character literals. */
import { fromGoBytes } from './go-string.ts'
import type { NumberNode } from './node.ts'

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n
const UINT64_MAX = 2n ** 64n - 1n

/** Reads a literal; undefined when Go would refuse it. */
export function parseNumber(
  pos: number,
  text: string,
  kind: 'charConstant' | 'number' | 'complex',
): NumberNode | undefined {
  const base = { type: 'number', pos, text, isComplex: false } as const
  if (kind === 'charConstant') {
    const rune = unquote(text)
    if (rune === undefined || [...rune].length !== 1) return undefined
    const code = BigInt(rune.codePointAt(0)!)
    return { ...base, int: code, uint: code, float: Number(code) }
  }
  if (kind === 'complex' || (text.endsWith('i') && !/^[+-]?0[xX]/.test(text))) {
    return { ...base, int: undefined, uint: undefined, float: undefined, isComplex: true }
  }
  const whole = parseIntLiteral(text)
  let uint = whole !== undefined && !/^[+-]/.test(text) && whole <= UINT64_MAX ? whole : undefined
  let int = whole !== undefined && whole >= INT64_MIN && whole <= INT64_MAX ? whole : undefined
  if (int === 0n) uint = 0n // in case of -0
  let float: number | undefined
  if (int !== undefined) float = Number(int)
  else if (uint !== undefined) float = Number(uint)
  else {
    float = parseFloatLiteral(text)
    if (float !== undefined) {
      // An integer literal too large for int64 and uint64 is an overflow, not a float.
      if (!/[.eEpP]/.test(text)) return undefined
      if (Number.isInteger(float)) {
        const exact = BigInt(float)
        if (exact >= INT64_MIN && exact <= INT64_MAX) int = exact
        if (exact >= 0n && exact <= UINT64_MAX) uint = exact
      }
    }
  }
  if (int === undefined && uint === undefined && float === undefined) return undefined
  return { ...base, int, uint, float }
}

/** strconv.ParseInt(text, 0, …) without range check. */
export function parseIntLiteral(text: string): bigint | undefined {
  const match =
    /^([+-]?)(0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?[0-7])+|0|[1-9](?:_?[0-9])*)$/.exec(text)
  if (!match) return undefined
  let digits = match[2]!.replaceAll('_', '')
  if (/^0[0-7]+$/.test(digits)) digits = `0o${digits.slice(1)}`
  const value = BigInt(digits.toLowerCase())
  return match[1] === '-' ? -value : value
}

/** strconv.ParseFloat with Go's hexadecimal floats and underscores. */
function parseFloatLiteral(text: string): number | undefined {
  const hex = /^([+-]?)0[xX]_?([0-9a-fA-F_]*)\.?([0-9a-fA-F_]*)[pP]([+-]?[0-9_]+)$/.exec(text)
  if (hex) {
    const whole = (hex[2]! + hex[3]!).replaceAll('_', '')
    if (whole === '') return undefined
    const scale = Number(hex[4]!.replaceAll('_', '')) - 4 * hex[3]!.replaceAll('_', '').length
    const value = Number(BigInt(`0x${whole}`)) * 2 ** scale
    return hex[1] === '-' ? -value : value
  }
  const decimal = text.replaceAll('_', '')
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(decimal)) return undefined
  const value = Number(decimal)
  return Number.isFinite(value) ? value : undefined
}

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
}

/**
 * strconv.Unquote for double-quoted strings, raw strings and character constants; bytes from \x and octal stay bytes.
 */
export function unquote(literal: string): string | undefined {
  const quote = literal[0]
  const body = literal.slice(1, -1)
  if (quote === '`') return body.replaceAll('\r', '')
  if (!body.includes('\\')) return body
  const bytes: number[] = []
  let text = ''
  const flush = () => {
    if (bytes.length > 0) {
      text += fromGoBytes(Uint8Array.from(bytes))
      bytes.length = 0
    }
  }
  for (let at = 0; at < body.length;) {
    const char = body[at]!
    if (char !== '\\') {
      flush()
      text += char
      at += 1
      continue
    }
    const escape = body[at + 1]
    if (escape === undefined) return undefined
    const wide = { x: 2, u: 4, U: 8 }[escape]
    if (wide !== undefined) {
      const digits = body.slice(at + 2, at + 2 + wide)
      if (digits.length !== wide || !/^[0-9a-fA-F]+$/.test(digits)) return undefined
      const code = Number.parseInt(digits, 16)
      if (escape === 'x') bytes.push(code)
      else {
        if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return undefined
        flush()
        text += String.fromCodePoint(code)
      }
      at += 2 + wide
    } else if (escape >= '0' && escape <= '7') {
      const digits = body.slice(at + 1, at + 4)
      if (!/^[0-7]{3}$/.test(digits) || Number.parseInt(digits, 8) > 255) return undefined
      bytes.push(Number.parseInt(digits, 8))
      at += 4
    } else {
      const simple = SIMPLE[escape]
      if (simple === undefined || (escape === "'" && quote === '"') || (escape === '"' && quote === "'"))
        return undefined
      flush()
      text += simple
      at += 2
    }
  }
  flush()
  return text
}
