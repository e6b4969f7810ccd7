// Tested by src/dialects/karmada/taints/taint-clusters.test.ts
/** Writes the taints of ClusterTaintPolicies on the Clusters of the fleet. */
import { compact } from '../../../core/compact.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { Reconciler, Result } from '../../../engine/reconciler.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { taintsByPolicies } from '../failover/taint-eviction.ts'
import type { KarmadaCluster, KarmadaTaint } from '../types.ts'
import { faceOf } from '../served/cluster-face.ts'
import type { ServedTaintPolicy } from './kinds.ts'

type Taints = NonNullable<Cluster['spec']['taints']>

/** The effects of Karmada on a Cluster. Content that runs stays under both. */
const EFFECTS: Readonly<Record<string, Taints[number]['effect']>> = {
  NoSchedule: 'NoSelectIfNew',
  PreferNoSchedule: 'PreferNoSelect',
}
const KARMADA_EFFECTS: Readonly<Record<string, string>> = {
  NoSelect: 'NoSchedule',
  NoSelectIfNew: 'NoSchedule',
  PreferNoSelect: 'PreferNoSchedule',
}

/** The reconciler of Clusters. */
export function taintClustersReconciler(policies: () => readonly ServedTaintPolicy[]): Reconciler<Cluster> {
  return {
    name: 'karmada-taint-clusters',
    async reconcile({ next: cluster }, { clock }): Promise<Result> {
      const taints = cluster.spec.accepted ? taintsOf(cluster, policies(), clock.now()) : undefined
      if (!taints) return { unchanged: true }
      const { taints: _before, ...spec } = cluster.spec
      cluster.spec = taints.length > 0 ? { ...spec, taints } : spec
      return {}
    },
  }
}

/**
 * The taints of a Cluster after the policies; undefined when none changes. The conditions are those of the Cluster and
 * the condition Ready of its face. A taint with the effect NoExecute is not written.
 */
export function taintsOf(cluster: Cluster, policies: readonly ServedTaintPolicy[], now: number): Taints | undefined {
  const own = cluster.spec.taints ?? []
  const before: KarmadaTaint[] = own.map(({ key, value, effect }) =>
    compact({ key, value, effect: KARMADA_EFFECTS[effect] ?? effect }),
  )
  const { metadata, spec, status } = faceOf(cluster)
  const seen: KarmadaCluster = {
    metadata,
    spec: { ...spec, taints: before },
    status: { conditions: [...(cluster.status?.conditions ?? []), ...(status?.conditions ?? [])] },
  }
  const after = taintsByPolicies(seen, policies, now)
  const has = (taints: readonly KarmadaTaint[], one: KarmadaTaint) =>
    taints.some(({ key, effect }) => key === one.key && effect === one.effect)
  const kept = own.filter((_taint, nth) => has(after, before[nth]!))
  const added = after.flatMap((taint) => {
    const effect = EFFECTS[taint.effect]
    if (effect === undefined || has(before, taint)) return []
    return [compact({ key: taint.key, value: taint.value, effect, timeAdded: formatTime(now) })]
  })
  return kept.length === own.length && added.length === 0 ? undefined : [...kept, ...added]
}
