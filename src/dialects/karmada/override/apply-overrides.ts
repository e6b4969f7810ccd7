// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** The object that a cluster receives, after Karmada's override policies. */
import { compareText } from '../../../core/text/compare-text.ts'
import type { ClusterAffinity, KarmadaCluster } from '../types.ts'
import { selectorsPriority } from '../resource-selector.ts'
import type { ResourceSelector, SelectableObject, SelectorPriority } from '../resource-selector.ts'
import { affinityPredicate } from '../schedule/cluster-affinity.ts'
import { snapshotOf } from '../schedule/cluster-snapshot.ts'
import { overrideField } from './field-overrider.ts'
import type { FieldOverrider } from './field-overrider.ts'
import { patchObject } from './patch-document.ts'
import { commandOperations, imageOperations, labelOperations } from './pod-overriders.ts'
import type { CommandOverrider, Coverage, ImageOverrider, LabelOverrider } from './pod-overriders.ts'

/** What a rule changes. */
export interface Overriders {
  readonly imageOverrider?: readonly ImageOverrider[]
  readonly commandOverrider?: readonly CommandOverrider[]
  readonly argsOverrider?: readonly CommandOverrider[]
  readonly labelsOverrider?: readonly LabelOverrider[]
  readonly annotationsOverrider?: readonly LabelOverrider[]
  readonly fieldOverrider?: readonly FieldOverrider[]
  readonly plaintext?: readonly { readonly path: string; readonly operator: string; readonly value?: unknown }[]
}

/** OverridePolicy or ClusterOverridePolicy. */
export interface OverridePolicy {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec: {
    readonly resourceSelectors?: readonly ResourceSelector[]
    readonly overrideRules?: readonly { readonly targetCluster?: ClusterAffinity; readonly overriders?: Overriders }[]
    readonly targetCluster?: ClusterAffinity
    readonly overriders?: Overriders
  }
}

/** The object after the policies, and the policies that changed it: a name for each rule that matched the cluster. */
export interface OverrideResult {
  readonly object: Readonly<Record<string, unknown>>
  readonly appliedClusterOverrides: readonly string[]
  readonly appliedOverrides: readonly string[]
}

/**
 * Applies all ClusterOverridePolicies, then the OverridePolicies of the object's namespace. Policies that select the
 * object by name come last, so that they win.
 */
export function applyOverrides(
  object: SelectableObject,
  cluster: KarmadaCluster,
  policies: readonly OverridePolicy[],
  coverage: Coverage = {},
): OverrideResult {
  const namespace = object.metadata.namespace ?? ''
  const first = applyKind(
    object,
    cluster,
    policies.filter(({ kind }) => kind === 'ClusterOverridePolicy'),
    coverage,
  )
  const namespaced = policies.filter(
    ({ kind, metadata }) => kind === 'OverridePolicy' && namespace !== '' && metadata.namespace === namespace,
  )
  const second = applyKind(first.object, cluster, namespaced, coverage)
  return {
    object: second.object as unknown as Readonly<Record<string, unknown>>,
    appliedClusterOverrides: first.applied,
    appliedOverrides: second.applied,
  }
}

function applyKind(
  object: SelectableObject,
  cluster: KarmadaCluster,
  policies: readonly OverridePolicy[],
  coverage: Coverage,
): { readonly object: SelectableObject; readonly applied: readonly string[] } {
  const snapshot = snapshotOf(cluster)
  const matching = policies
    .map((policy) => ({ policy, priority: priorityOf(object, policy) }))
    .filter(({ priority }) => priority > 0)
    .sort((a, b) => a.priority - b.priority || compareText(a.policy.metadata.name, b.policy.metadata.name))
  let changed: Readonly<Record<string, unknown>> = { ...object }
  const applied: string[] = []
  for (const { policy } of matching) {
    for (const { targetCluster, overriders = {} } of rulesOf(policy)) {
      if (targetCluster && !affinityPredicate(targetCluster)(snapshot)) continue
      changed = applyRule(changed, overriders, coverage)
      applied.push(policy.metadata.name)
    }
  }
  return { object: changed as unknown as SelectableObject, applied }
}

function priorityOf(object: SelectableObject, { spec }: OverridePolicy): SelectorPriority {
  return (spec.resourceSelectors ?? []).length === 0 ? 1 : selectorsPriority(object, spec.resourceSelectors)
}

function rulesOf({ spec }: OverridePolicy): NonNullable<OverridePolicy['spec']['overrideRules']> {
  if ((spec.overrideRules ?? []).length > 0) return spec.overrideRules!
  return [{ ...(spec.targetCluster && { targetCluster: spec.targetCluster }), overriders: spec.overriders ?? {} }]
}

function applyRule(
  object: Readonly<Record<string, unknown>>,
  rule: Overriders,
  coverage: Coverage,
): Readonly<Record<string, unknown>> {
  let changed = object
  for (const one of rule.imageOverrider ?? []) changed = patchObject(changed, imageOperations(changed, one, coverage))
  for (const one of rule.commandOverrider ?? [])
    changed = patchObject(changed, commandOperations(changed, 'command', one, coverage))
  for (const one of rule.argsOverrider ?? [])
    changed = patchObject(changed, commandOperations(changed, 'args', one, coverage))
  for (const one of rule.labelsOverrider ?? []) changed = patchObject(changed, labelOperations(changed, 'labels', one))
  for (const one of rule.annotationsOverrider ?? []) {
    changed = patchObject(changed, labelOperations(changed, 'annotations', one))
  }
  for (const one of rule.fieldOverrider ?? []) changed = overrideField(changed, one)
  const plaintext = (rule.plaintext ?? []).map(({ operator, path, value }) => ({ op: operator, path, value }))
  return patchObject(changed, plaintext)
}
