/** Reads the inputs of a Placement from API objects; the hub and the CLI share this file. */
import { compact } from '../../core/compact.ts'
import type { ClusterSet } from '../../kinds/native/cluster-set.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import { CORDON_TAINT } from '../windows/cluster-hold.ts'
import type { GroupPlace, PlacementCluster, PlacementLoad, PlacementQuestion, PlacementSet } from './types.ts'
import type { ClusterDecision } from './decisions/paginate.ts'

const known = new WeakMap<Cluster, PlacementCluster>()

/** Reads a Cluster; the result is cached per object. */
export function asPlacementCluster(cluster: Cluster): PlacementCluster {
  const before = known.get(cluster)
  if (before) return before
  const taints = taintsOf(cluster)
  const { claims, scores } = cluster.status ?? {}
  const facts: PlacementCluster = {
    name: cluster.metadata.name,
    labels: cluster.metadata.labels ?? {},
    accepted: cluster.spec.accepted,
    leaving: cluster.metadata.deletionTimestamp !== undefined || cluster.spec.decommission !== undefined,
    ...(claims ? claimFacts(claims) : {}),
    ...compact({ taints, scores }),
  }
  known.set(cluster, facts)
  return facts
}

/** A cordon counts as a taint: Placements that already select the cluster keep it. */
function taintsOf({ spec }: Cluster): PlacementCluster['taints'] {
  const { taints, cordon } = spec
  if (!cordon) return taints
  return [...(taints ?? []), { key: CORDON_TAINT, effect: 'NoSelectIfNew', timeAdded: cordon.since }]
}

type ClaimFacts = Required<Pick<PlacementCluster, 'claims' | 'allocatable' | 'capacity'>>

/** Claims by name; claims about resources (`flotilla.dev/allocatable.cpu`) also as amounts. */
function claimFacts(list: readonly { readonly name: string; readonly value: string }[]): ClaimFacts {
  const claims: Record<string, string> = {}
  const allocatable: Record<string, string> = {}
  const capacity: Record<string, string> = {}
  for (const { name, value } of list) {
    claims[name] = value
    const resource = /^flotilla\.dev\/(allocatable|capacity)\.(.+)$/.exec(name)
    if (resource) (resource[1] === 'capacity' ? capacity : allocatable)[resource[2]!] = value
  }
  return { claims, allocatable, capacity }
}

export function asPlacementSet({ metadata, spec }: ClusterSet): PlacementSet {
  const { clusterSelector, access } = spec
  return compact({ name: metadata.name, access, selector: clusterSelector })
}

/** Number of decisions of other Placements per cluster. */
export function loadFromOthers(decisions: readonly PlacementDecision[], placement: string): PlacementLoad {
  const counts = new Map<string, number>()
  let max = 0
  for (const { spec, metadata } of decisions) {
    if (`${metadata.namespace ?? ''}/${spec.placement}` === placement) continue
    for (const { cluster, state } of spec.decisions) {
      if (state !== 'Selected') continue
      const count = (counts.get(cluster) ?? 0) + 1
      counts.set(cluster, count)
      if (count > max) max = count
    }
  }
  return { countOf: (cluster) => counts.get(cluster) ?? 0, max }
}

/** The spec of a Placement without its guard, which does not change the selection. */
export function questionOf(placement: Pick<Placement, 'spec'>): PlacementQuestion {
  const { guard: _, ...question } = placement.spec
  return question
}

/** The decisions per page, also of an earlier generation: they are the last good decisions. */
export function decisionsOnPages(pages: readonly PlacementDecision[]): readonly (readonly ClusterDecision[])[] {
  const places: (readonly ClusterDecision[])[] = []
  for (const { spec } of pages) if (spec.page < spec.pages) places[spec.page] = spec.decisions
  return Array.from(places, (decisions) => decisions ?? [])
}

/** Clusters with an Evicting decision. */
export function evictingOf(pages: readonly (readonly ClusterDecision[])[]): readonly string[] {
  return pages.flat().flatMap(({ cluster, state }) => (state === 'Evicting' ? [cluster] : []))
}

/** Selected clusters with their group. */
export function incumbentsOf(
  pages: readonly (readonly ClusterDecision[])[],
): ReadonlyMap<string, GroupPlace | undefined> {
  const incumbents = new Map<string, GroupPlace | undefined>()
  for (const { cluster, state, group, groupIndex } of pages.flat()) {
    if (state !== 'Selected') continue
    incumbents.set(cluster, groupIndex === undefined ? undefined : { name: group ?? '', index: groupIndex })
  }
  return incumbents
}
