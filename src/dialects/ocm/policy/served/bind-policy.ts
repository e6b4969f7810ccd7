// Tested by src/dialects/ocm/policy/served/policy.sim.test.ts
/** Which clusters a Policy is bound to, and by which binding. Pure. */
import { compact } from '../../../../core/compact.ts'
import { COMPLY_WITHIN, parseWithin } from '../../../../plan/fleet/duties.ts'
import type { Demand } from '../../../../plan/fleet/duties.ts'
import type { PlacementBinding, Policy, PolicySet } from './kinds.ts'
import { OCM_POLICY_GROUP } from './kinds.ts'

/** The objects in the namespace of a Policy that bind it. */
export interface BindingWorld {
  readonly bindings: readonly PlacementBinding[]
  readonly sets: readonly PolicySet[]
  /** The clusters of a Placement or PlacementRule; a text says why they are not known. */
  readonly clustersOf: (kind: string, name: string) => readonly string[] | { readonly unknown: string }
}

/** The clusters of a Policy. */
export interface BoundPolicy {
  /** Clusters with the action of the Policy, in order of name. */
  readonly clusters: readonly string[]
  /** Clusters on which a binding enforces the Policy. */
  readonly enforced: readonly string[]
  readonly placement: NonNullable<NonNullable<Policy['status']>['placement']>
  readonly isBound: boolean
  /** By when clusters have to comply: of several bindings, the shortest time. */
  readonly duties: ReadonlyMap<string, Demand>
  /** Why the time of a binding cannot be read. */
  readonly badTime?: string
  /** Why the clusters of a binding are not known; nothing changes until they are. */
  readonly unknown?: string
}

const PLACEMENT_GROUPS: Readonly<Record<string, string>> = {
  Placement: 'cluster.open-cluster-management.io',
  PlacementRule: 'apps.open-cluster-management.io',
}

/** Binds a Policy. */
export function bindPolicy(policy: Pick<Policy, 'metadata'>, world: BindingWorld): BoundPolicy {
  const { name } = policy.metadata
  const sets = world.sets.filter(({ spec, metadata }) => !metadata.deletionTimestamp && spec.policies.includes(name))
  const all = new Set<string>()
  const enforced = new Set<string>()
  const restricted = new Set<string>()
  const duties = new Map<string, Demand>()
  let badTime: string | undefined
  const placement: BoundPolicy['placement'][number][] = []
  let unknown: string | undefined
  let isBound = false
  for (const binding of world.bindings.toSorted(byName)) {
    const { placementRef, subjects = [], bindingOverrides, subFilter, metadata } = binding
    if (metadata.deletionTimestamp) continue
    const isRestricted = subFilter === 'restricted'
    const time = metadata.annotations?.[COMPLY_WITHIN]
    const withinMs = time === undefined ? undefined : parseWithin(time)
    for (const { apiGroup, kind, name: subject } of subjects) {
      const set = kind === 'PolicySet' ? sets.find((one) => one.metadata.name === subject) : undefined
      if (apiGroup !== OCM_POLICY_GROUP || !(kind === 'Policy' ? subject === name : set)) continue
      if (PLACEMENT_GROUPS[placementRef.kind] !== placementRef.apiGroup) {
        unknown ??= `PlacementBinding ${metadata.name} refers to ${placementRef.kind} of ${placementRef.apiGroup}, which is not served`
        continue
      }
      const found = world.clustersOf(placementRef.kind, placementRef.name)
      if ('unknown' in found) {
        unknown ??= `PlacementBinding ${metadata.name}: ${found.unknown}`
        continue
      }
      const out = new Set(
        (set?.spec.exclusions ?? []).flatMap(({ policyName, clusterNames }) =>
          policyName === name ? clusterNames : [],
        ),
      )
      const clusters = found.filter((cluster) => !out.has(cluster))
      const isEnforcing = bindingOverrides?.remediationAction?.toLowerCase() === 'enforce'
      if (time !== undefined && withinMs === undefined) {
        badTime ??= `PlacementBinding ${metadata.name}: ${COMPLY_WITHIN} ${JSON.stringify(time)} is not a time such as 24h, 7d or 1w`
      } else if (withinMs !== undefined) demand(duties, clusters, { binding: metadata.name, withinMs })
      if (isRestricted) {
        if (isEnforcing) for (const cluster of clusters) restricted.add(cluster)
      } else {
        isBound = true
        for (const cluster of clusters) all.add(cluster)
        if (isEnforcing) for (const cluster of clusters) enforced.add(cluster)
      }
      placement.push({
        placementBinding: metadata.name,
        ...(placementRef.kind === 'Placement'
          ? { placement: placementRef.name }
          : { placementRule: placementRef.name }),
        ...compact({ policySet: set?.metadata.name }),
      })
    }
  }
  // A restricted binding reaches no cluster by itself.
  for (const cluster of restricted) if (all.has(cluster)) enforced.add(cluster)
  const own = [...all].filter((cluster) => !enforced.has(cluster))
  for (const cluster of duties.keys()) if (!all.has(cluster)) duties.delete(cluster)
  return {
    clusters: own.sort(),
    enforced: [...enforced].sort(),
    placement,
    isBound,
    duties,
    ...compact({ unknown, badTime }),
  }
}

function demand(duties: Map<string, Demand>, clusters: readonly string[], own: Demand): void {
  for (const cluster of clusters) {
    const known = duties.get(cluster)
    if (!known || own.withinMs < known.withinMs) duties.set(cluster, own)
  }
}

function byName(a: PlacementBinding, b: PlacementBinding): number {
  return a.metadata.name < b.metadata.name ? -1 : 1
}
