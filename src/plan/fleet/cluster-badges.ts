/** What a person should know of a cluster besides its state. */
import type { ClusterHold, HoldableCluster } from '../windows/cluster-hold.ts'
import { isFrozen } from '../windows/cluster-hold.ts'

/** A word beside the state. Leaving: it is being decommissioned; Left: it has been. */
export type ClusterBadge = ClusterHold['badge'] | 'Leaving' | 'Left' | 'Rejected' | 'Revoked'

/** What is looked at in a Cluster. */
export interface BadgedCluster extends HoldableCluster {
  readonly spec: HoldableCluster['spec'] & {
    readonly decommission?: object | undefined
    readonly refused?: { readonly verdict: 'Rejected' | 'Revoked' } | undefined
  }
  readonly status?: { readonly decommission?: { readonly phase: string } | undefined } | undefined
}

/** Every badge of a cluster, the one that lasts longest first. */
export function badgesOfCluster({ metadata, spec, status }: BadgedCluster): readonly ClusterBadge[] {
  const left = spec.decommission && status?.decommission?.phase === 'Revoked'
  return [
    ...(left ? (['Left'] as const) : spec.decommission ? (['Leaving'] as const) : []),
    // Who left is revoked as the last step of it.
    ...(spec.refused && !left ? [spec.refused.verdict] : []),
    ...(spec.cordon ? (['Cordoned'] as const) : []),
    ...(spec.hold ? (['Held'] as const) : []),
    ...(isFrozen(metadata.labels ?? {}) ? (['Frozen'] as const) : []),
  ]
}
