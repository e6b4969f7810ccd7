/**
 * The rights of a hub on a kube-apiserver, where its parts share the user of a kubeconfig: rights of the controllers
 * and of the gateway, and rights to install and serve. docs/access.md has them as manifests; a test compares.
 */
import { HUB_LOCALS, HUB_ROLES } from '../../apiserver/rbac/bootstrap-roles.ts'
import { CONTROLLER_RULES, CONTROLLER_SYSTEM_RULES } from '../../apiserver/rbac/controller-rules.ts'
import { compact } from '../../core/compact.ts'
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import { compareText } from '../../core/text/compare-text.ts'
import type { DialectName } from './dialect-names.ts'
import { dialectKinds, dialectRoles, dialectRules } from './dialects.ts'
import { PEER_RULES } from './peer-controllers.ts'

const OWN = 'flotilla.dev'
const GATEWAY = 'system:flotilla:gateway'

/** The cluster roles that the hub writes: roles of users for the kinds of Flotilla. */
const WRITTEN_ROLES = HUB_ROLES.map(({ name }) => name).filter((name) => !name.startsWith('system:'))

/** Rights in all namespaces that neither the controllers nor the gateway have. */
const INSTALL_RULES: readonly PolicyRule[] = [
  {
    apiGroups: ['apiextensions.k8s.io'],
    resources: ['customresourcedefinitions'],
    verbs: ['get', 'create', 'patch'],
  },
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['validatingadmissionpolicies', 'validatingadmissionpolicybindings'],
    verbs: ['create', 'patch'],
  },
  // The roles contain rights that the hub does not have, so that it needs to escalate; in these roles only.
  {
    apiGroups: ['rbac.authorization.k8s.io'],
    resources: ['clusterroles'],
    resourceNames: WRITTEN_ROLES,
    verbs: ['create', 'patch', 'escalate'],
  },
  {
    apiGroups: ['apiregistration.k8s.io'],
    resources: ['apiservices'],
    resourceNames: ['v1alpha1.view.flotilla.dev'],
    verbs: ['get', 'create', 'patch', 'delete'],
  },
  // The Projects of a first start. A policy whose parameters are Projects needs the right to read one.
  { apiGroups: [OWN], resources: ['projects'], verbs: ['get', 'create'] },
  { apiGroups: [''], resources: ['namespaces'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
]

/** Rights in the hub's namespace that neither the controllers nor the gateway have. */
const INSTALL_SYSTEM_RULES: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['services'], verbs: ['get', 'create', 'patch'] },
  // Election of the hub that leads.
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
]

/** Rights in all namespaces. */
export function kubeHomeRules(): PolicyRule[] {
  return merged([...CONTROLLER_RULES, ...rulesOf(HUB_ROLES), ...INSTALL_RULES])
}

/** Rights in the namespace `flotilla-system`. */
export function kubeHomeSystemRules(): PolicyRule[] {
  return merged([...CONTROLLER_SYSTEM_RULES, ...rulesOf(HUB_LOCALS), ...INSTALL_SYSTEM_RULES])
}

/**
 * Rights for an enabled dialect: the hub lists each kind, and the controllers of the peer, before it begins.
 */
export function kubeHomeDialectRules(dialect: DialectName): PolicyRule[] {
  const list = dialectKinds(dialect).map(({ group, plural }) => ({
    apiGroups: [group],
    resources: [plural],
    verbs: ['list'],
  }))
  const roles = dialectRoles(dialect).map(({ metadata }) => metadata.name)
  // As the roles above: the hub can escalate in these roles only.
  const written: PolicyRule[] =
    roles.length === 0
      ? []
      : [
          {
            apiGroups: ['rbac.authorization.k8s.io'],
            resources: ['clusterroles'],
            resourceNames: roles,
            verbs: ['create', 'patch', 'escalate'],
          },
        ]
  return merged([...dialectRules([dialect]), ...PEER_RULES, ...list, ...written])
}

function rulesOf(roles: readonly { readonly name: string; readonly rules?: readonly PolicyRule[] }[]) {
  return roles.filter(({ name }) => name === GATEWAY).flatMap(({ rules = [] }) => rules)
}

/** The same rights with one rule for all resources of a group that have the same verbs. */
function merged(rules: readonly PolicyRule[]): PolicyRule[] {
  const verbsOf = new Map<string, Set<string>>()
  for (const { apiGroups = [], resources = [], resourceNames, verbs } of rules) {
    for (const group of apiGroups) {
      for (const resource of resources) {
        const key = JSON.stringify([group, resource, resourceNames ?? []])
        verbsOf.set(key, new Set([...(verbsOf.get(key) ?? []), ...verbs]))
      }
    }
  }
  const byVerbs = new Map<string, PolicyRule>()
  for (const [key, verbs] of verbsOf) {
    const [group, resource, resourceNames] = JSON.parse(key) as [string, string, string[]]
    const sorted = [...verbs].toSorted(compareText)
    const same = JSON.stringify([group, resourceNames, sorted])
    const rule = byVerbs.get(same)
    if (rule) rule.resources = [...rule.resources!, resource].toSorted(compareText)
    else {
      byVerbs.set(same, {
        apiGroups: [group],
        resources: [resource],
        ...compact({ resourceNames: resourceNames.length > 0 ? resourceNames : undefined }),
        verbs: sorted,
      })
    }
  }
  return [...byVerbs.values()]
}
