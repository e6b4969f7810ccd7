/** Selectors that no cluster can meet, or none does. */
import { compact } from '../../core/compact.ts'
import { nearestName } from '../../core/text/nearest-name.ts'
import { matchesSelector, meetsRequirement, requirementsOf, selectorText } from '../../core/text/label-selector.ts'
import type { LabelRequirement, LabelSelector, Labels } from '../../core/text/label-selector.ts'
import type { FieldPath } from '../objects/managed-fields.ts'
import { finding } from './finding.ts'
import type { Finding } from './finding.ts'

/** A selector, whose it is, and where it stands. */
export interface LintSelector {
  /** For people: `Placement shop/stores`. */
  readonly who: string
  readonly place: FieldPath
  readonly selector: LabelSelector
}

/** Checks a selector; without clusters only whether it can be met at all. */
export function lintSelector({ who, place, selector }: LintSelector, clusters: readonly Labels[]): Finding[] {
  const why = contradiction(requirementsOf(selector))
  const what = `${who}: the selector ${selectorText(selector)}`
  if (why !== undefined) return [finding('contradictory-selector', `${what} can never match: ${why}`, { place })]
  if (clusters.length === 0 || clusters.some((labels) => matchesSelector(labels, selector))) return []
  const { reason, todo } = unmet(requirementsOf(selector), clusters)
  const message = `${what} matches none of ${clusters.length === 1 ? 'the one cluster' : `${clusters.length} clusters`}: ${reason}`
  return [finding('unmatched-selector', message, compact({ place, todo }))]
}

/** Why requirements can never hold together; undefined when they can. */
export function contradiction(requirements: readonly LabelRequirement[]): string | undefined {
  const byKey = Map.groupBy(requirements, ({ key }) => key)
  for (const [key, own] of byKey) {
    const allowed = own.filter(({ operator }) => operator === 'In').map(({ values = [] }) => new Set(values))
    const forbidden = new Set(own.flatMap(({ operator, values = [] }) => (operator === 'NotIn' ? values : [])))
    const mustBe = allowed.length > 0 || own.some(({ operator }) => operator === 'Exists')
    if (mustBe && own.some(({ operator }) => operator === 'DoesNotExist')) return `${key} must be there and must not`
    if (allowed.length === 0) continue
    const [first, ...others] = allowed
    const both = [...first!].filter((value) => others.every((set) => set.has(value)))
    if (both.length === 0) return `no value of ${key} is in all of its lists`
    if (both.every((value) => forbidden.has(value))) return `every value of ${key} that it allows it also excludes`
  }
  return undefined
}

/** Whether two selectors may both match one cluster. */
export function mayMeet(a: LabelSelector, b: LabelSelector): boolean {
  return contradiction([...requirementsOf(a), ...requirementsOf(b)]) === undefined
}

function unmet(
  requirements: readonly LabelRequirement[],
  clusters: readonly Labels[],
): { readonly reason: string; readonly todo?: string } {
  const alone = requirements.find((one) => !clusters.some((labels) => meetsRequirement(labels, one)))
  if (!alone) return { reason: 'each requirement is met by some, all of them by none' }
  const term = selectorText({ matchExpressions: [alone] })
  const reason = `none meets ${term}`
  const values = new Set(clusters.flatMap((labels) => labels[alone.key] ?? []))
  if (values.size === 0) {
    const key = nearestName(alone.key, new Set(clusters.flatMap((labels) => Object.keys(labels))))
    return key === undefined ? { reason: `none has a label ${alone.key}` } : { reason, todo: `did you mean ${key}?` }
  }
  const near = (alone.values ?? []).map((value) => nearestName(value, values)).find((value) => value !== undefined)
  return near === undefined ? { reason } : { reason, todo: `did you mean ${alone.key}=${near}?` }
}
