import type { LabelSelector } from '../../core/text/label-selector.ts'
import type { KubeObject } from '../meta.ts'
import { builtinKind } from './kind-table.ts'

const GROUP_VERSION = 'rbac.authorization.k8s.io/v1'

/** A rule of a role. */
export interface PolicyRule {
  verbs: string[]
  apiGroups?: string[]
  resources?: string[]
  resourceNames?: string[]
  nonResourceURLs?: string[]
}

/** A user, group or service account that a binding gives a role to. */
export interface Subject {
  kind: string
  apiGroup?: string
  name: string
  namespace?: string
}

interface Binding extends KubeObject {
  subjects?: Subject[]
  roleRef: { apiGroup?: string; kind: string; name: string }
}

/** Permissions in one namespace. */
export interface Role extends KubeObject {
  rules?: PolicyRule[]
}
export const Role = builtinKind<Role>(GROUP_VERSION, 'Role')

/** What its holders may do everywhere, or in the namespace of the binding. */
export interface ClusterRole extends KubeObject {
  rules?: PolicyRule[]
  aggregationRule?: { clusterRoleSelectors?: LabelSelector[] }
}
export const ClusterRole = builtinKind<ClusterRole>(GROUP_VERSION, 'ClusterRole')

/** Who has a role in a namespace. */
export interface RoleBinding extends Binding {}
export const RoleBinding = builtinKind<RoleBinding>(GROUP_VERSION, 'RoleBinding')

/** Who has a cluster role everywhere. */
export interface ClusterRoleBinding extends Binding {}
export const ClusterRoleBinding = builtinKind<ClusterRoleBinding>(GROUP_VERSION, 'ClusterRoleBinding')

/** The kinds of role-based access control. */
export const RBAC_KINDS = [Role, ClusterRole, RoleBinding, ClusterRoleBinding] as const
