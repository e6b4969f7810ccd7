/** What admission policies read for a request: matching policies, their parameters and answers about access. */
import type { CelProgram } from '../../cel/cel.ts'
import type { AccessResult, AccessRequest, AccessChecker } from '../../cel/library/authorizer.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { AdmissionRequest } from '../server/admission.ts'
import type { Authorizer } from '../rbac/authorizer.ts'
import { matchesResources } from '../../plan/policy/rules/match.ts'
import type { MatchInput } from '../../plan/policy/rules/match.ts'
import type { PolicyRequest } from '../../plan/policy/rules/policy-request.ts'
import { mayMatch, noteMismatch } from './param-cache.ts'
import type { KnownPolicy, PolicyBinding } from './policy-cache.ts'

/** What policies need to know beside the request. */
export interface PolicyPorts {
  readonly authorizer: Authorizer
  namespace(name: string): Promise<UnknownObject | undefined>
  /**
   * The parameters that a binding names for a request in a namespace. Undefined when the parameter kind is not served.
   */
  params(policy: KnownPolicy, binding: PolicyBinding, namespace: string): Promise<readonly UnknownObject[] | undefined>
  /** Whether a group's resource is also served in another version that a rule names. */
  servedVersions(group: string, plural: string): readonly string[]
  audit(annotations: Readonly<Record<string, string>>): void
}

/** A request with what policies match it by. */
export async function toMatchInput(
  ports: PolicyPorts,
  request: AdmissionRequest,
): Promise<MatchInput & { readonly request: AdmissionRequest }> {
  const name = (request.object ?? request.oldObject)?.metadata.namespace ?? ''
  const namespace = name === '' ? undefined : await ports.namespace(name)
  return { request, namespace, servedVersions: ports.servedVersions }
}

/** The bound policies that match a request, with their bindings. */
export function policiesMatching<
  T extends { readonly policy: KnownPolicy; readonly bindings: readonly PolicyBinding[] },
>(bound: readonly T[], matched: MatchInput): { readonly policy: T['policy']; readonly binding: PolicyBinding }[] {
  return bound.flatMap(({ policy, bindings }) => {
    if (!matchesResources(policy.policy.spec?.matchConstraints, matched)) return []
    return bindings
      .filter(({ spec }) => !spec?.matchResources || matchesResources(spec.matchResources, matched))
      .map((binding) => ({ policy, binding }))
  })
}

// A policy about policies could lock all users out for ever, and access reviews change nothing.
/** Whether no policy is asked about a request. */
export function isExempt({ kind }: AdmissionRequest): boolean {
  return kind.group === 'admissionregistration.k8s.io' || kind.verbs !== undefined
}

class Unanswered extends Error {
  readonly question: AccessRequest
  constructor(question: AccessRequest) {
    super('not asked yet')
    this.question = question
  }
}

/**
 * Expressions are evaluated at once, access is decided in its time: a question without an answer stops the evaluation,
 * is asked, and the evaluation begins again. The cost of a check allows two per expression.
 */
export async function evaluateWithAuthorizer<T>(
  authorizer: Authorizer,
  request: PolicyRequest,
  run: (ask: AccessChecker) => T,
): Promise<T> {
  const answers = new Map<string, AccessResult>()
  for (;;) {
    try {
      return run((question) => {
        const known = answers.get(JSON.stringify(question))
        if (!known) throw new Unanswered(question)
        return known
      })
    } catch (error) {
      if (!(error instanceof Unanswered)) throw error
      const { question } = error
      const caller = question.user === undefined ? request.caller : serviceAccount(question.user)
      const { verb, path = '', group = '', resource = '', subresource = '', namespace = '', name = '' } = question
      const about = path === '' ? { resource: { group, plural: resource, subresource, namespace, name } } : {}
      const { allowed, reason = '' } = await authorizer.authorize({ caller, verb, path, ...about })
      answers.set(JSON.stringify(question), { allowed, reason })
    }
  }
}

function serviceAccount(user: string) {
  const namespace = user.split(':')[2] ?? ''
  return { user, groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'] }
}

/** A policy and a binding that are about a request. */
export interface ParamsRequest {
  readonly policy: KnownPolicy
  readonly binding: PolicyBinding
  readonly matched: MatchInput
  readonly ports: PolicyPorts
}

/** The parameters to evaluate a policy with; `misconfigured` hears why there are none. */
export async function paramsOf(
  { policy, binding, matched, ports }: ParamsRequest,
  misconfigured: (message: string) => void,
): Promise<readonly (UnknownObject | undefined)[]> {
  if (!policy.policy.spec?.paramKind) return [undefined]
  const ref = binding.spec?.paramRef
  // Without a reference the policy's own answer to missing parameters counts: `params` is null.
  if (!ref) return [undefined]
  const namespace = namespaceOf(matched)
  const found = await ports.params(policy, binding, namespace)
  if (found === undefined) {
    const { apiVersion, kind } = policy.policy.spec.paramKind
    misconfigured(`failed to find resource referenced by paramKind: '${apiVersion ?? ''}, Kind=${kind ?? ''}'`)
    return []
  }
  if (found.length === 0 && ref.parameterNotFoundAction !== 'Allow') {
    misconfigured('no params found for policy binding with `Deny` parameterNotFoundAction')
  }
  return mayMatch(found, policy.compiled, namespace)
}

/** What the evaluation of a parameter calls with a match condition that is false. */
export function rememberMismatch(matched: MatchInput, param: UnknownObject | undefined): (program: CelProgram) => void {
  return (program) => noteMismatch(program, param, namespaceOf(matched))
}

function namespaceOf({ request }: MatchInput): string {
  return (request.object ?? request.oldObject)?.metadata.namespace ?? ''
}
