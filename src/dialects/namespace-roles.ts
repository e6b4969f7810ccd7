/** Cluster roles of dialects that Kubernetes aggregates into view, edit and admin of a namespace. */
import type { ClusterRole, PolicyRule } from '../kinds/builtin/rbac.ts'
import type { Kind } from '../kinds/define-kind.ts'

const AGGREGATE = 'rbac.authorization.k8s.io/aggregate-to-'

/** Verbs that read. */
export const READ_VERBS: readonly string[] = ['get', 'list', 'watch']
/** Verbs that write. */
export const WRITE_VERBS: readonly string[] = ['create', 'delete', 'deletecollection', 'patch', 'update']

/** These verbs on these kinds, one rule for each kind. */
export function rulesOf(kinds: readonly Kind[], verbs: readonly string[]): PolicyRule[] {
  return kinds.map(({ group, plural }) => ({ apiGroups: [group], resources: [plural], verbs: [...verbs] }))
}

/** A role that is a part of these roles of Kubernetes, for example of `view`. */
export function namespaceRole(name: string, into: readonly string[], rules: PolicyRule[]): ClusterRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels: Object.fromEntries(into.map((one) => [`${AGGREGATE}${one}`, 'true'])) },
    rules,
  }
}
