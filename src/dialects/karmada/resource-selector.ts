/** Selection of objects by Karmada's policies: by kind, namespace, name or labels. */
import { matchesSelector } from '../../core/text/label-selector.ts'
import type { LabelSelector } from '../../core/text/label-selector.ts'

/** An entry of `resourceSelectors`. */
export interface ResourceSelector {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name?: string
  readonly labelSelector?: LabelSelector
}

/** The object that is selected. */
export interface SelectableObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
  }
}

/** How precisely a policy selects an object: not at all, its whole kind, its labels, or its name. */
export type SelectorPriority = 0 | 1 | 2 | 3

/** Operators of label selectors; a selector with another one, or with a wrong number of values, selects nothing. */
const NEEDS_VALUES: ReadonlyMap<string, boolean> = new Map([
  ['In', true],
  ['NotIn', true],
  ['Exists', false],
  ['DoesNotExist', false],
])

/** The priority of the most precise selector; a policy without selectors selects every object. */
export function selectorsPriority(
  object: SelectableObject,
  selectors: readonly ResourceSelector[] | undefined,
): SelectorPriority {
  return (selectors ?? []).reduce<SelectorPriority>((best, selector) => {
    const priority = selectorPriority(object, selector)
    return priority > best ? priority : best
  }, 0)
}

function selectorPriority(object: SelectableObject, selector: ResourceSelector): SelectorPriority {
  const { apiVersion, kind, namespace = '', name = '', labelSelector } = selector
  if (object.apiVersion !== apiVersion || object.kind !== kind) return 0
  if (namespace !== '' && (object.metadata.namespace ?? '') !== namespace) return 0
  if (name !== '') return name === object.metadata.name ? 3 : 0
  if (!labelSelector) return 1
  const isValid = (labelSelector.matchExpressions ?? []).every(
    ({ operator, values = [] }) => NEEDS_VALUES.get(operator) === values.length > 0,
  )
  return isValid && matchesSelector(object.metadata.labels ?? {}, labelSelector) ? 2 : 0
}
