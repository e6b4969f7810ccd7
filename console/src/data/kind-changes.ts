/** When objects of a kind are read again. */

/** Views are computed from these kinds. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  bundlestates: ['clusterreports', 'rollouts', 'bundles', 'clusters'],
  bundleobjects: ['clusterreports', 'bundles'],
  bundlecounts: ['rollouts', 'bundles'],
  placementdecisions: ['placements'],
  events: ['clusters', 'rollouts', 'bundles', 'placements'],
  approvals: ['rollouts'],
  releases: ['rollouts'],
}

/** Whether objects of a kind are computed from objects of other kinds. */
export function isComputedFrom(plural: string, changed: readonly string[]): boolean {
  return (SOURCES[plural] ?? []).some((source) => changed.includes(source))
}

/** The hub does not tell of changes of these kinds. */
const POLLED: ReadonlySet<string> = new Set([
  'windows',
  'clusterwindows',
  'overrides',
  'policies',
  'configmaps',
  'leases',
])
const POLL_MS = 15_000

/** How often a kind is read again while its objects are shown. */
export function pollInterval(plural: string): number | false {
  return POLLED.has(plural) && POLL_MS
}
