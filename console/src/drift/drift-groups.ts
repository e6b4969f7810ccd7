/** Drift of the fleet grouped by its cause: the same object, the same fields, the same field managers. */
import type { ClusterReport } from '../../../src/kinds/native/cluster-report.ts'

type DriftedObject = NonNullable<ClusterReport['spec']['bundles'][number]['drift']>[number]

/** A cluster that has the drift. */
export interface DriftedCluster {
  readonly cluster: string
  readonly since: string
  /** The row of the report, as actions on drift need it. */
  readonly drift: readonly DriftedObject[]
}

export interface DriftCause {
  /** `namespace/name`. */
  readonly bundle: string
  readonly object: string
  readonly fields: readonly string[]
  /** Ordered by name. */
  readonly clusters: readonly DriftedCluster[]
  /** The earliest observation. */
  readonly since: string
}

/** Bundles that drifted without their fields in the report. */
export interface UnknownDrift {
  readonly bundle: string
  readonly cluster: string
  readonly message: string
}

/** Causes with the most clusters first. */
export function driftCauses(reports: readonly Pick<ClusterReport, 'metadata' | 'spec'>[]): {
  readonly causes: readonly DriftCause[]
  readonly unknown: readonly UnknownDrift[]
} {
  const found = new Map<
    string,
    { bundle: string; object: string; fields: readonly string[]; clusters: DriftedCluster[] }
  >()
  const unknown: UnknownDrift[] = []
  for (const { metadata, spec } of reports) {
    for (const { bundle, drift = [], state, message } of spec.bundles) {
      if (state === 'Drifted' && drift.length === 0) {
        unknown.push({ bundle, cluster: metadata.name, message: message ?? '' })
      }
      for (const { object, fields, since } of drift) {
        const key = JSON.stringify([bundle, object, fields.toSorted()])
        const cause = found.get(key) ?? { bundle, object, fields, clusters: [] }
        cause.clusters.push({ cluster: metadata.name, since, drift })
        found.set(key, cause)
      }
    }
  }
  const causes = [...found.values()]
    .map(({ bundle, object, fields, clusters }) => ({
      bundle,
      object,
      fields,
      clusters: clusters.toSorted((a, b) => (a.cluster < b.cluster ? -1 : 1)),
      since: clusters.map(({ since }) => since).toSorted()[0]!,
    }))
    .toSorted((a, b) => b.clusters.length - a.clusters.length || (a.bundle + a.object < b.bundle + b.object ? -1 : 1))
  return { causes, unknown }
}
