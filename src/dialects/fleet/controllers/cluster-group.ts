/** The status of a ClusterGroup. */
import { matchesSelector } from '../../../core/text/label-selector.ts'
import type { Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { stateOfCluster } from '../../../plan/fleet/cluster-badges.ts'
import type { ClusterGroup } from '../kinds.ts'

/** The ports of the controller. */
export interface ClusterGroupPorts {
  /** The Clusters of a workspace. */
  clustersOf(namespace: string): readonly Cluster[]
}

const MAX_NAMED = 10

/** Fleet counts a cluster without bundles as ready, once its agent has been heard. */
function isReady(cluster: Cluster): boolean {
  const state = stateOfCluster(cluster)
  return state === 'Ready' || state === 'NotSelected'
}

/** Writes the counts of a ClusterGroup's clusters into its status. */
export function clusterGroupReconciler(ports: ClusterGroupPorts): Reconciler<ClusterGroup> {
  return {
    name: 'fleet-cluster-group',
    async reconcile(draft: Draft<ClusterGroup>): Promise<Result> {
      const group = draft.next
      if (group.metadata.deletionTimestamp) return {}
      const selector = group.spec?.selector
      const members = selector
        ? ports
            .clustersOf(group.metadata.namespace ?? '')
            .filter((cluster) => stateOfCluster(cluster) !== undefined)
            .filter(({ metadata }) => matchesSelector(metadata.labels ?? {}, selector))
        : []
      const unready = members.filter((cluster) => !isReady(cluster)).map(({ metadata }) => metadata.name)
      const bundles = members.map(({ status }) => status?.bundles ?? { total: 0, ready: 0 })
      const sum = (field: 'total' | 'ready'): number => bundles.reduce((total, one) => total + one[field], 0)
      const ready = members.length - unready.length
      const status = (group.status ??= {})
      status.clusterCount = members.length
      status.nonReadyClusterCount = unready.length
      if (unready.length === 0) delete status.nonReadyClusters
      else status.nonReadyClusters = unready.sort().slice(0, MAX_NAMED)
      status.display = {
        readyClusters: `${ready}/${members.length}`,
        readyBundles: `${sum('ready')}/${sum('total')}`,
        state: unready.length === 0 ? 'Ready' : 'NotReady',
      }
      const message = selector
        ? `${ready} of ${members.length} clusters are ready.`
        : 'It has no selector, and so no clusters.'
      draft.conditions.set(
        'Ready',
        unready.length === 0 ? 'True' : 'False',
        unready.length === 0 ? 'Ready' : 'NotReady',
        message,
      )
      return {}
    },
  }
}
