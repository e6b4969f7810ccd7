// Tested by src/dialects/ocm/addons/addons.sim.test.ts
/** Which entry of an install strategy counts for a cluster. */
import { isOwnTaint } from '../faces/sync-faces.ts'
import type { ManagedCluster, OcmPlacement, OcmPlacementDecision } from '../kinds.ts'
import type { ClusterManagementAddOn } from './kinds.ts'

/** Label of a ManagedClusterAddOn that an install strategy made; others belong to the users who wrote them. */
export const INSTALLED_LABEL = 'ocm.flotilla.dev/installed-by'
/** Value of the label. */
export const BY_PLACEMENTS = 'placements'

/** An entry of the install strategy. */
export type InstallEntry = NonNullable<
  NonNullable<ClusterManagementAddOn['spec']['installStrategy']>['placements']
>[number]

/** Where decisions are read. */
export interface DecisionPorts {
  placementOf(namespace: string, name: string): OcmPlacement | undefined
  pagesOf(placement: OcmPlacement): readonly OcmPlacementDecision[]
}

/** The entry that counts for each cluster: the last that selects it; undefined while a Placement is undecided. */
export function entriesByCluster(
  { spec }: ClusterManagementAddOn,
  ports: DecisionPorts,
): ReadonlyMap<string, InstallEntry> | undefined {
  const found = new Map<string, InstallEntry>()
  for (const entry of entriesOf(spec)) {
    const placement = ports.placementOf(entry.namespace, entry.name)
    const pages = placement ? ports.pagesOf(placement) : []
    if (pages.length === 0) return undefined
    for (const { status } of pages) for (const { clusterName } of status?.decisions ?? []) found.set(clusterName, entry)
  }
  return found
}

/** The entries of a strategy by Placements. */
export function entriesOf({ installStrategy }: ClusterManagementAddOn['spec']): readonly InstallEntry[] {
  return installStrategy?.type === 'Placements' ? (installStrategy.placements ?? []) : []
}

/** A cluster that cannot be reached leaves the decisions by a taint of the hub; it keeps its add-ons. */
export function isAway(face: ManagedCluster | undefined): boolean {
  return (
    face !== undefined && face.metadata.deletionTimestamp === undefined && (face.spec.taints ?? []).some(isOwnTaint)
  )
}
