import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import { resourceMatches, urlMatches } from '../../kinds/policy-rule.ts'

/** Whether rules cover others; after Kubernetes' pkg/registry/rbac/validation. */

const ALL = '*'

/** The parts of `wanted` that no rule of `held` covers, each about one resource and verb. */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(breakDown).filter((part) => !held.some((rule) => covers(rule, part)))
}

function covers(rule: PolicyRule, part: PolicyRule): boolean {
  const all = (list: readonly string[] = [], parts: readonly string[] = []) =>
    list.includes(ALL) || parts.every((value) => list.includes(value))
  const names = rule.resourceNames ?? []
  const partNames = part.resourceNames ?? []
  return (
    all(rule.verbs, part.verbs) &&
    all(rule.apiGroups, part.apiGroups) &&
    (part.resources ?? []).every((resource) => resourceMatches(rule.resources ?? [], resource)) &&
    (part.nonResourceURLs ?? []).every((url) => (rule.nonResourceURLs ?? []).some((held) => urlMatches(held, url))) &&
    (names.length === 0 || (partNames.length > 0 && all(names, partNames)))
  )
}

/** A rule per group, resource, name and verb. */
function breakDown(rule: PolicyRule): PolicyRule[] {
  const parts: PolicyRule[] = []
  const names: readonly (string | undefined)[] = rule.resourceNames?.length ? rule.resourceNames : [undefined]
  for (const apiGroup of rule.apiGroups ?? []) {
    for (const resource of rule.resources ?? []) {
      for (const verb of rule.verbs) {
        for (const name of names) {
          const named = name === undefined ? {} : { resourceNames: [name] }
          parts.push({ verbs: [verb], apiGroups: [apiGroup], resources: [resource], ...named })
        }
      }
    }
  }
  for (const url of rule.nonResourceURLs ?? []) {
    for (const verb of rule.verbs) parts.push({ verbs: [verb], nonResourceURLs: [url] })
  }
  return parts
}

/** The same rules, with the verbs for the same resources in one rule. */
export function compactRules(parts: readonly PolicyRule[]): PolicyRule[] {
  const byThing = new Map<string, PolicyRule>()
  const others: PolicyRule[] = []
  for (const part of parts) {
    if (part.nonResourceURLs) {
      others.push(part)
      continue
    }
    const key = JSON.stringify([part.apiGroups, part.resources, part.resourceNames])
    const known = byThing.get(key)
    if (known) known.verbs = [...known.verbs, ...part.verbs]
    else byThing.set(key, { ...part })
  }
  return [...byThing.values(), ...others]
}

/** A rule in the words of Kubernetes' refusals. */
export function ruleText(rule: PolicyRule): string {
  const parts = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ] as const
  const texts = parts.flatMap(([name, values]) => (values && values.length > 0 ? [`${name}:${goList(values)}`] : []))
  return `{${texts.join(', ')}}`
}

/** `["a" "b"]`, as Go prints a list of strings. */
export function goList(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`
}
