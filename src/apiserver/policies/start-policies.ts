import { compact } from '../../core/compact.ts'
import {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../kinds/builtin/admission.ts'
import { matchesSelector } from '../../core/text/label-selector.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import { admitAll } from '../server/admission.ts'
import type { Admission, Mutation } from '../server/admission.ts'
import type { Authorizer } from '../rbac/authorizer.ts'
import type { ServerParts } from '../server/context.ts'
import type { RunningFollower } from '../storage/follow-kind.ts'
import { parseStored, storePrefix, readObject } from '../storage/stored-object.ts'
import { validatingPolicyAdmission } from './validating-policies.ts'
import { compilePolicy } from '../../plan/policy/rules/compile-policy.ts'
import type { PolicyPorts } from './evaluation.ts'
import { mutatingPolicyAdmission } from './mutating-policies.ts'
import { compileMutations } from './mutations.ts'
import { createParamCache } from './param-cache.ts'
import type { ParamCache } from './param-cache.ts'
import { startPolicyCache } from './policy-cache.ts'
import type { KnownPolicy, PolicyBinding } from './policy-cache.ts'
import { startTypeChecks } from './type-check-status.ts'

/** Admission policies that run. */
export interface Policies extends RunningFollower {
  readonly mutation: Mutation
  readonly admission: Admission
}

const VALIDATING = {
  policies: ValidatingAdmissionPolicy,
  bindings: ValidatingAdmissionPolicyBinding,
  compile: compilePolicy,
}
const MUTATING = {
  policies: MutatingAdmissionPolicy,
  bindings: MutatingAdmissionPolicyBinding,
  compile: compileMutations,
}

type PolicyParts = Pick<ServerParts, 'store' | 'clock' | 'log' | 'registry'>

/** What policies work with. */
export interface PolicyOptions {
  readonly authorizer: Authorizer
  /** The admission that follows the policies. */
  readonly next: Admission
  /** Resolves once all kinds are known that policies can be about. */
  readonly kindsKnown: Promise<void>
}

/** Starts following policies; where their kind is not served there are none. */
export function startPolicies(
  parts: PolicyParts,
  { authorizer, next, kindsKnown }: PolicyOptions,
  signal: AbortSignal,
): Policies {
  const isServed = ({ group, version, plural }: Kind) => parts.registry.find(group, version, plural) !== undefined
  const cache = createParamCache(parts, signal)
  const ports = portsOf(parts, authorizer, cache)
  const types = startTypeChecks(parts, kindsKnown, signal)
  const validating = isServed(ValidatingAdmissionPolicy)
    ? startPolicyCache(parts, { ...VALIDATING, saw: (policy) => types.saw(policy) }, signal)
    : undefined
  const mutating = isServed(MutatingAdmissionPolicy) ? startPolicyCache(parts, MUTATING, signal) : undefined
  const all = async (which: 'ready' | 'done') => void (await Promise.all([validating?.[which], mutating?.[which]]))
  return {
    admission: validating ? validatingPolicyAdmission(validating, ports, next) : next,
    mutation: mutating ? mutatingPolicyAdmission(mutating, ports) : admitAll,
    ready: all('ready'),
    done: all('done')
      .then(() => types.done())
      .then(() => cache.done()),
  }
}

function portsOf(parts: PolicyParts, authorizer: Authorizer, cache: ParamCache): PolicyPorts {
  const { store, registry, log } = parts
  return {
    authorizer,
    async namespace(name) {
      const kind = registry.find('', 'v1', 'namespaces')
      return kind && (await readObject(store, kind, { name }))?.object
    },
    servedVersions: (group, plural) =>
      registry.all().flatMap((kind) => (kind.group === group && kind.plural === plural ? [kind.version] : [])),
    params: (policy, binding, namespace) => paramsOf(parts, { policy, binding, namespace, cache }),
    audit: (annotations) => log.info({ annotations }, 'admission policy'),
  }
}

async function paramsOf(
  { store, registry }: PolicyParts,
  asked: {
    readonly policy: KnownPolicy
    readonly binding: PolicyBinding
    readonly namespace: string
    readonly cache: ParamCache
  },
): Promise<readonly UnknownObject[] | undefined> {
  const { paramKind } = asked.policy.policy.spec ?? {}
  const ref = asked.binding.spec?.paramRef ?? {}
  const kind = registry.all().find((one) => apiVersionOf(one) === paramKind?.apiVersion && one.kind === paramKind.kind)
  if (!kind) return undefined
  const namespace = kind.scope === 'Namespaced' ? (ref.namespace ?? asked.namespace) : undefined
  if (ref.name !== undefined && ref.name !== '') {
    const found = await readObject(store, kind, compact({ name: ref.name, namespace: namespace || undefined }))
    return found ? [found.object] : []
  }
  if (kind.scope === 'Cluster' && !kind.custom) {
    const all = await asked.cache.list(kind)
    if (!ref.selector || Object.keys(ref.selector).length === 0) return all
    return all.filter((object) => matchesSelector(object.metadata.labels ?? {}, ref.selector ?? {}))
  }
  const { entries } = await store.list({ prefix: storePrefix(kind, namespace) })
  return entries
    .map((entry) => parseStored(entry.value))
    .filter((object) => matchesSelector(object.metadata.labels ?? {}, ref.selector ?? {}))
}
