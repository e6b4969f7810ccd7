/** JSON as Go's encoding/json writes it: sorted keys, `<`, `>` and `&` escaped. */
import { utf8 } from '../core/bytes.ts'
import { YamlError } from './yaml.ts'

/** Turns what a caller's own classes stand for into plain values; gives back whatever it does not know. */
export type Unwrap = (value: unknown) => unknown

/** The JSON text of a plain value; a bigint is an integer, undefined is null. */
export function goJson(value: unknown, unwrap: Unwrap = same): string {
  const plain = unwrap(value)
  switch (typeof plain) {
    case 'string':
      return goJsonString(plain)
    case 'number':
      return goJsonNumber(plain)
    case 'bigint':
    case 'boolean':
      return String(plain)
    case 'object':
      if (plain === null) return 'null'
      if (Array.isArray(plain)) return `[${plain.map((item) => goJson(item, unwrap)).join(',')}]`
      return `{${entriesOf(plain)
        .sort(([a], [b]) => compareUtf8(a, b))
        .map(([key, item]) => `${goJsonString(key)}:${goJson(item, unwrap)}`)
        .join(',')}}`
    default:
      return 'null'
  }
}

/** A number as JSON; NaN and the infinities are errors, in Go's words. */
export function goJsonNumber(value: number): string {
  if (Number.isFinite(value)) return Object.is(value, -0) ? '-0' : String(value)
  const name = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
  const problem = `json: unsupported value: ${name}`
  throw new YamlError(problem, { line: 1, column: 1 }, undefined, problem)
}

/** The entries of a mapping, whichever of its two forms it has; fields that are undefined are not there. */
export function entriesOf(mapping: object): [string, unknown][] {
  if (mapping instanceof Map) return [...mapping].map(([key, value]) => [String(key), value])
  return Object.entries(mapping).filter(([, value]) => value !== undefined)
}

function goJsonString(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(/[<>&\u2028\u2029]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

// UTF-16 order is the order of UTF-8 bytes unless there are surrogates.
function compareUtf8(a: string, b: string): number {
  if (!/[\ud800-\udfff]/.test(a + b)) return a < b ? -1 : a > b ? 1 : 0
  const bytesA = utf8(a)
  const bytesB = utf8(b)
  const length = Math.min(bytesA.length, bytesB.length)
  for (let i = 0; i < length; i++) if (bytesA[i] !== bytesB[i]) return bytesA[i]! - bytesB[i]!
  return bytesA.length - bytesB.length
}

function same(value: unknown): unknown {
  return value
}
