// Tested by src/hub/home/karmada-rights.contract.test.ts
/**
 * Who may write the kinds that the hub writes itself. A binding decides what runs on clusters, and a Cluster of Karmada
 * shows the Cluster of the fleet: users change the policy and the Cluster instead.
 */
import type { ValidatingAdmissionPolicy } from '../../../kinds/builtin/admission.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { shippedPolicy } from '../../../kinds/policies/shipped-policy.ts'
import { REFUSED_POLICIES } from '../refused-kinds.ts'
import { ClusterResourceBinding, KarmadaClusterFace, ResourceBinding } from './kinds.ts'

/** The right that the controllers of a hub have, and administrators. */
const IS_HUB = "authorizer.group('flotilla.dev').resource('assignments').check('create').allowed()"

const written = (name: string, kind: Kind, instead: string) =>
  shippedPolicy({
    name,
    kind,
    operations: ['CREATE', 'UPDATE'],
    matchConditions: [
      { name: 'changes-the-spec', expression: 'oldObject == null || object.spec != oldObject.spec' },
      { name: 'not-by-the-hub', expression: `!(${IS_HUB})` },
    ],
    validations: [
      { expression: 'false', message: `the hub writes ${kind.plural}.${kind.group}; ${instead}`, reason: 'Forbidden' },
    ],
  })

/** The policies of the dialect. */
export const KARMADA_POLICIES: readonly ValidatingAdmissionPolicy[] = [
  written(
    'resourcebindings-write.karmada.flotilla.dev',
    ResourceBinding,
    'change the PropagationPolicy or the object instead',
  ),
  written(
    'clusterresourcebindings-write.karmada.flotilla.dev',
    ClusterResourceBinding,
    'change the ClusterPropagationPolicy or the object instead',
  ),
  written(
    'clusters-write.karmada.flotilla.dev',
    KarmadaClusterFace,
    'change labels and taints on clusters.flotilla.dev instead',
  ),
  ...REFUSED_POLICIES,
]
