/** Go's fmt: Print's `%v`, and the verbs of printf with their complaints (`%!d(string=x)`). */
import { formatFloat } from './format-float.ts'
import { isGoPrint } from '../../core/text/go-quote.ts'
import { compareStrings, fromGoBytes, goBytes, goQuote, quotedRune } from './go-string.ts'
import { GoBytes, GoInt, GoNamed, GoStruct, kindOf, typeInfo, typeName } from './value.ts'

/** `%v` of a value, as fmt.Print writes one operand. */
export function formatValue(value: unknown): string {
  return formatV(value, {}, 0)
}

/** fmt.Sprint: spaces only between operands when neither is a string. */
export function sprint(values: readonly unknown[]): string {
  let out = ''
  for (const [index, value] of values.entries()) {
    if (index > 0 && kindOf(value) !== 'string' && kindOf(values[index - 1]) !== 'string') out += ' '
    out += formatValue(value)
  }
  return out
}

/** fmt.Sprintln: always spaces, and a newline. */
export function sprintln(values: readonly unknown[]): string {
  return `${values.map(formatValue).join(' ')}\n`
}

/** What stands between `%` and the verb. */
export interface Flags {
  plus?: boolean
  minus?: boolean
  sharp?: boolean
  /** `%+v`. */
  fieldNames?: boolean
  space?: boolean
  zero?: boolean
  width?: number
  precision?: number
  /** Inside a complaint nothing is asked how it wants to be printed. */
  raw?: boolean
  /** Inside a complaint a value is written in Go's syntax, as `%#v` does. */
  syntax?: boolean
}

/** A value as a verb of printf writes it. */
export function formatVerb(value: unknown, verb: string, flags: Flags): string {
  if (verb !== 'w') return formatAt(value, verb, flags, 0)
  // Only for errors: it reads its flags as %v does, and then complains.
  const asV = { ...flags, sharp: false, plus: false, fieldNames: flags.plus ?? false, syntax: flags.sharp ?? false }
  return formatAt(value, verb, asV, 0)
}

function formatAt(value: unknown, verb: string, flags: Flags, depth: number): string {
  if ((verb === 'T' || verb === 'v') && (value === null || value === undefined)) return pad('<nil>', flags)
  if (verb === 'T') return formatString(typeName(value), 's', flags)
  // As in Go, `#` and `+` mean the form of the value here, and no longer what they mean for numbers.
  if (verb === 'v' && flags.sharp) return formatSharp(value, { ...flags, sharp: false, plus: false })
  // For %v a plus asks for field names, not for signs.
  if (verb === 'v') return formatV(value, { ...flags, plus: false, fieldNames: flags.plus ?? false }, 0)
  if (value === null || value === undefined) return badVerb(value, verb, flags)
  if (verb === 'p') return `%!p(${typeName(value)}=${formatValue(value)})`
  const printed = stringerOf(value)
  if (printed !== undefined && 'sqxX'.includes(verb)) return formatString(printed, verb, flags)
  if (value instanceof GoNamed) {
    const text = formatAt(value.value, verb, flags, depth)
    return text.startsWith('%!') ? badVerb(value, verb, flags) : text
  }
  if (value instanceof GoBytes) {
    if ('sqxX'.includes(verb)) return formatString(fromGoBytes(value.bytes), verb, flags)
    const bytes = Array.from(value.bytes, (byte) => formatAt(new GoInt(byte, 'uint8'), verb, flags, 1))
    return flags.syntax ? `[]uint8{${bytes.join(', ')}}` : `[${bytes.join(' ')}]`
  }
  if (typeof value === 'boolean') return verb === 't' ? pad(String(value), flags) : badVerb(value, verb, flags)
  if (value instanceof GoInt) return formatInteger(value, verb, flags)
  if (typeof value === 'number') return formatFloatVerb(value, verb, flags)
  if (typeof value === 'string')
    return 'sqxX'.includes(verb) ? formatString(value, verb, flags) : badVerb(value, verb, flags)
  if (verb === 'w') return badVerb(value, verb, flags)
  // A nil inside is written as it is, whatever the verb and the width.
  const inner = (item: unknown) =>
    item === null || item === undefined ? '<nil>' : formatAt(item, verb, flags, depth + 1)
  if (Array.isArray(value)) return `[${value.map(inner).join(' ')}]`
  if (value instanceof Map) {
    return `map[${sortedEntries(value)
      .map(([key, item]) => `${inner(key)}:${inner(item)}`)
      .join(' ')}]`
  }
  if (value instanceof GoStruct) {
    const isPointer = value.type.startsWith('*')
    // Only the outermost pointer is followed; below it there is an address, which is a number.
    if (isPointer && depth > 0) {
      return 'bodxX'.includes(verb) ? formatInteger(ADDRESS, verb, flags) : badVerb(value, verb, flags)
    }
    return `${isPointer ? '&' : ''}{${[...value.fields.values()].map(inner).join(' ')}}`
  }
  return badVerb(value, verb, flags)
}

/** Go's complaint; the value in it still obeys width and precision. */
function badVerb(value: unknown, verb: string, flags: Flags): string {
  if (value === null || value === undefined) return `%!${verb}(<nil>)`
  const shown = flags.syntax ? formatSharp(value, flags) : formatV(value, { ...flags, raw: true }, 0)
  return `%!${verb}(${typeName(value)}=${shown})`
}

/** Go prints an address, which differs in every run. */
const ADDRESS = new GoInt(0xc0_0000_0000n, 'uint64')

function formatV(value: unknown, flags: Flags, depth: number): string {
  if (value === null || value === undefined) return depth === 0 ? pad('<nil>', flags) : '<nil>'
  const printed = flags.raw ? undefined : stringerOf(value)
  if (printed !== undefined) return formatString(printed, 's', flags)
  if (typeof value === 'string') return formatString(value, 's', flags)
  if (typeof value === 'boolean') return pad(String(value), flags)
  if (value instanceof GoNamed) return formatV(value.value, flags, depth)
  if (value instanceof GoBytes) {
    return `[${Array.from(value.bytes, (byte) => formatInteger(new GoInt(byte, 'uint8'), 'd', flags)).join(' ')}]`
  }
  if (value instanceof GoInt) return formatInteger(value, 'd', flags)
  if (typeof value === 'number') return formatFloatVerb(value, 'g', flags)
  if (Array.isArray(value)) return `[${value.map((item) => formatV(item, flags, depth + 1)).join(' ')}]`
  if (value instanceof Map) {
    return `map[${sortedEntries(value)
      .map(([key, item]) => `${formatV(key, flags, depth + 1)}:${formatV(item, flags, depth + 1)}`)
      .join(' ')}]`
  }
  if (value instanceof GoStruct) {
    // Only the outermost pointer is followed; below it Go prints an address.
    if (value.type.startsWith('*') && depth > 0) return '0xc000000000'
    const fields = [...value.fields].map(
      ([name, item]) => `${flags.fieldNames ? `${name}:` : ''}${formatV(item, flags, depth + 1)}`,
    )
    return `${value.type.startsWith('*') ? '&' : ''}{${fields.join(' ')}}`
  }
  return pad('0xc000000000', flags)
}

/** Go's syntax for a value; width and precision count for each part of it. */
function formatSharp(value: unknown, flags: Flags): string {
  if (value === null || value === undefined) return '<nil>'
  if (typeof value === 'string') return formatString(value, 'q', flags)
  if (typeof value === 'boolean') return pad(String(value), flags)
  if (value instanceof GoInt) {
    return value.type.startsWith('u')
      ? formatInteger(value, 'x', { ...flags, sharp: true })
      : formatInteger(value, 'd', flags)
  }
  if (typeof value === 'number') return formatFloatVerb(value, 'g', flags)
  if (value instanceof GoNamed) return formatSharp(value.value, flags).replace(typeName(value.value), value.info.type)
  if (value instanceof GoBytes) {
    const byte = (one: number) => formatInteger(new GoInt(one, 'uint8'), 'x', { ...flags, sharp: true })
    return `[]byte{${Array.from(value.bytes, byte).join(', ')}}`
  }
  const inner = (item: unknown) => {
    if (item === null || item === undefined) return 'interface {}(nil)'
    const text = formatSharp(item, flags)
    // Only where it stands alone does Go call it []byte.
    return item instanceof GoBytes ? text.replace('[]byte', '[]uint8') : text
  }
  if (Array.isArray(value)) return `${typeName(value)}{${value.map(inner).join(', ')}}`
  if (value instanceof Map) {
    return `${typeName(value)}{${sortedEntries(value)
      .map(([key, item]) => `${inner(key)}:${inner(item)}`)
      .join(', ')}}`
  }
  if (value instanceof GoStruct) {
    const name = value.type.startsWith('*') ? `&${value.type.slice(1)}` : value.type
    return `${name}{${[...value.fields].map(([field, item]) => `${field}:${inner(item)}`).join(', ')}}`
  }
  return '(func())(0xc000000000)'
}

function stringerOf(value: unknown): string | undefined {
  if (value instanceof GoStruct) return value.print?.()
  if (value instanceof GoNamed) return value.info.print?.()
  if (value instanceof Map || Array.isArray(value)) return typeInfo(value)?.print?.()
  return undefined
}

function sortedEntries(map: Map<unknown, unknown>): [string, unknown][] {
  return ([...map] as [string, unknown][]).sort(([a], [b]) => compareStrings(a, b))
}

function pad(text: string, flags: Flags): string {
  if (flags.width === undefined) return text
  const missing = flags.width - [...text].length
  if (missing <= 0) return text
  if (flags.minus) return text + ' '.repeat(missing)
  return (flags.zero ? '0' : ' ').repeat(missing) + text
}

function formatString(text: string, verb: string, flags: Flags): string {
  if (verb === 'x' || verb === 'X') return pad(hexString(text, verb, flags), flags)
  const cut = flags.precision === undefined ? text : [...text].slice(0, flags.precision).join('')
  if (verb === 's') return pad(cut, flags)
  const raw = flags.sharp && cut.isWellFormed() && !/[`\u0000-\u0008\u000a-\u001f\u007f\ufeff]/.test(cut)
  return pad(raw ? `\`${cut}\`` : goQuote(cut, { ascii: flags.plus ?? false }), flags)
}

function hexString(text: string, verb: string, flags: Flags): string {
  let bytes = [...goBytes(text)]
  if (flags.precision !== undefined) bytes = bytes.slice(0, flags.precision)
  const prefix = flags.sharp ? `0${verb}` : ''
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, '0'))
  if (digits.length === 0) return ''
  const joined = flags.space ? prefix + digits.join(` ${prefix}`) : prefix + digits.join('')
  return verb === 'X' ? joined.toUpperCase() : joined
}

const BASES: Readonly<Record<string, number>> = { d: 10, b: 2, o: 8, O: 8, x: 16, X: 16 }

function formatInteger(value: GoInt, verb: string, flags: Flags): string {
  if (verb === 'c') return pad(runeOf(value), flags)
  if (verb === 'q') return pad(`'${quotedRune(runeOf(value), "'", flags.plus ?? false)}'`, flags)
  if (verb === 'U') {
    const code = BigInt.asUintN(64, value.value)
      .toString(16)
      .toUpperCase()
      .padStart(Math.max(4, flags.precision ?? 4), '0')
    return pad(
      flags.sharp && value.value >= 0n && value.value <= 0x10ffffn && isGoPrint(runeOf(value))
        ? `U+${code} '${runeOf(value)}'`
        : `U+${code}`,
      {
        ...flags,
        zero: false,
      },
    )
  }
  const base = BASES[verb]
  if (base === undefined) return badVerb(value, verb, flags)
  const negative = value.value < 0n
  let digits = (negative ? -value.value : value.value).toString(base)
  if (verb === 'X') digits = digits.toUpperCase()
  const sign = negative ? '-' : flags.plus ? '+' : flags.space ? ' ' : ''
  if (flags.precision !== undefined) {
    if (flags.precision === 0 && value.value === 0n) return ' '.repeat(flags.width ?? 0)
    digits = digits.padStart(flags.precision, '0')
  } else if (flags.zero && !flags.minus && flags.width !== undefined) {
    digits = digits.padStart(flags.width - sign.length, '0')
  }
  let prefix = ''
  if (flags.sharp) {
    if (base === 16) prefix = `0${verb}`
    else if (base === 2) prefix = '0b'
    else if (base === 8 && !digits.startsWith('0')) prefix = '0'
  }
  if (verb === 'O') prefix = `0o${prefix}`
  return pad(sign + prefix + digits, { ...flags, zero: false })
}

function runeOf(value: GoInt): string {
  const code = Number(value.value)
  return code >= 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : '\ufffd'
}

function formatFloatVerb(value: number, verb: string, flags: Flags): string {
  if (!'eEfFgGbxX'.includes(verb)) return badVerb(value, verb, flags)
  const defaults: Readonly<Record<string, number>> = { e: 6, E: 6, f: 6, F: 6, g: -1, G: -1, b: -1, x: -1, X: -1 }
  let text = formatFloat(value, verb === 'F' ? 'f' : verb, flags.precision ?? defaults[verb]!)
  if (flags.sharp && verb !== 'b') text = withTrailingZeros(text, verb, flags.precision ?? defaults[verb]!)
  const signed = /^[+-]/.test(text)
  let sign = signed ? text[0]! : ''
  const digits = signed ? text.slice(1) : text
  if (!Number.isFinite(value)) {
    // Infinities and NaN are never padded with zeros.
    if (sign === '+' && !flags.plus) sign = flags.space ? ' ' : '+'
    if (sign === '' && flags.plus) sign = '+'
    if (sign === '' && flags.space) sign = ' '
    return pad(sign + digits, { ...flags, zero: false })
  }
  if (sign === '') sign = flags.plus ? '+' : flags.space ? ' ' : ''
  if (flags.zero && !flags.minus && flags.width !== undefined)
    return sign + digits.padStart(flags.width - sign.length, '0')
  return pad(sign + digits, { ...flags, zero: false })
}

/** `#` always leaves a point, and for some verbs the zeros behind it; the counting is Go's. */
function withTrailingZeros(text: string, verb: string, precision: number): string {
  const signed = /^[+-]/.test(text)
  const unsigned = signed ? text.slice(1) : text
  const at = unsigned.search('xX'.includes(verb) ? /[pP]/ : /[eEpP]/)
  let number = at < 0 ? unsigned : unsigned.slice(0, at)
  const tail = at < 0 ? '' : unsigned.slice(at)
  let missing = 'gGx'.includes(verb) ? (precision < 0 ? 6 : precision) : 0
  missing -= number.replace('.', '').replace(/^0*/, '').length
  if (!number.includes('.')) {
    // A single zero counts as a digit.
    if (number === '0') missing -= 1
    number += '.'
  }
  return (signed ? text[0]! : '') + number + '0'.repeat(Math.max(0, missing)) + tail
}
