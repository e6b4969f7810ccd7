/**
 * Go's encoding/json: sorted keys, HTML escaping, its own float format; and reading, where every number is a float64.
 */
import { base64 } from '../../../core/bytes.ts'
import { GoError, goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { compareStrings } from '../../gotemplate/go-string.ts'
import { GoBytes, GoInt, GoNamed, GoStruct, JsonObject, nilMap, nilSlice, typeInfo } from '../../gotemplate/value.ts'
import { jsonKind } from '../json-kind.ts'
import { JsonError, readJson } from './go/read-json.ts'

/** json.Marshal (without the error for what cannot be encoded: that is thrown). */
export function goJson(
  value: unknown,
  options: { readonly escapeHtml?: boolean; readonly indent?: string } = {},
): string {
  try {
    return encode(value, options.escapeHtml ?? true, options.indent ?? '', '\n')
  } catch (error) {
    throw error instanceof RangeError ? CYCLE : error
  }
}

/** What a template put into itself never ends. */
export const CYCLE = new GoError('json: unsupported value: encountered a cycle via map[string]interface {}')

function encode(value: unknown, escapeHtml: boolean, indent: string, line: string): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'string') return encodeString(value, escapeHtml)
  if (typeof value === 'number') return encodeFloat(value)
  if (typeof value === 'boolean' || value instanceof GoInt) return String(value)
  if (value instanceof GoNamed) {
    if (value.info.type === 'json.Number') return value.value as string
    return encode(value.info.json ? value.info.json() : value.value, escapeHtml, indent, line)
  }
  if (value instanceof GoBytes) return `"${base64(value.bytes)}"`
  if (value instanceof Map || Array.isArray(value)) {
    const json = typeInfo(value)?.json
    if (json) return encode(json(), escapeHtml, indent, line)
  }
  if (value instanceof GoStruct && value.json) return encode(value.json(), escapeHtml, indent, line)
  const inner = indent === '' ? '' : line + indent
  const close = indent === '' ? '' : line
  const colon = indent === '' ? ':' : ': '
  const wrap = (open: string, items: readonly string[], end: string) =>
    items.length === 0 ? open + end : open + inner + items.join(`,${inner}`) + close + end
  const nested = (item: unknown) => encode(item, escapeHtml, indent, line + indent)
  if (Array.isArray(value)) return wrap('[', value.map(nested), ']')
  if (value instanceof Map) {
    const entries = [...(value as Map<string, unknown>)]
    if (!(value instanceof JsonObject)) entries.sort(([a], [b]) => compareStrings(a, b))
    return wrap(
      '{',
      entries.map(([key, item]) => encodeString(key, escapeHtml) + colon + nested(item)),
      '}',
    )
  }
  if (value instanceof GoStruct) {
    return wrap(
      '{',
      [...value.fields]
        .filter(([key]) => /^\p{Lu}/u.test(key))
        .map(([key, item]) => encodeString(key, escapeHtml) + colon + nested(item)),
      '}',
    )
  }
  throw new GoError('json: unsupported type: func()')
}

/** A string as Go's JSON writes it: invalid UTF-8 becomes U+FFFD, line separators are escaped. */
function encodeString(text: string, escapeHtml: boolean): string {
  // oxlint-disable-next-line no-control-regex
  const special = escapeHtml
    ? /["\\<>&\u0000-\u001f\u2028\u2029]|[\udc80-\udcff](?<![\ud800-\udbff].)/g
    : /["\\\u0000-\u001f\u2028\u2029]|[\udc80-\udcff](?<![\ud800-\udbff].)/g
  return `"${text.replace(special, (char) => {
    switch (char) {
      case '"':
      case '\\':
        return `\\${char}`
      case '\b':
        return '\\b'
      case '\f':
        return '\\f'
      case '\n':
        return '\\n'
      case '\r':
        return '\\r'
      case '\t':
        return '\\t'
      default: {
        const code = char.charCodeAt(0)
        if (code >= 0xdc80 && code <= 0xdcff) return '\\ufffd'
        return `\\u${code.toString(16).padStart(4, '0')}`
      }
    }
  })}"`
}

/** encoding/json's floats: %e outside 1e-6 to 1e21, with the exponent's leading zero dropped. */
export function encodeFloat(value: number): string {
  if (!Number.isFinite(value))
    throw new GoError(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`)
  const magnitude = Math.abs(value)
  if (Object.is(value, -0)) return '-0'
  if (magnitude !== 0 && (magnitude < 1e-6 || magnitude >= 1e21)) return value.toExponential()
  const text = String(value)
  if (!text.includes('e')) return text
  // JavaScript switches to exponents only at the same limits, so this is never reached for numbers in between.
  return text
}

function lenient(call: () => string): string {
  try {
    return call()
  } catch (error) {
    if (error instanceof GoError) return ''
    throw error
  }
}

/** json.Unmarshal into a map or list, with the error as value, as Helm's functions give it. */
function unmarshal(text: string, type: 'map[string]interface {}' | '[]interface {}'): unknown {
  const fits = (value: unknown) => (type === '[]interface {}' ? Array.isArray(value) : value instanceof Map)
  const value = readJson(text, fits)
  if (value === null) return type === '[]interface {}' ? nilSlice() : nilMap()
  if (fits(value)) return value
  throw new JsonError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type ${type}`)
}

function orError(read: () => unknown, failed: (error: JsonError) => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof JsonError) return failed(error)
    throw error
  }
}

function mustFromJson(text: string): unknown {
  return orError(
    () => readJson(text),
    (error) => {
      throw new GoError(error.message)
    },
  )
}

const PRETTY = { indent: '  ' } as const
const RAW = { escapeHtml: false } as const

/** JSON in and out. */
export const JSON_FUNCTIONS: Readonly<Record<string, GoFunction>> = {
  toJson: goFunction(['any'], ([value]) => lenient(() => goJson(value))),
  mustToJson: goFunction(['any'], ([value]) => goJson(value)),
  toPrettyJson: goFunction(['any'], ([value]) => lenient(() => goJson(value, PRETTY))),
  mustToPrettyJson: goFunction(['any'], ([value]) => goJson(value, PRETTY)),
  toRawJson: goFunction(['any'], ([value]) => goJson(value, RAW)),
  mustToRawJson: goFunction(['any'], ([value]) => goJson(value, RAW)),
  fromJson: goFunction(['string'], ([text]) =>
    orError(
      () => unmarshal(text as string, 'map[string]interface {}'),
      ({ message, rest }) =>
        new Map([...(rest instanceof Map ? (rest as Map<string, unknown>) : []), ['Error', message]]),
    ),
  ),
  fromJsonArray: goFunction(['string'], ([text]) =>
    orError(
      () => unmarshal(text as string, '[]interface {}'),
      ({ message }) => [message],
    ),
  ),
  mustFromJson: goFunction(['string'], ([text]) => mustFromJson(text as string)),
}
