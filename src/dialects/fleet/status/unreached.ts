/** Explains why the targets of a GitRepo, HelmOp or Bundle reach no cluster. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { nameSome } from '../../../core/text/name-some.ts'
import type { ObjectMeta } from '../../../kinds/meta.ts'
import type { Placement } from '../../../kinds/native/placement.ts'
import type { Workspace } from '../compile/targets.ts'

/** Without targets, a GitRepo or HelmOp selects the clusters of this group. */
const DEFAULT_GROUP = 'default'

/** What decides about the clusters of an object. */
export interface Selection {
  readonly groups: Workspace['groups']
  /** The Placement with the targets; it has no count until it was evaluated. */
  readonly placement: Placement | undefined
}

/** A sentence for an object without a cluster. */
export function unreachedText(
  kind: 'GitRepo' | 'HelmOp' | 'Bundle',
  { metadata, spec }: { readonly metadata: ObjectMeta; readonly spec: JsonObject },
  { groups, placement }: Selection,
): string {
  if (placement?.status?.selected !== 0) return 'No cluster is reached yet.'
  const { namespace = '' } = metadata
  const targets = Array.isArray(spec['targets']) ? spec['targets'].filter(isObject) : []
  const hasGroup = (wanted: unknown): boolean => groups.some(({ name }) => name === wanted)
  if (targets.length === 0) {
    if (kind === 'Bundle') return 'No cluster is selected: spec.targets is empty.'
    const state = hasGroup(DEFAULT_GROUP) ? 'selects no cluster' : 'does not exist'
    return `No cluster is selected: a ${kind} without targets selects the clusters of ClusterGroup ${DEFAULT_GROUP} in namespace ${namespace}, which ${state}.`
  }
  const missing = targets.flatMap(({ clusterGroup }) =>
    typeof clusterGroup !== 'string' || clusterGroup === '' || hasGroup(clusterGroup) ? [] : [clusterGroup],
  )
  if (missing.length > 0)
    return `No cluster is selected: namespace ${namespace} has no ClusterGroup ${nameSome(missing)}, which the targets name.`
  return `No cluster is selected: no cluster of namespace ${namespace} matches the targets.`
}
