/** Plans a requested rollback of a Rollout, bundle by bundle; for the hub and for the CLI's preview. */
import type { Release } from '../../kinds/native/release.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { existingOf } from './decide-release.ts'
import { planRollback } from './rollback.ts'
import type { PlannedRollback, RollbackCluster, RollbackScope } from './rollback.ts'
import { ringOf } from '../rollout/rings.ts'

/** A requested rollback: of all clusters, a ring or single clusters; of all bundles or some. */
export interface RollbackRequest {
  readonly clusters?: readonly string[] | undefined
  readonly ring?: string | undefined
  readonly bundles?: readonly string[] | undefined
  /** The Release to return to. If absent, each cluster returns to the content it ran before. */
  readonly to?: string | undefined
}

/** State that a rollback is planned from; bundles are in the Rollout's namespace. */
export interface RollbackWorld {
  releasesOf(bundle: string): readonly Release[]
  /** Clusters that the Bundle's Placement selects; undefined while its decisions are incomplete. */
  clustersOf(bundle: Release['spec']['bundles'][number]): readonly RollbackCluster[] | undefined
  groupsOf(placement: string, cluster: string): readonly string[]
  /** The highest generation of a Bundle in any document. */
  highestAssigned(bundle: string): number
}

/** The scope of a request. */
export function scopeOf({ clusters, ring }: RollbackRequest): RollbackScope['kind'] {
  return clusters ? 'Clusters' : ring === undefined ? 'All' : 'Ring'
}

/** Plans the rollback of each bundle of which the Rollout carries the newest Release. */
export function planRequest(
  rollout: Rollout,
  release: Release,
  request: RollbackRequest,
  world: RollbackWorld,
): PlannedRollback[] {
  return release.spec.bundles.flatMap((entry) => {
    if (request.bundles && !request.bundles.includes(entry.name)) return []
    const existing = world
      .releasesOf(entry.name)
      .map((one) => ({ one, revision: existingOf(one, entry.name) }))
      .sort((a, b) => b.revision.generation - a.revision.generation)
    // Only the newest Release of a bundle is rolled back.
    const [newest, ...before] = existing
    if (newest?.one.metadata.name !== release.metadata.name) return []
    const clusters = world.clustersOf(entry)
    if (!clusters) {
      return [
        {
          bundle: entry.name,
          moves: [],
          stuck: [],
          problem: `placement "${entry.placement}" has no complete decisions yet`,
        },
      ]
    }
    const isBad = (one: Release) =>
      (one.status?.bad ?? []).some((mark) => mark.bundle === entry.name && mark.clusters === undefined)
    const bundle = {
      name: entry.name,
      newest: newest.revision,
      older: before.filter(({ one }) => !isBad(one)).map(({ revision }) => revision),
      highestAssigned: world.highestAssigned(entry.name),
      clusters,
    }
    const includes = includesOf(rollout, request, clusters, (cluster) => world.groupsOf(entry.placement, cluster))
    return [planRollback(bundle, { kind: scopeOf(request), includes }, request.to)]
  })
}

function includesOf(
  { spec: { rings }, status }: Rollout,
  request: RollbackRequest,
  clusters: readonly RollbackCluster[],
  groupsOf: (cluster: string) => readonly string[],
): RollbackScope['includes'] {
  const { clusters: named, ring } = request
  if (named) return (cluster) => named.includes(cluster)
  if (ring === undefined) return () => true
  const labels = new Map(clusters.map(({ inputs }) => [inputs.name, inputs.labels]))
  const states = rings.map(({ name }) => status?.rings?.find((state) => state.name === name) ?? { name })
  return (cluster) => {
    const at = ringOf(rings, states, { name: cluster, labels: labels.get(cluster) ?? {}, groups: groupsOf(cluster) })
    return rings[at]?.name === ring
  }
}
