/**
 * Text as bytes, one byte a character. Flux counts offsets and lengths of substitutions in bytes and keeps bytes that
 * are not UTF-8, so the substitution works on this form and converts at its edges.
 */
import { fromUtf8, utf8 } from '../../../core/bytes.ts'

const BLOCK = 8192

/** The UTF-8 bytes of a text, one character each. */
export function toByteText(text: string): string {
  return bytesAsText(utf8(text))
}

/** Bytes, one character each. */
export function bytesAsText(bytes: Uint8Array): string {
  let result = ''
  for (let at = 0; at < bytes.length; at += BLOCK) {
    result += String.fromCharCode(...bytes.subarray(at, at + BLOCK))
  }
  return result
}

/** The bytes of such a text. */
export function byteTextBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0))
}

/** The text of the bytes, or undefined where they are not UTF-8. */
export function fromByteText(text: string): string | undefined {
  try {
    return fromUtf8(byteTextBytes(text))
  } catch {
    return undefined
  }
}

/** A character of UTF-8 and the bytes it takes; a byte that begins no character is U+FFFD with one byte. */
export interface Rune {
  readonly char: string
  readonly width: number
}

/** The character at a position; undefined at the end. */
export function runeAt(text: string, at: number): Rune | undefined {
  if (at >= text.length) return undefined
  const first = text.charCodeAt(at)
  if (first < 0x80) return { char: text[at]!, width: 1 }
  const width = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
  const char = width === 1 ? undefined : fromByteText(text.slice(at, at + width))
  return char === undefined ? { char: '\uFFFD', width: 1 } : { char, width }
}

/** All characters of a text, in order. */
export function runes(text: string): Rune[] {
  const found: Rune[] = []
  for (let at = 0, rune = runeAt(text, 0); rune; at += rune.width, rune = runeAt(text, at)) found.push(rune)
  return found
}
