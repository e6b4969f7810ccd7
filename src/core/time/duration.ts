/** Durations as Go writes them: `1h30m`, `250ms`. */

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y

/** Milliseconds of a Go duration, or undefined when the text is none. */
export function parseDuration(text: string): number | undefined {
  const sign = text.startsWith('-') ? -1 : 1
  let at = /^[+-]/.test(text) ? 1 : 0
  if (text.slice(at) === '0') return 0
  if (at === text.length) return undefined
  let ms = 0
  while (at < text.length) {
    PART.lastIndex = at
    const match = PART.exec(text)
    if (!match) return undefined
    ms += Number(match[1]) * UNIT_MS[match[2]!]!
    at = PART.lastIndex
  }
  return sign * ms
}

/** How many nanoseconds each unit of a Go duration has. */
export const UNIT_NANOS = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
} as const satisfies Readonly<Record<string, bigint>>

/**
 * Nanoseconds of a Go duration, exactly: what is below a nanosecond is cut. Undefined when the text is none; how large
 * it may be is the caller's to say. Exact numbers of many digits are slow to read: for text of strangers there is
 * `parseDuration`.
 */
export function parseDurationNanos(text: string): bigint | undefined {
  let at = /^[+-]/.test(text) ? 1 : 0
  if (text.slice(at) === '0') return 0n
  if (at === text.length) return undefined
  let nanos = 0n
  while (at < text.length) {
    PART.lastIndex = at
    const match = PART.exec(text)
    if (!match) return undefined
    const [whole, fraction = ''] = match[1]!.split('.')
    const unit = UNIT_NANOS[match[2] as keyof typeof UNIT_NANOS]
    nanos += BigInt(whole || '0') * unit + (BigInt(fraction || '0') * unit) / 10n ** BigInt(fraction.length)
    at = PART.lastIndex
  }
  return text.startsWith('-') ? -nanos : nanos
}

/** The Go text of milliseconds: `1h30m0s`, `1.5s`, `250ms`, `0s`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0s'
  const sign = ms < 0 ? '-' : ''
  const rest = Math.abs(ms)
  if (rest < 1000) return `${sign}${rest}ms`
  const hours = Math.floor(rest / 3_600_000)
  const minutes = Math.floor(rest / 60_000) % 60
  const seconds = (rest % 60_000) / 1000
  return `${sign}${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds}s`
}
