import { goQuote } from '../text/go-quote.ts'

const PART = /^[-+]?(?<amount>\d+\.?\d*|\.\d+)(?<unit>[^\d.]*)(?<rest>.*)$/s
const NANOSECONDS = new Map([
  ['ns', 1],
  ['us', 1e3],
  ['µs', 1e3],
  ['μs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
  ['m', 60e9],
  ['h', 3600e9],
])

/** The error of Go's `time.ParseDuration`, or undefined. */
export function goDurationProblem(value: string): string | undefined {
  const quoted = goQuote(value)
  if (value === '0') return undefined
  let total = 0
  for (let part = value; ;) {
    const { amount, unit, rest } = PART.exec(part)?.groups ?? {}
    total += Number(amount) * (NANOSECONDS.get(unit ?? '') ?? 0)
    if (unit === undefined || total >= 2 ** 63) return `time: invalid duration ${quoted}`
    if (unit === '') return `time: missing unit in duration ${quoted}`
    if (!NANOSECONDS.has(unit)) return `time: unknown unit ${goQuote(unit)} in duration ${quoted}`
    if (!rest) return undefined
    part = rest
  }
}
