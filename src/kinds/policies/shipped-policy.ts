/** Builds the ValidatingAdmissionPolicies that Flotilla installs in both homes. They fail closed and deny. */
import { compact } from '../../core/compact.ts'
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../builtin/admission.ts'
import type { Kind } from '../define-kind.ts'
import { apiVersionOf } from '../meta.ts'

type PolicySpec = NonNullable<ValidatingAdmissionPolicy['spec']>

/** The parts of a policy that differ between kinds. */
export interface ShippedPolicy {
  readonly name: string
  readonly kind: Pick<Kind, 'group' | 'plural'>
  readonly operations: ('CREATE' | 'UPDATE' | 'DELETE')[]
  readonly matchConditions?: NonNullable<PolicySpec['matchConditions']>
  readonly variables?: NonNullable<PolicySpec['variables']>
  /** The kind of the parameters; the binding evaluates the policy once for each object of the kind. */
  readonly params?: Pick<Kind, 'group' | 'version' | 'kind'>
  readonly validations: NonNullable<PolicySpec['validations']>
}

export function shippedPolicy({
  name,
  kind,
  operations,
  matchConditions,
  variables,
  params,
  validations,
}: ShippedPolicy): ValidatingAdmissionPolicy {
  const resourceRules = [
    { apiGroups: [kind.group], apiVersions: ['*'], operations, resources: [kind.plural], scope: '*' },
  ]
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name },
    spec: compact({
      failurePolicy: 'Fail',
      paramKind: params && { apiVersion: apiVersionOf(params), kind: params.kind },
      matchConstraints: { resourceRules },
      matchConditions,
      variables,
      validations,
    }),
  }
}

/** Binds a policy to all namespaces. */
export function shippedPolicyBinding({
  metadata: { name },
  spec,
}: ValidatingAdmissionPolicy): ValidatingAdmissionPolicyBinding {
  const paramRef = spec?.paramKind && { selector: {}, parameterNotFoundAction: 'Allow' }
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'], ...compact({ paramRef }) },
  }
}
