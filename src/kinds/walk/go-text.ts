/** Values as Go prints them, since Kubernetes' messages are made by Go. */
import { canonicalJson } from '../../core/json.ts'

const SHORT: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '"': '\\"',
  '\\': '\\\\',
}

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u

/** `%q`: the text in double quotes. */
export function goQuote(text: string): string {
  let quoted = '"'
  for (const character of text) {
    const short = SHORT[character]
    if (short !== undefined) quoted += short
    else if (PRINTABLE.test(character)) quoted += character
    else quoted += escaped(character.codePointAt(0)!)
  }
  return `${quoted}"`
}

function escaped(code: number): string {
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, '0')}`
  return `\\U${code.toString(16).padStart(8, '0')}`
}

/** `%v` of a number: whole ones as an int64, others as a float64. */
export function goNumber(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : goFloat(value)
}

/** `%v` of a float64: `0.5`, but `1e+06` and `1.5e-07`. */
export function goFloat(value: number): string {
  const [mantissa, exponent] = value.toExponential().split('e') as [string, string]
  const power = Number(exponent)
  if (power >= -4 && power < 6) return String(value)
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

/** A value whose fields are printed in their own order, as Go prints a struct; other objects are maps to it. */
export class GoStruct {
  readonly fields: unknown
  constructor(fields: unknown) {
    this.fields = fields
  }
}

/** The value as a field error shows it: numbers and booleans plain, strings quoted, the rest as Go's JSON. */
export function goValue(value: unknown): string {
  if (value instanceof GoStruct) return JSON.stringify(value.fields)
  if (typeof value === 'string') return goQuote(value)
  if (typeof value === 'number') return goNumber(value)
  if (typeof value === 'boolean') return String(value)
  return canonicalJson(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
