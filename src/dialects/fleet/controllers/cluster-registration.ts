/** Answers requests of Fleet's own agents, which cannot join. */
import type { Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import type { ClusterRegistration } from '../registration-kinds.ts'

export function clusterRegistrationReconciler(): Reconciler<ClusterRegistration> {
  return {
    name: 'fleet-cluster-registration',
    async reconcile({ next: request, conditions }: Draft<ClusterRegistration>): Promise<Result> {
      if (request.metadata.deletionTimestamp) return {}
      const { namespace = '' } = request.metadata
      ;(request.status ??= {}).granted = false
      conditions.set(
        'Ready',
        'False',
        'NotGranted',
        `Agents of Fleet cannot join this hub. Create a ClusterRegistrationToken in namespace ${namespace} and run the command in the key join of its Secret, or create a Cluster of fleet.cattle.io with kubeConfigSecret.`,
      )
      return {}
    },
  }
}
