import type { MatchResources, ValidatingAdmissionPolicyBinding } from '../../kinds/builtin/admission.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import type { ServerParts } from '../server/context.ts'
import { followKind } from '../storage/follow-kind.ts'
import type { RunningFollower } from '../storage/follow-kind.ts'
import type { AnyPolicySpec, CompiledScope, PolicyProblem } from '../../plan/policy/rules/compile-policy.ts'

/** The policies and bindings that are in force, compiled once. */

/** A policy of any kind. */
export interface AnyPolicy extends KubeObject {
  spec?: AnyPolicySpec & { matchConstraints?: MatchResources; failurePolicy?: string }
}

/** A binding of a policy. Bindings of mutating policies have no actions. */
export type PolicyBinding = ValidatingAdmissionPolicyBinding

/** A policy as it is known. */
export interface KnownPolicy<P extends AnyPolicy = AnyPolicy, C extends CompiledScope = CompiledScope> {
  readonly policy: P
  /** Absent when it cannot be compiled, which only an older release can have let through. */
  readonly compiled: C | undefined
  readonly problem: string | undefined
}

/** Policies and their bindings. */
export interface PolicyCache<P extends AnyPolicy, C extends CompiledScope> extends RunningFollower {
  /** The policies with bindings, in the order of their names. */
  bound(): readonly { readonly policy: KnownPolicy<P, C>; readonly bindings: readonly PolicyBinding[] }[]
}

/** A kind of policies. */
export interface PolicyType<P extends AnyPolicy, C extends CompiledScope> {
  readonly policies: Kind<P>
  readonly bindings: Kind<PolicyBinding>
  compile(policy: P): { readonly compiled: C; readonly problems: readonly PolicyProblem[] }
  /** Is told of every policy that is new or has changed. */
  saw?(policy: P): void
}

/** Follows policies and bindings in the store until the signal is aborted. */
export function startPolicyCache<P extends AnyPolicy, C extends CompiledScope>(
  parts: Pick<ServerParts, 'store' | 'clock' | 'log'>,
  type: PolicyType<P, C>,
  signal: AbortSignal,
): PolicyCache<P, C> {
  const policies = new Map<string, KnownPolicy<P, C>>()
  const bindings = new Map<string, PolicyBinding>()
  let bound: ReturnType<PolicyCache<P, C>['bound']> | undefined
  const first = followKind(
    parts,
    type.policies,
    {
      saw(object) {
        const policy = object as unknown as P
        const { compiled, problems } = type.compile(policy)
        const problem = problems[0] && `${problems[0].field}: ${problems[0].detail}`
        policies.set(policy.metadata.name, { policy, compiled: problem === undefined ? compiled : undefined, problem })
        bound = undefined
        type.saw?.(policy)
      },
      lost(name) {
        policies.delete(name)
        bound = undefined
      },
    },
    signal,
  )
  const second = followKind(
    parts,
    type.bindings,
    {
      saw(object) {
        bindings.set(object.metadata.name, object)
        bound = undefined
      },
      lost(name) {
        bindings.delete(name)
        bound = undefined
      },
    },
    signal,
  )
  const find = () =>
    [...policies.values()]
      .sort((a, b) => (a.policy.metadata.name < b.policy.metadata.name ? -1 : 1))
      .map((policy) => ({
        policy,
        bindings: [...bindings.values()].filter(({ spec }) => spec?.policyName === policy.policy.metadata.name),
      }))
      .filter((one) => one.bindings.length > 0)
  return {
    bound: () => (bound ??= find()),
    ready: both(first.ready, second.ready),
    done: both(first.done, second.done),
  }
}

async function both(first: Promise<void>, second: Promise<void>): Promise<void> {
  await Promise.all([first, second])
}
