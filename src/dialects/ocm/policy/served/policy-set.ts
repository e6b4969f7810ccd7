// Tested by src/dialects/ocm/policy/served/policy.sim.test.ts
/** Writes the state of the Policies of a PolicySet into its status. */
import { compact } from '../../../../core/compact.ts'
import type { Reconciler, Result } from '../../../../engine/reconciler.ts'
import type { PlacementBinding, Policy, PolicySet } from './kinds.ts'
import { setStatus } from './policy-status.ts'

/** Ports of the reconciler. */
export interface PolicySetPorts {
  policyOf(namespace: string, name: string): Policy | undefined
  bindingsIn(namespace: string): readonly PlacementBinding[]
}

/** Reconciles PolicySets. */
export function policySetReconciler({ policyOf, bindingsIn }: PolicySetPorts): Reconciler<PolicySet> {
  return {
    name: 'ocm-policy-set',
    async reconcile({ next }): Promise<Result> {
      const { namespace = '', name } = next.metadata
      if (next.metadata.deletionTimestamp) return {}
      const placement = bindingsIn(namespace)
        .filter(({ subjects = [] }) => subjects.some((one) => one.kind === 'PolicySet' && one.name === name))
        .map(({ metadata, placementRef }) => ({
          placementBinding: metadata.name,
          ...(placementRef.kind === 'Placement'
            ? { placement: placementRef.name }
            : { placementRule: placementRef.name }),
        }))
      const { conditions } = next.status ?? {}
      const shown = setStatus(next, (policy) => policyOf(namespace, policy))
      next.status = { ...shown, ...compact({ placement: placement.length > 0 ? placement : undefined, conditions }) }
      return {}
    },
  }
}
