/** fmt.Sprintf: reads a format and writes its operands, with Go's complaints where they do not fit. */
import { formatValue, formatVerb } from './format.ts'
import type { Flags } from './format.ts'
import { GoInt, typeName } from './value.ts'

const MAX_STAR = 1_000_000n

const FLAG_NAMES = { '#': 'sharp', '0': 'zero', '+': 'plus', '-': 'minus', ' ': 'space' } as const

/** fmt.Sprintf. */
export function sprintf(format: string, values: readonly unknown[]): string {
  return new Printf(format, values).run()
}

class Printf {
  readonly #format: string
  readonly #values: readonly unknown[]
  #out = ''
  #at = 0
  /** The operand that comes next. */
  #argument = 0
  /** Whether `[n]` was used: then operands may be left over. */
  #reordered = false
  /** State of a directive: whether `[n]` was read last, and whether an index was invalid. */
  #afterIndex = false
  #badIndex = false

  constructor(format: string, values: readonly unknown[]) {
    this.#format = format
    this.#values = values
  }

  run(): string {
    const format = this.#format
    while (this.#at < format.length) {
      const percent = format.indexOf('%', this.#at)
      this.#out += format.slice(this.#at, percent < 0 ? undefined : percent)
      if (percent < 0) break
      this.#at = percent + 1
      this.#directive()
    }
    if (!this.#reordered && this.#argument < this.#values.length) this.#out += this.#extra()
    return this.#out
  }

  #directive(): void {
    this.#afterIndex = false
    this.#badIndex = false
    const flags = this.#flags()
    this.#index()
    this.#width(flags)
    if (this.#format[this.#at] === '.') this.#precision(flags)
    if (!this.#afterIndex) this.#index()
    if (this.#at >= this.#format.length) {
      this.#out += '%!(NOVERB)'
      return
    }
    const verb = String.fromCodePoint(this.#format.codePointAt(this.#at)!)
    this.#at += verb.length
    this.#out += this.#written(verb, flags)
  }

  #written(verb: string, flags: Flags): string {
    if (verb === '%') return '%'
    if (this.#badIndex) return `%!${verb}(BADINDEX)`
    if (this.#argument >= this.#values.length) return `%!${verb}(MISSING)`
    return formatVerb(this.#next(), verb, flags)
  }

  #next(): unknown {
    const value = this.#values[this.#argument]
    this.#argument += 1
    return value
  }

  #flags(): Flags {
    const flags: Flags = {}
    for (; this.#at < this.#format.length; this.#at++) {
      const char = this.#format[this.#at]!
      if (!Object.hasOwn(FLAG_NAMES, char)) break
      flags[FLAG_NAMES[char as keyof typeof FLAG_NAMES]] = true
    }
    return flags
  }

  /** `[n]`: which operand comes next. */
  #index(): void {
    if (this.#format[this.#at] !== '[') return
    this.#reordered = true
    this.#afterIndex = true
    const close = this.#format.indexOf(']', this.#at)
    if (close < 0) {
      this.#badIndex = true
      this.#at += 1
      return
    }
    const number = Number(this.#format.slice(this.#at + 1, close))
    if (Number.isInteger(number) && number >= 1 && number <= this.#values.length) this.#argument = number - 1
    else this.#badIndex = true
    this.#at = close + 1
  }

  #number(): number | undefined {
    const digits = /^\d+/.exec(this.#format.slice(this.#at, this.#at + 7))?.[0]
    if (digits === undefined) return undefined
    this.#at += digits.length
    return Number(digits)
  }

  /** The operand of `*`; undefined when it is not a number or too large. */
  #star(): bigint | undefined {
    this.#at += 1
    this.#afterIndex = false
    const star = this.#next()
    return star instanceof GoInt && star.value <= MAX_STAR ? star.value : undefined
  }

  #width(flags: Flags): void {
    if (this.#format[this.#at] !== '*') {
      const width = this.#number()
      if (width === undefined) return
      flags.width = width
      if (this.#afterIndex) this.#badIndex = true
      return
    }
    const width = this.#star()
    if (width === undefined || width < -MAX_STAR) {
      this.#out += '%!(BADWIDTH)'
      return
    }
    flags.width = Math.abs(Number(width))
    if (width < 0n) {
      flags.minus = true
      flags.zero = false
    }
  }

  #precision(flags: Flags): void {
    this.#at += 1
    if (this.#afterIndex) this.#badIndex = true
    this.#index()
    if (this.#format[this.#at] !== '*') {
      flags.precision = this.#number() ?? 0
      return
    }
    const precision = this.#star()
    if (precision === undefined) this.#out += '%!(BADPREC)'
    // Less than nothing is as if there were none.
    else if (precision >= 0n) flags.precision = Number(precision)
  }

  #extra(): string {
    const left = this.#values.slice(this.#argument)
    const told = left.map((value) =>
      value === null || value === undefined ? '<nil>' : `${typeName(value)}=${formatValue(value)}`,
    )
    return `%!(EXTRA ${told.join(', ')})`
  }
}
