/** Go's strconv.FormatFloat: every format, exact rounding. */

/** strconv.FormatFloat with 64 bits; precision -1 is the shortest text that reads back. */
export function formatFloat(value: number, format: string, precision: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const magnitude = Math.abs(value)
  switch (format) {
    case 'f':
      return (
        sign +
        (precision < 0
          ? shortestFixed(magnitude)
          : magnitude < 1e21 && precision <= 100
            ? fixed(magnitude, precision)
            : bigFixed(magnitude, precision))
      )
    case 'e':
    case 'E': {
      const text = goExponent(
        precision < 0 ? magnitude.toExponential() : exponential(magnitude, Math.min(precision, 100)),
      )
      return sign + (format === 'E' ? text.toUpperCase() : text)
    }
    case 'g':
    case 'G': {
      const text = formatG(magnitude, precision)
      return sign + (format === 'G' ? text.toUpperCase() : text)
    }
    case 'b':
      return sign + binaryFloat(magnitude)
    default:
      return sign + hexFloat(magnitude, precision, format === 'X')
  }
}

function formatG(magnitude: number, precision: number): string {
  const significant = precision < 0 ? undefined : Math.min(Math.max(precision, 1), 100)
  const scientific = significant === undefined ? magnitude.toExponential() : exponential(magnitude, significant - 1)
  const exponent = Number(scientific.slice(scientific.indexOf('e') + 1))
  const digits = scientific.slice(0, scientific.indexOf('e')).replace('.', '').replace(/0+$/, '') || '0'
  // %e is used when the exponent is below -4 or at least the precision; the shortest form takes 6 for it.
  let limit = significant ?? 6
  if (significant !== undefined && limit > digits.length && digits.length >= exponent + 1) limit = digits.length
  if (exponent < -4 || exponent >= limit) {
    const mantissa = digits.length > 1 ? `${digits[0]}.${digits.slice(1)}` : digits
    return goExponent(`${mantissa}e${exponent < 0 ? '' : '+'}${exponent}`)
  }
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`
  if (digits.length <= exponent + 1) return digits.padEnd(exponent + 1, '0')
  return `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`
}

function goExponent(text: string): string {
  return text.replace(/e([+-])(\d)$/, 'e$10$2')
}

function shortestFixed(magnitude: number): string {
  const text = String(magnitude)
  if (!text.includes('e')) return text
  const [mantissa, exponent] = text.split('e') as [string, string]
  const shift = Number(exponent)
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?]
  if (shift < 0) return `0.${'0'.repeat(-shift - 1)}${whole}${fraction}`
  return (whole + fraction).padEnd(whole.length + shift, '0')
}

function bigFixed(magnitude: number, precision: number): string {
  const whole = BigInt(Math.trunc(magnitude)).toString()
  return precision > 0 ? `${whole}.${'0'.repeat(precision)}` : whole
}

function hexFloat(magnitude: number, precision: number, upper: boolean): string {
  if (magnitude === 0) return upper ? '0X0P+00' : '0x0p+00'
  let exponent = Math.floor(Math.log2(magnitude))
  let mantissa = magnitude / 2 ** exponent
  if (mantissa >= 2) {
    mantissa /= 2
    exponent += 1
  }
  let bits = BigInt(Math.round(mantissa * 2 ** 52))
  if (precision >= 0 && precision < 13) {
    bits = roundHalfEven(bits, BigInt(4 * (13 - precision)))
    if (bits >= 2n ** 53n) {
      bits /= 2n
      exponent += 1
    }
  }
  const fraction = (bits - 2n ** 52n).toString(16).padStart(13, '0')
  const digits = precision < 0 ? fraction.replace(/0+$/, '') : fraction.slice(0, precision).padEnd(precision, '0')
  const power = `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  const text = `0x1${digits ? `.${digits}` : ''}p${power}`
  return upper ? text.toUpperCase() : text
}

/** Rounds away the lowest bits; what is exactly between goes to the even neighbour. */
function roundHalfEven(value: bigint, bits: bigint): bigint {
  const unit = 2n ** bits
  const rest = value % unit
  const down = value - rest
  if (rest * 2n === unit) return (down / unit) % 2n === 0n ? down : down + unit
  return rest * 2n > unit ? down + unit : down
}

// The maximum that JavaScript prints; enough to tell a tie from a close value.
const MOST_DIGITS = 100

/** toExponential that rounds what is exactly between to the even digit; JavaScript's goes up. */
function exponential(magnitude: number, places: number): string {
  const [exact, exponent] = magnitude.toExponential(MOST_DIGITS).split('e') as [string, string]
  const digits = exact.replace('.', '')
  if (!isTieToEven(digits, places + 1)) return magnitude.toExponential(places)
  const kept = digits.slice(0, places + 1)
  return `${kept.length > 1 ? `${kept[0]}.${kept.slice(1)}` : kept}e${exponent}`
}

/** toFixed that rounds what is exactly between to the even digit. */
function fixed(magnitude: number, places: number): string {
  if (places > 60) return magnitude.toFixed(places)
  const exact = magnitude.toFixed(MOST_DIGITS)
  const point = exact.indexOf('.')
  const digits = exact.slice(0, point) + exact.slice(point + 1)
  if (!isTieToEven(digits, point + places)) return magnitude.toFixed(places)
  return places === 0 ? exact.slice(0, point) : exact.slice(0, point + 1 + places)
}

/** Returns true if the digits from here on are 5 and zeros, and the preceding digit is even. */
function isTieToEven(digits: string, at: number): boolean {
  if (digits[at] !== '5' || !/^0*$/.test(digits.slice(at + 1))) return false
  return at === 0 || Number(digits[at - 1]) % 2 === 0
}

/** `%b`: the 53 bits as a number, and the power of two they are to be multiplied with. */
function binaryFloat(magnitude: number): string {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, magnitude)
  const bits = view.getBigUint64(0)
  const biased = Number(bits >> 52n)
  const fraction = bits & (2n ** 52n - 1n)
  const mantissa = biased === 0 ? fraction : fraction | (2n ** 52n)
  const exponent = (biased === 0 ? 1 : biased) - 1075
  return `${mantissa}p${exponent < 0 ? '' : '+'}${exponent}`
}
