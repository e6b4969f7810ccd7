/** Classes of characters. Codes below 32 other than tab, LF, CR and the final NUL never get past the reader. */

/** NUL: the sentinel that ends every text. */
export const NUL = 0
export const TAB = 0x09
export const LF = 0x0a
export const CR = 0x0d
export const SPACE = 0x20
export const HASH = 0x23
export const DASH = 0x2d
export const DOT = 0x2e
export const ZERO = 0x30
export const COLON = 0x3a
export const QUESTION = 0x3f

/** A line break: LF, CR, NEL, LS or PS. */
export function isBreak(c: number): boolean {
  return c === LF || c === CR || c === 0x85 || c === 0x2028 || c === 0x2029
}

/** A line break or the end. */
export function isBreakOrEnd(c: number): boolean {
  return c === LF || c === NUL || c === CR || c === 0x85 || c === 0x2028 || c === 0x2029
}

/** A space or a tab. */
export function isBlank(c: number): boolean {
  return c === SPACE || c === TAB
}

/** A space, a tab, a line break or the end. */
export function isBlankOrEnd(c: number): boolean {
  return c <= SPACE || c === 0x85 || c === 0x2028 || c === 0x2029
}

/** What may stand in anchors and tag handles. */
export function isWordChar(c: number): boolean {
  return (c >= 0x30 && c <= 0x39) || (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a) || c === 0x5f || c === DASH
}

/** A decimal digit. */
export function isDigit(c: number): boolean {
  return c >= 0x30 && c <= 0x39
}

/** The value of a hexadecimal digit, or -1. */
export function hexValue(c: number): number {
  if (c >= 0x30 && c <= 0x39) return c - 0x30
  if (c >= 0x41 && c <= 0x46) return c - 0x37
  if (c >= 0x61 && c <= 0x66) return c - 0x57
  return -1
}

/** The first half of a character outside the basic plane. */
export function isHighSurrogate(c: number): boolean {
  return c >= 0xd800 && c <= 0xdbff
}
