/** Policy for both homes: an exception of a rule on rendered content needs permission. */
import { Override } from '../native/override.ts'
import { shippedPolicyBinding, shippedPolicy } from './shipped-policy.ts'

const RULES = 'admissionregistration.k8s.io'

/** A caller that creates or changes an exception has the verb `except` on the policy. */
export const RULE_EXCEPTION_POLICY = shippedPolicy({
  name: 'overrides-except.flotilla.dev',
  kind: Override,
  operations: ['CREATE', 'UPDATE'],
  matchConditions: [
    {
      name: 'is-exception',
      expression: 'has(object.spec.policy) && (oldObject == null || object.spec != oldObject.spec)',
    },
  ],
  validations: [
    {
      expression: `authorizer.group('${RULES}').resource('validatingadmissionpolicies').name(object.spec.policy).check('except').allowed()`,
      messageExpression: `request.userInfo.username + ' may not make an exception of policy ' + object.spec.policy + ' (verb except on validatingadmissionpolicies.${RULES})'`,
      reason: 'Forbidden',
    },
  ],
})

/** The policy holds everywhere. */
export const RULE_EXCEPTION_BINDING = shippedPolicyBinding(RULE_EXCEPTION_POLICY)
