/** What view and edit of a namespace mean for Flux's kinds, as the roles flux-view and flux-edit of Flux itself. */
import type { ClusterRole } from '../../kinds/builtin/rbac.ts'
import { FLUX_KINDS } from './kinds.ts'

const AGGREGATE = 'rbac.authorization.k8s.io/aggregate-to-'

/** The cluster roles of the dialect. */
export const FLUX_ROLES: readonly ClusterRole[] = [
  role('flotilla:flux-view', ['view', 'edit', 'admin'], ['get', 'list', 'watch']),
  role('flotilla:flux-edit', ['edit', 'admin'], ['create', 'delete', 'deletecollection', 'patch', 'update']),
]

function role(name: string, into: readonly string[], verbs: readonly string[]): ClusterRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels: Object.fromEntries(into.map((one) => [`${AGGREGATE}${one}`, 'true'])) },
    rules: FLUX_KINDS.map(({ group, plural }) => ({ apiGroups: [group], resources: [plural], verbs: [...verbs] })),
  }
}
