// Tested by src/hub/home/ocm-rights.contract.test.ts
/**
 * Who may write the cluster kinds of Open Cluster Management. A ManagedCluster is another face of a Cluster: writing it
 * needs the right to write the Cluster, and accepting needs the right to accept.
 */
import type { ValidatingAdmissionPolicy } from '../../../kinds/builtin/admission.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { shippedPolicy } from '../../../kinds/policies/shipped-policy.ts'
import { CLUSTER_SET_LABEL, ManagedCluster, ManagedClusterSet, ManagedClusterSetBinding } from '../kinds.ts'

const CLUSTERS = `${Cluster.plural}.${Cluster.group}`
const clusterCheck = (name: string, verb: string) =>
  `authorizer.group('${Cluster.group}').resource('${Cluster.plural}').name(${name}).check('${verb}').allowed()`
const setCheck = (name: string, subresource: string) =>
  `authorizer.group('${ManagedClusterSet.group}').resource('${ManagedClusterSet.plural}').subresource('${subresource}').name(${name}).check('create').allowed()`

const WHO = 'request.userInfo.username'
const labelsOf = (object: string) => `(has(${object}.metadata.labels) ? ${object}.metadata.labels : {})`
const setOf = (object: string) =>
  `(${object} != null && has(${object}.metadata.labels) && '${CLUSTER_SET_LABEL}' in ${object}.metadata.labels ? ${object}.metadata.labels['${CLUSTER_SET_LABEL}'] : '')`
const isAccepted = (object: string) => `(has(${object}.spec.hubAcceptsClient) && ${object}.spec.hubAcceptsClient)`

/** Writing or deleting a ManagedCluster needs the right to update the Cluster of the same name. */
const WRITE_POLICY = shippedPolicy({
  name: 'managedclusters-write.ocm.flotilla.dev',
  kind: ManagedCluster,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  matchConditions: [
    {
      name: 'changes-the-cluster',
      expression: `object == null || oldObject == null || object.spec != oldObject.spec || ${labelsOf('object')} != ${labelsOf('oldObject')}`,
    },
  ],
  validations: [
    {
      expression: clusterCheck('object == null ? oldObject.metadata.name : object.metadata.name', 'update'),
      messageExpression: `${WHO} + ' may not write ManagedCluster ' + (object == null ? oldObject.metadata.name : object.metadata.name) + ': it needs the verb update on ${CLUSTERS}'`,
      reason: 'Forbidden',
    },
  ],
})

/** Accepting a ManagedCluster needs the verb `accept` on the Cluster of the same name. */
const ACCEPT_POLICY = shippedPolicy({
  name: 'managedclusters-accept.ocm.flotilla.dev',
  kind: ManagedCluster,
  operations: ['CREATE', 'UPDATE'],
  matchConditions: [
    {
      name: 'accepts-the-cluster',
      expression: `${isAccepted('object')} && (oldObject == null || !${isAccepted('oldObject')})`,
    },
  ],
  validations: [
    {
      expression: clusterCheck('object.metadata.name', 'accept'),
      messageExpression: `${WHO} + ' may not accept ' + object.metadata.name + ': it needs the verb accept on ${CLUSTERS}'`,
      reason: 'Forbidden',
    },
  ],
})

const setRight = (object: string) =>
  `${setOf(object)} == '' || ${setOf('object')} == ${setOf('oldObject')} || ${setCheck(setOf(object), 'join')}`

/** Moving a cluster into or out of an exclusive set needs `create` on managedclustersets/join of both sets. */
const JOIN_POLICY = shippedPolicy({
  name: 'managedclustersets-join.ocm.flotilla.dev',
  kind: ManagedCluster,
  operations: ['CREATE', 'UPDATE'],
  validations: [
    {
      expression: `(${setRight('object')}) && (${setRight('oldObject')})`,
      messageExpression: `${WHO} + ' may not change the set of ' + object.metadata.name + ': it needs the verb create on ${ManagedClusterSet.plural}/join.${ManagedClusterSet.group} of the old and the new set'`,
      reason: 'Forbidden',
    },
  ],
})

/** Binding a set needs `create` on managedclustersets/bind, and a binding has the name of its set. */
const BIND_POLICY = shippedPolicy({
  name: 'managedclustersets-bind.ocm.flotilla.dev',
  kind: ManagedClusterSetBinding,
  operations: ['CREATE', 'UPDATE'],
  validations: [
    {
      expression: 'has(object.spec.clusterSet) && object.spec.clusterSet == object.metadata.name',
      message: 'spec.clusterSet must be the name of the ManagedClusterSetBinding',
      reason: 'Invalid',
    },
    {
      expression: `oldObject != null || ${setCheck('object.metadata.name', 'bind')}`,
      messageExpression: `${WHO} + ' may not bind ' + object.metadata.name + ': it needs the verb create on ${ManagedClusterSet.plural}/bind.${ManagedClusterSet.group}'`,
      reason: 'Forbidden',
    },
  ],
})

/** The policies of the dialect. */
export const OCM_FACE_POLICIES: readonly ValidatingAdmissionPolicy[] = [
  WRITE_POLICY,
  ACCEPT_POLICY,
  JOIN_POLICY,
  BIND_POLICY,
]
