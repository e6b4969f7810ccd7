// Tested by src/hub/join/agent-rights.contract.test.ts and test/advisories/advisories.test.ts
/** The permissions of an agent in its cluster, in three profiles. */

/** `full`: the whole cluster. `namespaced`: all rights in some namespaces. `read-only`: observe and report. */
const AGENT_PROFILES = ['full', 'namespaced', 'read-only'] as const
export type AgentProfile = (typeof AGENT_PROFILES)[number]

export interface AgentRbacOptions {
  readonly profile: AgentProfile
  /** For `namespaced`: the existing namespaces that the agent may change. */
  readonly namespaces: readonly string[]
  /** The agent's own namespace and account. */
  readonly home: string
  readonly account: string
  readonly labels: Readonly<Record<string, string>>
}

const API_GROUP = 'rbac.authorization.k8s.io'
const API_VERSION = `${API_GROUP}/v1`
const FOLLOW = ['list', 'watch']

/**
 * The RBAC objects of a profile. Apart from `full`, none of them reads a Secret outside the agent's namespaces or
 * grants a right on rights.
 */
export function agentRbac({ profile, namespaces, home, account, labels }: AgentRbacOptions): object[] {
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace: home }]
  const clusterBinding = (name: string, role: string) => ({
    apiVersion: API_VERSION,
    kind: 'ClusterRoleBinding',
    metadata: { name, labels },
    roleRef: { apiGroup: API_GROUP, kind: 'ClusterRole', name: role },
    subjects,
  })
  if (profile === 'full') return [clusterBinding(account, 'cluster-admin')]
  const about = `${account}-about`
  return [
    {
      // What the cluster says about itself: claims, and results of policy engines.
      apiVersion: API_VERSION,
      kind: 'ClusterRole',
      metadata: { name: about, labels },
      rules: [
        { apiGroups: [''], resources: ['nodes'], verbs: ['list'] },
        { apiGroups: ['about.k8s.io'], resources: ['clusterproperties'], verbs: ['list'] },
        { apiGroups: ['cluster.open-cluster-management.io'], resources: ['clusterclaims'], verbs: ['list'] },
        // Results of policy engines. The kinds of constraints are those of the cluster's ConstraintTemplates.
        { apiGroups: ['wgpolicyk8s.io'], resources: ['policyreports', 'clusterpolicyreports'], verbs: FOLLOW },
        { apiGroups: ['openreports.io'], resources: ['reports', 'clusterreports'], verbs: FOLLOW },
        { apiGroups: ['constraints.gatekeeper.sh'], resources: ['*'], verbs: FOLLOW },
      ],
    },
    clusterBinding(about, about),
    {
      // Inventories, the high-water mark and frozen values live in the agent's own namespace.
      apiVersion: API_VERSION,
      kind: 'Role',
      metadata: { name: account, namespace: home, labels },
      rules: [
        {
          apiGroups: [''],
          resources: ['configmaps'],
          verbs: ['get', 'list', 'create', 'update', 'delete'],
        },
        // What charts drew at random that are rendered here, and the identity of an agent without a volume.
        { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create', 'update', 'delete'] },
      ],
    },
    roleBinding(home, { kind: 'Role', name: account }),
    ...(profile === 'read-only'
      ? [clusterBinding(`${account}-view`, 'view')]
      : namespaces.map((namespace) => roleBinding(namespace, { kind: 'ClusterRole', name: 'admin' }))),
  ]

  function roleBinding(namespace: string, role: { readonly kind: string; readonly name: string }) {
    return {
      apiVersion: API_VERSION,
      kind: 'RoleBinding',
      metadata: { name: account, namespace, labels },
      roleRef: { apiGroup: API_GROUP, ...role },
      subjects,
    }
  }
}
