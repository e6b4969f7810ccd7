/** Selectors of Placements: validation, and descriptions for messages. */
import { labelKeyProblems, labelValueProblems } from '../../core/text/name-validation.ts'
import { meetsRequirement, requirementsOf } from '../../core/text/label-selector.ts'
import type { LabelRequirement, LabelSelector, Labels } from '../../core/text/label-selector.ts'

/** The problem of a selector that Kubernetes would refuse, or undefined. */
export function selectorProblem(selector: LabelSelector): string | undefined {
  for (const { key, operator, values = [] } of requirementsOf(selector)) {
    const keyProblem = labelKeyProblems(key)[0]
    if (keyProblem) return `key ${JSON.stringify(key)}: ${keyProblem}`
    switch (operator) {
      case 'In':
      case 'NotIn': {
        if (values.length === 0) return `${key}: ${operator} needs values`
        const bad = values.find((value) => labelValueProblems(value).length > 0)
        if (bad !== undefined) return `${key}: value ${JSON.stringify(bad)}: ${labelValueProblems(bad)[0]}`
        break
      }
      case 'Exists':
      case 'DoesNotExist':
        if (values.length > 0) return `${key}: ${operator} takes no values`
        break
      default:
        return `${key}: ${JSON.stringify(operator)} is not an operator of selectors`
    }
  }
  return undefined
}

/** The first requirement that the labels do not meet. */
export function unmetBy(labels: Labels, requirements: readonly LabelRequirement[]): LabelRequirement | undefined {
  for (const requirement of requirements) if (!meetsRequirement(labels, requirement)) return requirement
  return undefined
}

/** A requirement for messages, for example `region in (east, west)`. */
export function describeRequirement(requirement: LabelRequirement, noun = 'label'): string {
  const values = requirement.values ?? []
  switch (requirement.operator) {
    case 'In':
      return values.length === 1 ? `${requirement.key}=${values[0]}` : `${requirement.key} in (${values.join(', ')})`
    case 'NotIn':
      return values.length === 1
        ? `${requirement.key}!=${values[0]}`
        : `${requirement.key} notin (${values.join(', ')})`
    case 'Exists':
      return `the ${noun} ${requirement.key}`
    case 'DoesNotExist':
      return `no ${noun} ${requirement.key}`
  }
}

/** The value of a label or claim for messages. */
export function describeObserved(labels: Labels, key: string, noun = 'label'): string {
  return Object.hasOwn(labels, key) ? `${key} is "${labels[key]}"` : `the cluster has no ${noun} ${key}`
}
