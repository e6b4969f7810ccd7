// Tested by src/apiserver/server/api-server-memory.contract.test.ts.
/** Policies for both homes: accepting a cluster needs permission, and so does all that amounts to it. */
import { Cluster } from '../native/cluster.ts'
import { JoinToken } from '../native/join-token.ts'
import { shippedPolicyBinding, shippedPolicy } from './shipped-policy.ts'

const NAME = 'clusters-accept.flotilla.dev'
const KEYS_NAME = 'clusters-keys.flotilla.dev'
const PUSH_NAME = 'clusters-kubeconfig.flotilla.dev'
const TOKENS_NAME = 'jointokens-accept.flotilla.dev'

const CLUSTERS = `${Cluster.plural}.${Cluster.group}`
const VERB = `it needs the verb accept on ${CLUSTERS}`

const resource = `authorizer.group('${Cluster.group}').resource('${Cluster.plural}')`
const mayAccept = (name: string) => `${resource}.name(${name}).check('accept').allowed()`

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
      expression: mayAccept('object.metadata.name'),
      messageExpression: `request.userInfo.username + ' may not accept ' + object.metadata.name + ': ${VERB}'`,
      reason: 'Forbidden',
    },
  ],
})

/** The policy holds everywhere. */
export const ACCEPT_BINDING = shippedPolicyBinding(ACCEPT_POLICY)

const changed = (field: string) => {
  const [now, before] = [`object.${field}`, `oldObject.${field}`]
  return `has(${now}) != has(${before}) || (has(${now}) && ${now} != ${before})`
}

/**
 * Secret values are sealed for the sealing key: who replaces the key reads them. The gateway has the verb and records
 * the keys that agents announce. The identity key changes only with a kubeconfigSecret.
 */
export const KEYS_POLICY = shippedPolicy({
  name: KEYS_NAME,
  kind: Cluster,
  operations: ['UPDATE'],
  matchConditions: [
    {
      name: 'changes-a-sealing-key',
      expression: ['spec.sealingKey', 'spec.retiredSealingKey', 'spec.identityKey'].map(changed).join(' || '),
    },
  ],
  validations: [
    {
      expression: mayAccept('object.metadata.name'),
      messageExpression: `request.userInfo.username + ' may not change the keys of ' + object.metadata.name + ': ${VERB}'`,
      reason: 'Forbidden',
    },
  ],
})

/** The policy holds everywhere. */
export const KEYS_BINDING = shippedPolicyBinding(KEYS_POLICY)

const SECRET = 'object.spec.kubeconfigSecret'

/**
 * The hub acts with the kubeconfig in the named Secret: without the second check, a tenant could name the Secret of
 * another tenant. Taking the Secret away lets an agent with another identity in, too.
 */
export const PUSH_POLICY = shippedPolicy({
  name: PUSH_NAME,
  kind: Cluster,
  operations: ['CREATE', 'UPDATE'],
  matchConditions: [
    {
      name: 'names-a-kubeconfig',
      expression: `oldObject == null ? has(${SECRET}) : ${changed('spec.kubeconfigSecret')}`,
    },
  ],
  validations: [
    {
      expression: mayAccept('object.metadata.name'),
      messageExpression: `request.userInfo.username + ' may not change the kubeconfigSecret of ' + object.metadata.name + ': ${VERB}'`,
      reason: 'Forbidden',
    },
    {
      expression: `!has(${SECRET}) || authorizer.group('').resource('secrets').namespace(${SECRET}.namespace).name(${SECRET}.name).check('get').allowed()`,
      messageExpression: `request.userInfo.username + ' may not name Secret ' + ${SECRET}.namespace + '/' + ${SECRET}.name + ': it needs the verb get on this Secret'`,
      reason: 'Forbidden',
    },
  ],
})

/** The policy holds everywhere. */
export const PUSH_BINDING = shippedPolicyBinding(PUSH_POLICY)

const LABELS = 'has(object.spec.labels) && size(object.spec.labels) > 0'
const ACCEPTS = "has(object.spec.accept) && object.spec.accept != 'Manual'"
const TAKES_OVER = 'has(object.spec.takeOver) && object.spec.takeOver'

/**
 * The gateway accepts and labels clusters in the name of a token, so that its author needs the right to do so. A token
 * for clusters that wait for a person, without labels, gives nothing away. A later change could make more of any token.
 */
export const JOIN_TOKEN_POLICY = shippedPolicy({
  name: TOKENS_NAME,
  kind: JoinToken,
  operations: ['CREATE', 'UPDATE'],
  matchConditions: [
    {
      name: 'accepts-or-labels-clusters',
      expression: `oldObject == null ? (${ACCEPTS}) || (${LABELS}) || (${TAKES_OVER}) : object.spec != oldObject.spec`,
    },
  ],
  validations: [
    {
      expression: `has(object.spec.clusterName) ? ${mayAccept('object.spec.clusterName')} : ${resource}.check('accept').allowed()`,
      messageExpression: `request.userInfo.username + (oldObject == null ? ' may not create join token ' + object.metadata.name + ', which accepts or labels clusters' : ' may not change the terms of join token ' + object.metadata.name) + ': ${VERB}'`,
      reason: 'Forbidden',
    },
  ],
})

/** The policy holds everywhere. */
export const JOIN_TOKEN_BINDING = shippedPolicyBinding(JOIN_TOKEN_POLICY)
