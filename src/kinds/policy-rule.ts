// Tested by src/apiserver/rbac/rules.test.ts
/** What a rule of a Role allows; after Kubernetes' pkg/registry/rbac/validation. */
import type { PolicyRule } from './builtin/rbac.ts'

/** What a caller attempts; without a resource, a path of the API. */
export interface RuleAttempt {
  readonly verb: string
  readonly path: string
  readonly resource?:
    | {
        readonly group: string
        readonly plural: string
        readonly subresource?: string | undefined
        readonly name?: string | undefined
      }
    | undefined
}

const ALL = '*'

/** Whether one rule allows an attempt. */
export function ruleAllows(rule: PolicyRule, { verb, resource, path }: RuleAttempt): boolean {
  if (!has(rule.verbs, verb)) return false
  if (!resource) return (rule.nonResourceURLs ?? []).some((url) => urlMatches(url, path))
  const { group, plural, subresource, name } = resource
  const names = rule.resourceNames ?? []
  return (
    has(rule.apiGroups, group) &&
    resourceMatches(rule.resources ?? [], subresource ? `${plural}/${subresource}` : plural) &&
    (names.length === 0 || (name !== undefined && names.includes(name)))
  )
}

function has(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes(ALL) || list.includes(value))
}

/** Whether the resources of a rule contain a resource, or a subresource as `pods/log`. */
export function resourceMatches(resources: readonly string[], wanted: string): boolean {
  if (resources.includes(ALL) || resources.includes(wanted)) return true
  const slash = wanted.indexOf('/')
  return slash >= 0 && resources.includes(`*${wanted.slice(slash)}`)
}

/** Whether a URL of a rule, which may end with `*`, contains a path. */
export function urlMatches(rule: string, path: string): boolean {
  if (rule === ALL || rule === path) return true
  return rule.endsWith(ALL) && path.startsWith(rule.slice(0, -1))
}
