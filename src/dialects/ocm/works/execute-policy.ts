// Tested by src/hub/home/ocm-rights.contract.test.ts
/** Who may write a ManifestWork that a ServiceAccount executes. */
import type { ValidatingAdmissionPolicy } from '../../../kinds/builtin/admission.ts'
import { shippedPolicy } from '../../../kinds/policies/shipped-policy.ts'
import { ManifestWork } from './kinds.ts'

const accountOf = (object: string) =>
  `(${object} != null && has(${object}.spec.executor) && has(${object}.spec.executor.subject.serviceAccount) ? 'system:serviceaccount:' + ${object}.spec.executor.subject.serviceAccount.namespace + ':' + ${object}.spec.executor.subject.serviceAccount.name : '')`
const MAY_EXECUTE = `authorizer.group('${ManifestWork.group}').resource('${ManifestWork.plural}').namespace(object.metadata.namespace).name(${accountOf('object')}).check('execute-as').allowed()`

/** Setting an executor needs the verb `execute-as` on manifestworks with the name of the ServiceAccount's user. */
export const WORK_EXECUTE_POLICY: ValidatingAdmissionPolicy = shippedPolicy({
  name: 'manifestworks-execute.ocm.flotilla.dev',
  kind: ManifestWork,
  operations: ['CREATE', 'UPDATE'],
  matchConditions: [
    {
      name: 'sets-the-executor',
      expression: `${accountOf('object')} != '' && ${accountOf('object')} != ${accountOf('oldObject')}`,
    },
  ],
  validations: [
    {
      expression: MAY_EXECUTE,
      messageExpression: `request.userInfo.username + ' may not execute as ' + ${accountOf('object')} + ': it needs the verb execute-as on ${ManifestWork.plural}.${ManifestWork.group} of that name'`,
      reason: 'Forbidden',
    },
  ],
})
