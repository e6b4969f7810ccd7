import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../kinds/builtin/admission.ts'
import type { Parts } from '../context.ts'
import { followKind } from '../follow-kind.ts'
import type { Followed } from '../follow-kind.ts'
import { compilePolicy } from './environment.ts'
import type { CompiledPolicy } from './environment.ts'

/** The policies and bindings that are in force, compiled once. */

/** A policy as it is known. */
export interface KnownPolicy {
  readonly policy: ValidatingAdmissionPolicy
  /** Absent when it cannot be compiled, which only an older release can have let through. */
  readonly compiled: CompiledPolicy | undefined
  readonly problem: string | undefined
}

/** Policies and their bindings. */
export interface PolicyCache extends Followed {
  /** In the order of their names. */
  policies(): readonly KnownPolicy[]
  bindingsOf(policy: string): readonly ValidatingAdmissionPolicyBinding[]
}

/** Follows policies and bindings in the store until the signal is aborted. */
export function startPolicyCache(parts: Pick<Parts, 'store' | 'clock' | 'log'>, signal: AbortSignal): PolicyCache {
  const policies = new Map<string, KnownPolicy>()
  const bindings = new Map<string, ValidatingAdmissionPolicyBinding>()
  let sorted: readonly KnownPolicy[] | undefined
  const first = followKind(
    parts,
    ValidatingAdmissionPolicy,
    {
      saw(object) {
        const policy = object as unknown as ValidatingAdmissionPolicy
        const { compiled, problems } = compilePolicy(policy)
        const problem = problems[0] && `${problems[0].field}: ${problems[0].detail}`
        policies.set(policy.metadata.name, { policy, compiled: problem === undefined ? compiled : undefined, problem })
        sorted = undefined
      },
      lost(name) {
        policies.delete(name)
        sorted = undefined
      },
    },
    signal,
  )
  const second = followKind(
    parts,
    ValidatingAdmissionPolicyBinding,
    {
      saw: (object) => void bindings.set(object.metadata.name, object),
      lost: (name) => void bindings.delete(name),
    },
    signal,
  )
  return {
    policies: () =>
      (sorted ??= [...policies.values()].sort((a, b) => (a.policy.metadata.name < b.policy.metadata.name ? -1 : 1))),
    bindingsOf: (policy) => [...bindings.values()].filter(({ spec }) => spec?.policyName === policy),
    ready: both(first.ready, second.ready),
    done: both(first.done, second.done),
  }
}

async function both(first: Promise<void>, second: Promise<void>): Promise<void> {
  await Promise.all([first, second])
}
