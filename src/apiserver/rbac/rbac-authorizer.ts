import type { Caller } from '../../core/http.ts'
import type { PolicyRule, Subject } from '../../kinds/builtin/rbac.ts'
import type { Authorizer, Decision } from './authorizer.ts'
import type { AuthorizationAttributes } from '../http/api-errors.ts'
import type { AnyBinding, RoleCache } from './role-cache.ts'
import { ruleAllows } from '../../kinds/policy-rule.ts'

/** Kubernetes' role-based access control over the cached roles. */

/** All rules of a user in a namespace, and the bound roles that do not exist. */
export interface ResolvedRules {
  readonly rules: readonly PolicyRule[]
  readonly problems: readonly string[]
}

/** An authorizer that can also list the rules of a user. */
export interface RbacAuthorizer extends Authorizer {
  rulesFor(caller: Caller, namespace: string): ResolvedRules
  /** The rules a binding gives, or undefined when its role does not exist. */
  rulesOf(binding: Pick<AnyBinding, 'roleRef'>, namespace: string): readonly PolicyRule[] | undefined
}

/** The group whose members may do everything, whatever roles say. */
export const MASTERS = 'system:masters'

/** An authorizer over a cache of roles. */
export function createRbacAuthorizer(cache: RoleCache): RbacAuthorizer {
  function rulesOf({ roleRef }: Pick<AnyBinding, 'roleRef'>, namespace: string): readonly PolicyRule[] | undefined {
    const role = roleRef.kind === 'ClusterRole' ? cache.clusterRole(roleRef.name) : cache.role(namespace, roleRef.name)
    return role && (role.rules ?? [])
  }

  function* grants(caller: Caller, namespace: string): Generator<Grant> {
    for (const binding of cache.clusterRoleBindings()) {
      const subject = subjectOf(binding, caller, '')
      if (subject) yield { binding, subject, namespace: '', rules: rulesOf(binding, '') }
    }
    if (namespace === '') return
    for (const binding of cache.roleBindings(namespace)) {
      const subject = subjectOf(binding, caller, namespace)
      if (subject) yield { binding, subject, namespace, rules: rulesOf(binding, namespace) }
    }
  }

  async function authorize(attempt: AuthorizationAttributes): Promise<Decision> {
    const { caller, resource } = attempt
    if (caller.groups.includes(MASTERS)) return { allowed: true }
    const problems: string[] = []
    for (const grant of grants(caller, resource?.namespace ?? '')) {
      if (!grant.rules) problems.push(missingRole(grant.binding))
      else if (grant.rules.some((rule) => ruleAllows(rule, attempt))) {
        return { allowed: true, reason: `RBAC: allowed by ${describe(grant)}` }
      }
    }
    return problems.length === 0 ? { allowed: false } : { allowed: false, reason: `RBAC: ${together(problems)}` }
  }

  return {
    authorize,
    rulesOf,
    rulesFor(caller, namespace) {
      const rules: PolicyRule[] = []
      const problems: string[] = []
      for (const grant of grants(caller, namespace)) {
        if (grant.rules) rules.push(...grant.rules)
        else problems.push(missingRole(grant.binding))
      }
      return { rules, problems }
    },
  }
}

interface Grant {
  readonly binding: AnyBinding
  readonly subject: Subject
  readonly namespace: string
  /** Absent when the role is. */
  readonly rules: readonly PolicyRule[] | undefined
}

function subjectOf(binding: AnyBinding, caller: Caller, namespace: string): Subject | undefined {
  return binding.subjects?.find((subject) => {
    switch (subject.kind) {
      case 'User':
        return subject.name === caller.user
      case 'Group':
        return caller.groups.includes(subject.name)
      case 'ServiceAccount': {
        const home = subject.namespace || namespace
        return home !== '' && caller.user === `system:serviceaccount:${home}:${subject.name}`
      }
      default:
        return false
    }
  })
}

function missingRole({ roleRef }: AnyBinding): string {
  return `${roleRef.kind.toLowerCase()}.rbac.authorization.k8s.io ${JSON.stringify(roleRef.name)} not found`
}

function together(problems: readonly string[]): string {
  const different = [...new Set(problems)]
  return different.length === 1 ? different[0]! : `[${different.join(', ')}]`
}

function describe({ binding, subject, namespace }: Grant): string {
  const { roleRef, kind, metadata } = binding
  const name = namespace === '' ? metadata.name : `${metadata.name}/${namespace}`
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || namespace}` : subject.name
  const role = `${roleRef.kind} ${JSON.stringify(roleRef.name)}`
  return `${kind} ${JSON.stringify(name)} of ${role} to ${subject.kind} ${JSON.stringify(who)}`
}
