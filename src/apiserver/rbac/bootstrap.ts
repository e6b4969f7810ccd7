import { compact } from '../../core/compact.ts'
import { jsonEqual } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../kinds/builtin/rbac.ts'
import type { PolicyRule, Subject } from '../../kinds/builtin/rbac.ts'
import { GROUP } from '../../kinds/define-kind.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { ObjectKey, UnknownObject } from '../../kinds/meta.ts'
import type { ServerParts } from '../server/context.ts'
import { readObject, storeKey, serializeObject } from '../storage/stored-object.ts'
import {
  HUB_BINDINGS,
  HUB_LOCALS,
  HUB_ROLES,
  KUBERNETES_BINDINGS,
  KUBERNETES_ROLES,
  WITHDRAWN_RULES,
} from './bootstrap-roles.ts'
import type { BootstrapBinding, BootstrapRole } from './bootstrap-roles.ts'
import { COMPONENT_BINDINGS, COMPONENT_ROLES, CONTROLLER_BINDINGS, CONTROLLER_ROLES } from './bootstrap-system-roles.ts'
import { aggregatedRules } from './aggregation.ts'
import { internalAuditLine } from '../server/internal-audit-line.ts'
import { compactRules, uncoveredRules } from './rules.ts'

/** Creates the default roles and bindings, and restores rules and subjects that were removed from them. */

const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate'

/** Which of them there are. */
export interface BootstrapChoice {
  /** Whether Kubernetes' controllers have theirs. */
  readonly controllerRoles: boolean
}

/** Does nothing where the kinds of RBAC are not served. */
export async function ensureBootstrapRoles(parts: ServerParts, { controllerRoles }: BootstrapChoice): Promise<void> {
  const { registry } = parts
  if (!registry.find(ClusterRole.group, ClusterRole.version, ClusterRole.plural)) return
  const isHub = registry.groups().has(GROUP)
  const roles = rolesOf(controllerRoles, isHub)
  const bindings = [
    ...KUBERNETES_BINDINGS,
    ...COMPONENT_BINDINGS,
    ...(controllerRoles ? CONTROLLER_BINDINGS : []),
    ...(isHub ? HUB_BINDINGS : []),
  ].map((binding) => bindingObject(ClusterRoleBinding, 'ClusterRole', binding))
  // All at once, so that a first start waits for a few durable writes and not for a hundred.
  await Promise.all(roles.map((role) => ensure(parts, ClusterRole, role)))
  await Promise.all(bindings.map((binding) => ensure(parts, ClusterRoleBinding, binding)))
  for (const local of isHub ? HUB_LOCALS : []) {
    const { name, namespace, rules } = local
    await ensure(parts, Role, bootstrapObject(Role, { name, namespace }, { rules }))
    await ensure(parts, RoleBinding, bindingObject(RoleBinding, 'Role', local))
  }
}

const known = new Map<string, readonly UnknownObject[]>()

/** The roles of a choice, made once: a process may have many clusters. */
function rolesOf(controllerRoles: boolean, isHub: boolean): readonly UnknownObject[] {
  const choice = `${controllerRoles} ${isHub}`
  const made = known.get(choice)
  if (made) return made
  const roles = [
    ...KUBERNETES_ROLES,
    ...COMPONENT_ROLES,
    ...(controllerRoles ? CONTROLLER_ROLES : []),
    ...(isHub ? HUB_ROLES : []),
  ].map(roleObject)
  fillAggregates(roles)
  known.set(choice, roles)
  return roles
}

/**
 * The rules of a role that are those it began with, as one array for all clusters of this process; others as they are.
 */
export function internBootstrapRules({ metadata, rules }: ClusterRole): ClusterRole['rules'] {
  for (const roles of known.values()) {
    const role = roles.find((candidate) => candidate.metadata.name === metadata.name)
    if (role && jsonEqual(role['rules'], rules)) return role['rules'] as ClusterRole['rules']
  }
  return rules
}

// The cluster is never seen with its aggregating roles still empty. `admin` selects `edit`, which selects `view`.
function fillAggregates(roles: readonly UnknownObject[]): void {
  const aggregating = roles.filter((role) => role['aggregationRule'])
  for (const _round of aggregating) {
    for (const role of aggregating) {
      role['rules'] = aggregatedRules(role, roles)
    }
  }
}

function roleObject({ name, rules, labels, aggregates }: BootstrapRole): UnknownObject {
  return bootstrapObject(
    ClusterRole,
    { name },
    compact({
      rules,
      aggregationRule: aggregates ? { clusterRoleSelectors: [{ matchLabels: aggregates }] } : undefined,
    }),
    labels,
  )
}

function bindingObject(
  kind: Kind,
  roleKind: string,
  binding: BootstrapBinding & { readonly namespace?: string },
): UnknownObject {
  const { name, namespace, role, subjects } = binding
  const roleRef = { apiGroup: kind.group, kind: roleKind, name: role }
  return bootstrapObject(kind, compact({ name, namespace: namespace || undefined }), { subjects, roleRef })
}

function bootstrapObject(
  kind: Kind,
  key: ObjectKey,
  content: object,
  labels: Readonly<Record<string, string>> = {},
): UnknownObject {
  return {
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: {
      ...key,
      labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
      annotations: { [AUTOUPDATE]: 'true' },
    },
    ...content,
  }
}

async function ensure({ store, ids, clock }: ServerParts, kind: Kind, wanted: UnknownObject): Promise<void> {
  const key = storeKey(kind, wanted.metadata)
  const stored = await readObject(store, kind, wanted.metadata)
  if (!stored) {
    const metadata = { ...wanted.metadata, uid: ids.uid(), creationTimestamp: formatTime(clock.now()) }
    const created = { ...wanted, metadata }
    const audit = internalAuditLine({ clock }, 'system:apiserver', { kind, object: created, verb: 'create' })
    await store.commit({ key, expect: 0, value: serializeObject(created), audit })
    return
  }
  const { object, revision } = stored
  if (object.metadata.annotations?.[AUTOUPDATE] === 'false') return
  const next = { ...object, metadata: { ...object.metadata }, ...additions(object, wanted) }
  if (jsonEqual(next, object)) return
  const audit = internalAuditLine({ clock }, 'system:apiserver', { kind, object: next, verb: 'update' })
  await store.commit({ key, expect: revision, value: serializeObject(next), audit })
}

/** What a newer release adds, without what it withdraws; what people added stays. */
function additions(object: UnknownObject, wanted: UnknownObject): object {
  if (wanted['roleRef']) {
    const subjects = (object['subjects'] ?? []) as Subject[]
    const missing = (wanted['subjects'] as Subject[]).filter(
      (subject) => !subjects.some((known) => jsonEqual(known, subject)),
    )
    return missing.length > 0 ? { subjects: [...subjects, ...missing] } : {}
  }
  // The rules of aggregating roles are followed all the time, not only at the start.
  if (object['aggregationRule']) return {}
  const stored = (object['rules'] ?? []) as PolicyRule[]
  const withdrawn = WITHDRAWN_RULES[wanted.metadata.name] ?? []
  const rules = stored.filter((rule) => !withdrawn.some((former) => jsonEqual(former, rule)))
  const missing = uncoveredRules(rules, (wanted['rules'] ?? []) as PolicyRule[])
  const isSame = missing.length === 0 && rules.length === stored.length
  return isSame ? {} : { rules: [...rules, ...compactRules(missing)] }
}
