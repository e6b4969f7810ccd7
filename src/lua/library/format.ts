// Tested by src/lua/lua.test.ts
/** `string.format`. */
import { numberText, toNumber, toText, typeName, Unlocated } from '../run/values.ts'
import type { Budget } from '../run/values.ts'
import type { Arguments } from './arguments.ts'

const DIRECTIVE = /%([-+ #0]*)(\d{0,2})(?:\.(\d{0,2}))?([\s\S]?)/g

interface Directive {
  readonly flags: string
  readonly width: number
  readonly precision: number | undefined
  readonly verb: string
}

/** The text of a format and its values. */
export function formatText(args: Arguments, budget: Budget): string {
  let next = 1
  return args.text(0).replaceAll(DIRECTIVE, (...found: readonly unknown[]) => {
    budget.step()
    const [, flags, width, precision, verb] = found as readonly (string | undefined)[]
    if (verb === '%') return '%'
    const directive = {
      flags: flags!,
      width: Number(width),
      precision: precision === undefined ? undefined : Number(precision),
      verb: verb!,
    }
    const made = pad(formatOne(directive, args, next), directive)
    next += 1
    return budget.text(made)
  })
}

function formatOne({ flags, precision, verb }: Directive, args: Arguments, at: number): string {
  switch (verb) {
    case 's': {
      const text = toText(args.any(at))
      return precision === undefined ? text : text.slice(0, precision)
    }
    case 'q':
      return JSON.stringify(args.text(at))
    case 'c':
      return String.fromCharCode(args.integer(at) & 0xff)
    case 'v':
      return toText(args.any(at))
    case 'd':
    case 'i':
    case 'u':
      return signed(numberText(Math.trunc(numberAt(args, at))), flags)
    case 'x':
    case 'X':
    case 'o': {
      const digits = BigInt(Math.trunc(numberAt(args, at))).toString(verb === 'o' ? 8 : 16)
      return verb === 'X' ? digits.toUpperCase() : digits
    }
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      return signed(floating(verb, numberAt(args, at), precision), flags)
    default:
      throw new Unlocated(`invalid option '%${verb}' to string.format`)
  }
}

function numberAt(args: Arguments, at: number): number {
  const value = args.any(at)
  const number = toNumber(value)
  if (number === undefined) return args.fail(at, `number expected, got ${typeName(value)}`)
  if (!Number.isFinite(number)) args.fail(at, 'the number is not finite')
  return number
}

function floating(verb: string, value: number, precision = 6): string {
  const kind = verb.toLowerCase()
  const exponent = (text: string) => text.replace(/e([-+])(\d)$/, 'e$10$2')
  if (kind === 'f') return value.toFixed(precision)
  if (kind === 'e') return cased(exponent(value.toExponential(precision)), verb)
  const digits = Math.max(precision, 1)
  const power = value === 0 ? 0 : Number(value.toExponential(digits - 1).split('e')[1])
  const text = power < -4 || power >= digits ? value.toExponential(digits - 1) : value.toFixed(digits - 1 - power)
  const short = text.includes('.') ? text.replace(/\.?0+(?=e|$)/, '') : text
  return cased(exponent(short), verb)
}

function cased(text: string, verb: string): string {
  return verb === verb.toUpperCase() ? text.toUpperCase() : text
}

function signed(text: string, flags: string): string {
  if (text.startsWith('-')) return text
  return flags.includes('+') ? `+${text}` : flags.includes(' ') ? ` ${text}` : text
}

function pad(text: string, { flags, width, verb }: Directive): string {
  if (text.length >= width) return text
  if (flags.includes('-')) return text.padEnd(width)
  if (!flags.includes('0') || ['s', 'q', 'c', 'v'].includes(verb)) return text.padStart(width)
  const sign = /^[-+ ]/.exec(text)?.[0] ?? ''
  return sign + text.slice(sign.length).padStart(width - sign.length, '0')
}
