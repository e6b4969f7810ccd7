/**
 * Supersession: a newer Release takes over exactly its own bundles from an older rollout; the older rollout continues
 * with its remaining bundles.
 *
 * The older rollout records the takeover before the newer rollout admits a cluster for that bundle, so two rollouts
 * never use the budget of the same bundle at the same time.
 */
import type { Digest } from '../../core/crypto/digest.ts'
import type { Predecessor, RolloutInput, Superseded } from './types.ts'
import { contentIn } from './bundle-on-cluster.ts'
import type { ReleaseBundle, RolloutAdmission } from './bundle-on-cluster.ts'

/** Bundles that newer rollouts carry: the recorded bundles and new bundles. */
export function supersededBundles({ rollout, release, newer }: RolloutInput): readonly Superseded[] {
  const recorded = new Map((rollout.superseded ?? []).map((one) => [one.bundle, one]))
  return (release?.bundles ?? []).flatMap(({ name }): Superseded[] => {
    const known = recorded.get(name)
    if (known) return [known]
    const by = newer?.get(name)
    return by === undefined ? [] : [{ bundle: name, by }]
  })
}

/** The rollout without bundles that newer rollouts carry or that were deleted. */
export function withoutSuperseded(input: RolloutInput, superseded: readonly Superseded[]): RolloutInput {
  const gone = new Set([...superseded.map(({ bundle }) => bundle), ...(input.deletedBundles ?? [])])
  if (gone.size === 0 || !input.release) return input
  const bundles = input.release.bundles.filter(({ name }) => !gone.has(name))
  const predecessors = input.predecessors.filter(({ bundle }) => !gone.has(bundle))
  return { ...input, release: { bundles }, predecessors }
}

/** Sentences about bundles that are no longer part of the rollout. */
export function describeSuperseded(input: RolloutInput, superseded: readonly Superseded[]): string {
  const deleted = (input.deletedBundles ?? []).filter((name) => superseded.every(({ bundle }) => bundle !== name))
  return [
    ...superseded.map(({ bundle, by }) => ` Bundle "${bundle}" continues in rollout ${by}.`),
    ...deleted.map((name) => ` Bundle "${name}" was deleted; a separate Rollout removes it.`),
  ].join('')
}

/**
 * The older rollouts with the slots that still count. A member that a rollback left unchanged uses the budget of the
 * rollout that delivered its content, and no other budget: a rollback cannot repair it, and it must block neither the
 * rollback nor a later fix.
 */
export function countedPredecessors(input: RolloutInput): readonly Predecessor[] {
  const { rollout, release, predecessors, clusterOf } = input
  const own = rollout.takesBack ? (release?.bundles ?? []) : []
  const backs = [
    ...predecessors.flatMap(({ bundle, generation, takesBackTo }) =>
      takesBackTo ? [{ bundle, generation, to: takesBackTo }] : [],
    ),
    ...own.map((bundle) => ({ bundle: bundle.name, generation: bundle.generation, to: setIn(bundle) })),
  ]
  if (backs.length === 0) return predecessors
  return predecessors.map((older) => {
    const later = backs.filter(({ bundle, generation }) => bundle === older.bundle && generation > older.generation)
    if (later.length === 0 || older.admissions.length === 0) return older
    const isLeft = ({ cluster }: RolloutAdmission) => {
      const assigned = clusterOf(cluster)?.assigned.get(`${rollout.namespace}/${older.bundle}`)
      return assigned?.generation === older.generation && later.some(({ to }) => to(cluster) === assigned.set)
    }
    return { ...older, admissions: older.admissions.filter((admission) => !isLeft(admission)) }
  })
}

function setIn(bundle: ReleaseBundle): (cluster: string) => Digest | undefined {
  return (cluster) => {
    const content = contentIn(bundle, cluster)
    return content.kind === 'Set' ? content.set : undefined
  }
}
