/** Policy for both homes: asking an agent for values of drifted fields needs permission. */
import { BundleState } from '../views/bundle-state.ts'
import { Cluster } from '../native/cluster.ts'
import { shippedPolicyBinding, shippedPolicy } from './shipped-policy.ts'

const NAME = 'clusters-values.flotilla.dev'
const ASKED = 'object.spec.valuesAsked'
const BEFORE = 'oldObject.spec.valuesAsked'
const NAMESPACE = `${ASKED}.bundle.split('/')[0]`
const ROW = `${ASKED}.bundle.split('/')[1] + '.' + object.metadata.name`

/**
 * The agent sends the values to the key that the request names: only a user who may reveal the state of the bundle on
 * this cluster can name a key.
 */
export const REVEAL_POLICY = shippedPolicy({
  name: NAME,
  kind: Cluster,
  operations: ['CREATE', 'UPDATE'],
  matchConditions: [
    {
      name: 'asks-for-values',
      expression: `has(${ASKED}) && (oldObject == null || !has(${BEFORE}) || ${ASKED} != ${BEFORE})`,
    },
  ],
  validations: [
    {
      expression: `authorizer.group('${BundleState.group}').resource('${BundleState.plural}').namespace(${NAMESPACE}).name(${ROW}).check('reveal').allowed()`,
      messageExpression: `request.userInfo.username + ' may not ask for values of bundle ' + ${ASKED}.bundle + ': it needs the verb reveal on ${BundleState.plural}.${BundleState.group} in namespace ' + ${NAMESPACE}`,
      reason: 'Forbidden',
    },
  ],
})

/** The policy holds everywhere. */
export const REVEAL_BINDING = shippedPolicyBinding(REVEAL_POLICY)
