/** The functions every Go template has, with Go's errors. */
import { GoError } from './function.ts'
import type { GoFunction } from './function.ts'
import { sprint, sprintln } from './format.ts'
import { sprintf } from './printf.ts'
import { compareStrings, goBytes, goLength, goSlice } from './go-string.ts'
import { GoBytes, GoInt, goInt, isNil, isTrue, kindOf, plainValue, dereference, typeInfo, typeName } from './value.ts'

type Basic = 'invalid' | 'bool' | 'float' | 'int' | 'string' | 'uint' | 'other'

function basicKind(value: unknown): Basic {
  const kind = kindOf(value)
  if (kind === 'invalid' || kind === 'bool' || kind === 'string') return kind
  if (kind === 'float64') return 'float'
  if (value instanceof GoInt) return value.type.startsWith('u') ? 'uint' : 'int'
  return 'other'
}

/** How a comparison of two types that do not go together is refused: Go names them since 1.25. */
type Incompatible = (a: unknown, b: unknown) => GoError

function eq(args: readonly unknown[], incompatible: Incompatible): boolean {
  if (args.length < 2) throw new GoError('missing argument for comparison')
  const first = plainValue(args[0])
  const kind = basicKind(first)
  return args.slice(1).some((given) => {
    const other = plainValue(given)
    const otherKind = basicKind(other)
    if (kind === otherKind) return equalOfKind(args[0], given, kind)
    if (isNil(first) && isNil(other)) return true
    if (first instanceof GoInt && other instanceof GoInt) return first.value === other.value
    if (kind !== 'invalid' && otherKind !== 'invalid') throw incompatible(args[0], given)
    return false
  })
}

function equalOfKind(left: unknown, right: unknown, kind: Basic): boolean {
  const [a, b] = [plainValue(left), plainValue(right)]
  if (a instanceof GoInt && b instanceof GoInt) return a.value === b.value
  if (kind !== 'other') return kind === 'invalid' || a === b
  if (kindOf(a) !== kindOf(b)) {
    throw new GoError(sprintf(`non-comparable types %s: ${typeName(left)}, ${typeName(right)}: %v`, [left, right]))
  }
  if (isNil(a) || isNil(b)) return isNil(a) === isNil(b)
  if (kindOf(a) === 'slice' || kindOf(a) === 'map') {
    throw new GoError(sprintf(`non-comparable type %s: ${typeName(right)}`, [right]))
  }
  return a === b
}

function lt(left: unknown, right: unknown, incompatible: Incompatible): boolean {
  const [a, b] = [plainValue(left), plainValue(right)]
  const [kindA, kindB] = [basicKind(a), basicKind(b)]
  if (kindA === 'other' || kindB === 'other' || kindA === 'invalid' || kindB === 'invalid') {
    throw new GoError('invalid type for comparison')
  }
  if (a instanceof GoInt && b instanceof GoInt) return a.value < b.value
  if (kindA !== kindB) throw incompatible(left, right)
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b) < 0
  if (typeof a === 'number' && typeof b === 'number') return a < b
  throw new GoError('invalid type for comparison')
}

function indexNumber(given: unknown, length: number): number {
  const index = plainValue(given)
  if (index === undefined || index === null) throw new GoError('cannot index slice/array with nil')
  if (!(index instanceof GoInt)) throw new GoError(`cannot index slice/array with type ${typeName(given)}`)
  if (index.value < 0n || index.value > BigInt(length)) throw new GoError(`index out of range: ${index.value}`)
  return Number(index.value)
}

/** Position of an element; Go's own check lets the length itself through, and reflection then refuses it. */
function elementNumber(index: unknown, length: number, kind: string): number {
  const at = indexNumber(index, length)
  if (at === length) throw new GoError(`reflect: ${kind} index out of range`)
  return at
}

function index(args: readonly unknown[]): unknown {
  let [item] = args
  if (item === undefined || item === null) throw new GoError('index of untyped nil')
  for (const given of args.slice(1)) {
    if (item === undefined || item === null) throw new GoError('index of nil pointer')
    const key = plainValue(given)
    item = plainValue(item)
    if (typeof item === 'string') {
      item = new GoInt(goBytes(item)[elementNumber(given, goLength(item), 'string')]!, 'uint8')
    } else if (Array.isArray(item)) {
      item = item[elementNumber(given, item.length, 'slice')] ?? null
    } else if (item instanceof GoBytes) {
      item = new GoInt(item.bytes[elementNumber(given, item.bytes.length, 'slice')]!, 'uint8')
    } else if (item instanceof Map) {
      if (key === undefined || key === null) throw new GoError('value is nil; should be of type string')
      if (typeof given !== 'string') throw new GoError(`value has type ${typeName(given)}; should be string`)
      item = (item as Map<string, unknown>).get(given) ?? typeInfo(item)?.missing ?? null
    } else {
      throw new GoError(`can't index item of type ${typeName(item).replace(/^\*/, '')}`)
    }
  }
  return item
}

function slice(args: readonly unknown[]): unknown {
  const [item, ...bounds] = args
  if (item === undefined || item === null) throw new GoError('slice of untyped nil')
  if (bounds.length > 3) throw new GoError(`too many slice indexes: ${bounds.length}`)
  if (typeof item !== 'string' && !Array.isArray(item)) throw new GoError(`can't slice item of type ${typeName(item)}`)
  if (typeof item === 'string' && bounds.length === 3) throw new GoError('cannot 3-index slice a string')
  const length = typeof item === 'string' ? goLength(item) : item.length
  const numbers = bounds.map((bound) => indexNumber(bound, length))
  const [from = 0, to = length] = numbers
  if (from > to) throw new GoError(`invalid slice index: ${from} > ${to}`)
  return typeof item === 'string' ? goSlice(item, from, to) : item.slice(from, to)
}

/** Go's len. */
function length(given: unknown): GoInt {
  const value = plainValue(given)
  if (value instanceof GoBytes) return goInt(value.bytes.length)
  if (value === null) throw new GoError('len of nil pointer')
  if (value === undefined) throw new GoError('reflect: call of reflect.Value.Type on zero Value')
  if (typeof value === 'string') return goInt(goLength(value))
  if (Array.isArray(value)) return goInt(value.length)
  if (value instanceof Map) return goInt(value.size)
  throw new GoError(`len of type ${typeName(dereference(value))}`)
}

const HTML: Readonly<Record<string, string>> = {
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\0': '\ufffd',
}

function escapeJs(text: string): string {
  return text.replace(/[\\'"<>&=\u0000-\u001f]|[^\u0000-\u007f]/gu, (char) => {
    switch (char) {
      case '\\':
        return '\\\\'
      case "'":
        return "\\'"
      case '"':
        return '\\"'
      case '<':
        return '\\u003C'
      case '>':
        return '\\u003E'
      case '&':
        return '\\u0026'
      case '=':
        return '\\u003D'
      default: {
        const code = char.codePointAt(0)!
        // A byte of a letter that was cut passes for the replacement character, which is printable.
        if (code >= 0x80 && /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Surrogate}]$/u.test(char)) return char
        return `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`
      }
    }
  })
}

/** url.QueryEscape. */
function queryEscape(text: string): string {
  return Array.from(goBytes(text), (byte) => {
    const char = String.fromCharCode(byte)
    if (/^[A-Za-z0-9_.~-]$/.test(char)) return char
    return char === ' ' ? '+' : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }).join('')
}

function text(args: readonly unknown[]): string {
  if (args.length === 1 && typeof args[0] === 'string') return args[0]
  return sprint(args.map((arg) => dereference(arg) ?? '<no value>'))
}

function builtin(params: GoFunction['params'], variadic: GoFunction['variadic'], call: GoFunction['call']): GoFunction {
  return variadic === undefined ? { params, call } : { params, variadic, call }
}

// `and` and `or` are done by the executor, which stops at the first that decides.
const SAME_EVERYWHERE: readonly (readonly [string, GoFunction])[] = [
  ['and', builtin(['value'], 'value', ([first]) => first)],
  ['or', builtin(['value'], 'value', ([first]) => first)],
  ['not', builtin(['value'], undefined, ([value]) => !isTrue(value))],
  ['index', builtin(['value'], 'value', index)],
  ['slice', builtin(['value'], 'value', slice)],
  ['len', builtin(['value'], undefined, ([value]) => length(value))],
  ['print', builtin([], 'any', sprint)],
  ['println', builtin([], 'any', sprintln)],
  ['printf', builtin(['string'], 'any', ([format, ...rest]) => sprintf(format as string, rest))],
  ['html', builtin([], 'any', (args) => text(args).replace(/["'&<>\0]/g, (char) => HTML[char]!))],
  ['js', builtin([], 'any', (args) => escapeJs(text(args)))],
  ['urlquery', builtin([], 'any', (args) => queryEscape(text(args)))],
  [
    'call',
    builtin(['value'], 'value', ([fun]) => {
      if (fun === undefined || fun === null) throw new GoError('call of nil')
      throw new GoError(`non-function of type ${typeName(fun)}`)
    }),
  ],
]

function comparisons(incompatible: Incompatible): [string, GoFunction][] {
  const equal = (args: readonly unknown[]) => eq(args, incompatible)
  const less = (a: unknown, b: unknown) => lt(a, b, incompatible)
  return [
    ['eq', builtin(['value'], 'value', equal)],
    ['ne', builtin(['value', 'value'], undefined, (args) => !equal(args))],
    ['lt', builtin(['value', 'value'], undefined, ([a, b]) => less(a, b))],
    ['le', builtin(['value', 'value'], undefined, ([a, b]) => less(a, b) || equal([a, b]))],
    ['gt', builtin(['value', 'value'], undefined, ([a, b]) => !(less(a, b) || equal([a, b])))],
    ['ge', builtin(['value', 'value'], undefined, ([a, b]) => !less(a, b))],
  ]
}

const UNNAMED: Incompatible = () => new GoError('incompatible types for comparison')
const NAMED: Incompatible = (a, b) =>
  new GoError(`incompatible types for comparison: ${typeName(a)} and ${typeName(b)}`)

/** Go's own template functions by name, in the form of Go 1.24 and older or of newer versions. */
export function goBuiltins(go: 'go1.24' | 'go1.26'): Map<string, GoFunction> {
  return new Map([...SAME_EVERYWHERE, ...comparisons(go === 'go1.24' ? UNNAMED : NAMED)])
}
