// Tested by src/controllers/controllers.sim.test.ts
import type { Change } from '../../client/cache.ts'
import { createInformer } from '../../client/informer.ts'
import type { Informer } from '../../client/informer.ts'
import { toError } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { Lease } from '../../kinds/builtin/coordination.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import { LIVENESS_ANNOTATION, LIVENESS_LABEL, LIVENESS_NAMESPACE, parseLiveness } from '../../wire/link/liveness.ts'
import { assignmentOf, reportOf } from '../caches/caches.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { triggerOn } from '../../engine/trigger.ts'
import { verdictDiffers } from './judge.ts'
import { createLivenessCache } from './liveness-cache.ts'
import type { LivenessCache } from './liveness-cache.ts'
import { clustersOfBundle, placedBundles, reselectedClusters } from './placed-bundles.ts'
import { clusterAvailabilityReconciler } from './reconcile.ts'
import { aliasKeys } from './registration.ts'

/** Time for which a change of counts alone waits before it is written. */
const SETTLE_MS = 1000

/** The informer for the liveness summaries of gateways; other Leases are not cached. */
export function createLeaseInformer(parts: Omit<ControllerParts, 'caches'>): Informer<Lease> {
  const select = { namespace: LIVENESS_NAMESPACE, labelSelector: LIVENESS_LABEL }
  return createInformer({ ...parts, type: Lease, select })
}

/** Creates the controller that writes the availability of clusters into their status. */
export function createClusterAvailability(parts: ControllerParts & { readonly leases: Informer<Lease> }): Controller {
  const { caches, clock, leases, log } = parts
  const book = createLivenessCache(clock)
  caches.clusters.addIndex('alias', aliasKeys)
  const ports = {
    viewsOf: book.viewsOf,
    assignmentOf: (cluster: Cluster) => assignmentOf(caches, cluster),
    reportOf: (cluster: Cluster) => reportOf(caches, cluster),
    placedOn: (cluster: Cluster) => placedBundles(caches, cluster),
    havingAlias: (key: string) => caches.clusters.lister.by('alias', key),
    settleMs: SETTLE_MS,
  }
  const summaries = triggerOn(leases, (change) => {
    if (!noteSummary(book, change, log)) return []
    return caches.clusters.lister
      .list()
      .filter((cluster) => verdictDiffers(cluster, ports))
      .map(({ metadata }) => metadata.name)
  })
  const sameName = ({ key }: Change<KubeObject>) => [key]
  // Clusters that share an alias with a changed cluster, before or after the change.
  const aliases = triggerOn(caches.clusters, ({ before, after }) =>
    jsonEqual(before?.spec.aliases ?? [], after?.spec.aliases ?? [])
      ? []
      : [before, after]
          .flatMap((cluster) => (cluster ? aliasKeys(cluster) : []))
          .flatMap((key) => ports.havingAlias(key).map(({ metadata }) => metadata.name)),
  )
  const triggers = [
    summaries,
    aliases,
    triggerOn(caches.assignments, sameName),
    triggerOn(caches.reports, sameName),
    triggerOn(caches.decisions, reselectedClusters),
    triggerOn(caches.bundles, (change) => clustersOfBundle(caches, change)),
  ]
  return createController({
    ...parts,
    type: Cluster,
    informer: caches.clusters,
    reconciler: clusterAvailabilityReconciler(ports),
    triggers,
    failureCondition: false,
  })
}

function noteSummary(book: LivenessCache, { after }: Change<Lease>, log: Logger): boolean {
  const text = after?.metadata.annotations?.[LIVENESS_ANNOTATION]
  if (!after || text === undefined) return false
  try {
    book.note(after.metadata.name, parseLiveness(text))
    return true
  } catch (caught) {
    // A summary that cannot be parsed counts as missing: the gateway's last summary grows old, and no cluster is marked
    // offline by it.
    log.warn({ name: after.metadata.name, err: toError(caught) }, 'liveness summary is not readable')
    return false
  }
}
