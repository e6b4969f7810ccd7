// Tested by src/dialects/karmada/served/touched-bindings.test.ts
/** Which bindings a changed cluster concerns: the others are not decided again. Pure. */
import { findCondition } from '../../../core/conditions.ts'
import { mayChoose } from '../capacity/reported-capacity.ts'
import { snapshotOf } from '../schedule/cluster-snapshot.ts'
import type { KarmadaCluster } from '../types.ts'
import { LEFT_CLUSTERS } from './decide-claim.ts'
import type { ServedBinding } from './kinds.ts'

/** A change of a cluster; absent where the cluster is not in the fleet. */
export interface ClusterChange {
  readonly name: string
  readonly before?: KarmadaCluster | undefined
  readonly after?: KarmadaCluster | undefined
}

/** Whether the change can change the decision about a binding, or what its clusters receive. */
export function isTouched(binding: ServedBinding, { name, before, after }: ClusterChange): boolean {
  const { metadata, spec, status } = binding
  const isOn = (targets: readonly { readonly name: string }[] = []) => targets.some((one) => one.name === name)
  if (isOn(spec.clusters) || spec.requiredBy?.some(({ clusters }) => isOn(clusters))) return true
  if (spec.gracefulEvictionTasks?.some(({ fromCluster }) => fromCluster === name)) return true
  if (metadata.annotations?.[LEFT_CLUSTERS]?.includes(JSON.stringify(name))) return true
  const { placement } = spec
  if (!placement) return false
  // The message of a decision that failed counts the clusters.
  if (findCondition(status?.conditions, 'Scheduled')?.status !== 'True') return true
  return [before, after].some((cluster) => cluster !== undefined && mayChoose(placement, snapshotOf(cluster)))
}
