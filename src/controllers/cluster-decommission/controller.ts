import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { assignmentOf, reportOf } from '../caches/caches.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { triggerOn } from '../../engine/trigger.ts'
import { clusterDecommissionReconciler } from './reconcile.ts'
import { deleteSame } from '../../client/find-object.ts'

/** Creates the controller that takes decommissioned clusters out of the fleet. */
export function createClusterDecommission(parts: ControllerParts): Controller {
  const { caches } = parts
  const reconciler = clusterDecommissionReconciler({
    assignmentOf: (cluster) => assignmentOf(caches, cluster),
    reportOf: (cluster) => reportOf(caches, cluster),
    forget: (cluster, signal) => deleteSame(parts.client, Cluster, cluster, signal),
  })
  const isLeaving = (name: string) => caches.clusters.lister.get(name)?.spec.decommission !== undefined
  const triggers = [
    triggerOn(caches.assignments, ({ key }) => (isLeaving(key) ? [key] : [])),
    triggerOn(caches.reports, ({ key }) => (isLeaving(key) ? [key] : [])),
  ]
  return createController({
    ...parts,
    type: Cluster,
    informer: caches.clusters,
    reconciler,
    triggers,
    failureCondition: false,
  })
}
