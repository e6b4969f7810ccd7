// Tested by test/e2e/argo.oracle.test.ts
/** What view, edit and admin of a namespace mean for the kinds of Argo CD. */
import type { ClusterRole } from '../../kinds/builtin/rbac.ts'
import { ARGO_GROUP } from './kinds.ts'

const AGGREGATE = 'rbac.authorization.k8s.io/aggregate-to-'
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update']

/** The cluster roles of the dialect. An AppProject limits users who may write Applications, so admin alone has it. */
export const ARGO_ROLES: readonly ClusterRole[] = [
  role('view', ['view', 'edit', 'admin'], {
    resources: ['applications', 'applicationsets', 'appprojects'],
    verbs: ['get', 'list', 'watch'],
  }),
  role('edit', ['edit', 'admin'], { resources: ['applications', 'applicationsets'], verbs: WRITE }),
  role('admin', ['admin'], { resources: ['appprojects'], verbs: WRITE }),
]

function role(
  name: string,
  into: readonly string[],
  rule: { readonly resources: string[]; readonly verbs: string[] },
): ClusterRole {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: {
      name: `flotilla:argo-${name}`,
      labels: Object.fromEntries(into.map((one) => [`${AGGREGATE}${one}`, 'true'])),
    },
    rules: [{ apiGroups: [ARGO_GROUP], ...rule }],
  }
}
