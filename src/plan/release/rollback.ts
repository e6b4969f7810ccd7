/**
 * Rollback: the Release that returns each cluster to the content it ran before.
 *
 * Generations never decrease, so a rollback is a new Release with a newer generation and older content. The earlier
 * content is on the cluster's Assignment: the last revision that was Ready there. Clusters outside of the scope keep
 * their content. In a rollback of all clusters or of a ring, no further cluster receives the content that is rolled
 * back; in a rollback of single clusters, the other clusters continue with it.
 */
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import { compact } from '../../core/compact.ts'
import { findCondition } from '../../core/conditions.ts'
import type { Assignment } from '../../kinds/native/assignment.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { ExistingRelease } from './decide-release.ts'
import type { Revision } from '../fleet/state.ts'
import { clusterInputsOf, setFor } from './variants.ts'
import type { ReleaseVariant } from './variants.ts'

/** Maximum number of variants in one Release. */
const MAX_VARIANTS = 5000

/** The clusters to roll back. */
export interface RollbackScope {
  readonly kind: 'All' | 'Ring' | 'Clusters'
  readonly includes: (cluster: string) => boolean
}

/** A selected cluster as a rollback reads it. */
export interface RollbackCluster {
  readonly inputs: ClusterInputs
  readonly isOnline: boolean
  /** The bundle's revision in its document, and the last revision that was Ready before it. */
  readonly assigned?: Revision & { readonly previous?: Revision | undefined }
}

/** Reads a cluster for a rollback; `bundle` is `namespace/name`. */
export function rollbackCluster(cluster: Cluster, assignment: Assignment | undefined, bundle: string): RollbackCluster {
  const entry = assignment?.spec.entries.find((one) => one.bundle === bundle)
  return compact({
    inputs: clusterInputsOf(cluster),
    isOnline: findCondition(cluster.status?.conditions, 'Available')?.status === 'True',
    assigned: entry ? { generation: entry.generation, set: entry.set, previous: entry.before } : undefined,
  })
}

/** A bundle to roll back. */
export interface RollbackBundle {
  readonly name: string
  /** Its newest Release, which is rolled back. */
  readonly newest: ExistingRelease
  /** Its older Releases that are not marked bad, newest first. */
  readonly older: readonly ExistingRelease[]
  /** Its highest generation in any document. */
  readonly highestAssigned: number
  readonly clusters: readonly RollbackCluster[]
}

/** A bundle on a cluster that is rolled back. */
export interface RollbackMove {
  readonly bundle: string
  readonly cluster: string
  readonly from: number
  /** The generation of the earlier content, where it is known. */
  readonly to?: number
  readonly isOnline: boolean
}

/** The rollback of a bundle. */
export interface PlannedRollback {
  readonly bundle: string
  /** Its part of the Release; absent when no cluster moves. */
  readonly content?: Omit<ExistingRelease, 'name'>
  readonly moves: readonly RollbackMove[]
  /** Clusters in scope without earlier content: they keep their content. */
  readonly stuck: readonly string[]
  /** Why the rollback is not possible. */
  readonly problem?: string
}

/** Plans the rollback of a bundle, to each cluster's earlier content or to one Release. */
export function planRollback(bundle: RollbackBundle, scope: RollbackScope, to?: string): PlannedRollback {
  const { name, newest, older, clusters } = bundle
  const target = to === undefined ? older[0] : older.find((release) => release.name === to)
  const none = { bundle: name, moves: [], stuck: [] }
  if (to !== undefined && !target) {
    return {
      ...none,
      problem: `bundle "${name}" has no release "${to}" before "${newest.name}" that is not marked bad`,
    }
  }
  if (!target && scope.kind !== 'Clusters') {
    return { ...none, problem: `bundle "${name}" has no release before "${newest.name}" to return to` }
  }
  const base = scope.kind === 'Clusters' ? newest : target!
  const moves: RollbackMove[] = []
  const stuck: string[] = []
  const own: ReleaseVariant[] = []
  for (const { inputs, isOnline, assigned } of clusters) {
    const setIn = (release: ExistingRelease | undefined) => release && setFor(release, inputs)
    // A cluster with the same content under an older generation was not changed by the Release, so the rollback leaves
    // it unchanged. A rollback to a named Release is for all clusters that have the content.
    const isHanded =
      assigned !== undefined &&
      (assigned.generation === newest.generation || (to !== undefined && assigned.set === setIn(newest)))
    const isIncluded = scope.includes(inputs.name)
    const before = to === undefined ? assigned?.previous?.set : setIn(target)
    if (isIncluded && isHanded && before === undefined) stuck.push(inputs.name)
    const wanted =
      isIncluded && isHanded
        ? (before ?? assigned.set)
        : !isIncluded && scope.kind === 'Clusters'
          ? setIn(newest)
          : (assigned?.set ?? setIn(target))
    if (wanted === undefined) continue
    if (isIncluded && isHanded && wanted !== assigned.set) {
      const back = assigned.previous?.set === wanted ? assigned.previous.generation : target?.generation
      moves.push(
        compact({
          bundle: name,
          cluster: inputs.name,
          from: assigned.generation,
          isOnline,
          to: back,
        }),
      )
    }
    if (setIn(base) !== wanted) own.push({ when: { name: inputs.name }, set: wanted })
  }
  if (moves.length === 0) return { bundle: name, moves, stuck }
  const variants = own.length === 0 ? base.variants : [...own, ...(base.variants ?? [{ when: {}, set: base.set }])]
  if ((variants?.length ?? 0) > MAX_VARIANTS) {
    const problem = `${own.length} clusters of bundle "${name}" would get content of their own, more than the ${MAX_VARIANTS} that one Release can have; roll back all clusters, or name the release with --to-release`
    return { bundle: name, moves, stuck, problem }
  }
  const generation = Math.max(newest.generation, bundle.highestAssigned) + 1
  const content = compact({
    generation,
    set: base.set,
    placement: newest.placement,
    revision: base.revision,
    origin: base.origin,
    bytes: base.bytes,
    variants,
  })
  return { bundle: name, content, moves, stuck }
}
