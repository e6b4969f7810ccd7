/** Whether a policy's or binding's match says that it is about a request. */
import { matchesSelector } from '../../../core/text/label-selector.ts'
import type { LabelSelector } from '../../../core/text/label-selector.ts'
import type { MatchResources } from '../../../kinds/builtin/admission.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import type { PolicyRequest } from './policy-request.ts'

/** A request with what its match needs to know. */
export interface MatchInput {
  readonly request: PolicyRequest
  /** The namespace the object is in. */
  readonly namespace: UnknownObject | undefined
  servedVersions(group: string, plural: string): readonly string[]
}

type Rule = NonNullable<MatchResources['resourceRules']>[number]

/** Whether a request matches. Absent match rules match every request. */
export function matchesResources(match: MatchResources | undefined, matched: MatchInput): boolean {
  if (!match) return true
  const isEquivalent = match.matchPolicy !== 'Exact'
  const rules = match.resourceRules ?? []
  if (rules.length > 0 && !rules.some((rule) => meetsRule(rule, matched, isEquivalent))) return false
  if ((match.excludeResourceRules ?? []).some((rule) => meetsRule(rule, matched, isEquivalent))) return false
  return meetsNamespace(match.namespaceSelector, matched) && meetsObject(match.objectSelector, matched.request)
}

function meetsRule(rule: Rule, { request, servedVersions }: MatchInput, isEquivalent: boolean): boolean {
  const { kind, operation, subresource } = request
  const any = (list: readonly string[] | undefined, value: string) =>
    (list ?? []).some((item) => item === '*' || item === value)
  // Asked last: it looks at every kind that is served.
  const versions = () => (isEquivalent ? servedVersions(kind.group, kind.plural) : [])
  const name = (request.object ?? request.oldObject)?.metadata.name ?? ''
  return (
    any(rule.operations, operation) &&
    any(rule.apiGroups, kind.group) &&
    (rule.resources ?? []).some((resource) => meetsResource(resource, kind.plural, subresource)) &&
    (any(rule.apiVersions, kind.version) || versions().some((version) => any(rule.apiVersions, version))) &&
    (rule.scope === '*' || rule.scope === undefined || rule.scope === kind.scope) &&
    (!rule.resourceNames?.length || rule.resourceNames.includes(name))
  )
}

function meetsResource(pattern: string, plural: string, subresource: string | undefined): boolean {
  const [resource, below] = pattern.split('/')
  const isResource = resource === '*' || resource === plural
  if (below === undefined) return isResource && subresource === undefined
  return isResource && (below === '*' || below === subresource)
}

function isEmpty(selector: LabelSelector | undefined): boolean {
  return !selector || (!Object.keys(selector.matchLabels ?? {}).length && !selector.matchExpressions?.length)
}

function meetsNamespace(selector: unknown, { request, namespace }: MatchInput): boolean {
  const wanted = selector as LabelSelector | undefined
  if (isEmpty(wanted)) return true
  const isNamespace = request.kind.group === '' && request.kind.kind === 'Namespace'
  // Cluster-scoped objects have no namespace to select by.
  if (request.kind.scope === 'Cluster' && !isNamespace) return true
  const labels = (isNamespace ? (request.object ?? request.oldObject) : namespace)?.metadata.labels ?? {}
  return matchesSelector(labels, wanted!)
}

function meetsObject(selector: unknown, { object, oldObject }: PolicyRequest): boolean {
  const wanted = selector as LabelSelector | undefined
  if (isEmpty(wanted)) return true
  return [object, oldObject].some((one) => one !== undefined && matchesSelector(one.metadata.labels ?? {}, wanted!))
}
