/** The taint of clusters that are offline: nobody new selects them, and nobody who has them loses them. */
import { findCondition } from '../../core/conditions.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Draft } from '../../engine/reconciler.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'

/** Its key; a placement may tolerate it. */
const UNREACHABLE = 'flotilla.dev/unreachable'

/** Brings the taint in line with condition Available. While the hub does not know, it stays as it is. */
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
