/** Sprig's arithmetic: int64 that wraps, float64, and exact decimals for the `…f` family. */
import { formatValue } from '../../gotemplate/format.ts'
import { GoError, goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { goInt, goInt64, typed } from '../../gotemplate/value.ts'
import type { GoInt } from '../../gotemplate/value.ts'
import { count, MAX_LIST, strval, toFloat64, toInt64 } from './convert.ts'

function divide(a: bigint, b: bigint, by: (x: bigint, y: bigint) => bigint): GoInt {
  if (b === 0n) throw new GoError('runtime error: integer divide by zero')
  return goInt64(by(a, b))
}

/** A decimal number: value = digits × 10^-scale. */
interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

const DIVISION_SCALE = 16

function decimalOf(value: number): Decimal {
  if (!Number.isFinite(value)) throw new GoError(`Cannot create a Decimal from ${formatValue(value)}`)
  const [mantissa, exponent = '0'] = value.toExponential().split('e') as [string, string?]
  const fraction = mantissa.split('.')[1]?.length ?? 0
  return normal({ digits: BigInt(mantissa.replace('.', '')), scale: fraction - Number(exponent) })
}

function normal({ digits, scale }: Decimal): Decimal {
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale }
}

function aligned(a: Decimal, b: Decimal): [bigint, bigint, number] {
  const scale = Math.max(a.scale, b.scale)
  return [a.digits * 10n ** BigInt(scale - a.scale), b.digits * 10n ** BigInt(scale - b.scale), scale]
}

function floatOf({ digits, scale }: Decimal): number {
  return Number(`${digits}e-${scale}`)
}

const DECIMAL = {
  add: (a: Decimal, b: Decimal): Decimal => {
    const [x, y, scale] = aligned(a, b)
    return { digits: x + y, scale }
  },
  sub: (a: Decimal, b: Decimal): Decimal => {
    const [x, y, scale] = aligned(a, b)
    return { digits: x - y, scale }
  },
  mul: (a: Decimal, b: Decimal): Decimal => ({ digits: a.digits * b.digits, scale: a.scale + b.scale }),
  div: (a: Decimal, b: Decimal): Decimal => {
    if (b.digits === 0n) throw new GoError('decimal division by 0')
    const [x, y] = aligned(a, b)
    const scaled = x * 10n ** BigInt(DIVISION_SCALE)
    let quotient = scaled / y
    const remainder = scaled % y
    // Rounded half away from zero at sixteen places.
    const twice = remainder < 0n ? -2n * remainder : 2n * remainder
    if (twice >= (y < 0n ? -y : y)) quotient += x < 0n === y < 0n ? 1n : -1n
    return { digits: quotient, scale: DIVISION_SCALE }
  },
}

function decimalFunction(operation: (a: Decimal, b: Decimal) => Decimal): GoFunction {
  return goFunction(
    ['any'],
    ([first, ...rest]) =>
      // Applied in order: the first error is reported.
      floatOf(
        rest.reduce<Decimal>((sum, value) => operation(sum, decimalOf(toFloat64(value))), decimalOf(toFloat64(first))),
      ),
    'any',
  )
}

/** Sprig's untilStep; the list is a []int. */
function untilStep(start: number, stop: number, step: number): GoInt[] {
  const numbers: GoInt[] = []
  const grow = stop < start ? step < 0 : step > 0
  if (grow) {
    if (Math.abs((stop - start) / step) > MAX_LIST)
      throw new GoError(`until: the list would have more than ${MAX_LIST} items`)
    for (let at = start; stop < start ? at > stop : at < stop; at += step) numbers.push(goInt(at))
  }
  return typed(numbers, { type: '[]int' })
}

function seq(params: readonly number[]): string {
  const step = (start: number, end: number) => (end < start ? -1 : 1)
  const text = (items: GoInt[]) => items.map(String).join(' ')
  const [a, b, c] = params
  switch (params.length) {
    case 0:
      return ''
    case 1:
      return text(untilStep(1, a! + step(1, a!), step(1, a!)))
    case 2:
      return text(untilStep(a!, b! + step(a!, b!), step(a!, b!)))
    case 3:
      if (step(a!, c!) !== Math.sign(b!)) return ''
      return text(untilStep(a!, c! + step(a!, c!), b!))
    default:
      return ''
  }
}

/** math.Pow of ten and a whole number: squares are multiplied up, so that the last digit is Go's. */
function powerOfTen(exponent: number): number {
  let [result, resultBits, square, squareBits] = [1, 0, 0.625, 4]
  for (let left = Math.abs(exponent); left >= 1; left = Math.floor(left / 2)) {
    if (squareBits > 4096) return exponent < 0 ? 0 : Infinity
    if (left % 2 === 1) {
      result *= square
      resultBits += squareBits
    }
    square *= square
    squareBits *= 2
    if (square < 0.5) {
      square += square
      squareBits -= 1
    }
  }
  const bits = exponent < 0 ? -resultBits : resultBits
  const half = Math.trunc(bits / 2)
  return (exponent < 0 ? 1 / result : result) * 2 ** half * 2 ** (bits - half)
}

function round(value: unknown, places: number, on = 0.5): number {
  const power = powerOfTen(places)
  const digit = power * toFloat64(value)
  const fraction = digit - Math.trunc(digit)
  return (fraction >= on ? Math.ceil(digit) : Math.floor(digit)) / power
}

function pick(better: (a: bigint, b: bigint) => boolean): GoFunction {
  return goFunction(
    ['any'],
    (args) => goInt64(args.map(toInt64).reduce((best, value) => (better(value, best) ? value : best))),
    'any',
  )
}

/** strconv.Atoi's value for what is out of range. */
function nearestInt64(value: bigint): bigint {
  const [least, most] = [-(2n ** 63n), 2n ** 63n - 1n]
  return value < least ? least : value > most ? most : value
}

const biggest = pick((a, b) => a > b)

/** Numbers: conversion and arithmetic. */
export const NUMBER_FUNCTIONS: Readonly<Record<string, GoFunction>> = {
  atoi: goFunction(['string'], ([text]) =>
    goInt(/^[+-]?\d+$/.test(text as string) ? nearestInt64(BigInt(text as string)) : 0n),
  ),
  int: goFunction(['any'], ([value]) => goInt(toInt64(value))),
  int64: goFunction(['any'], ([value]) => goInt64(toInt64(value))),
  float64: goFunction(['any'], ([value]) => toFloat64(value)),
  toDecimal: goFunction(['any'], ([value]) => {
    const text = strval(value)
    return goInt64(/^[+-]?[0-7]+$/.test(text) ? octal(text) : 0n)
  }),
  add1: goFunction(['any'], ([value]) => goInt64(toInt64(value) + 1n)),
  add: goFunction([], (args) => goInt64(args.map(toInt64).reduce((a, b) => BigInt.asIntN(64, a + b), 0n)), 'any'),
  sub: goFunction(['any', 'any'], ([a, b]) => goInt64(toInt64(a) - toInt64(b))),
  div: goFunction(['any', 'any'], ([a, b]) => divide(toInt64(a), toInt64(b), (x, y) => x / y)),
  mod: goFunction(['any', 'any'], ([a, b]) => divide(toInt64(a), toInt64(b), (x, y) => x % y)),
  mul: goFunction(['any'], (args) => goInt64(args.map(toInt64).reduce((a, b) => BigInt.asIntN(64, a * b))), 'any'),
  add1f: goFunction(['any'], ([value]) => floatOf(DECIMAL.add(decimalOf(toFloat64(value)), decimalOf(1)))),
  addf: goFunction(
    [],
    (args) => floatOf(args.map((value) => decimalOf(toFloat64(value))).reduce(DECIMAL.add, decimalOf(0))),
    'any',
  ),
  subf: decimalFunction(DECIMAL.sub),
  divf: decimalFunction(DECIMAL.div),
  mulf: decimalFunction(DECIMAL.mul),
  biggest,
  max: biggest,
  min: pick((a, b) => a < b),
  maxf: goFunction(['any'], (args) => Math.max(...args.map(toFloat64)), 'any'),
  minf: goFunction(['any'], (args) => Math.min(...args.map(toFloat64)), 'any'),
  ceil: goFunction(['any'], ([value]) => Math.ceil(toFloat64(value))),
  floor: goFunction(['any'], ([value]) => Math.floor(toFloat64(value))),
  round: goFunction(
    ['any', 'int'],
    ([value, places, on]) => round(value, count(places), on as number | undefined),
    'float64',
  ),
  until: goFunction(['int'], ([stop]) => untilStep(0, count(stop), count(stop) < 0 ? -1 : 1)),
  untilStep: goFunction(['int', 'int', 'int'], ([start, stop, step]) =>
    untilStep(count(start), count(stop), count(step)),
  ),
  seq: goFunction([], (params) => seq(params.map(count)), 'int'),
}

function inInt64(value: bigint): bigint {
  return BigInt.asIntN(64, value) === value ? value : 0n
}

function octal(text: string): bigint {
  const digits = BigInt(`0o${text.replace(/^[+-]/, '')}`)
  return inInt64(text.startsWith('-') ? -digits : digits)
}
