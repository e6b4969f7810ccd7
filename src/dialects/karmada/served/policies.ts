// Tested by src/dialects/karmada/served/decide-claim.test.ts
/** Says on each policy whether it is valid. While a policy is not valid, what was valid of it last stays in force. */
import { compact } from '../../../core/compact.ts'
import type { Draft, Reconciler } from '../../../engine/reconciler.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { admitPolicy } from '../admit/admit-policy.ts'
import type { OverridePolicy } from '../override/apply-overrides.ts'
import { FAIL_BACK, readPolicy } from './decide-claim.ts'
import type { ServedOverride, ServedPropagation } from './kinds.ts'

const knownPolicies = new WeakMap<ServedPropagation, InForce<ServedPropagation>>()
const knownOverrides = new WeakMap<ServedOverride, InForce<OverridePolicy>>()

/** What of a policy is in force. */
interface InForce<T> {
  /** Absent for a policy that is not valid and has not been valid before. */
  readonly policy?: T
  /** Why the policy is not valid as it is. */
  readonly problem?: string
  /** The older generation that is in force instead. */
  readonly generation?: number
}

/** What of a policy is in force: the policy with Karmada's defaults, or what was valid of it last. */
export function propagationInForce(policy: ServedPropagation): InForce<ServedPropagation> {
  return remembered(knownPolicies, policy, (one) => {
    const read = readPolicy(one)
    if ('policy' in read) return read
    const { lastValid } = one.status ?? {}
    if (!lastValid) return read
    const { [FAIL_BACK]: _invalid, ...others } = one.metadata.annotations ?? {}
    const annotations = compact({ ...others, [FAIL_BACK]: lastValid.failBackAfter })
    const spec = lastValid.spec as ServedPropagation['spec']
    const before = readPolicy({ ...one, metadata: { ...one.metadata, annotations }, spec })
    return 'policy' in before ? { ...before, problem: read.problem, generation: lastValid.generation } : read
  })
}

function overrideInForce(policy: ServedOverride): InForce<OverridePolicy> {
  return remembered(knownOverrides, policy, (one) => {
    const read = readOverride(one)
    const { lastValid } = one.status ?? {}
    if ('policy' in read || !lastValid) return read
    const before = readOverride({ ...one, spec: lastValid.spec })
    return 'policy' in before ? { ...before, problem: read.problem, generation: lastValid.generation } : read
  })
}

type ReadOverride = { readonly policy: OverridePolicy } | { readonly problem: string }

function readOverride(policy: ServedOverride): ReadOverride {
  const admitted = admitPolicy({ object: policy as never, newId: () => '' })
  return 'error' in admitted ? { problem: admitted.error } : { policy: admitted.object as unknown as OverridePolicy }
}

/** The policies that are in force and not being deleted, and those that have never been valid. */
export function policiesInForce(policies: readonly ServedPropagation[]): {
  readonly policies: readonly ServedPropagation[]
  readonly invalid: readonly ServedPropagation[]
} {
  const present = policies.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  return {
    policies: present.flatMap((policy) => propagationInForce(policy).policy ?? []),
    invalid: present.filter((policy) => !propagationInForce(policy).policy),
  }
}

/** Override policies that are in force and not being deleted. */
export function validOverrides(policies: readonly ServedOverride[]): readonly OverridePolicy[] {
  return policies.flatMap((policy) =>
    policy.metadata.deletionTimestamp === undefined ? (overrideInForce(policy).policy ?? []) : [],
  )
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
      const inForce = propagationInForce(draft.seen)
      const { generation = 0, annotations } = draft.seen.metadata
      if (inForce.problem === undefined) {
        const lastValid = compact({ generation, failBackAfter: annotations?.[FAIL_BACK], spec: draft.seen.spec })
        draft.next.status = { ...draft.next.status, lastValid }
      }
      return accept(draft, inForce, inForce.problem === undefined ? ineffective(draft.seen) : [])
    },
  }
}

export function overridePolicyReconciler({ plural }: Kind): Reconciler<ServedOverride> {
  return {
    name: `karmada-${plural}`,
    async reconcile(draft) {
      if (draft.seen.metadata.deletionTimestamp !== undefined) return { unchanged: true }
      const inForce = overrideInForce(draft.seen)
      if (inForce.problem === undefined) {
        const lastValid = { generation: draft.seen.metadata.generation ?? 0, spec: draft.seen.spec }
        draft.next.status = { ...draft.next.status, lastValid }
      }
      return accept(draft, inForce, [])
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
  { problem, generation }: InForce<unknown>,
  unused: readonly string[],
): object {
  if (problem !== undefined) {
    const effect =
      generation === undefined
        ? 'The policy has no effect'
        : `The policy is not valid, so generation ${generation} of it stays in force`
    conditions.set('Accepted', 'False', 'Invalid', `${effect}: ${problem}`.slice(0, 4096))
  } else if (unused.length > 0) {
    conditions.set('Accepted', 'True', 'PartlySupported', `These fields have no effect: ${unused.join(', ')}.`)
  } else conditions.set('Accepted', 'True', 'Accepted', 'The policy is valid.')
  return {}
}
