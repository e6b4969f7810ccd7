// Tested by src/dialects/karmada/served/decide-claim.test.ts
/** Says on each policy whether it is valid. A policy that is not valid claims and changes nothing. */
import type { Draft, Reconciler } from '../../../engine/reconciler.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { admitPolicy } from '../admit/admit-policy.ts'
import type { OverridePolicy } from '../override/apply-overrides.ts'
import { readPolicy } from './decide-claim.ts'
import type { ReadPolicy } from './decide-claim.ts'
import type { ServedOverride, ServedPropagation } from './kinds.ts'

const knownPolicies = new WeakMap<ServedPropagation, ReadPolicy>()
const knownOverrides = new WeakMap<ServedOverride, ReadOverride>()

type ReadOverride = { readonly policy: OverridePolicy } | { readonly problem: string }

/** Policies that are valid and not being deleted, with Karmada's defaults. */
export function validPolicies(policies: readonly ServedPropagation[]): readonly ServedPropagation[] {
  return policies.flatMap((policy) => {
    if (policy.metadata.deletionTimestamp !== undefined) return []
    const read = remembered(knownPolicies, policy, readPolicy)
    return 'policy' in read ? [read.policy] : []
  })
}

/** Override policies that are valid and not being deleted. */
export function validOverrides(policies: readonly ServedOverride[]): readonly OverridePolicy[] {
  return policies.flatMap((policy) => {
    if (policy.metadata.deletionTimestamp !== undefined) return []
    const read = remembered(knownOverrides, policy, readOverride)
    return 'policy' in read ? [read.policy] : []
  })
}

function readOverride(policy: ServedOverride): ReadOverride {
  const admitted = admitPolicy({ object: policy as never, newId: () => '' })
  return 'error' in admitted ? { problem: admitted.error } : { policy: admitted.object as unknown as OverridePolicy }
}

function remembered<K extends object, V>(known: WeakMap<K, V>, key: K, read: (key: K) => V): V {
  const before = known.get(key)
  if (before) return before
  const found = read(key)
  known.set(key, found)
  return found
}

export function propagationPolicyReconciler({ plural }: Kind): Reconciler<ServedPropagation> {
  return {
    name: `karmada-${plural}`,
    async reconcile(draft) {
      if (draft.seen.metadata.deletionTimestamp !== undefined) return { unchanged: true }
      const read = remembered(knownPolicies, draft.seen, readPolicy)
      const unknown = 'problem' in read ? [] : ineffective(draft.seen)
      return accept(draft, 'problem' in read ? read.problem : undefined, unknown)
    },
  }
}

export function overridePolicyReconciler({ plural }: Kind): Reconciler<ServedOverride> {
  return {
    name: `karmada-${plural}`,
    async reconcile(draft) {
      if (draft.seen.metadata.deletionTimestamp !== undefined) return { unchanged: true }
      const read = remembered(knownOverrides, draft.seen, readOverride)
      return accept(draft, 'problem' in read ? read.problem : undefined, [])
    },
  }
}

/** Fields of a valid policy that have no effect. */
function ineffective({ spec }: ServedPropagation): readonly string[] {
  const fields: readonly (readonly [string, unknown])[] = [
    ['spec.schedulePriority', (spec as Record<string, unknown>)['schedulePriority']],
    ['spec.placement.workloadAffinity', (spec.placement as Record<string, unknown> | undefined)?.['workloadAffinity']],
    ['spec.failover.application', spec.failover?.application],
    ['spec.failover.cluster.statePreservation', spec.failover?.cluster?.statePreservation],
    ['spec.association', spec.association],
  ]
  return fields.filter(([, value]) => value !== undefined).map(([field]) => field)
}

function accept(
  { conditions }: Draft<ServedPropagation> | Draft<ServedOverride>,
  problem: string | undefined,
  unused: readonly string[],
): object {
  if (problem !== undefined) {
    conditions.set('Accepted', 'False', 'Invalid', `The policy has no effect: ${problem}`.slice(0, 4096))
  } else if (unused.length > 0) {
    conditions.set('Accepted', 'True', 'PartlySupported', `These fields have no effect: ${unused.join(', ')}.`)
  } else conditions.set('Accepted', 'True', 'Accepted', 'The policy is valid.')
  return {}
}
