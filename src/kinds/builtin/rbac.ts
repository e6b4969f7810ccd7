import { isObject } from '../../core/json.ts'
import { AGE } from '../define-kind.ts'
import type { Column, ObjOf } from '../define-kind.ts'
import type { UnknownObject } from '../meta.ts'
import { atomic, defineBuiltin, fields, mapOf, opt, TEXT } from './vocabulary.ts'

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', nameFormat: 'pathSegment' } as const

const PolicyRule = fields({
  verbs: atomic(TEXT),
  apiGroups: opt(atomic(TEXT)),
  resources: opt(atomic(TEXT)),
  resourceNames: opt(atomic(TEXT)),
  nonResourceURLs: opt(atomic(TEXT)),
})

const Selector = fields(
  {
    matchLabels: opt(mapOf(TEXT)),
    matchExpressions: opt(atomic(fields({ key: TEXT, operator: TEXT, values: opt(atomic(TEXT)) }))),
  },
  { 'x-kubernetes-map-type': 'atomic' },
)

const binding = {
  subjects: opt(
    atomic(
      fields(
        { kind: TEXT, apiGroup: opt(TEXT), name: TEXT, namespace: opt(TEXT) },
        { 'x-kubernetes-map-type': 'atomic' },
      ),
    ),
  ),
  roleRef: fields({ apiGroup: opt(TEXT), kind: TEXT, name: TEXT }, { 'x-kubernetes-map-type': 'atomic' }),
}

// A date that is shown as it is, not as an age.
const CREATED: Column = {
  name: 'Created At',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  cell: ({ metadata }) => metadata.creationTimestamp ?? null,
}

function roleOf({ roleRef }: UnknownObject): string {
  return isObject(roleRef) ? `${String(roleRef['kind'])}/${String(roleRef['name'])}` : ''
}

function subjectsOf(kind: string): NonNullable<Column['cell']> {
  return ({ subjects }) =>
    (Array.isArray(subjects) ? subjects : [])
      .filter(isObject)
      .filter((subject) => subject['kind'] === kind)
      .map(({ namespace, name }) => (kind === 'ServiceAccount' ? `${String(namespace)}/${String(name)}` : String(name)))
      .join(', ')
}

const BINDING_COLUMNS: readonly Column[] = [
  { name: 'Role', type: 'string', jsonPath: '.roleRef', cell: roleOf },
  AGE,
  { name: 'Users', type: 'string', jsonPath: '.subjects', priority: 1, cell: subjectsOf('User') },
  { name: 'Groups', type: 'string', jsonPath: '.subjects', priority: 1, cell: subjectsOf('Group') },
  { name: 'ServiceAccounts', type: 'string', jsonPath: '.subjects', priority: 1, cell: subjectsOf('ServiceAccount') },
]

/** What its holders may do in one namespace. */
export const Role = defineBuiltin({
  ...rbac,
  kind: 'Role',
  plural: 'roles',
  scope: 'Namespaced',
  description: 'A set of rules that a RoleBinding gives to somebody in one namespace.',
  fields: fields({ rules: opt(atomic(PolicyRule)) }),
  columns: [CREATED],
})
export type Role = ObjOf<typeof Role>

/** What its holders may do everywhere, or in the namespace of the binding. */
export const ClusterRole = defineBuiltin({
  ...rbac,
  kind: 'ClusterRole',
  plural: 'clusterroles',
  scope: 'Cluster',
  description: 'A set of rules that a ClusterRoleBinding or a RoleBinding gives to somebody.',
  fields: fields({
    rules: opt(atomic(PolicyRule)),
    aggregationRule: opt(fields({ clusterRoleSelectors: opt(atomic(Selector)) })),
  }),
  columns: [CREATED],
})
export type ClusterRole = ObjOf<typeof ClusterRole>

/** Who has a role in a namespace. */
export const RoleBinding = defineBuiltin({
  ...rbac,
  kind: 'RoleBinding',
  plural: 'rolebindings',
  scope: 'Namespaced',
  description: 'Gives a Role or a ClusterRole to subjects within one namespace.',
  fields: fields(binding),
  columns: BINDING_COLUMNS,
})
export type RoleBinding = ObjOf<typeof RoleBinding>

/** Who has a cluster role everywhere. */
export const ClusterRoleBinding = defineBuiltin({
  ...rbac,
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  scope: 'Cluster',
  description: 'Gives a ClusterRole to subjects in the whole cluster.',
  fields: fields(binding),
  columns: BINDING_COLUMNS,
})
export type ClusterRoleBinding = ObjOf<typeof ClusterRoleBinding>

/** One rule of a role. */
export type PolicyRule = NonNullable<Role['rules']>[number]

/** Somebody who is given a role. */
export type Subject = NonNullable<RoleBinding['subjects']>[number]

/** The kinds of role-based access control. */
export const RBAC_KINDS = [Role, ClusterRole, RoleBinding, ClusterRoleBinding] as const
