/** Label selectors of a policy, read as Kubernetes reads them. */
import { meetsRequirement } from '../../core/text/label-selector.ts'
import type { LabelRequirement, Labels } from '../../core/text/label-selector.ts'
import { fieldOf, isGoObject, sprint, textAt } from './go-value.ts'
import type { GoObject, GoValue } from './go-value.ts'

const OPERATORS: ReadonlySet<string> = new Set(['In', 'NotIn', 'Exists', 'DoesNotExist'])

/** A selector, or why it is invalid. */
export type LabelMatch = { readonly matches: (labels: Labels) => boolean } | { readonly error: string }

/** Reads `matchLabels` and `matchExpressions`. */
export function readLabelSelector(selector: GoObject): LabelMatch {
  const requirements: LabelRequirement[] = []
  const labels = fieldOf(selector, 'matchLabels')
  for (const [key, value] of Object.entries(isGoObject(labels) ? labels : {})) {
    requirements.push({ key, operator: 'In', values: [sprint(value)] })
  }
  const expressions = fieldOf(selector, 'matchExpressions')
  for (const expression of Array.isArray(expressions) ? expressions : []) {
    const read = readExpression(expression)
    if (typeof read === 'string') return { error: read }
    requirements.push(read)
  }
  return { matches: (found) => requirements.every((requirement) => meetsRequirement(found, requirement)) }
}

function readExpression(expression: GoValue): LabelRequirement | string {
  const given = isGoObject(expression) ? expression : {}
  const [key, operator] = [textAt(given, 'key'), textAt(given, 'operator')]
  const list = fieldOf(given, 'values')
  const values = Array.isArray(list) ? list.map(sprint) : []
  if (!OPERATORS.has(operator)) return `${JSON.stringify(operator)} is not a valid label selector operator`
  const isSet = operator === 'In' || operator === 'NotIn'
  if (isSet && values.length === 0) {
    return "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"
  }
  if (!isSet && values.length > 0) {
    return `values: Invalid value: ${JSON.stringify(values)}: values set must be empty for exists and does not exist`
  }
  return { key, operator: operator as LabelRequirement['operator'], values }
}

/** The labels of an object. */
export function labelsOf(object: GoObject): Labels {
  const metadata = fieldOf(object, 'metadata')
  const labels = isGoObject(metadata) ? fieldOf(metadata, 'labels') : undefined
  if (!isGoObject(labels)) return {}
  return Object.fromEntries(
    Object.entries(labels).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
