/**
 * Going back: the Release that gives each pair what it ran before.
 *
 * Generations never go back, so a rollback is a Release of its own with a newer generation and older content. What a pair ran
 * before is on its Assignment: the last revision that was well there. Whoever is outside of the scope keeps what it has; with a
 * ring or everybody nobody else receives the content that is taken back, with single clusters the rest goes on with it.
 */
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import { findCondition } from '../../core/conditions.ts'
import type { Assignment } from '../../kinds/native/assignment.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { ExistingRelease } from './decide-release.ts'
import type { Revision } from '../fleet/state.ts'
import { clusterInputsOf, setFor } from './variants.ts'
import type { ReleaseVariant } from './variants.ts'

/** As many contents as one Release may have. */
const MAX_VARIANTS = 5000

/** Who goes back. */
export interface RollbackScope {
  readonly kind: 'All' | 'Ring' | 'Clusters'
  readonly includes: (cluster: string) => boolean
}

/** What a rollback knows of a selected cluster. */
export interface RollbackCluster {
  readonly inputs: ClusterInputs
  readonly isOnline: boolean
  /** What its document says of the bundle, and the last revision that was well before it. */
  readonly assigned?: Revision & { readonly previous?: Revision | undefined }
}

/** What a rollback knows of a cluster; `bundle` is `namespace/name`. */
export function rollbackCluster(cluster: Cluster, assignment: Assignment | undefined, bundle: string): RollbackCluster {
  const entry = assignment?.spec.entries.find((one) => one.bundle === bundle)
  return {
    inputs: clusterInputsOf(cluster),
    isOnline: findCondition(cluster.status?.conditions, 'Available')?.status === 'True',
    ...(entry ? { assigned: { generation: entry.generation, set: entry.set, previous: entry.before } } : {}),
  }
}

/** A bundle to take back. */
export interface RollbackBundle {
  readonly name: string
  /** Its newest Release: what is taken back. */
  readonly newest: ExistingRelease
  /** Older Releases of it that are not marked bad, newest first. */
  readonly older: readonly ExistingRelease[]
  /** The highest generation that any document has of it. */
  readonly highestAssigned: number
  readonly clusters: readonly RollbackCluster[]
}

/** A pair that goes back. */
export interface RollbackMove {
  readonly bundle: string
  readonly cluster: string
  readonly from: number
  /** The generation it had that content by, where it is known. */
  readonly to?: number
  readonly isOnline: boolean
}

/** The rollback of one bundle. */
export interface PlannedRollback {
  readonly bundle: string
  /** Its part of the Release; absent when there is nothing to move. */
  readonly content?: Omit<ExistingRelease, 'name'>
  readonly moves: readonly RollbackMove[]
  /** In scope, and with nothing to go back to: they keep what they run. */
  readonly stuck: readonly string[]
  /** Why it cannot be. */
  readonly problem?: string
}

/** Plans the rollback of a bundle, to what each cluster ran before or to one Release. */
export function planRollback(bundle: RollbackBundle, scope: RollbackScope, to?: string): PlannedRollback {
  const { name, newest, older, clusters } = bundle
  const target = to === undefined ? older[0] : older.find((release) => release.name === to)
  const none = { bundle: name, moves: [], stuck: [] }
  if (to !== undefined && !target) {
    return { ...none, problem: `bundle ${name} has no release ${to} before ${newest.name} that is not marked bad` }
  }
  if (!target && scope.kind !== 'Clusters') {
    return { ...none, problem: `bundle ${name} has no release before ${newest.name} to go back to` }
  }
  const base = scope.kind === 'Clusters' ? newest : target!
  const moves: RollbackMove[] = []
  const stuck: string[] = []
  const own: ReleaseVariant[] = []
  for (const { inputs, isOnline, assigned } of clusters) {
    const setIn = (release: ExistingRelease | undefined) => release && setFor(release, inputs)
    // A document is not made anew for content it has. Taking a change back leaves such a pair alone, for the change did not touch it;
    // a release that is named is for everybody who has the content.
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
      moves.push({
        bundle: name,
        cluster: inputs.name,
        from: assigned.generation,
        isOnline,
        ...(back === undefined ? {} : { to: back }),
      })
    }
    if (setIn(base) !== wanted) own.push({ when: { name: inputs.name }, set: wanted })
  }
  if (moves.length === 0) return { bundle: name, moves, stuck }
  const variants = own.length === 0 ? base.variants : [...own, ...(base.variants ?? [{ when: {}, set: base.set }])]
  if ((variants?.length ?? 0) > MAX_VARIANTS) {
    const problem = `${own.length} clusters of bundle ${name} would get content of their own, more than the ${MAX_VARIANTS} one Release may have; roll back everybody, or name the release with --to-release`
    return { bundle: name, moves, stuck, problem }
  }
  const generation = Math.max(newest.generation, bundle.highestAssigned) + 1
  const content = {
    generation,
    set: base.set,
    placement: newest.placement,
    ...(base.revision === undefined ? {} : { revision: base.revision }),
    ...(base.bytes === undefined ? {} : { bytes: base.bytes }),
    ...(variants ? { variants } : {}),
  }
  return { bundle: name, content, moves, stuck }
}
