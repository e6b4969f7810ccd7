/** Whether a metric was within its bounds for the whole time: every series, at every step. Missing data fails. */
import { formatTime } from '../../../core/time/time.ts'

/** A query to Prometheus, and the bounds of its result. */
export interface MetricGate {
  readonly url: string
  readonly query: string
  readonly duration: string
  /** Decimal numbers. */
  readonly min?: string
  readonly max?: string
  readonly credentials?: string
}

/** Samples of every series over a range of time, at equal steps. */
export interface MetricSeries {
  readonly startMs: number
  readonly endMs: number
  readonly stepMs: number
  /** Samples: milliseconds since 1970, and the value, which can be NaN. */
  readonly series: readonly (readonly (readonly [atMs: number, value: number])[])[]
}

export interface MetricVerdict {
  readonly state: 'Passed' | 'Refused' | 'Unknown'
  readonly message: string
}

export function judgeSeries({ min, max }: MetricGate, { startMs, endMs, stepMs, series }: MetricSeries): MetricVerdict {
  if (series.length === 0)
    return { state: 'Unknown', message: 'the query returned no data, which does not count as success' }
  const low = min === undefined ? -Infinity : Number(min)
  const high = max === undefined ? Infinity : Number(max)
  const expected = Math.floor((endMs - startMs) / stepMs) + 1
  let worst = series[0]![0]?.[1] ?? Number.NaN
  for (const samples of series) {
    const bad = samples.find(([, value]) => !(value >= low && value <= high))
    if (bad) {
      const [at, value] = bad
      if (Number.isNaN(value)) return { state: 'Unknown', message: `the metric is not a number at ${formatTime(at)}` }
      const how = value > high ? `above ${max}` : `below ${min}`
      return { state: 'Refused', message: `the metric was ${value} at ${formatTime(at)}, ${how}` }
    }
    const times = new Set(samples.map(([at]) => Math.round((at - startMs) / stepMs)))
    for (let step = 0; step < expected; step++) {
      if (times.has(step)) continue
      const at = formatTime(startMs + step * stepMs)
      const which = series.length === 1 ? '' : ` of one of its ${series.length} series`
      return { state: 'Unknown', message: `the metric${which} has no value at ${at}, which does not count as success` }
    }
    for (const [, value] of samples) worst = high === Infinity ? Math.min(worst, value) : Math.max(worst, value)
  }
  const bound = high === Infinity ? `never below ${min}` : `never above ${max}`
  const since = `${formatTime(startMs)} to ${formatTime(endMs)}`
  return { state: 'Passed', message: `the metric was ${bound} from ${since}; ${worst} at worst` }
}
