/** Kubernetes quantities (`500m`, `2Gi`, `1e3`), exact to a billionth. */

/** A quantity as whole billionths of one. */
export interface Quantity {
  readonly nano: bigint
}

const FORM = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d{1,3}))?$/
const BINARY: Readonly<Record<string, bigint>> = {
  Ki: 2n ** 10n,
  Mi: 2n ** 20n,
  Gi: 2n ** 30n,
  Ti: 2n ** 40n,
  Pi: 2n ** 50n,
  Ei: 2n ** 60n,
}
const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 }
const MAX_TEXT = 64

/**
 * The quantity of a text or number, or undefined when it is none. Finer than a billionth is rounded up, as Kubernetes
 * does.
 */
export function parseQuantity(value: string | number): Quantity | undefined {
  const text = String(value)
  const match = text.length > MAX_TEXT ? null : FORM.exec(text)
  if (!match) return undefined
  const [, sign, digits, binary, decimal, exponent] = match
  const [whole = '', fraction = ''] = digits!.split('.')
  const mantissa = BigInt(whole + fraction) * (binary ? BINARY[binary]! : 1n)
  const power = 9 - fraction.length + (decimal ? DECIMAL[decimal]! : Number(exponent ?? 0))
  const nano = power >= 0 ? mantissa * 10n ** BigInt(power) : divideUp(mantissa, 10n ** BigInt(-power))
  return { nano: sign === '-' ? -nano : nano }
}

/** In which steps a quantity is written: of 1000, of 1024, or of powers of ten. */
export type QuantityForm = 'decimal' | 'binary' | 'exponent'

/** The notation of a quantity in its input. */
export function quantityForm(value: string | number): QuantityForm {
  const text = String(value)
  if (text.endsWith('i')) return 'binary'
  return typeof value === 'string' && /[eE][+-]?\d+$/.test(text) ? 'exponent' : 'decimal'
}

/**
 * The one text that Kubernetes writes for a quantity of resources, rounded up to a thousandth; undefined when it is
 * none.
 */
export function canonicalQuantity(value: string | number): string | undefined {
  const parsed = parseQuantity(value)
  return parsed && formatQuantity(parsed, quantityForm(value))
}

/** The text of a quantity as Kubernetes writes it, rounded up to a thousandth. */
export function formatQuantity({ nano }: Quantity, form: QuantityForm): string {
  const milli = divideUp(nano < 0n ? -nano : nano, 1_000_000n)
  const sign = nano < 0n && milli > 0n ? '-' : ''
  const isBinary = form === 'binary' && milli % 1000n === 0n && milli >= 1_024_000n
  const whole = isBinary ? milli / 1000n : milli
  const [step, suffixes] = isBinary ? [1024n, BINARY_SUFFIXES] : [1000n, DECIMAL_SUFFIXES]
  let amount = whole
  let suffix = 0
  while (amount > 0n && amount % step === 0n && suffix < suffixes.length - 1) {
    amount /= step
    suffix += 1
  }
  if (amount === 0n) return '0'
  const exponent = (suffix - 1) * 3
  if (form === 'exponent') return `${sign}${amount}${exponent === 0 ? '' : `e${exponent}`}`
  return `${sign}${amount}${suffixes[suffix]}`
}

const DECIMAL_SUFFIXES = ['m', '', 'k', 'M', 'G', 'T', 'P', 'E']
const BINARY_SUFFIXES = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

/** Negative, zero or positive, as `a` is less than, equal to or greater than `b`. */
export function compareQuantities(a: Quantity, b: Quantity): number {
  return a.nano < b.nano ? -1 : a.nano > b.nano ? 1 : 0
}

/** The sum of quantities. */
export function addQuantities(...quantities: readonly Quantity[]): Quantity {
  return { nano: quantities.reduce((sum, quantity) => sum + quantity.nano, 0n) }
}

/** The quantity as a number; a large quantity loses its last digits. */
export function quantityToNumber(quantity: Quantity): number {
  return Number(quantity.nano / 1_000_000_000n) + Number(quantity.nano % 1_000_000_000n) / 1e9
}

/**
 * The number Kubernetes' own float conversion gives (`AsApproximateFloat64`): the digits as an integer times a power of
 * ten, so `3300m` is 3300 × 0.001. It can differ from the nearest number in the last bit.
 */
export function approximateQuantity(value: string | number): number | undefined {
  const text = String(value)
  const match = text.length > MAX_TEXT ? null : FORM.exec(text)
  if (!match) return undefined
  const [, sign, digits, binary, decimal, exponent] = match
  const [whole = '', fraction = ''] = digits!.split('.')
  const power = decimal ? DECIMAL[decimal]! : Number(exponent ?? 0)
  const length = (whole.replace(/^0+/, '') || '0').length + fraction.length
  const binaryDigits = binary ? BINARY_DIGITS[binary]! : 0
  const isShort = binary ? fraction === '' && 14 - length - Math.trunc(binaryDigits) >= 0 : 18 - length >= 0
  const negative = sign === '-' ? -1 : 1
  if (isShort && power - fraction.length >= -9) {
    const base = BigInt(whole + fraction) * (binary ? BINARY[binary]! : 1n)
    if (base < 2n ** 63n) return negative * scaled(Number(base), power - fraction.length)
  }
  // Long amounts are kept in billionths.
  const { nano } = parseQuantity(text)!
  return scaled(Number(nano), -9)
}

const BINARY_DIGITS: Readonly<Record<string, number>> = { Ki: 3, Mi: 6, Gi: 9, Ti: 12, Pi: 15, Ei: 18 }

function scaled(base: number, exponent: number): number {
  return exponent === 0 ? base : base * Number(`1e${exponent}`)
}

function divideUp(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b
}
