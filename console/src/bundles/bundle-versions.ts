/** Which content of a Bundle the clusters run, and the history of that content. */
import type { Release } from '../../../src/kinds/native/release.ts'
import { versionName } from '../../../src/plan/release/version-name.ts'

/** A row of bundlestates, as far as versions follow from it. */
export interface VersionRow {
  readonly cluster: string
  readonly state?: string
  readonly generation?: number
}

/** The name for clusters that reported no content. */
export const SILENT = 'not reported'

export interface FieldVersion {
  /** Name of the Release whose content it is, or `SILENT`. */
  readonly name: string
  readonly clusters: readonly string[]
}

/** Clusters by the content they run, the most clusters first; those that reported none last. */
export function fieldVersions(
  rows: readonly VersionRow[],
  releases: readonly Release[],
  bundle: string,
): readonly FieldVersion[] {
  const found = new Map<string, string[]>()
  const silent: string[] = []
  for (const { cluster, state, generation } of rows) {
    // Clusters that left have no state.
    if (state === undefined) continue
    if (generation === undefined) silent.push(cluster)
    else {
      const name = versionName(generation, releases, bundle)
      const known = found.get(name)
      if (known) known.push(cluster)
      else found.set(name, [cluster])
    }
  }
  return [
    ...[...found]
      .map(([name, clusters]) => ({ name, clusters }))
      .toSorted((a, b) => b.clusters.length - a.clusters.length || (a.name < b.name ? -1 : 1)),
    ...(silent.length > 0 ? [{ name: SILENT, clusters: silent }] : []),
  ]
}

type ReleasedBundle = Release['spec']['bundles'][number]

export interface HistoryEntry {
  readonly release: Release
  readonly entry: ReleasedBundle
  /** By whom and why its content was rolled back. */
  readonly bad: string | undefined
}

/** Releases of a Bundle, the newest first. */
export function releaseHistory(releases: readonly Release[], bundle: string): readonly HistoryEntry[] {
  return releases
    .flatMap((release) => {
      const entry = release.spec.bundles.find(({ name }) => name === bundle)
      if (!entry) return []
      const mark = release.status?.bad?.find((one) => one.bundle === bundle)
      const bad = mark && `rolled back by ${mark.by}${mark.reason === undefined ? '' : `: ${mark.reason}`}`
      return [{ release, entry, bad }]
    })
    .toSorted((a, b) => b.entry.generation - a.entry.generation)
}

export interface BuildError {
  /** The inputs of the clusters that have it; empty: all clusters. */
  readonly inputs: string
  readonly problem: string
}

/** Errors of the rendering of the newest Release, each with the clusters it is for. */
export function buildErrors({ variants = [] }: Pick<ReleasedBundle, 'variants'>): readonly BuildError[] {
  return variants.flatMap(({ when, problem }) =>
    problem === undefined
      ? []
      : [
          {
            inputs: Object.entries(when)
              .map(([key, value]) => `${key}=${value}`)
              .join(', '),
            problem,
          },
        ],
  )
}
