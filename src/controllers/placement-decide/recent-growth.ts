/**
 * Clusters that changes of labels and ClusterSets added to a Placement. Labels change cluster by cluster, so the growth
 * guard counts the changes of one hour together.
 */
import { formatTime, parseTime } from '../../core/time/time.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import { GROWTH_WINDOW_MS } from '../../plan/placement/growth-guard.ts'

type Growing = NonNullable<NonNullable<Placement['status']>['growing']>

/** The growth of the last hour. While the guard stops a change, the hour does not end: time must not release it. */
export function recentGrowth({ status }: Placement, now: number): Growing | undefined {
  const growing = status?.growing
  const isRecent = growing !== undefined && now - (parseTime(growing.since) ?? 0) < GROWTH_WINDOW_MS
  return isRecent || status?.held?.adding !== undefined ? growing : undefined
}

/** Records clusters that were added. A released change ends the hour: the person has seen the number. */
export function noteGrowth(
  placement: Placement,
  added: number,
  { now, isReleased }: { readonly now: number; readonly isReleased: boolean },
): void {
  const status = (placement.status ??= {})
  const recent = recentGrowth(placement, now)
  if (isReleased || !recent) delete status.growing
  if (isReleased || added === 0) return
  const { since, of, added: before } = recent ?? { since: formatTime(now), of: status.selected ?? 0, added: 0 }
  status.growing = { since, of, added: before + added }
}
