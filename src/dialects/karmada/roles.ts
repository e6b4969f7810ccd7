// Tested by src/hub/home/karmada-rights.contract.test.ts
/** What view and edit of a namespace mean for the kinds of the dialect. */
import type { ClusterRole, PolicyRule } from '../../kinds/builtin/rbac.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { OverridePolicy, PropagationPolicy, ResourceBinding } from './served/kinds.ts'

const AGGREGATE = 'rbac.authorization.k8s.io/aggregate-to-'
const READ = ['get', 'list', 'watch']
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update']
const OWNED: readonly Kind[] = [PropagationPolicy, OverridePolicy]

/** The dialect's cluster roles. A policy of a namespace acts within the Project of the namespace, like a Bundle. */
export const KARMADA_ROLES: readonly ClusterRole[] = [
  role('flotilla:karmada-view', ['view', 'edit', 'admin'], rulesOf([...OWNED, ResourceBinding], READ)),
  role('flotilla:karmada-edit', ['edit', 'admin'], rulesOf(OWNED, WRITE)),
]

function rulesOf(kinds: readonly Kind[], verbs: readonly string[]): PolicyRule[] {
  return kinds.map(({ group, plural }) => ({ apiGroups: [group], resources: [plural], verbs: [...verbs] }))
}

function role(name: string, into: readonly string[], rules: PolicyRule[]): ClusterRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels: Object.fromEntries(into.map((one) => [`${AGGREGATE}${one}`, 'true'])) },
    rules,
  }
}
