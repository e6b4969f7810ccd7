import { jsonEqual } from '../../core/json.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import type { Cluster } from '../../kinds/cluster.ts'
import { keyOf } from '../../kinds/meta.ts'
import { PlacementDecision } from '../../kinds/placement-decision.ts'
import { Placement } from '../../kinds/placement.ts'
import { explainPlacement } from '../../plan/placement.ts'
import type { PlacementCluster } from '../../plan/placement.ts'
import { inNamespaceOf } from '../caches.ts'
import type { ControllerParts } from '../parts.ts'
import { triggerOn, withTriggers } from '../triggers.ts'
import { placementDecideReconciler } from './reconcile.ts'

/** Placement → PlacementDecision pages. */
export function createPlacementDecide(parts: ControllerParts): Controller {
  const { caches, client } = parts
  const write = (signal: AbortSignal) => ({ fieldManager: 'flotilla-placement-decide', signal })
  const reconciler = placementDecideReconciler({
    clusters: () => caches.clusters.lister.list().map(asPlacementCluster),
    pagesOf: (placement) => caches.decisions.lister.by('placement', placement),
    createPage: async (page, signal) => void (await client.create(PlacementDecision, page, write(signal))),
    updatePage: async (page, signal) => void (await client.update(PlacementDecision, page, write(signal))),
    deletePage: async (page, signal) => {
      const { name, namespace, uid, resourceVersion } = page.metadata
      await client.delete(
        PlacementDecision,
        { name, ...(namespace ? { namespace } : {}) },
        { signal, ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) },
      )
    },
  })
  const clusters = triggerOn(caches.clusters, ({ before, after }) => {
    const was = before && asPlacementCluster(before)
    const is = after && asPlacementCluster(after)
    return jsonEqual(was, is) ? [] : placementsToLookAt(caches.placements.lister.list(), was, is)
  })
  // A page that a person changed or deleted is put right.
  const pages = triggerOn(caches.decisions, ({ before, after }) => {
    const page = after ?? before
    return page ? [inNamespaceOf(page, page.spec.placement)] : []
  })
  const controller = createController({
    ...parts,
    type: Placement,
    informer: caches.placements,
    reconciler,
    watches: [clusters.watch, pages.watch],
  })
  return withTriggers(controller, [clusters, pages])
}

function placementsToLookAt(
  placements: readonly Placement[],
  was: PlacementCluster | undefined,
  is: PlacementCluster | undefined,
): string[] {
  const selects = (placement: Placement, cluster: PlacementCluster | undefined) =>
    cluster !== undefined && explainPlacement(placement.spec, cluster).selected
  return placements
    .filter(
      // An empty answer explains itself with what the fleet looks like, so it follows every change.
      (placement) => selects(placement, was) !== selects(placement, is) || !placement.status?.selected,
    )
    .map(keyOf)
}

function asPlacementCluster(cluster: Cluster): PlacementCluster {
  return {
    name: cluster.metadata.name,
    labels: cluster.metadata.labels ?? {},
    accepted: cluster.spec.accepted,
    leaving: cluster.metadata.deletionTimestamp !== undefined,
  }
}
