// Tested by src/hub/home/ocm-rights.contract.test.ts
/**
 * The kinds of the dialect, and what view and edit of a namespace mean for them. ManifestWorks are in no role: without
 * an executor they use the rights of the agent.
 */
import type { ClusterRole } from '../../kinds/builtin/rbac.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { namespaceRole, READ_VERBS, rulesOf, WRITE_VERBS } from '../namespace-roles.ts'
import { OCM_ADDON_KINDS } from './addons/kinds.ts'
import {
  AddOnPlacementScore,
  ManagedClusterSetBinding,
  OCM_PLACEMENT_KINDS,
  OcmPlacement,
  OcmPlacementDecision,
} from './kinds.ts'
import { OCM_POLICY_KINDS } from './policy/served/kinds.ts'
import { ManifestWorkReplicaSet } from './replica-sets/kinds.ts'
import { OCM_WORK_KINDS } from './works/kinds.ts'

/** The kinds that the hub serves. */
export const OCM_KINDS: readonly Kind[] = [
  ...OCM_PLACEMENT_KINDS,
  ...OCM_WORK_KINDS,
  ManifestWorkReplicaSet,
  ...OCM_ADDON_KINDS,
  ...OCM_POLICY_KINDS,
]

const OWNED: readonly Kind[] = [OcmPlacement, ManagedClusterSetBinding, ManifestWorkReplicaSet, ...OCM_POLICY_KINDS]
const DECIDED: readonly Kind[] = [OcmPlacementDecision, AddOnPlacementScore]

/**
 * The dialect's cluster roles. A ManifestWorkReplicaSet and a Policy act within the Project of their namespace, like a
 * Bundle.
 */
export const OCM_ROLES: readonly ClusterRole[] = [
  namespaceRole('flotilla:ocm-view', ['view', 'edit', 'admin'], rulesOf([...OWNED, ...DECIDED], READ_VERBS)),
  namespaceRole('flotilla:ocm-edit', ['edit', 'admin'], rulesOf(OWNED, WRITE_VERBS)),
]
