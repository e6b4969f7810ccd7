/**
 * Taking over: a newer Release takes exactly the bundles it carries out of an older rollout, and the others move on in it.
 *
 * What is taken over is written on the older rollout before the newer one admits anybody of that bundle, so that two
 * rollouts never spend the budget of one bundle.
 */
import type { Digest } from '../../core/crypto/digest.ts'
import type { Predecessor, RolloutInput, Superseded } from './types.ts'
import { contentIn } from './bundle-on-cluster.ts'
import type { ReleaseBundle, RolloutAdmission } from './bundle-on-cluster.ts'

/** Which bundles newer rollouts carry: what is recorded stays, what is new comes to it. */
export function supersededBundles({ rollout, release, newer }: RolloutInput): readonly Superseded[] {
  const recorded = new Map((rollout.superseded ?? []).map((one) => [one.bundle, one]))
  return (release?.bundles ?? []).flatMap(({ name }): Superseded[] => {
    const known = recorded.get(name)
    if (known) return [known]
    const by = newer?.get(name)
    return by === undefined ? [] : [{ bundle: name, by }]
  })
}

/** The rollout as far as it is still its own: without the bundles that newer ones carry or that were deleted. */
export function withoutSuperseded(input: RolloutInput, superseded: readonly Superseded[]): RolloutInput {
  const gone = new Set([...superseded.map(({ bundle }) => bundle), ...(input.deletedBundles ?? [])])
  if (gone.size === 0 || !input.release) return input
  const bundles = input.release.bundles.filter(({ name }) => !gone.has(name))
  const predecessors = input.predecessors.filter(({ bundle }) => !gone.has(bundle))
  return { ...input, release: { bundles }, predecessors }
}

/** What else a rollout's sentence says when only some of its bundles are its own. */
export function describeSuperseded(input: RolloutInput, superseded: readonly Superseded[]): string {
  const deleted = (input.deletedBundles ?? []).filter((name) => superseded.every(({ bundle }) => bundle !== name))
  return [
    ...superseded.map(({ bundle, by }) => ` Bundle ${bundle} moves in rollout ${by} now.`),
    ...deleted.map((name) => ` Bundle ${name} was deleted; clusters that run it keep it.`),
  ].join('')
}

/**
 * The older rollouts with the slots that still count. One that a rollback left as it was stays in the budget of the rollout that brought it,
 * and in no other: it cannot be helped by going back, and must not keep the others from it, nor a fix from anybody afterwards.
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
