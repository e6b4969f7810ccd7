import { jsonEqual } from '../../core/json.ts'
import { matchesSelector } from '../../core/text/label-selector.ts'
import type { LabelSelector } from '../../core/text/label-selector.ts'
import { ClusterRole } from '../../kinds/builtin/rbac.ts'
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import type { ServerParts } from '../server/context.ts'
import { readObject, storeKey, serializeObject } from '../storage/stored-object.ts'
import { internalAuditLine } from '../server/internal-audit-line.ts'
import type { RoleCache } from './role-cache.ts'

/** Aggregated cluster roles: their rules follow the cluster roles whose labels they select. */

const WRITER = 'system:serviceaccount:kube-system:clusterrole-aggregation-controller'

/** The rules an aggregating role should have: the rules of every other selected role, in the order of names. */
export function aggregatedRules(role: ClusterRole, all: Iterable<ClusterRole>): PolicyRule[] {
  const selectors = (role.aggregationRule?.clusterRoleSelectors ?? []) as readonly LabelSelector[]
  const rules: PolicyRule[] = []
  const sources = [...all].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  for (const selector of selectors) {
    for (const source of sources) {
      if (source.metadata.name === role.metadata.name) continue
      if (!matchesSelector(source.metadata.labels ?? {}, selector)) continue
      for (const rule of source.rules ?? []) {
        if (!rules.some((known) => jsonEqual(known, rule))) rules.push(rule)
      }
    }
  }
  return rules
}

/** Brings every aggregating role up to date. A role that changes meanwhile is aggregated again. */
export async function aggregate(
  cache: RoleCache,
  { store, clock }: Pick<ServerParts, 'store' | 'clock'>,
): Promise<void> {
  // A copy: the cache changes while this waits.
  const roles = Array.from(cache.clusterRoles())
  for (const role of roles) {
    if (!role.aggregationRule) continue
    const rules = aggregatedRules(role, cache.clusterRoles())
    if (jsonEqual(rules, role.rules ?? [])) continue
    const stored = await readObject(store, ClusterRole, { name: role.metadata.name })
    if (!stored || stored.object.metadata.resourceVersion !== role.metadata.resourceVersion) continue
    const object = { ...stored.object, metadata: { ...stored.object.metadata }, rules }
    await store.commit({
      key: storeKey(ClusterRole, role.metadata),
      expect: stored.revision,
      value: serializeObject(object),
      audit: internalAuditLine({ clock }, WRITER, { kind: ClusterRole, object, verb: 'update' }),
    })
  }
}
