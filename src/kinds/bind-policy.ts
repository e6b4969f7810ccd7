/** Who may bind a cluster set to a namespace: a policy that ships with our kinds, for both homes. */
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from './builtin/admission.ts'
import { ClusterSetBinding } from './cluster-set-binding.ts'
import { ClusterSet } from './cluster-set.ts'

const NAME = 'clustersets-bind.flotilla.dev'

/** Making a ClusterSetBinding needs the verb `bind` on the set it names; that never changes afterwards. */
export const BIND_POLICY: ValidatingAdmissionPolicy = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: NAME },
  spec: {
    failurePolicy: 'Fail',
    matchConstraints: {
      resourceRules: [
        {
          apiGroups: [ClusterSetBinding.group],
          apiVersions: ['*'],
          operations: ['CREATE'],
          resources: [ClusterSetBinding.plural],
          scope: '*',
        },
      ],
    },
    validations: [
      {
        expression: `authorizer.group('${ClusterSet.group}').resource('${ClusterSet.plural}').name(object.spec.clusterSet).check('bind').allowed()`,
        messageExpression: `request.userInfo.username + ' may not bind ' + object.spec.clusterSet + ': it needs the verb bind on ${ClusterSet.plural}.${ClusterSet.group}'`,
        reason: 'Forbidden',
      },
    ],
  },
}

/** The policy holds everywhere. */
export const BIND_BINDING: ValidatingAdmissionPolicyBinding = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: NAME },
  spec: { policyName: NAME, validationActions: ['Deny'] },
}
