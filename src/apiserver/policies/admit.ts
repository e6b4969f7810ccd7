/** ValidatingAdmissionPolicies: what they refuse, warn about or let through. */
import { PER_OBJECT_LIMIT } from '../../cel/cel.ts'
import type { CelProgram, CelResult } from '../../cel/cel.ts'
import { CelAuthorizer, ResourceCheck } from '../../cel/library/authorizer.ts'
import type { AccessAnswer, AccessQuestion, AskAccess } from '../../cel/library/authorizer.ts'
import { CelFailure } from '../../cel/values.ts'
import { ApiError } from '../../core/errors.ts'
import type { ApiCause, ApiReason } from '../../core/errors.ts'
import type { ValidatingAdmissionPolicyBinding } from '../../kinds/builtin/admission.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Admission, AdmissionRequest } from '../admission.ts'
import type { Authorizer } from '../authorize.ts'
import { qualifiedResource } from '../refusals.ts'
import { LazyVariables } from './environment.ts'
import { matchesResources } from './match.ts'
import type { Matched } from './match.ts'
import type { KnownPolicy, PolicyCache } from './policy-cache.ts'

/** What policies need to know beside the request. */
export interface PolicyPorts {
  readonly authorizer: Authorizer
  namespace(name: string): Promise<UnknownObject | undefined>
  /** The parameters a binding names for a request in a namespace; undefined: there is no such kind. */
  params(
    policy: KnownPolicy,
    binding: ValidatingAdmissionPolicyBinding,
    namespace: string,
  ): Promise<readonly UnknownObject[] | undefined>
  /** Whether a group's resource is also served in another version that a rule names. */
  servedVersions(group: string, plural: string): readonly string[]
  audit(annotations: Readonly<Record<string, string>>): void
}

/** An admission that asks the policies and then the next one. */
export function admitByPolicies(cache: PolicyCache, ports: PolicyPorts, next: Admission): Admission {
  return async (request) => {
    const warnings: string[] = []
    const policies = isExempt(request) ? [] : bound(cache)
    if (policies.length > 0) {
      const namespaceName = (request.object ?? request.oldObject)?.metadata.namespace ?? ''
      const namespace = namespaceName === '' ? undefined : await ports.namespace(namespaceName)
      const matched: Matched = { request, namespace, servedVersions: ports.servedVersions }
      const denials: Denial[] = []
      for (const { policy, bindings } of policies) {
        if (!matchesResources(policy.policy.spec?.matchConstraints, matched)) continue
        for (const binding of bindings) {
          if (binding.spec?.matchResources && !matchesResources(binding.spec.matchResources, matched)) continue
          await askBinding({ policy, binding, matched, ports }, { warnings, denials })
        }
      }
      if (denials[0]) throw refusalOf(request, denials[0])
    }
    return [...warnings, ...(await next(request))]
  }
}

function bound(cache: PolicyCache) {
  return [...cache.policies()]
    .map((policy) => ({ policy, bindings: cache.bindingsOf(policy.policy.metadata.name) }))
    .filter(({ bindings }) => bindings.length > 0)
}

// A policy about policies could lock everybody out for ever, and questions about access change nothing.
function isExempt({ kind }: AdmissionRequest): boolean {
  return kind.group === 'admissionregistration.k8s.io' || kind.verbs !== undefined
}

interface Denial {
  readonly message: string
  readonly reason: ApiReason
}

interface Asked {
  readonly policy: KnownPolicy
  readonly binding: ValidatingAdmissionPolicyBinding
  readonly matched: Matched
  readonly ports: PolicyPorts
}

interface Said {
  readonly warnings: string[]
  readonly denials: Denial[]
}

async function askBinding(asked: Asked, said: Said): Promise<void> {
  const { policy, binding, matched, ports } = asked
  const fails = policy.policy.spec?.failurePolicy !== 'Ignore'
  const names = `ValidatingAdmissionPolicy '${policy.policy.metadata.name}' with binding '${binding.metadata.name}'`
  const actions = binding.spec?.validationActions ?? ['Deny']
  const say = (message: string, reason: string | undefined) => {
    if (actions.includes('Deny')) {
      said.denials.push({ message: `${names} denied request: ${message}`, reason: (reason ?? 'Invalid') as ApiReason })
    }
    if (actions.includes('Warn')) said.warnings.push(`Validation failed for ${names}: ${message}`)
    if (actions.includes('Audit'))
      ports.audit({ 'validation.policy.admission.k8s.io/validation_failure': `${names}: ${message}` })
  }
  // What is wrong with a policy itself always refuses, whatever the binding's actions are.
  const misconfigured = (message: string) => {
    if (fails)
      said.denials.push({
        message: `${names} denied request: failed to configure binding: ${message}`,
        reason: 'Invalid',
      })
  }
  const params = await paramsOf(asked, misconfigured)
  for (const param of params) {
    const outcome = await withAnswers(ports.authorizer, matched.request, (ask) =>
      evaluate(policy, matched, { param, ask }),
    )
    if (outcome === undefined) continue
    for (const [key, value] of Object.entries(outcome.annotations))
      ports.audit({ [`${policy.policy.metadata.name}/${key}`]: value })
    for (const failure of outcome.failures) if (!failure.isError || fails) say(failure.message, failure.reason)
  }
}

async function paramsOf(
  { policy, binding, matched, ports }: Asked,
  misconfigured: (message: string) => void,
): Promise<readonly (UnknownObject | undefined)[]> {
  if (!policy.policy.spec?.paramKind) return [undefined]
  const ref = binding.spec?.paramRef
  // Without a reference the policy's own answer to missing parameters counts: `params` is null.
  if (!ref) return [undefined]
  const namespace = (matched.request.object ?? matched.request.oldObject)?.metadata.namespace ?? ''
  const found = await ports.params(policy, binding, namespace)
  if (found === undefined) {
    const { apiVersion, kind } = policy.policy.spec.paramKind
    misconfigured(`failed to find resource referenced by paramKind: '${apiVersion ?? ''}, Kind=${kind ?? ''}'`)
    return []
  }
  if (found.length === 0 && ref.parameterNotFoundAction !== 'Allow') {
    misconfigured('no params found for policy binding with `Deny` parameterNotFoundAction')
  }
  return found
}

interface Failure {
  readonly message: string
  readonly reason: string | undefined
  readonly isError: boolean
}

interface Outcome {
  readonly failures: readonly Failure[]
  readonly annotations: Readonly<Record<string, string>>
}

function evaluate(
  { policy, compiled, problem }: KnownPolicy,
  matched: Matched,
  { param, ask }: { readonly param: UnknownObject | undefined; readonly ask: AskAccess },
): Outcome | undefined {
  const failures: Failure[] = []
  const annotations: Record<string, string> = {}
  const broken = (message: string): Outcome => ({
    failures: [{ message, reason: undefined, isError: true }],
    annotations,
  })
  if (!compiled) return broken(problem ?? 'cannot be compiled')
  const bindings = bindingsOf(matched, param, ask)
  const meter = { left: PER_OBJECT_LIMIT }
  const run = (program: CelProgram): CelResult => {
    const result = program.evaluate(bindings)
    meter.left -= result.cost
    return result
  }
  const variables = new Map<string, () => never>()
  for (const { name, program } of compiled.variables) {
    variables.set(name, () => {
      const result = run(program)
      if (!result.ok) throw new CelFailure(`composited variable "${name}" fails to evaluate: ${result.error}`)
      return result.value as never
    })
  }
  bindings['variables'] = new LazyVariables(variables)
  for (const { program } of compiled.matchConditions) {
    const result = run(program)
    if (!result.ok) return broken(errorText(program, result.error))
    if (result.value !== true) return undefined
  }
  for (const [index, { program, message }] of compiled.validations.entries()) {
    const spec = policy.spec?.validations?.[index]
    const result = run(program)
    if (meter.left < 0)
      return broken('validation failed due to running out of cost budget, no further validation rules will be run')
    if (!result.ok) failures.push({ message: errorText(program, result.error), reason: spec?.reason, isError: true })
    else if (result.value !== true) {
      const said = message && run(message)
      const own = said?.ok && typeof said.value === 'string' ? said.value.trim() : ''
      const text =
        own !== '' && !own.includes('\n') ? own : spec?.message?.trim() || `failed expression: ${program.source.trim()}`
      failures.push({ message: text, reason: spec?.reason, isError: false })
    }
  }
  for (const { key, program } of compiled.auditAnnotations) {
    const result = run(program)
    if (!result.ok) failures.push({ message: errorText(program, result.error), reason: undefined, isError: true })
    else if (typeof result.value === 'string') annotations[key] = result.value
  }
  return { failures, annotations }
}

function errorText(program: CelProgram, error: string): string {
  return `expression '${program.source}' resulted in error: ${error}`
}

function bindingsOf(
  { request, namespace }: Matched,
  param: UnknownObject | undefined,
  ask: AskAccess,
): Record<string, unknown> {
  const { kind, caller, operation, subresource = '', object, oldObject, dryRun } = request
  const { name = '', namespace: inside = '' } = (object ?? oldObject)?.metadata ?? {}
  const gvk = { group: kind.group, version: kind.version, kind: kind.kind }
  const gvr = { group: kind.group, version: kind.version, resource: kind.plural }
  const about = { user: undefined, group: kind.group, resource: kind.plural, namespace: inside, name, subresource }
  return {
    object: object ?? null,
    oldObject: oldObject ?? null,
    params: param ?? null,
    namespaceObject: namespace ?? null,
    authorizer: new CelAuthorizer(ask),
    'authorizer.requestResource': new ResourceCheck(ask, about),
    request: {
      kind: gvk,
      resource: gvr,
      requestKind: gvk,
      requestResource: gvr,
      ...(subresource === '' ? {} : { subResource: subresource, requestSubResource: subresource }),
      name,
      ...(inside === '' ? {} : { namespace: inside }),
      operation,
      dryRun,
      userInfo: { username: caller.user, uid: caller.uid ?? '', groups: caller.groups, extra: caller.extra ?? {} },
    },
  }
}

class Unanswered extends Error {
  readonly question: AccessQuestion
  constructor(question: AccessQuestion) {
    super('not asked yet')
    this.question = question
  }
}

// Expressions are evaluated at once, access is decided in its time: a question without an answer stops the evaluation, is
// asked, and the evaluation begins again. The cost of a check allows two per expression.
async function withAnswers<T>(
  authorizer: Authorizer,
  request: AdmissionRequest,
  run: (ask: AskAccess) => T,
): Promise<T> {
  const answers = new Map<string, AccessAnswer>()
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

function refusalOf({ kind, object, oldObject }: AdmissionRequest, { message, reason }: Denial): ApiError {
  const name = (object ?? oldObject)?.metadata.name ?? ''
  const what = name === '' ? qualifiedResource(kind) : `${qualifiedResource(kind)} ${JSON.stringify(name)}`
  const details = {
    name,
    ...(kind.group === '' ? {} : { group: kind.group }),
    kind: kind.plural,
    causes: [{ message } as ApiCause],
  }
  return new ApiError(reason, `${what} is forbidden: ${message}`, details)
}
