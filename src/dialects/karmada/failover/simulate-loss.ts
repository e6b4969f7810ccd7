// Tested by src/dialects/karmada/failover/simulate-loss.test.ts
/** What a loss of clusters would do to a binding: the decisions of the hub, made before. Pure. */
import { asPlaced, placedOf } from '../served/binding-move.ts'
import type { ServedBinding } from '../served/kinds.ts'
import { scheduleServed } from '../served/schedule-served.ts'
import type { KarmadaCluster, TargetCluster } from '../types.ts'
import { decideFailover } from './decide-failover.ts'
import type { Placed } from './decide-failover.ts'

/** A loss. */
export interface Loss {
  /** All clusters, those that are lost with the taint of clusters out of reach. */
  readonly clusters: readonly KarmadaCluster[]
  /** Clusters that are lost, or are out of reach already. */
  readonly lost: ReadonlySet<string>
  /** Why nothing moves: too many clusters are out of reach. */
  readonly held: string | undefined
  readonly now: number
}

/** What happens to a binding. */
export interface LossOutcome {
  /** Targets that are lost. */
  readonly from: readonly TargetCluster[]
  /** Targets after all moves. */
  readonly after: readonly TargetCluster[]
  /** `Moves`: other clusters take all replicas; `Partly`: of some lost clusters; `Stays`: nothing moves. */
  readonly outcome: 'Moves' | 'Partly' | 'Stays'
  /** Why replicas stay on a cluster that is lost. */
  readonly why?: string
  /** Whether no copy is left in reach, before anything moves. */
  readonly isLast: boolean
}

/** Plays the moves of a binding; undefined for a binding without a target that is lost. */
export function simulateLoss(binding: ServedBinding, { clusters, lost, held, now }: Loss): LossOutcome | undefined {
  const targets = binding.spec.clusters ?? []
  const from = targets.filter(({ name }) => lost.has(name))
  if (from.length === 0) return undefined
  const isLast = from.length === targets.length
  const stays = (why: string): LossOutcome => ({ from, after: targets, outcome: 'Stays', why, isLast })
  const { failover, placement } = binding.spec
  if (!placement) return stays('the object follows its workloads')
  if (!failover?.cluster) return stays('the policy does not ask for moves: spec.failover.cluster')
  if (held !== undefined) return stays(held)
  let placed: Placed = placedOf(binding)
  for (let step = 0; step <= 2 * targets.length; step++) {
    const next = decideFailover({
      placed,
      purgeMode: failover.cluster.purgeMode ?? 'Gracefully',
      tolerations: placement.clusterTolerations ?? [],
      failBackMs: undefined,
      // Lost long ago: what the policy tolerates for some time is over.
      reachOf: (name) => ({ isReachable: !lost.has(name), since: 0 }),
      isHealthy: (name) => !lost.has(name),
      held: undefined,
      paceMs: 0,
      now,
      schedule: (at, isFresh) => {
        const decided = scheduleServed(asPlaced(binding, at, isFresh ? now : undefined), clusters)
        return decided.scheduled.status === 'True' ? decided.clusters : undefined
      },
    }).placed
    if (!next) break
    placed = next
  }
  const after = placed.clusters
  const left = from.filter(({ name }) => after.some((one) => one.name === name))
  if (left.length === from.length)
    return stays('no other cluster of the placement takes the replicas, or the policy tolerates the loss')
  if (left.length > 0) {
    const why = 'no other cluster of the placement takes the rest'
    return { from, after, outcome: 'Partly', why, isLast }
  }
  return { from, after, outcome: 'Moves', isLast }
}
