/**
 * Policies for both homes: a Fleet Cluster sets labels, hold and kubeconfig of a Cluster of flotilla.dev, so that its
 * author needs the right to write that Cluster, and to accept it where a kubeconfig is named.
 */
import type { ValidatingAdmissionPolicy } from '../../kinds/builtin/admission.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { shippedPolicy } from '../../kinds/policies/shipped-policy.ts'
import { FleetCluster } from './kinds.ts'
import { REGISTRATION_POLICIES } from './registration-policies.ts'

const CLUSTERS = `${Cluster.plural}.${Cluster.group}`
const WHO = 'request.userInfo.username'
const METADATA = '(object == null ? oldObject : object).metadata'
// The second Cluster of a name has its namespace in front; which of the two it is, only the hub knows.
const NAMES = [`${METADATA}.name`, `${METADATA}.namespace + '-' + ${METADATA}.name`]
const may = (verb: string) =>
  NAMES.map(
    (name) =>
      `authorizer.group('${Cluster.group}').resource('${Cluster.plural}').name(${name}).check('${verb}').allowed()`,
  ).join(' && ')

/** Writing or deleting a Fleet Cluster needs the right to update its Cluster. */
const WRITE_POLICY = shippedPolicy({
  name: 'clusters-write.fleet.flotilla.dev',
  kind: FleetCluster,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  matchConditions: [
    {
      // A namespace that is deleted takes its objects with it.
      name: 'is-not-the-namespace-controller',
      expression: `request.operation != 'DELETE' || !${WHO}.startsWith('system:serviceaccount:kube-system:')`,
    },
  ],
  validations: [
    {
      expression: may('update'),
      messageExpression: `${WHO} + ' may not write Cluster ' + ${METADATA}.name + ' of fleet.cattle.io: it needs the verb update on ${CLUSTERS}'`,
      reason: 'Forbidden',
    },
  ],
})

const secretOf = (object: string) =>
  `(has(${object}.spec) && has(${object}.spec.kubeConfigSecret) ? ${object}.spec.kubeConfigSecret : '')`

/** Naming a Secret registers the cluster, and lets the hub act with the kubeconfig in the Secret. */
const SECRET_POLICY = shippedPolicy({
  name: 'clusters-kubeconfig.fleet.flotilla.dev',
  kind: FleetCluster,
  operations: ['CREATE', 'UPDATE'],
  matchConditions: [
    {
      name: 'names-a-kubeconfig',
      expression: `${secretOf('object')} != '' && (oldObject == null || ${secretOf('oldObject')} != ${secretOf('object')})`,
    },
  ],
  validations: [
    {
      expression: may('accept'),
      messageExpression: `${WHO} + ' may not register cluster ' + object.metadata.name + ': it needs the verb accept on ${CLUSTERS}'`,
      reason: 'Forbidden',
    },
    {
      expression: `authorizer.group('').resource('secrets').namespace(object.metadata.namespace).name(object.spec.kubeConfigSecret).check('get').allowed()`,
      messageExpression: `${WHO} + ' may not name Secret ' + object.metadata.namespace + '/' + object.spec.kubeConfigSecret + ': it needs the verb get on this Secret'`,
      reason: 'Forbidden',
    },
  ],
})

/** The rules about writes of Fleet's kinds. */
export const FLEET_POLICIES: readonly ValidatingAdmissionPolicy[] = [
  WRITE_POLICY,
  SECRET_POLICY,
  ...REGISTRATION_POLICIES,
]
