/** The fleet as a Placement sees it, from objects of the API. */
import { useMemo } from 'react'
import type { ClusterSetBinding } from '../../../src/kinds/native/cluster-set-binding.ts'
import type { ClusterSet } from '../../../src/kinds/native/cluster-set.ts'
import type { Cluster } from '../../../src/kinds/native/cluster.ts'
import type { PlacementDecision } from '../../../src/kinds/native/placement-decision.ts'
import type { Placement } from '../../../src/kinds/native/placement.ts'
import type { Project } from '../../../src/kinds/native/project.ts'
import { placementView } from '../../../src/plan/projects/placement-verdicts.ts'
import type { PlacementView } from '../../../src/plan/projects/placement-verdicts.ts'
import { ApiFailure } from '../data/api-failure.ts'
import { hubNow } from '../data/live-state.ts'
import { useList } from '../data/queries.ts'

export interface KnownView {
  /** Undefined while it is read, and where a list is refused. */
  readonly view: PlacementView | undefined
  /** Undefined where the user may not list Projects. */
  readonly projects: readonly Project[] | undefined
  readonly error: Error | null
}

export function usePlacementView(placement: Placement | undefined): KnownView {
  const isAsked = placement !== undefined
  const clusters = useList<Cluster>('clusters', {}, isAsked)
  const sets = useList<ClusterSet>('clustersets', {}, isAsked)
  const bindings = useList<ClusterSetBinding>(
    'clustersetbindings',
    { namespace: placement?.metadata.namespace },
    isAsked,
  )
  const decisions = useList<PlacementDecision>('placementdecisions', {}, isAsked)
  const projects = useList<Project>('projects', {}, isAsked)
  const isProjectsKnown = projects.data !== undefined || projects.error instanceof ApiFailure
  const view = useMemo(() => {
    if (!placement || !clusters.data || !sets.data || !bindings.data || !decisions.data || !isProjectsKnown) return
    const facts = { clusters: clusters.data, sets: sets.data, bindings: bindings.data, decisions: decisions.data }
    return placementView(placement, facts, hubNow())
  }, [placement, clusters.data, sets.data, bindings.data, decisions.data, isProjectsKnown])
  return {
    view,
    projects: projects.data,
    error: clusters.error ?? sets.error ?? bindings.error ?? decisions.error,
  }
}
