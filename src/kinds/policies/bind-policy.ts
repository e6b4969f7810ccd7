/** Policy for both homes: binding a ClusterSet to a namespace needs permission. */
import { ClusterSetBinding } from '../native/cluster-set-binding.ts'
import { ClusterSet } from '../native/cluster-set.ts'
import { shippedPolicyBinding, shippedPolicy } from './shipped-policy.ts'

const NAME = 'clustersets-bind.flotilla.dev'

/** Making a ClusterSetBinding needs the verb `bind` on the set it names; that never changes afterwards. */
export const BIND_POLICY = shippedPolicy({
  name: NAME,
  kind: ClusterSetBinding,
  operations: ['CREATE'],
  validations: [
    {
      expression: `authorizer.group('${ClusterSet.group}').resource('${ClusterSet.plural}').name(object.spec.clusterSet).check('bind').allowed()`,
      messageExpression: `request.userInfo.username + ' may not bind ' + object.spec.clusterSet + ': it needs the verb bind on ${ClusterSet.plural}.${ClusterSet.group}'`,
      reason: 'Forbidden',
    },
  ],
})

/** The policy holds everywhere. */
export const BIND_BINDING = shippedPolicyBinding(BIND_POLICY)
