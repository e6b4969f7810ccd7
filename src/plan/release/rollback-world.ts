/** The state that a rollback is planned from, read from objects of the API; for the CLI's preview and the console. */
import type { Assignment } from '../../kinds/native/assignment.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { RollbackWorld } from './rollback-request.ts'
import { rollbackCluster } from './rollback.ts'

/** The objects of the namespace of the Rollout, all Clusters and their Assignments. */
export interface RollbackObjects {
  readonly releases: readonly Release[]
  readonly pages: readonly PlacementDecision[]
  readonly clusters: readonly Cluster[]
  readonly assignments: readonly Assignment[]
}

export function rollbackWorld(
  namespace: string,
  { releases, pages, clusters, assignments }: RollbackObjects,
): RollbackWorld {
  const documents = new Map(assignments.map((one) => [one.metadata.name, one]))
  const decisionsOf = (placement: string) =>
    pages.filter(({ spec }) => spec.placement === placement).flatMap(({ spec }) => spec.decisions)
  return {
    releasesOf: (bundle) => releases.filter(({ spec }) => spec.bundles.some((one) => one.name === bundle)),
    clustersOf: ({ name, placement }) => {
      const selected = new Set(
        decisionsOf(placement)
          .filter(({ state }) => state === 'Selected')
          .map(({ cluster }) => cluster),
      )
      return clusters
        .filter(({ metadata }) => selected.has(metadata.name))
        .map((cluster) => rollbackCluster(cluster, documents.get(cluster.metadata.name), `${namespace}/${name}`))
    },
    groupsOf: (placement, cluster) =>
      decisionsOf(placement).flatMap((one) => (one.cluster === cluster && one.group ? [one.group] : [])),
    // The hub assigns the number; a preview creates no release.
    highestAssigned: () => 0,
  }
}
