/** What view and edit of a namespace mean for Flux's kinds, as the roles flux-view and flux-edit of Flux itself. */
import type { ClusterRole } from '../../kinds/builtin/rbac.ts'
import { namespaceRole, READ_VERBS, rulesOf, WRITE_VERBS } from '../namespace-roles.ts'
import { FLUX_KINDS } from './kinds.ts'

/** The cluster roles of the dialect. */
export const FLUX_ROLES: readonly ClusterRole[] = [
  namespaceRole('flotilla:flux-view', ['view', 'edit', 'admin'], rulesOf(FLUX_KINDS, READ_VERBS)),
  namespaceRole('flotilla:flux-edit', ['edit', 'admin'], rulesOf(FLUX_KINDS, WRITE_VERBS)),
]
