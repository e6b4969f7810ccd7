import { ValidatingAdmissionPolicy } from '../../kinds/builtin/admission.ts'
import type { ValidatingAdmissionPolicyBinding } from '../../kinds/builtin/admission.ts'
import { matchesSelector } from '../../core/selector.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { Admission } from '../admission.ts'
import type { Authorizer } from '../authorize.ts'
import type { Parts } from '../context.ts'
import type { Followed } from '../follow-kind.ts'
import { parseStored, prefixOf, readObject } from '../objects.ts'
import { admitByPolicies } from './admit.ts'
import type { PolicyPorts } from './admit.ts'
import { startPolicyCache } from './policy-cache.ts'
import type { KnownPolicy } from './policy-cache.ts'

/** Admission policies that run. */
export interface Policies extends Followed {
  readonly admission: Admission
}

const NONE = Promise.resolve()

/** Starts following policies; where their kind is not served there are none. */
export function startPolicies(
  parts: Omit<Parts, 'admission'>,
  authorizer: Authorizer,
  next: Admission,
  signal: AbortSignal,
): Policies {
  const { group, version, plural } = ValidatingAdmissionPolicy
  if (!parts.registry.find(group, version, plural)) return { admission: next, ready: NONE, done: NONE }
  const cache = startPolicyCache(parts, signal)
  const admission = admitByPolicies(cache, portsOf(parts, authorizer), next)
  return { admission, ready: cache.ready, done: cache.done }
}

function portsOf(parts: Omit<Parts, 'admission'>, authorizer: Authorizer): PolicyPorts {
  const { store, registry, log } = parts
  return {
    authorizer,
    async namespace(name) {
      const kind = registry.find('', 'v1', 'namespaces')
      return kind && (await readObject(store, kind, { name }))?.object
    },
    servedVersions: (group, plural) =>
      registry.all().flatMap((kind) => (kind.group === group && kind.plural === plural ? [kind.version] : [])),
    params: (policy, binding, namespace) => paramsOf(parts, { policy, binding, namespace }),
    audit: (annotations) => log.info({ annotations }, 'admission policy'),
  }
}

async function paramsOf(
  { store, registry }: Omit<Parts, 'admission'>,
  asked: {
    readonly policy: KnownPolicy
    readonly binding: ValidatingAdmissionPolicyBinding
    readonly namespace: string
  },
): Promise<readonly UnknownObject[] | undefined> {
  const { paramKind } = asked.policy.policy.spec ?? {}
  const ref = asked.binding.spec?.paramRef ?? {}
  const kind = registry.all().find((one) => apiVersionOf(one) === paramKind?.apiVersion && one.kind === paramKind.kind)
  if (!kind) return undefined
  const namespace = kind.scope === 'Namespaced' ? (ref.namespace ?? asked.namespace) : undefined
  if (ref.name !== undefined && ref.name !== '') {
    const found = await readObject(store, kind, { name: ref.name, ...(namespace ? { namespace } : {}) })
    return found ? [found.object] : []
  }
  const { entries } = await store.list({ prefix: prefixOf(kind, namespace) })
  return entries
    .map((entry) => parseStored(entry.value))
    .filter((object) => matchesSelector(object.metadata.labels ?? {}, ref.selector ?? {}))
}
