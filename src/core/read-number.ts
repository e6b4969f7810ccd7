/**
 * Numbers in text that comes from elsewhere: digits and nothing else. `Number` also reads `1e-300`, `0x10`, a blank and
 * the empty text, and `parseInt` stops at the first letter and takes a sign: a length read that way can be 0, negative
 * or a fraction, and a loop that moves by that length never ends.
 */

/** At most this many digits are always a safe integer. */
const MAX_DECIMAL_DIGITS = 15
const MAX_OCTAL_DIGITS = 17

/** Reads a whole number of decimal digits without leading zeros; undefined when the text is anything else. */
export function readWholeNumber(text: string): number | undefined {
  return text.length <= MAX_DECIMAL_DIGITS && /^(0|[1-9]\d*)$/.test(text) ? Number(text) : undefined
}

/** Reads a whole number of octal digits, with or without leading zeros; undefined when the text is anything else. */
export function readOctalNumber(text: string): number | undefined {
  return text.length <= MAX_OCTAL_DIGITS && /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : undefined
}
