import Counter from '@prometheus-io/client/lib/counter.js'
import Gauge from '@prometheus-io/client/lib/gauge.js'
import Histogram from '@prometheus-io/client/lib/histogram.js'
import type { Registry } from '@prometheus-io/client'
import type { HistogramSpec, MetricLabels, MetricSpec, Metrics, Observe } from '../core/metrics.ts'

/** Collects metrics in a Prometheus registry; `await registry.metrics()` is the text to serve. */
export function prometheusMetrics(registry: Registry): Metrics {
  const declared = new Map<string, Observe>()

  function once(spec: MetricSpec, make: (names: string[]) => Observe): Observe {
    const known = declared.get(spec.name)
    if (known) return known
    const made = make([...(spec.labels ?? [])])
    declared.set(spec.name, made)
    return made
  }

  return {
    counter: (spec) =>
      once(spec, (labelNames) => {
        const counter = new Counter({ name: spec.name, help: spec.help, labelNames, registers: [registry] })
        return (labels: MetricLabels, value) => counter.inc(labels, value)
      }),
    gauge: (spec) =>
      once(spec, (labelNames) => {
        const gauge = new Gauge({ name: spec.name, help: spec.help, labelNames, registers: [registry] })
        return (labels: MetricLabels, value) => gauge.set(labels, value)
      }),
    histogram: (spec: HistogramSpec) =>
      once(spec, (labelNames) => {
        const { name, help } = spec
        const histogram = new Histogram({ name, help, labelNames, buckets: [...spec.buckets], registers: [registry] })
        return (labels: MetricLabels, value) => histogram.observe(labels, value)
      }),
  }
}
