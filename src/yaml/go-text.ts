/** Text as Go makes it: UTF-8 with its replacement rule, numbers. */

/** The string of UTF-8 bytes; each byte that is not part of a character becomes U+FFFD, as in Go. */
export function goUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    let text = ''
    for (let i = 0; i < bytes.length;) {
      const width = characterWidth(bytes, i)
      text +=
        width === 0 ? '\ufffd' : new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(i, i + width))
      i += Math.max(width, 1)
    }
    return text
  }
}

// The bytes of the valid character here, or 0.
function characterWidth(bytes: Uint8Array, i: number): number {
  const lead = bytes[i]!
  if (lead < 0x80) return 1
  const width = lead >= 0xc2 && lead <= 0xdf ? 2 : lead >> 4 === 14 ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0
  if (width === 0 || i + width > bytes.length) return 0
  for (let k = 1; k < width; k++) if ((bytes[i + k]! & 0xc0) !== 0x80) return 0
  const second = bytes[i + 1]!
  if (lead === 0xe0 && second < 0xa0) return 0
  if (lead === 0xed && second > 0x9f) return 0
  if (lead === 0xf0 && second < 0x90) return 0
  if (lead === 0xf4 && second > 0x8f) return 0
  return width
}

/** A float as `strconv.FormatFloat(x, 'g', -1, 64)` prints it. */
export function goFloat(x: number): string {
  return gFormat(x, (value) => value.toExponential())
}

/** A float as `strconv.FormatFloat(x, 'g', -1, 32)` prints it: the shortest text that means the same 32-bit float. */
export function goFloat32(x: number): string {
  return gFormat(Math.fround(x), shortestExponential32)
}

function gFormat(x: number, exponential: (value: number) => string): string {
  if (Number.isNaN(x)) return 'NaN'
  if (x === Infinity) return '+Inf'
  if (x === -Infinity) return '-Inf'
  const sign = x < 0 || Object.is(x, -0) ? '-' : ''
  const text = exponential(Math.abs(x))
  const e = text.indexOf('e')
  const mantissa = text.slice(0, e)
  const exponent = Number(text.slice(e + 1))
  if (exponent < -4 || exponent >= 6) {
    return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  }
  return sign + plainDecimal(mantissa.replace('.', ''), exponent)
}

function plainDecimal(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`
  if (digits.length <= exponent + 1) return digits.padEnd(exponent + 1, '0')
  return `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`
}

function shortestExponential32(value: number): string {
  for (let digits = 0; digits < 9; digits++) {
    const text = roundHalfEven(value, digits)
    if (Math.fround(Number(text)) === value) return trimZeros(text)
  }
  return value.toExponential()
}

// JavaScript rounds a tie up, Go to the even digit.
function roundHalfEven(value: number, digits: number): string {
  const text = value.toExponential(digits)
  const exact = value.toExponential(20)
  const rest = exact.slice(digits === 0 ? 2 : digits + 2, exact.indexOf('e'))
  if (!/^50*$/.test(rest)) return text
  const e = text.indexOf('e')
  const last = Number(text[e - 1])
  return last % 2 === 0 ? text : text.slice(0, e - 1) + String(last - 1) + text.slice(e)
}

function trimZeros(text: string): string {
  return text.replace(/\.?0*e/, 'e')
}
