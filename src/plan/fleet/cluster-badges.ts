/** Badges of a cluster beside its state. */
import type { ClusterHold, HoldableCluster } from '../windows/cluster-hold.ts'
import { isFrozen } from '../windows/cluster-hold.ts'

/** `Leaving`: the cluster is being decommissioned. `Left`: it is decommissioned. */
export type ClusterBadge = ClusterHold['badge'] | 'Leaving' | 'Left' | 'Rejected' | 'Revoked'

/** A Cluster as badges read it. */
export interface BadgedCluster extends HoldableCluster {
  readonly spec: HoldableCluster['spec'] & {
    readonly decommission?: object | undefined
    readonly refused?: { readonly verdict: 'Rejected' | 'Revoked' } | undefined
  }
  readonly status?: { readonly decommission?: { readonly phase: string } | undefined } | undefined
}

/** All badges of a cluster; the badge that lasts longest is first. */
export function badgesOfCluster({ metadata, spec, status }: BadgedCluster): readonly ClusterBadge[] {
  const left = spec.decommission && status?.decommission?.phase === 'Revoked'
  return [
    ...(left ? (['Left'] as const) : spec.decommission ? (['Leaving'] as const) : []),
    // Revocation is the last step of a decommission.
    ...(spec.refused && !left ? [spec.refused.verdict] : []),
    ...(spec.cordon ? (['Cordoned'] as const) : []),
    ...(spec.hold ? (['Held'] as const) : []),
    ...(isFrozen(metadata.labels ?? {}) ? (['Frozen'] as const) : []),
  ]
}
