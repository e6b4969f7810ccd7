/**
 * Go strings are bytes. Here they are JavaScript strings in which a byte that is not part of valid UTF-8 stands as a
 * lone surrogate U+DC80 to U+DCFF (Python calls this surrogateescape), so that cutting a rune in half or reading a
 * binary file loses nothing, and the rest stays an ordinary string.
 */
import { goQuotedRune } from '../../core/text/go-quote.ts'
import { compareBytes, utf8 } from '../../core/bytes.ts'

const ASCII_ONLY = /^[\u0000-\u007f]*$/
const ESCAPED_BYTE = /[\udc80-\udcff]/

/** The bytes of a Go string. */
export function goBytes(text: string): Uint8Array {
  if (!ESCAPED_BYTE.test(text)) return utf8(text)
  const parts: number[] = []
  for (const char of text) {
    const code = char.codePointAt(0)!
    if (code >= 0xdc80 && code <= 0xdcff) parts.push(code - 0xdc00)
    else parts.push(...utf8(char))
  }
  return Uint8Array.from(parts)
}

// Made once: making a decoder costs more than decoding a small file.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The Go string of any bytes. */
export function fromGoBytes(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    return decodeWithEscapes(bytes)
  }
}

function decodeWithEscapes(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length;) {
    const length = runeLength(bytes, at)
    if (length === 0) {
      text += String.fromCharCode(0xdc00 + bytes[at]!)
      at += 1
    } else {
      text += new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(at, at + length))
      at += length
    }
  }
  return text
}

/** The length of the valid UTF-8 sequence at a position, or 0 when there is none (Unicode, table 3-7). */
function runeLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!
  if (first < 0x80) return 1
  const continuation = (offset: number, low = 0x80, high = 0xbf) => {
    const byte = bytes[at + offset]
    return byte !== undefined && byte >= low && byte <= high
  }
  if (first >= 0xc2 && first <= 0xdf) return continuation(1) ? 2 : 0
  if (first >= 0xe0 && first <= 0xef) {
    const low = first === 0xe0 ? 0xa0 : 0x80
    const high = first === 0xed ? 0x9f : 0xbf
    return continuation(1, low, high) && continuation(2) ? 3 : 0
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const low = first === 0xf0 ? 0x90 : 0x80
    const high = first === 0xf4 ? 0x8f : 0xbf
    return continuation(1, low, high) && continuation(2) && continuation(3) ? 4 : 0
  }
  return 0
}

/** Go's len of a string: its bytes. */
export function goLength(text: string): number {
  return ASCII_ONLY.test(text) ? text.length : goBytes(text).length
}

/** Go's s[from:to] in bytes; a cut rune leaves its bytes. */
export function goSlice(text: string, from: number, to?: number): string {
  if (ASCII_ONLY.test(text)) return text.slice(from, to)
  return fromGoBytes(goBytes(text).subarray(from, to))
}

/**
 * Texts for a search by bytes. They stay as they are unless a text has a part of a letter, which may match a part of a
 * whole letter; then each byte becomes a character, and `back` converts the result to a text.
 */
export function forByteSearch(texts: readonly string[]): {
  readonly texts: readonly string[]
  back(text: string): string
} {
  if (texts.every((text) => text.isWellFormed())) return { texts, back: (text) => text }
  return {
    texts: texts.map((text) => Array.from(goBytes(text), (byte) => String.fromCharCode(byte)).join('')),
    back: (text) => fromGoBytes(Uint8Array.from(text, (char) => char.charCodeAt(0))),
  }
}

/** Go's order of strings: bytewise, which is by code point. */
export function compareStrings(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at++) {
    const [x, y] = [a.charCodeAt(at), b.charCodeAt(at)]
    if (x === y) continue
    // Surrogates stand for code points above the rest of the BMP.
    const [xHigh, yHigh] = [x >= 0xd800 && x <= 0xdfff, y >= 0xd800 && y <= 0xdfff]
    if (isLoneByte(a, at) || isLoneByte(b, at)) return compareBytes(goBytes(a), goBytes(b))
    if (xHigh !== yHigh) return xHigh ? 1 : -1
    return x - y
  }
  return a.length - b.length
}

function isLoneByte(text: string, at: number): boolean {
  return ESCAPED_BYTE.test(text[at]!) && (text.charCodeAt(at - 1) & 0xfc00) !== 0xd800
}

/** Go's strconv.Quote of a string that may hold bytes which are no UTF-8. */
export function goQuote(text: string, options: { readonly ascii?: boolean } = {}): string {
  let out = '"'
  for (const char of text) out += quotedRune(char, '"', options.ascii ?? false)
  return `${out}"`
}

/** A rune as strconv.Quote writes it inside the given quote; a lone surrogate is a byte that is no UTF-8. */
export function quotedRune(char: string, quote: '"' | "'", ascii: boolean): string {
  const code = char.codePointAt(0)!
  return code >= 0xdc80 && code <= 0xdcff ? `\\x${(code - 0xdc00).toString(16)}` : goQuotedRune(char, quote, ascii)
}
