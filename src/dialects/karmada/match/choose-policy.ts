/** The policy that claims an object: PropagationPolicies of its namespace first, then ClusterPropagationPolicies. */
import { compareText } from '../../../core/text/compare-text.ts'
import { selectorsPriority } from '../resource-selector.ts'
import type { ResourceSelector, SelectableObject } from '../resource-selector.ts'

/** PropagationPolicy or ClusterPropagationPolicy. */
export interface PropagationPolicy {
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
  }
  readonly spec: {
    readonly resourceSelectors?: readonly ResourceSelector[]
    readonly placement?: unknown
    readonly priority?: number
    readonly preemption?: string
    readonly dependentOverrides?: readonly string[]
    readonly activationPreference?: string
  }
}

/** The explicit priority of a policy. */
export function priorityOf({ spec }: PropagationPolicy): number {
  return spec.priority ?? 0
}

/**
 * The best of the policies that select the object: by explicit priority, then by how precisely it selects the object,
 * then by name. A PropagationPolicy always comes before a ClusterPropagationPolicy.
 */
export function choosePolicy(
  object: SelectableObject,
  policies: Iterable<PropagationPolicy>,
): PropagationPolicy | undefined {
  const namespace = object.metadata.namespace ?? ''
  const all = [...policies]
  const own = all.filter(
    ({ kind, metadata }) => kind === 'PropagationPolicy' && namespace !== '' && metadata.namespace === namespace,
  )
  return (
    best(object, own) ??
    best(
      object,
      all.filter(({ kind }) => kind === 'ClusterPropagationPolicy'),
    )
  )
}

function best(object: SelectableObject, policies: readonly PropagationPolicy[]): PropagationPolicy | undefined {
  return policies
    .map((policy) => ({ policy, precision: selectorsPriority(object, policy.spec.resourceSelectors) }))
    .filter(({ precision }) => precision > 0)
    .sort(
      (a, b) =>
        priorityOf(b.policy) - priorityOf(a.policy) ||
        b.precision - a.precision ||
        compareText(a.policy.metadata.name, b.policy.metadata.name),
    )[0]?.policy
}
