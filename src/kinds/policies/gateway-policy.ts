/** Policy for both homes: the fields of a Cluster that the gateway can change. */
import { Cluster } from '../native/cluster.ts'
import { shippedPolicyBinding, shippedPolicy } from './shipped-policy.ts'

const NAME = 'clusters-gateway.flotilla.dev'
const USER = 'system:flotilla:gateway'

const METADATA = ['labels', 'annotations', 'finalizers', 'ownerReferences']
const { sealingKey: _sealingKey, ...OTHERS } = Cluster.schema.properties!['spec']!.properties!

/** The field has the same value before and after. An object of an older release may lack a field that has a default. */
const same = (field: string, initial?: unknown) => {
  const [now, before] = [`object.${field}`, `oldObject.${field}`]
  if (initial === undefined) return `has(${now}) == has(${before}) && (!has(${now}) || ${now} == ${before})`
  return `(has(${now}) ? ${now} : ${JSON.stringify(initial)}) == (has(${before}) ? ${before} : ${JSON.stringify(initial)})`
}

/**
 * The gateway needs the verb `patch` on Clusters to record a new sealing key, which the agent has signed with its
 * identity key. A gateway that was taken over must not accept clusters, move them to other placements or replace their
 * identity.
 */
export const GATEWAY_POLICY = shippedPolicy({
  name: NAME,
  kind: Cluster,
  operations: ['UPDATE'],
  matchConditions: [{ name: 'is-the-gateway', expression: `request.userInfo.username == '${USER}'` }],
  validations: [
    {
      expression: [
        ...METADATA.map((field) => same(`metadata.${field}`)),
        ...Object.entries(OTHERS).map(([field, schema]) => same(`spec.${field}`, schema.default)),
      ].join(' && '),
      messageExpression: `request.userInfo.username + ' may change spec.sealingKey of ' + object.metadata.name + ' and no other field'`,
      reason: 'Forbidden',
    },
  ],
})

/** The policy holds everywhere. */
export const GATEWAY_BINDING = shippedPolicyBinding(GATEWAY_POLICY)
