/** Badges of a cluster beside its state, and the clusters that have a badge instead of a state. */
import type { BundleStateName } from '../../kinds/fields/states.ts'
import { BUNDLE_STATES } from '../../kinds/fields/states.ts'
import type { ClusterHold, HoldableCluster } from '../windows/cluster-hold.ts'
import { isFrozen } from '../windows/cluster-hold.ts'

/** Badges of clusters that left the fleet or were turned away: such a cluster has no state and is counted apart. */
export const APART_BADGES = ['Left', 'Rejected', 'Revoked'] as const
export type ApartBadge = (typeof APART_BADGES)[number]

/**
 * Days before its end at which the certificate of an agent is reported. Certificates are valid for 14 days and are
 * renewed after two thirds of them, so one with fewer days was not renewed in time.
 */
export const CERTIFICATE_WARNING_DAYS = 3

/**
 * `Leaving`: the cluster is being decommissioned. `Left`: it is decommissioned. `Pushed`: the hub runs its agent.
 */
export type ClusterBadge = ClusterHold['badge'] | 'Leaving' | 'Pushed' | ApartBadge

/** A Cluster as badges read it. */
export interface BadgedCluster extends HoldableCluster {
  readonly spec: HoldableCluster['spec'] & {
    readonly decommission?: object | undefined
    readonly kubeconfigSecret?: object | undefined
    readonly refused?:
      | { readonly verdict: 'Rejected' | 'Revoked'; readonly at: string; readonly reason?: string | undefined }
      | undefined
  }
  readonly status?:
    | { readonly decommission?: { readonly phase: string } | undefined; readonly state?: BundleStateName | undefined }
    | undefined
}

/** The badge of a cluster that left or was turned away; undefined for a cluster of the fleet. */
export function apartBadge({ spec, status }: BadgedCluster): ApartBadge | undefined {
  if (spec.decommission && status?.decommission?.phase === 'Revoked') return 'Left'
  return spec.refused?.verdict
}

/** Why a cluster left or was turned away; undefined for a cluster of the fleet. */
export function apartMessage(cluster: BadgedCluster): string | undefined {
  const { metadata, spec } = cluster
  const badge = apartBadge(cluster)
  if (badge === undefined) return undefined
  if (!spec.refused) return 'The cluster was decommissioned.'
  const { at, reason } = spec.refused
  return `${badge} at ${at}${reason ? `: ${reason}` : ''}. To let it in again: flotilla cluster accept ${metadata.name}`
}

/** The state of a cluster in lists, counts and metrics; undefined for a cluster that left or was turned away. */
export function stateOfCluster(cluster: BadgedCluster): BundleStateName | undefined {
  return apartBadge(cluster) === undefined ? (cluster.status?.state ?? 'Pending') : undefined
}

/** Clusters by state, and clusters without a state by badge. Only states and badges that occur are present. */
export interface FleetCounts {
  /** Number of clusters that have a state. */
  readonly total: number
  readonly states: Readonly<Partial<Record<BundleStateName, number>>>
  readonly apart: Readonly<Partial<Record<ApartBadge, number>>>
}

/** Counts the clusters of a fleet. */
export function countFleet(clusters: readonly BadgedCluster[]): FleetCounts {
  const states = new Map<BundleStateName, number>()
  const apart = new Map<ApartBadge, number>()
  for (const cluster of clusters) {
    const state = stateOfCluster(cluster)
    const badge = apartBadge(cluster)
    if (state !== undefined) states.set(state, (states.get(state) ?? 0) + 1)
    else if (badge !== undefined) apart.set(badge, (apart.get(badge) ?? 0) + 1)
  }
  const inOrder = <K extends string>(all: readonly K[], counts: ReadonlyMap<K, number>) =>
    Object.fromEntries(all.flatMap((key) => (counts.has(key) ? [[key, counts.get(key)!]] : []))) as Partial<
      Record<K, number>
    >
  return {
    total: [...states.values()].reduce((sum, count) => sum + count, 0),
    states: inOrder(BUNDLE_STATES, states),
    apart: inOrder(APART_BADGES, apart),
  }
}

/** All badges of a cluster; the badge that lasts longest is first. */
export function badgesOfCluster(cluster: BadgedCluster): readonly ClusterBadge[] {
  const { metadata, spec } = cluster
  const apart = apartBadge(cluster)
  return [
    ...(spec.decommission && apart !== 'Left' ? (['Leaving'] as const) : []),
    // Revocation is the last step of a decommission.
    ...(apart ? [apart] : []),
    ...(spec.cordon ? (['Cordoned'] as const) : []),
    ...(spec.hold ? (['Held'] as const) : []),
    ...(isFrozen(metadata.labels ?? {}) ? (['Frozen'] as const) : []),
    ...(spec.kubeconfigSecret && !apart ? (['Pushed'] as const) : []),
  ]
}
