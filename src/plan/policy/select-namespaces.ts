/** Which namespaces the selector of a policy chooses. */
import type { ConfigurationPolicy } from './configuration-policy.ts'
import { matchesNamePattern } from './name-pattern.ts'
import type { PolicyCluster } from './policy-ports.ts'
import { readLabelSelector } from './select-labels.ts'

/** The names in order, or why the selector is invalid. */
export type SelectedNamespaces = { readonly names: readonly string[] } | { readonly error: string }

/** Selects by labels first, then by include and exclude patterns; an empty selector selects nothing. */
export function selectNamespaces({
  policy,
  cluster,
}: {
  readonly policy: Pick<ConfigurationPolicy, 'namespaceSelector'>
  readonly cluster: PolicyCluster
}): SelectedNamespaces {
  const { labels, include, exclude, terminatingInclusion } = policy.namespaceSelector
  if (labels === undefined && include.length === 0) return { names: [] }
  const selector = labels === undefined ? { matches: () => true } : readLabelSelector(labels)
  if ('error' in selector) return { error: `error parsing namespace LabelSelector: ${selector.error}` }
  const includesTerminating = terminatingInclusion === 'IfMatch' || terminatingInclusion === 'Default'
  const names: string[] = []
  for (const namespace of cluster.namespaces()) {
    if (namespace.isTerminating && !includesTerminating) continue
    if (!selector.matches(namespace.labels)) continue
    const included = include.length === 0 ? true : anyMatch(include, namespace.name)
    if (typeof included === 'string') return { error: badPattern('include', included) }
    if (!included) continue
    const excluded = anyMatch(exclude, namespace.name)
    if (typeof excluded === 'string') return { error: badPattern('exclude', excluded) }
    if (!excluded) names.push(namespace.name)
  }
  return { names: names.sort() }
}

/** Whether a pattern matches; the pattern itself if it is invalid. */
function anyMatch(patterns: readonly string[], name: string): boolean | string {
  for (const pattern of patterns) {
    const matches = matchesNamePattern(pattern, name)
    if (matches === undefined) return pattern
    if (matches) return true
  }
  return false
}

function badPattern(list: string, pattern: string): string {
  return `error parsing '${list}' pattern '${pattern}': syntax error in pattern`
}
