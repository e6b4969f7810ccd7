import { labelKeyProblems } from '../../core/text/name-validation.ts'
import type {
  MutatingAdmissionPolicy,
  MutatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from '../../kinds/builtin/admission.ts'
import { itemsAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { invalid, notSupported, required } from '../../kinds/validation/field-error.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'
import type { Strategy } from '../strategies/strategy.ts'
import { compilePolicy, policyCompiler } from '../../plan/policy/rules/compile-policy.ts'
import { compileMutations } from './mutations.ts'
import type { AnyPolicy } from './policy-cache.ts'

/** What is wrong with policies and bindings, in the words of a kube-apiserver. */

const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge', 'Unauthorized']
const ACTIONS = ['Audit', 'Deny', 'Warn']
const BOTH = 'validations or auditAnnotations must contain at least one item'

/** What policies of all kinds are checked for. */
function scopeErrors({ spec }: AnyPolicy): FieldError[] {
  const errors: FieldError[] = []
  if (!['Fail', 'Ignore'].includes(spec?.failurePolicy ?? 'Fail')) {
    errors.push(notSupported('spec.failurePolicy', spec?.failurePolicy, ['Fail', 'Ignore']))
  }
  if (!spec?.matchConstraints) errors.push(required('spec.matchConstraints'))
  else if (!spec.matchConstraints.resourceRules?.length) errors.push(required('spec.matchConstraints.resourceRules'))
  for (const [index, { name = '' }] of (spec?.matchConditions ?? []).entries()) {
    const problems = name === '' ? ['name part must be non-empty'] : labelKeyProblems(name)
    errors.push(...problems.map((problem) => invalid(`spec.matchConditions[${index}].name`, name, problem)))
  }
  for (const [index, { name = '' }] of (spec?.variables ?? []).entries()) {
    if (!/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)) {
      errors.push(invalid(`spec.variables[${index}].name`, name, 'must be a valid CEL identifier'))
    }
  }
  return errors
}

function policyErrors(object: UnknownObject): FieldError[] {
  const policy = object as unknown as ValidatingAdmissionPolicy
  const { spec } = policy
  const errors = scopeErrors(policy)
  for (const [index, { expression, reason }] of (spec?.validations ?? []).entries()) {
    // The schema reports a missing field.
    if (expression?.trim() === '')
      errors.push(required(`spec.validations[${index}].expression`, 'expression is not specified'))
    if (reason !== undefined && !REASONS.includes(reason)) {
      errors.push(notSupported(`spec.validations[${index}].reason`, reason, REASONS.slice(0, 3)))
    }
  }
  for (const { field, source, detail } of compilePolicy(policy).problems) errors.push(invalid(field, source, detail))
  if (!spec?.validations?.length && !spec?.auditAnnotations?.length) {
    errors.push(required('spec.validations', BOTH), required('spec.auditAnnotations', BOTH))
  }
  return errors
}

function bindingErrors(object: UnknownObject): FieldError[] {
  const { spec } = object as unknown as ValidatingAdmissionPolicyBinding
  const errors: FieldError[] = []
  const actions = spec?.validationActions ?? []
  if (actions.length === 0)
    errors.push(required('spec.validationActions', 'at least one validation action is required'))
  for (const [index, action] of actions.entries()) {
    if (!ACTIONS.includes(action)) errors.push(notSupported(`spec.validationActions[${index}]`, action, ACTIONS))
  }
  if (actions.includes('Deny') && actions.includes('Warn')) {
    errors.push(
      invalid(
        'spec.validationActions',
        actions,
        'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
      ),
    )
  }
  return [...(spec?.policyName ? [] : [required('spec.policyName')]), ...errors, ...paramRefErrors(object)]
}

function paramRefErrors(object: UnknownObject): FieldError[] {
  const { spec } = object as unknown as ValidatingAdmissionPolicyBinding
  const ref = spec?.paramRef
  const errors: FieldError[] = []
  if (ref && !ref.name && !ref.selector)
    errors.push(required('spec.paramRef', 'one of name or selector must be specified'))
  if (ref && ref.parameterNotFoundAction === undefined) {
    errors.push(required('spec.paramRef.parameterNotFoundAction'))
  }
  return errors
}

const OPERATIONS = ['*', 'CREATE', 'UPDATE']
const REINVOCATION = ['IfNeeded', 'Never']
const PATCHES = ['ApplyConfiguration', 'JSONPatch']

function mutatingErrors(object: UnknownObject): FieldError[] {
  const policy = object as unknown as MutatingAdmissionPolicy
  const { spec } = policy
  const errors = scopeErrors(policy)
  const rules = spec?.matchConstraints?.resourceRules ?? []
  const operations = rules.flatMap((rule) => rule.operations ?? []).filter((one) => !OPERATIONS.includes(one))
  const at = 'spec.matchConstraints.resourceRules.operations'
  errors.push(...operations.map((operation) => notSupported(at, operation, OPERATIONS)))
  if (!spec?.mutations?.length) errors.push(required('spec.mutations', 'mutations must contain at least one item'))
  for (const [index, mutation] of (spec?.mutations ?? []).entries()) {
    errors.push(...mutationErrors(mutation, `spec.mutations[${index}]`))
  }
  for (const { field, source, detail } of compileMutations(policy).problems) errors.push(invalid(field, source, detail))
  const { reinvocationPolicy = '' } = spec ?? {}
  if (reinvocationPolicy === '') errors.push(required('spec.reinvocationPolicy'))
  else if (!REINVOCATION.includes(reinvocationPolicy)) {
    errors.push(notSupported('spec.reinvocationPolicy', reinvocationPolicy, REINVOCATION))
  }
  return errors
}

function mutationErrors(
  mutation: NonNullable<NonNullable<MutatingAdmissionPolicy['spec']>['mutations']>[number],
  at: string,
): FieldError[] {
  const { patchType = '' } = mutation
  if (patchType === '') return [required(`${at}.patchType`)]
  if (!PATCHES.includes(patchType)) return [notSupported(`${at}.patchType`, patchType, PATCHES)]
  const [own, other] =
    patchType === 'JSONPatch'
      ? (['jsonPatch', 'applyConfiguration'] as const)
      : (['applyConfiguration', 'jsonPatch'] as const)
  const errors: FieldError[] = []
  const given = mutation[own]
  if (!given) errors.push(required(`${at}.${own}`, `must be specified when patchType is ${patchType}`))
  else if (!given.expression?.trim()) errors.push(required(`${at}.${own}.expression`))
  if (mutation[other]) {
    errors.push(invalid(`${at}.${other}`, `{${other}}`, `must not be specified when patchType is ${patchType}`))
  }
  return errors
}

function mutatingBindingErrors(object: UnknownObject): FieldError[] {
  const { spec } = object as unknown as MutatingAdmissionPolicyBinding
  return [...(spec?.policyName ? [] : [required('spec.policyName')]), ...paramRefErrors(object)]
}

/** This server does not call webhooks, but checks their CEL expressions. */
function webhookErrors(object: UnknownObject): FieldError[] {
  return itemsAt(object, 'webhooks').flatMap((webhook, index) => {
    const { problems } = policyCompiler({ matchConditions: itemsAt(webhook, 'matchConditions') as never })
    return problems.map(({ field, source, detail }) => {
      return invalid(field.replace(/^spec/, `webhooks[${index}]`), source, detail)
    })
  })
}

/** What policies and bindings are checked for. */
export const POLICY_STRATEGIES: Readonly<Record<string, Strategy>> = {
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy': { validate: policyErrors },
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': { validate: bindingErrors },
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': { validate: webhookErrors },
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': { validate: webhookErrors },
  'admissionregistration.k8s.io/MutatingAdmissionPolicy': { validate: mutatingErrors },
  'admissionregistration.k8s.io/MutatingAdmissionPolicyBinding': { validate: mutatingBindingErrors },
}
