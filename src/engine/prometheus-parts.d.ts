/** The modules of Prometheus' client that the engine uses. Its index also loads clustering, gateways and tracing. */
declare module '@prometheus-io/client/lib/counter.js' {
  export { Counter as default } from '@prometheus-io/client'
}

declare module '@prometheus-io/client/lib/gauge.js' {
  export { Gauge as default } from '@prometheus-io/client'
}

declare module '@prometheus-io/client/lib/histogram.js' {
  export { Histogram as default } from '@prometheus-io/client'
}

declare module '@prometheus-io/client/lib/registry.js' {
  export { Registry as default } from '@prometheus-io/client'
}

declare module '@prometheus-io/client/lib/defaultMetrics.js' {
  export { collectDefaultMetrics as default } from '@prometheus-io/client'
}
