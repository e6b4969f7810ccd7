// Tested by test/e2e/argo.oracle.test.ts
/** What view, edit and admin of a namespace mean for the kinds of Argo CD. */
import type { ClusterRole, PolicyRule } from '../../kinds/builtin/rbac.ts'
import { namespaceRole, READ_VERBS, WRITE_VERBS } from '../namespace-roles.ts'
import { ARGO_GROUP } from './kinds.ts'

const APPLICATIONS = ['applications', 'applicationsets']

/** The cluster roles of the dialect. An AppProject limits users who may write Applications, so admin alone has it. */
export const ARGO_ROLES: readonly ClusterRole[] = [
  namespaceRole('flotilla:argo-view', ['view', 'edit', 'admin'], ruleOf([...APPLICATIONS, 'appprojects'], READ_VERBS)),
  namespaceRole('flotilla:argo-edit', ['edit', 'admin'], ruleOf(APPLICATIONS, WRITE_VERBS)),
  namespaceRole('flotilla:argo-admin', ['admin'], ruleOf(['appprojects'], WRITE_VERBS)),
]

function ruleOf(resources: readonly string[], verbs: readonly string[]): PolicyRule[] {
  return [{ apiGroups: [ARGO_GROUP], resources: [...resources], verbs: [...verbs] }]
}
