/** Metrics as a port: rooms declare series, and the composition root chooses the collector. */

/** A metric's declaration; labels come from closed sets, never names of objects. */
export interface MetricSpec {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
}

/** A histogram's declaration; buckets in base units. */
export interface HistogramSpec extends MetricSpec {
  readonly buckets: readonly number[]
}

/** Label values of an observation. */
export type MetricLabels = Readonly<Record<string, string>>

/** Adds to, sets or observes one series. */
export type Observe = (labels: MetricLabels, value: number) => void

/** Where metrics are declared; declaring the same name twice gives the same metric. */
export interface Metrics {
  counter(spec: MetricSpec): Observe
  gauge(spec: MetricSpec): Observe
  histogram(spec: HistogramSpec): Observe
}

/** Metrics that are not collected. */
export const silentMetrics: Metrics = { counter: () => () => {}, gauge: () => () => {}, histogram: () => () => {} }
