/** Go's quoted strings: Kubernetes, Helm and Kustomize print their errors with them. */

/** Characters with a single-letter escape, in every quote. */
export const NAMED_ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
}

/** `%q` of a text: strconv.Quote. What is no character becomes U+FFFD. */
export function goQuote(text: string): string {
  let quoted = '"'
  for (const char of text.toWellFormed()) quoted += goQuotedRune(char, '"', false)
  return `${quoted}"`
}

/** A character as strconv.Quote writes it inside the given quote; with `ascii`, as QuoteToASCII does. */
export function goQuotedRune(char: string, quote: '"' | "'", ascii: boolean): string {
  if (char === quote) return `\\${char}`
  const named = NAMED_ESCAPES[char]
  if (named !== undefined) return named
  const code = char.codePointAt(0)!
  if (code < 0x80 ? code >= 0x20 && code < 0x7f : !ascii && isGoPrint(char)) return char
  const hex = code.toString(16)
  if (code < 0x80) return `\\x${hex.padStart(2, '0')}`
  return code > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`
}

/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols and the ASCII space. */
export function isGoPrint(char: string): boolean {
  // Most are ASCII; the expression alone takes milliseconds to be compiled.
  if (char.length === 1 && char >= ' ' && char <= '~') return true
  return /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(char)
}
