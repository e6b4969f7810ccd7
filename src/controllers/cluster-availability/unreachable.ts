/** The taint of offline clusters: Placements do not newly select them, and do not drop them either. */
import { findCondition } from '../../core/conditions.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Draft } from '../../engine/reconciler.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'

/** The key of the taint; a Placement may tolerate it. */
const UNREACHABLE = 'flotilla.dev/unreachable'

/**
 * Sets or removes the taint according to condition Available. While the condition is Unknown, the taint stays as it is.
 */
export function taintUnreachable({ seen, next }: Draft<Cluster>, now: number): void {
  const available = findCondition(seen.status?.conditions, 'Available')?.status
  const others = (seen.spec.taints ?? []).filter(({ key }) => key !== UNREACHABLE)
  const isTainted = others.length !== (seen.spec.taints ?? []).length
  if (available === 'False' && !isTainted) {
    next.spec.taints = [...others, { key: UNREACHABLE, effect: 'NoSelectIfNew', timeAdded: formatTime(now) }]
  } else if (available === 'True' && isTainted) {
    if (others.length > 0) next.spec.taints = others
    else delete next.spec.taints
  }
}
