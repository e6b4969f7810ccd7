/** Policy for both homes: accepting a cluster needs permission. */
import { Cluster } from '../native/cluster.ts'
import { shippedPolicyBinding, shippedPolicy } from './shipped-policy.ts'

const NAME = 'clusters-accept.flotilla.dev'

const admitted = (object: string) =>
  `(has(${object}.spec.accepted) && ${object}.spec.accepted && !has(${object}.spec.refused))`

/** Accepting a cluster, or a refused cluster again, needs the verb `accept` on it. */
export const ACCEPT_POLICY = shippedPolicy({
  name: NAME,
  kind: Cluster,
  operations: ['CREATE', 'UPDATE'],
  matchConditions: [
    {
      name: 'lets-the-cluster-in',
      expression: `${admitted('object')} && (oldObject == null || !${admitted('oldObject')})`,
    },
  ],
  validations: [
    {
      expression: `authorizer.group('${Cluster.group}').resource('${Cluster.plural}').name(object.metadata.name).check('accept').allowed()`,
      messageExpression: `request.userInfo.username + ' may not accept ' + object.metadata.name + ': it needs the verb accept on ${Cluster.plural}.${Cluster.group}'`,
      reason: 'Forbidden',
    },
  ],
})

/** The policy holds everywhere. */
export const ACCEPT_BINDING = shippedPolicyBinding(ACCEPT_POLICY)
