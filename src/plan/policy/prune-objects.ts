/** Removes objects that an enforced policy does not want any more. */
import type { ConfigurationPolicy, RelatedObject } from './configuration-policy.ts'
import { fieldOf, isGoObject, textAt } from './go-value.ts'
import { ClusterRefusal } from './policy-ports.ts'
import type { PolicyCluster } from './policy-ports.ts'
import { goJson } from '../../yaml/go-json.ts'

/** What pruning needs. */
export interface PruneInput {
  readonly policy: ConfigurationPolicy
  readonly cluster: PolicyCluster
  readonly before?: readonly RelatedObject[]
}

/**
 * Deletes the objects of the last evaluation that are not in `wanted`, as `pruneObjectBehavior` says, and returns those
 * that could not be deleted. A policy that informs deletes nothing.
 */
export function pruneObjects({ policy, cluster, before = [] }: PruneInput, wanted: readonly RelatedObject[]): string[] {
  const behavior = policy.pruneObjectBehavior
  if (policy.remediationAction !== 'enforce' || (behavior !== 'DeleteAll' && behavior !== 'DeleteIfCreated')) return []
  const kept = new Set(wanted.map(({ object }) => goJson(object)))
  const failures: string[] = []
  for (const { object, properties } of before) {
    if (kept.has(goJson(object))) continue
    const { name, namespace = '' } = object.metadata
    const resource = cluster.resourceOf(object.apiVersion, object.kind)
    const existing = resource && cluster.get(resource, namespace, name)
    if (!resource || !existing) continue
    const isOwn = properties?.createdByPolicy === true && (properties.uid ?? '') === textAt(existing, 'metadata', 'uid')
    if (behavior === 'DeleteIfCreated' && !isOwn) continue
    const metadata = fieldOf(existing, 'metadata')
    const isGoing = isGoObject(metadata) && Object.hasOwn(metadata, 'deletionTimestamp')
    if (isGoing || !isDeleted(() => cluster.delete(resource, namespace, name))) {
      failures.push(`${kindText(object)} "${name}" in namespace ${namespace}`)
    }
  }
  return failures
}

function isDeleted(act: () => boolean): boolean {
  try {
    return act()
  } catch (caught) {
    if (caught instanceof ClusterRefusal) return false
    throw caught
  }
}

/** As Go prints a kind: `apps/v1, Kind=Deployment`. */
function kindText({ apiVersion, kind }: RelatedObject['object']): string {
  return `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`
}
