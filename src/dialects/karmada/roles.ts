// Tested by src/hub/home/karmada-rights.contract.test.ts
/** What view and edit of a namespace mean for the kinds of the dialect. */
import type { ClusterRole } from '../../kinds/builtin/rbac.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { namespaceRole, READ_VERBS, rulesOf, WRITE_VERBS } from '../namespace-roles.ts'
import { OverridePolicy, PropagationPolicy, ResourceBinding } from './served/kinds.ts'

const OWNED: readonly Kind[] = [PropagationPolicy, OverridePolicy]

/** The dialect's cluster roles. A policy of a namespace acts within the Project of the namespace, like a Bundle. */
export const KARMADA_ROLES: readonly ClusterRole[] = [
  namespaceRole('flotilla:karmada-view', ['view', 'edit', 'admin'], rulesOf([...OWNED, ResourceBinding], READ_VERBS)),
  namespaceRole('flotilla:karmada-edit', ['edit', 'admin'], rulesOf(OWNED, WRITE_VERBS)),
]
