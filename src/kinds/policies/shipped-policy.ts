/** The frame of the admission policies that ship with our kinds, for both homes: they fail closed, and deny. */
import { compact } from '../../core/compact.ts'
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../builtin/admission.ts'
import type { Kind } from '../define-kind.ts'

type PolicySpec = NonNullable<ValidatingAdmissionPolicy['spec']>

/** What a policy says about objects of a kind. */
export interface ShippedPolicy {
  readonly name: string
  readonly kind: Pick<Kind, 'group' | 'plural'>
  readonly operations: ('CREATE' | 'UPDATE')[]
  readonly matchConditions?: NonNullable<PolicySpec['matchConditions']>
  readonly validations: NonNullable<PolicySpec['validations']>
}

/** A policy; what it cannot evaluate it refuses. */
export function shippedPolicy({
  name,
  kind,
  operations,
  matchConditions,
  validations,
}: ShippedPolicy): ValidatingAdmissionPolicy {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: compact({
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [
          { apiGroups: [kind.group], apiVersions: ['*'], operations, resources: [kind.plural], scope: '*' },
        ],
      },
      matchConditions,
      validations,
    }),
  }
}

/** Puts a policy of ours in force everywhere. */
export function shippedPolicyBinding({
  metadata: { name },
}: ValidatingAdmissionPolicy): ValidatingAdmissionPolicyBinding {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  }
}
