/** Values as Go prints them, since Kubernetes' messages are made by Go. */
import { goQuote } from '../../core/text/go-quote.ts'
import { canonicalJson } from '../../core/json.ts'

/** `%v` of a number: a whole number as an int64, any further number as a float64. */
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

/** What Go calls the type of a JSON value it cannot read. */
export function goJsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}
