// Tested by src/dialects/karmada/served/karmada.sim.test.ts
/** Asks clusters for their free resources while a binding divides replicas by them, and stops asking after that. */
import type { Informer } from '../../../client/informer.ts'
import { jsonEqual } from '../../../core/json.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { Reconciler, Result } from '../../../engine/reconciler.ts'
import { triggerOn } from '../../../engine/trigger.ts'
import type { Trigger } from '../../../engine/trigger.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { snapshotOf } from '../schedule/cluster-snapshot.ts'
import { readsCapacity } from '../schedule/schedule-binding.ts'
import { isLeaving, schedulerCluster } from '../served/cluster-face.ts'
import type { ServedBinding } from '../served/kinds.ts'
import type { KarmadaPlacement } from '../types.ts'
import { looksAt } from './reported-capacity.ts'

/** Writes `spec.capacityAskedAt` of a Cluster. */
export function askCapacityReconciler(placements: () => readonly KarmadaPlacement[]): Reconciler<Cluster> {
  return {
    name: 'karmada-ask-capacity',
    async reconcile({ next: cluster }, { clock }): Promise<Result> {
      const snapshot = snapshotOf(schedulerCluster(cluster))
      const isAsked =
        cluster.spec.accepted && !isLeaving(cluster) && placements().some((placement) => looksAt(placement, snapshot))
      if (isAsked === (cluster.spec.capacityAskedAt !== undefined)) return { unchanged: true }
      const { capacityAskedAt: _before, ...spec } = cluster.spec
      cluster.spec = isAsked ? { ...spec, capacityAskedAt: formatTime(clock.now()) } : spec
      return {}
    },
  }
}

/** The different placements of bindings that read free resources, kept until a binding changes. */
export function capacityPlacements(bindings: readonly Informer<ServedBinding>[]): () => readonly KarmadaPlacement[] {
  let known: readonly KarmadaPlacement[] | undefined
  for (const informer of bindings) informer.onChange(() => (known = undefined))
  return () => {
    if (known) return known
    const placements = bindings
      .flatMap(({ lister }) => lister.list())
      .flatMap(({ metadata, spec }) => (metadata.deletionTimestamp === undefined && spec.placement) || [])
      .filter(readsCapacity)
    return (known = [...new Map(placements.map((one) => [JSON.stringify(one), one])).values()])
  }
}

/** A binding that begins or ends to read free resources concerns all clusters. */
export function askCapacityTriggers(
  bindings: readonly Informer<ServedBinding>[],
  clusters: Informer<Cluster>,
): readonly Trigger[] {
  const read = (binding: ServedBinding | undefined) => {
    const { metadata, spec: { placement } = {} } = binding ?? {}
    return placement && metadata?.deletionTimestamp === undefined && readsCapacity(placement) ? placement : undefined
  }
  return bindings.map((informer) =>
    triggerOn(informer, ({ before, after }) =>
      jsonEqual(read(before) ?? null, read(after) ?? null) ? [] : clusters.lister.list().map(keyOf),
    ),
  )
}
