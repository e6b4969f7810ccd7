/** Numbers of the hub, read from its metrics. */

/** A value with its labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Values by the name of the metric. */
export type Metrics = ReadonlyMap<string, readonly Sample[]>

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

/** Reads the text format of Prometheus; lines of another form are left out. */
export function readMetrics(text: string): Metrics {
  const found = new Map<string, Sample[]>()
  for (const line of text.split('\n')) {
    const [, name, labels = '', number] = LINE.exec(line) ?? []
    const value = Number(number)
    if (name === undefined || Number.isNaN(value)) continue
    const pairs = [...labels.matchAll(LABEL)].map(([, key, raw]) => [key!, raw!.replaceAll(/\\(.)/g, '$1')] as const)
    const sample = { labels: Object.fromEntries(pairs), value }
    const known = found.get(name)
    if (known) known.push(sample)
    else found.set(name, [sample])
  }
  return found
}

/** The sum of all values of a metric with these labels; undefined if there are none. */
export function sumOf(metrics: Metrics, name: string, labels: Readonly<Record<string, string>> = {}) {
  const values = (metrics.get(name) ?? []).filter((sample) =>
    Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  )
  return values.length === 0 ? undefined : values.reduce((sum, { value }) => sum + value, 0)
}

/** The mean of a histogram in milliseconds; undefined before its first value. */
export function meanMs(metrics: Metrics, name: string): number | undefined {
  const count = sumOf(metrics, `${name}_count`)
  const sum = sumOf(metrics, `${name}_sum`)
  return count && sum !== undefined ? (1000 * sum) / count : undefined
}

/** Values and how often each occurs, the most frequent first. */
export function countsOf(values: readonly string[]): readonly (readonly [value: string, count: number])[] {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].toSorted(([a, many], [b, few]) => few - many || (a < b ? -1 : 1))
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** `1.5 MiB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  const value = bytes / 2 ** (10 * power)
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power]}`
}
