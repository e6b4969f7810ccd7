/** Policy for both homes: using an exception of a window needs permission. */
import { Rollout } from '../native/rollout.ts'
import { shippedPolicyBinding, shippedPolicy } from './shipped-policy.ts'

const NAME = 'rollouts-except.flotilla.dev'

const IS_OLD = 'oldObject != null && has(oldObject.spec.exceptions) && e in oldObject.spec.exceptions'
const IS_THEM = [
  "e.kind == 'User' ? e.name == request.userInfo.username",
  "e.kind == 'Group' ? has(request.userInfo.groups) && e.name in request.userInfo.groups",
  `authorizer.group('${Rollout.group}').resource('exceptions').namespace(object.metadata.namespace).name(e.name).check('use').allowed()`,
].join(' : ')

/**
 * A caller that adds an exception is the named user, is in the named group, or has the verb `use` on the named role.
 */
export const EXCEPTION_POLICY = shippedPolicy({
  name: NAME,
  kind: Rollout,
  operations: ['CREATE', 'UPDATE'],
  matchConditions: [{ name: 'uses-exceptions', expression: 'has(object.spec.exceptions)' }],
  validations: [
    {
      expression: `object.spec.exceptions.all(e, (${IS_OLD}) || (${IS_THEM}))`,
      messageExpression: `request.userInfo.username + ' may not use an exception of ' + object.metadata.name + ': it must be their own name or group, or a role they have (verb use on exceptions.${Rollout.group})'`,
      reason: 'Forbidden',
    },
  ],
})

/** The policy holds everywhere. */
export const EXCEPTION_BINDING = shippedPolicyBinding(EXCEPTION_POLICY)
