// Tested by src/dialects/ocm/recorded.contract.test.ts: recorded answers of Open Cluster Management.
/** Members of a ManagedClusterSet, with the errors that Kubernetes gives for an invalid label selector. */
import { meetsRequirement, requirementsOf } from '../../../core/text/label-selector.ts'
import type { LabelRequirement, LabelSelector, Labels } from '../../../core/text/label-selector.ts'
import { labelKeyProblems, labelValueProblems } from '../../../core/text/name-validation.ts'
import { CLUSTER_SET_LABEL } from '../kinds.ts'
import type { ManagedClusterSet } from '../kinds.ts'

/** Whether a cluster with these labels is a member, or the error of the set. */
type SetMembership = (labels: Labels) => boolean

/** Compiles the selector of a set. */
export function setMembership({ metadata, spec }: ManagedClusterSet): SetMembership | { readonly error: string } {
  const { selectorType, labelSelector } = (spec?.clusterSelector ?? {}) as {
    readonly selectorType?: string
    readonly labelSelector?: LabelSelector
  }
  switch (selectorType) {
    case undefined:
    case '':
    case 'ExclusiveClusterSetLabel':
      return (labels) => labels[CLUSTER_SET_LABEL] === metadata.name
    case 'LabelSelector': {
      if (labelSelector === undefined) return () => false
      const error = kubernetesSelectorError(labelSelector)
      if (error !== undefined) return { error }
      const requirements = requirementsOf(labelSelector)
      return (labels) => requirements.every((requirement) => meetsRequirement(labels, requirement))
    }
    default:
      return { error: `selectorType is not right: ${selectorType}` }
  }
}

/** The error of `metav1.LabelSelectorAsSelector`, or undefined. */
function kubernetesSelectorError(selector: LabelSelector): string | undefined {
  for (const requirement of requirementsOf(selector)) {
    const errors = requirementErrors(requirement)
    if (errors.length > 0) return errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`
  }
  return undefined
}

function requirementErrors({ key, operator, values }: LabelRequirement): readonly string[] {
  const keyErrors = labelKeyProblems(key)
  const errors = keyErrors.length > 0 ? [`key: Invalid value: ${JSON.stringify(key)}: ${keyErrors.join('; ')}`] : []
  switch (operator) {
    case 'In':
    case 'NotIn':
      if ((values ?? []).length === 0) {
        const shown = values === undefined ? 'null' : '[]'
        errors.push(`values: Invalid value: ${shown}: for 'in', 'notin' operators, values set can't be empty`)
      }
      break
    case 'Exists':
    case 'DoesNotExist':
      if ((values ?? []).length > 0) {
        const shown = JSON.stringify(values)
        errors.push(`values: Invalid value: ${shown}: values set must be empty for exists and does not exist`)
      }
      break
    default:
      return [`${JSON.stringify(operator)} is not a valid label selector operator`]
  }
  for (const [i, value] of (values ?? []).entries()) {
    const problems = labelValueProblems(value)
    if (problems.length > 0) {
      errors.push(`values[${i}][${key}]: Invalid value: ${JSON.stringify(value)}: ${problems.join('; ')}`)
    }
  }
  return errors
}
