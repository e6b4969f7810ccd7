/** ValidatingAdmissionPolicies: what they refuse, warn about or let through. */
import { compact } from '../../core/compact.ts'
import { ApiError } from '../../core/errors.ts'
import type { ApiCause, ApiReason } from '../../core/errors.ts'
import type { ValidatingAdmissionPolicy } from '../../kinds/builtin/admission.ts'
import type { Admission, AdmissionRequest } from '../server/admission.ts'
import { qualifiedResource } from '../http/api-errors.ts'
import type { CompiledPolicy } from '../../plan/policy/rules/compile-policy.ts'
import { evaluatePolicy } from '../../plan/policy/rules/evaluate-rule.ts'
import {
  policiesMatching,
  isExempt,
  toMatchInput,
  paramsOf,
  evaluateWithAuthorizer,
  rememberMismatch,
} from './evaluation.ts'
import type { ParamsRequest, PolicyPorts } from './evaluation.ts'
import type { KnownPolicy, PolicyCache } from './policy-cache.ts'

type ValidatingPolicy = KnownPolicy<ValidatingAdmissionPolicy, CompiledPolicy>

/** The validating policies in force. */
export type ValidatingPolicies = PolicyCache<ValidatingAdmissionPolicy, CompiledPolicy>

/** An admission that evaluates the policies and then calls the next admission. */
export function validatingPolicyAdmission(cache: ValidatingPolicies, ports: PolicyPorts, next: Admission): Admission {
  return async (request) => {
    const warnings: string[] = []
    const bound = isExempt(request) ? [] : cache.bound()
    if (bound.length > 0) {
      const matched = await toMatchInput(ports, request)
      const denials: Denial[] = []
      for (const one of policiesMatching(bound, matched))
        await askBinding({ ...one, matched, ports }, { warnings, denials })
      if (denials[0]) throw refusalOf(request, denials[0])
    }
    return [...warnings, ...(await next(request))]
  }
}

interface Denial {
  readonly message: string
  readonly reason: ApiReason
}

interface AskedHere extends ParamsRequest {
  readonly policy: ValidatingPolicy
}

interface Said {
  readonly warnings: string[]
  readonly denials: Denial[]
}

async function askBinding(asked: AskedHere, said: Said): Promise<void> {
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
    const outcome = await evaluateWithAuthorizer(ports.authorizer, matched.request, (ask) =>
      evaluatePolicy(policy, matched, { param, ask, mismatched: rememberMismatch(matched, param) }),
    )
    if (outcome === undefined) continue
    for (const [key, value] of Object.entries(outcome.annotations))
      ports.audit({ [`${policy.policy.metadata.name}/${key}`]: value })
    for (const failure of outcome.failures) if (!failure.isError || fails) say(failure.message, failure.reason)
  }
}

function refusalOf({ kind, object, oldObject }: AdmissionRequest, { message, reason }: Denial): ApiError {
  const name = (object ?? oldObject)?.metadata.name ?? ''
  const what = name === '' ? qualifiedResource(kind) : `${qualifiedResource(kind)} ${JSON.stringify(name)}`
  const details = compact({
    name,
    group: kind.group === '' ? undefined : kind.group,
    kind: kind.plural,
    causes: [{ message } as ApiCause],
  })
  return new ApiError(reason, `${what} is forbidden: ${message}`, details)
}
