// Tested by src/dialects/flux/recorded.contract.test.ts.
/** The functions of `${var…}`, on bytes, as Flux's envsubst has them. */
import { compileShellPattern } from '../text/match-pattern.ts'
import { runeAt, runes, toByteText } from '../text/byte-text.ts'
import { SubstituteError } from './substitute-error.ts'

type StringFunction = (value: string, args: readonly string[]) => string

const FUNCTIONS: Readonly<Record<string, StringFunction>> = {
  ',': (value) => mapFirst(value, lower),
  ',,': (value) => mapAll(value, lower),
  '^': (value) => mapFirst(value, upper),
  '^^': (value) => mapAll(value, upper),
  '#': (value, args) => (args.length === 0 ? String(value.length) : trimPrefix(value, args[0]!, 'shortest')),
  '##': (value, [pattern = '']) => trimPrefix(value, pattern, 'longest'),
  '%': (value, [pattern = '']) => trimSuffix(value, pattern, 'shortest'),
  '%%': (value, [pattern = '']) => trimSuffix(value, pattern, 'longest'),
  ':': substring,
  '/': (value, [old = '', fresh = '']) => replaceOnce(value, old, fresh),
  '//': (value, [old = '', fresh = '']) => replaceAll(value, old, fresh),
  // Without a replacement these two do nothing, where `/` and `//` remove.
  '/#': (value, [old = '', fresh]) =>
    fresh !== undefined && value.startsWith(old) ? replaceOnce(value, old, fresh) : value,
  '/%': (value, [old = '', fresh]) =>
    fresh !== undefined && value.endsWith(old) ? value.slice(0, value.length - old.length) + fresh : value,
}

/** True for an operator that gives a default for an empty value, like `:=`. */
export function isDefault(operator: string): boolean {
  return operator !== '' && !Object.hasOwn(FUNCTIONS, operator)
}

/** The value after a function; every other operator gives a default for an empty value. */
export function applyFunction(operator: string, value: string, args: readonly string[]): string {
  const known = Object.hasOwn(FUNCTIONS, operator) ? FUNCTIONS[operator] : undefined
  if (known) return known(value, args)
  return value === '' ? args.join('') : value
}

// Letters change in turn: a letter whose other case has several letters stays.
function changedCase(char: string, changed: string): string {
  return [...changed].length === 1 ? changed : char
}

// Go maps this letter to a plain i, JavaScript to an i with a dot above it.
const lower = (char: string): string => (char === '\u0130' ? 'i' : changedCase(char, char.toLowerCase()))
const upper = (char: string): string => changedCase(char, char.toUpperCase())

function mapFirst(value: string, change: (char: string) => string): string {
  const rune = runeAt(value, 0)
  if (!rune) return value
  return toByteText(change(rune.char)) + value.slice(rune.width)
}

function mapAll(value: string, change: (char: string) => string): string {
  return toByteText(
    runes(value)
      .map(({ char }) => change(char))
      .join(''),
  )
}

function replaceOnce(value: string, old: string, fresh: string): string {
  const at = value.indexOf(old)
  return at < 0 ? value : value.slice(0, at) + fresh + value.slice(at + old.length)
}

function replaceAll(value: string, old: string, fresh: string): string {
  if (old !== '') return value.split(old).join(fresh)
  // An empty text stands before every character and at the end.
  return fresh + runes(value).reduce((text, { char }) => text + toByteText(char) + fresh, '')
}

function substring(value: string, [offsetText = '', lengthText]: readonly string[]): string {
  const offset = readInteger(offsetText)
  if (offset === undefined) return value
  const start = offset < 0 ? Math.max(0, value.length + offset) : offset
  if (lengthText === undefined) return value.slice(start)
  const length = readInteger(lengthText)
  if (length === undefined) return value
  const end = start + length
  if (end < Math.min(start, value.length)) {
    throw new SubstituteError(`bad substitution: the length ${length} is negative`)
  }
  return value.slice(start, end)
}

const INTEGER = /^[+-]?[0-9]{1,18}$/

function readInteger(text: string): number | undefined {
  return INTEGER.test(text) ? Number(text) : undefined
}

type Extent = 'shortest' | 'longest'

function trimPrefix(value: string, pattern: string, extent: Extent): string {
  return value.slice(matchedLength(value, pattern, extent))
}

function trimSuffix(value: string, pattern: string, extent: Extent): string {
  return reversed(trimPrefix(reversed(value), reversed(pattern), extent))
}

// Prefixes are tried from the whole text down to the first byte, never the empty one.
function matchedLength(value: string, pattern: string, extent: Extent): number {
  const matches = compileShellPattern(pattern) ?? (() => false)
  let found = 0
  for (let length = value.length; length > 0; length -= 1) {
    if (!matches(value.slice(0, length))) continue
    if (extent === 'longest') return length
    found = length
  }
  return found
}

function reversed(text: string): string {
  return runes(text)
    .toReversed()
    .map(({ char }) => toByteText(char))
    .join('')
}
