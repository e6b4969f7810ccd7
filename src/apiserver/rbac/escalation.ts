import { compact } from '../../core/compact.ts'
import { isObject, jsonEqual } from '../../core/json.ts'
import type { Caller } from '../../core/http.ts'
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../kinds/builtin/rbac.ts'
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Admission, AdmissionRequest } from '../server/admission.ts'
import { forbidden, notFound } from '../http/api-errors.ts'
import { MASTERS } from './rbac-authorizer.ts'
import type { RbacAuthorizer } from './rbac-authorizer.ts'
import type { AnyBinding } from './role-cache.ts'
import { compactRules, goList, ruleText, uncoveredRules } from './rules.ts'

/** A user cannot grant more than they have: writes of roles and bindings are checked against the writer's own rules. */

const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

/** An admission that refuses escalation and then asks the next. */
export function refuseEscalation(authorizer: RbacAuthorizer, next: Admission): Admission {
  return async (request) => {
    const { kind, object, operation } = request
    if (kind.group === Role.group && object && operation !== 'DELETE' && !onlyUnhooks(request)) {
      if (!request.caller.groups.includes(MASTERS)) await check(authorizer, request, object)
    }
    return next(request)
  }
}

async function check(authorizer: RbacAuthorizer, request: AdmissionRequest, object: UnknownObject): Promise<void> {
  switch (request.kind.kind) {
    case Role.kind:
    case ClusterRole.kind:
      return checkRole(authorizer, request, object)
    case RoleBinding.kind:
    case ClusterRoleBinding.kind:
      return checkBinding(authorizer, request, object as unknown as AnyBinding)
  }
}

async function checkRole(authorizer: RbacAuthorizer, request: AdmissionRequest, object: UnknownObject): Promise<void> {
  const { kind, caller, oldObject } = request
  const { name, namespace = '' } = object.metadata
  // As in Kubernetes a right to escalate one named role is about changing it; a new one has no name in its request.
  const wish = { verb: 'escalate', plural: kind.plural, name: oldObject ? name : '', namespace } as const
  if (await may(authorizer, caller, wish)) return
  const { rules } = authorizer.rulesFor(caller, namespace)
  const wanted = (object as unknown as Role).rules ?? []
  refuseMissing(request, object, { held: rules, wanted })
  const aggregates = isObject(object['aggregationRule']) || isObject(oldObject?.['aggregationRule'])
  if (aggregates && uncoveredRules(rules, EVERYTHING).length > 0) {
    throw forbidden(kind, name, 'must have cluster-admin privileges to use the aggregationRule')
  }
}

async function checkBinding(authorizer: RbacAuthorizer, request: AdmissionRequest, object: AnyBinding): Promise<void> {
  const { kind, caller } = request
  const { namespace = '' } = object.metadata
  const { roleRef } = object
  const plural = roleRef.kind === ClusterRole.kind ? ClusterRole.plural : Role.plural
  if (await may(authorizer, caller, { verb: 'bind', plural, name: roleRef.name, namespace })) return
  const wanted = authorizer.rulesOf(object, namespace)
  if (!wanted) throw notFound(kind, roleRef.name)
  const { rules } = authorizer.rulesFor(caller, namespace)
  refuseMissing(request, object, { held: rules, wanted })
}

interface Comparison {
  readonly held: readonly PolicyRule[]
  readonly wanted: readonly PolicyRule[]
}

function refuseMissing(
  { kind, caller }: AdmissionRequest,
  { metadata }: Pick<UnknownObject, 'metadata'>,
  { held, wanted }: Comparison,
): void {
  const missing = uncoveredRules(held, wanted)
  if (missing.length === 0) return
  const lines = [...new Set(compactRules(missing).map(ruleText))].sort()
  const who = `user ${JSON.stringify(caller.user)} (groups=${goList(caller.groups)})`
  throw forbidden(
    kind,
    metadata.name,
    `${who} is attempting to grant RBAC permissions not currently held:\n${lines.join('\n')}`,
  )
}

interface RoleVerb {
  readonly verb: 'escalate' | 'bind'
  readonly plural: string
  readonly name: string
  readonly namespace: string
}

async function may(authorizer: RbacAuthorizer, caller: Caller, wish: RoleVerb): Promise<boolean> {
  const { verb, plural, name, namespace } = wish
  const where = compact({ name: name === '' ? undefined : name, namespace: namespace === '' ? undefined : namespace })
  const resource = { group: Role.group, plural, ...where }
  return (await authorizer.authorize({ caller, verb, path: '', resource })).allowed
}

/** Whether a write changes nothing but what garbage collection needs: it must always be possible. */
function onlyUnhooks({ object, oldObject }: AdmissionRequest): boolean {
  if (!object || !oldObject) return false
  const rest = ({ metadata, ...fields }: UnknownObject) => {
    const { finalizers: _f, ownerReferences: _o, managedFields: _m, ...others } = metadata
    return { ...fields, metadata: others }
  }
  return jsonEqual(rest(object), rest(oldObject))
}
