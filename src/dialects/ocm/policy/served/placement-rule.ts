// Tested by src/dialects/ocm/policy/served/policy.sim.test.ts
/** Selects the clusters of a PlacementRule, which is read as a Placement of its namespace. */
import type { Reconciler, Result } from '../../../../engine/reconciler.ts'
import { jsonEqual } from '../../../../core/json.ts'
import type { CompileCel } from '../../../../plan/placement/types.ts'
import type { ManagedCluster, OcmPlacement } from '../../kinds.ts'
import type { PlacementObjects } from '../../placement/object-store.ts'
import { placeOnce } from '../../placement/place.ts'
import type { PlacementRule } from './kinds.ts'

/** Ports of the reconciler. */
export interface PlacementRulePorts extends Omit<PlacementObjects, 'replacePages'> {
  readonly compileCel: CompileCel
}

/** Writes the decisions of PlacementRules. */
export function placementRuleReconciler(ports: PlacementRulePorts): Reconciler<PlacementRule> {
  return {
    name: 'ocm-placement-rule',
    async reconcile(draft, { clock }): Promise<Result> {
      const rule = draft.next
      const objects: PlacementObjects = { ...ports, replacePages: () => {} }
      const { selected } = placeOnce(objects, asPlacement(rule), { now: clock.now(), compileCel: ports.compileCel })
      const faces = new Map(ports.clusters().map((face) => [face.metadata.name, face]))
      const before = new Set((rule.status?.decisions ?? []).map(({ clusterName }) => clusterName))
      const { clusters = [], clusterConditions = [], clusterReplicas } = rule.spec ?? {}
      const names = selected
        .filter((name) => clusters.length === 0 || clusters.some((one) => one.name === name))
        .filter((name) => hasConditions(faces.get(name), clusterConditions))
        // Clusters that are selected stay while there are enough.
        .sort((a, b) => Number(before.has(b)) - Number(before.has(a)) || (a < b ? -1 : 1))
        .slice(0, clusterReplicas ?? selected.length)
        .sort()
      const decisions = names.map((name) => ({ clusterName: name, clusterNamespace: name }))
      if (!jsonEqual(rule.status?.decisions, decisions)) rule.status = { ...rule.status, decisions }
      return {}
    },
  }
}

/** The bindings of ClusterSets in its namespace limit a PlacementRule too. */
function asPlacement({ metadata, spec }: PlacementRule): OcmPlacement {
  const { clusterSelector } = spec ?? {}
  return {
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'Placement',
    metadata,
    spec: {
      predicates: clusterSelector ? [{ requiredClusterSelector: { labelSelector: clusterSelector } }] : [],
      tolerations: [{ operator: 'Exists' }],
      prioritizerPolicy: { mode: 'Exact', configurations: [] },
    },
  }
}

function hasConditions(
  face: ManagedCluster | undefined,
  wanted: readonly { readonly type?: string | undefined; readonly status?: string | undefined }[],
): boolean {
  return wanted.every(({ type, status }) =>
    face?.status?.conditions?.some((one) => one.type === type && one.status === status),
  )
}
