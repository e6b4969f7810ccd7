import type { LabelSelector } from '../../core/text/label-selector.ts'
import type { KubeObject } from '../meta.ts'
import { builtinKind } from './kind-table.ts'

/** A rule about which requests are meant. */
export interface ResourceRule {
  resourceNames?: string[]
  operations?: string[]
  apiGroups?: string[]
  apiVersions?: string[]
  resources?: string[]
  scope?: string
}

/** Which requests a policy or binding is about. */
export interface MatchResources {
  namespaceSelector?: LabelSelector
  objectSelector?: LabelSelector
  resourceRules?: ResourceRule[]
  excludeResourceRules?: ResourceRule[]
  matchPolicy?: string
}

/** Rules in CEL about what may be written. */
export interface ValidatingAdmissionPolicy extends KubeObject {
  spec?: {
    paramKind?: { apiVersion?: string; kind?: string }
    matchConstraints?: MatchResources
    validations?: { expression?: string; message?: string; reason?: string; messageExpression?: string }[]
    failurePolicy?: string
    auditAnnotations?: { key: string; valueExpression: string }[]
    matchConditions?: { name: string; expression: string }[]
    variables?: { name: string; expression: string }[]
  }
}

/** The scope, parameters and actions of a policy. */
export interface ValidatingAdmissionPolicyBinding extends KubeObject {
  spec?: {
    policyName?: string
    paramRef?: { name?: string; namespace?: string; selector?: LabelSelector; parameterNotFoundAction?: string }
    matchResources?: MatchResources
    validationActions?: string[]
  }
}

/** Changes in CEL to what is written. */
export interface MutatingAdmissionPolicy extends KubeObject {
  spec?: {
    paramKind?: { apiVersion?: string; kind?: string }
    matchConstraints?: MatchResources
    mutations?: {
      patchType?: string
      applyConfiguration?: { expression?: string }
      jsonPatch?: { expression?: string }
    }[]
    failurePolicy?: string
    matchConditions?: { name: string; expression: string }[]
    variables?: { name: string; expression: string }[]
    reinvocationPolicy?: string
  }
}

/** The scope and parameters of a mutating policy. */
export type MutatingAdmissionPolicyBinding = ValidatingAdmissionPolicyBinding

/** Changes in CEL to what is written. */
export const MutatingAdmissionPolicy = builtinKind<MutatingAdmissionPolicy>(
  'admissionregistration.k8s.io/v1',
  'MutatingAdmissionPolicy',
)

/** The scope and parameters of a mutating policy. */
export const MutatingAdmissionPolicyBinding = builtinKind<MutatingAdmissionPolicyBinding>(
  'admissionregistration.k8s.io/v1',
  'MutatingAdmissionPolicyBinding',
)

/** Rules in CEL about what may be written. */
export const ValidatingAdmissionPolicy = builtinKind<ValidatingAdmissionPolicy>(
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicy',
)

/** The scope, parameters and actions of a policy. */
export const ValidatingAdmissionPolicyBinding = builtinKind<ValidatingAdmissionPolicyBinding>(
  'admissionregistration.k8s.io/v1',
  'ValidatingAdmissionPolicyBinding',
)
