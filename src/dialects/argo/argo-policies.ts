// Tested by src/hub/home/argo-rights.contract.test.ts
/** What users may change of Applications that an ApplicationSet made, and who may write cluster Secrets. */
import type { ValidatingAdmissionPolicy } from '../../kinds/builtin/admission.ts'
import { shippedPolicy } from '../../kinds/policies/shipped-policy.ts'
import { Application, ARGO_GROUP } from './kinds.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import { COMPILED, MAINTENANCE_WINDOW, REFRESH, SYNC } from './annotations.ts'
import { SECRET_TYPE } from './repositories/repository-secrets.ts'

const isSet = `o.kind == 'ApplicationSet' && o.apiVersion.startsWith('${ARGO_GROUP}/')`
const mapOf = (object: string, map: string) => `(has(${object}.metadata.${map}) ? ${object}.metadata.${map} : {})`
const compiledOf = (object: string) => `${mapOf(object, 'annotations')}[?'${COMPILED}'].orValue('')`

/** The hub writes the digest of what it compiled with each change, so that its own writes pass in both homes. */
const GENERATED_POLICY = shippedPolicy({
  name: 'applications-generated.argo.flotilla.dev',
  kind: Application,
  operations: ['UPDATE'],
  matchConditions: [
    {
      name: 'made-by-a-set',
      expression: `has(oldObject.metadata.ownerReferences) && oldObject.metadata.ownerReferences.exists(o, ${isSet})`,
    },
  ],
  validations: [
    {
      expression: `${compiledOf('object')} != ${compiledOf('oldObject')} || (object.spec == oldObject.spec && ${mapOf('object', 'labels')} == ${mapOf('oldObject', 'labels')})`,
      messageExpression: `'Application ' + object.metadata.name + ' is made by ApplicationSet ' + oldObject.metadata.ownerReferences.filter(o, ${isSet})[0].name + '; change the ApplicationSet instead. Of a generated Application only operation and the annotations ${REFRESH} and ${SYNC} can be changed'`,
      reason: 'Invalid',
    },
  ],
})

const isCluster = (object: string) =>
  `(${object} != null && ${mapOf(object, 'labels')}[?'${SECRET_TYPE}'].orValue('') == 'cluster')`
const windowOf = (object: string) =>
  `(${object} != null ? ${mapOf(object, 'annotations')}[?'${MAINTENANCE_WINDOW}'].orValue('') : '')`
const CLUSTERS = `${Cluster.plural}.${Cluster.group}`
const WINDOWS = `${ClusterWindow.plural}.${ClusterWindow.group}`
const may = (kind: typeof Cluster | typeof ClusterWindow, verb: string) =>
  `authorizer.group('${kind.group}').resource('${kind.plural}').check('${verb}').allowed()`
const WHO = 'request.userInfo.username'

/**
 * A cluster Secret registers a Cluster, and sets labels and aliases of the Cluster that it names. The name is not
 * readable in a policy, so that its author needs the right to write and to accept all Clusters.
 */
const CLUSTER_SECRET_POLICY = shippedPolicy({
  name: 'cluster-secrets.argo.flotilla.dev',
  kind: Secret,
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  matchConditions: [
    { name: 'is-in-the-namespace', expression: "request.namespace == 'argocd'" },
    { name: 'is-a-cluster', expression: `${isCluster('object')} || ${isCluster('oldObject')}` },
    {
      // A namespace that is deleted takes its objects with it.
      name: 'is-not-the-namespace-controller',
      expression: `request.operation != 'DELETE' || !${WHO}.startsWith('system:serviceaccount:kube-system:')`,
    },
  ],
  validations: [
    {
      expression: `${may(Cluster, 'update')} && ${may(Cluster, 'accept')}`,
      messageExpression: `${WHO} + ' may not write cluster Secrets: it needs the verbs update and accept on all ${CLUSTERS}'`,
      reason: 'Forbidden',
    },
    {
      expression: `${windowOf('object')} == ${windowOf('oldObject')} || ${may(ClusterWindow, 'create')}`,
      messageExpression: `${WHO} + ' may not change the annotation ${MAINTENANCE_WINDOW}: it needs the verb create on ${WINDOWS}'`,
      reason: 'Forbidden',
    },
  ],
})

export const ARGO_POLICIES: readonly ValidatingAdmissionPolicy[] = [GENERATED_POLICY, CLUSTER_SECRET_POLICY]
