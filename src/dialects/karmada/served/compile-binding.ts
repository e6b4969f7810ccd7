// Tested by src/dialects/karmada/served/compile-binding.test.ts
/** What each cluster of a binding receives, and the options of the Delivery. Pure. */
import { jsonEqual } from '../../../core/json.ts'
import { compact } from '../../../core/compact.ts'
import type { BundleOptions } from '../../../kinds/fields/bundle-options.ts'
import { isKeptKind } from '../../../plan/objects/object-options.ts'
import { applyOverrides } from '../override/apply-overrides.ts'
import type { OverridePolicy } from '../override/apply-overrides.ts'
import { selectorsPriority } from '../resource-selector.ts'
import { divideCompletions, withoutServerFields, withReplicas } from '../templates/revise-template.ts'
import { isDivisible } from '../templates/template-kinds.ts'
import type { Template } from '../templates/template-kinds.ts'
import { feedbackOf, selectorOf } from '../templates/template-status.ts'
import type { KarmadaCluster, TargetCluster } from '../types.ts'
import type { ServedBinding } from './kinds.ts'

/** The object for a cluster, or why there is none. */
export type ClusterContent =
  | {
      readonly cluster: string
      readonly object: Template
      readonly overrides: readonly string[]
      /** Policies that are applied without effect, since later ones overwrite it; for explanations. */
      readonly shadowed: readonly string[]
    }
  | { readonly cluster: string; readonly problem: string }

/** The clusters of a binding: its own, those that it leaves gracefully, and those of workloads that need it. */
export function targetsOf({ spec }: ServedBinding): readonly TargetCluster[] {
  const targets = new Map<string, TargetCluster>()
  for (const { clusters = [] } of spec.requiredBy ?? []) for (const { name } of clusters) targets.set(name, { name })
  for (const { fromCluster, replicas } of spec.gracefulEvictionTasks ?? []) {
    targets.set(fromCluster, compact({ name: fromCluster, replicas }))
  }
  for (const target of spec.clusters ?? []) targets.set(target.name, target)
  return [...targets.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Inputs of `compileBinding`. */
export interface CompileFacts {
  readonly binding: ServedBinding
  readonly template: Template
  readonly clusterOf: (name: string) => KarmadaCluster | undefined
  readonly overrides: readonly OverridePolicy[]
  /** Finds policies whose changes are overwritten. Defaults to false: it costs a pass for each policy. */
  readonly findsShadowed?: boolean
}

/** The objects of all clusters. An override that cannot be applied concerns its cluster alone. */
export function compileBinding({
  binding,
  template,
  clusterOf,
  overrides,
  findsShadowed = false,
}: CompileFacts): readonly ClusterContent[] {
  const base = withoutServerFields(template)
  const targets = targetsOf(binding)
  const divides = isDivisible(template) && binding.spec.replicas !== undefined
  const shares = targets.map(({ name, replicas = 0 }) => ({ name, replicas }))
  const isDivided = binding.spec.placement?.replicaScheduling?.replicaSchedulingType === 'Divided'
  const completions = isDivided ? divideCompletions(template, shares) : undefined
  const matching = overrides.filter(({ kind, metadata, spec }) => {
    const isNear = kind === 'ClusterOverridePolicy' || metadata.namespace === template.metadata.namespace
    const selects =
      (spec.resourceSelectors ?? []).length === 0 || selectorsPriority(template, spec.resourceSelectors) > 0
    return isNear && selects
  })
  return targets.map(({ name, replicas = 0 }): ClusterContent => {
    const own = divides ? withReplicas(base, replicas, completions?.get(name)) : base
    if (matching.length === 0) return { cluster: name, object: own, overrides: [], shadowed: [] }
    const cluster = clusterOf(name) ?? { metadata: { name } }
    try {
      const { object, appliedClusterOverrides, appliedOverrides } = applyOverrides(
        own,
        cluster,
        matching,
        ALL_CONTAINERS,
      )
      return {
        cluster: name,
        object: object as unknown as Template,
        overrides: [...appliedClusterOverrides, ...appliedOverrides],
        shadowed: findsShadowed ? shadowedPolicies(own, cluster, { matching, object }) : [],
      }
    } catch (caught) {
      return { cluster: name, problem: caught instanceof Error ? caught.message : String(caught) }
    }
  })
}

/** The names of policies without which the object is the same; a policy that another one needs is not among them. */
function shadowedPolicies(
  own: Template,
  cluster: KarmadaCluster,
  { matching, object }: { readonly matching: readonly OverridePolicy[]; readonly object: unknown },
): readonly string[] {
  return matching
    .filter((policy) => {
      const others = matching.filter((one) => one !== policy)
      try {
        const applied = applyOverrides(own, cluster, [policy], ALL_CONTAINERS)
        if (applied.appliedClusterOverrides.length + applied.appliedOverrides.length === 0) return false
        return jsonEqual(applyOverrides(own, cluster, others, ALL_CONTAINERS).object, object)
      } catch {
        return false
      }
    })
    .map(({ metadata }) => metadata.name)
}

const ALL_CONTAINERS = { coversAll: true } as const

/** The label of a template whose replicas a controller of its clusters sets. */
const RETAIN_REPLICAS = 'resourcetemplate.karmada.io/retain-replicas'

/** What becomes of the object on its clusters when it is deleted on the hub. */
export function deletedPolicy({ spec }: Pick<ServedBinding, 'spec'>): 'Delete' | 'Orphan' {
  return spec.preserveResourcesOnDeletion === true ? 'Orphan' : 'Delete'
}

/** How the agents apply, watch and remove the object. */
export function deliveryOptions({ spec }: ServedBinding, template: Template): BundleOptions {
  const { apiVersion, kind, metadata } = template
  const selector = selectorOf(template)
  const overwrites = spec.conflictResolution === 'Overwrite'
  const isNamed = isKeptKind({ apiVersion, kind, name: metadata.name })
  const feedback = feedbackOf(template)
  const retains = metadata.labels?.[RETAIN_REPLICAS] === 'true'
  return compact({
    apply: { method: 'ServerSideApply', force: overwrites, takeover: overwrites ? 'Always' : 'Never' },
    delete: compact({
      unplaced: 'Delete' as const,
      bundleDeleted: deletedPolicy({ spec }),
      named: isNamed ? [selector] : undefined,
    }),
    namespaces: metadata.namespace ? { create: true } : undefined,
    feedback: feedback.length > 0 ? [...feedback] : undefined,
    ignore: retains ? [{ ...selector, pointers: ['/spec/replicas'] }] : undefined,
  })
}
