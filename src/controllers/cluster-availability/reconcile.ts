import { compact } from '../../core/compact.ts'
import { jsonEqual } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { Availability } from '../../plan/fleet/availability.ts'
import { apartMessage, badgesOfCluster } from '../../plan/fleet/cluster-badges.ts'
import { clusterSummary } from '../../plan/fleet/state.ts'
import type { HeldBundle } from '../../plan/fleet/state.ts'
import { setHubBehindCondition, showClock, showRefusal, showSealingKey } from './agent-conditions.ts'
import { taintUnreachable } from './unreachable.ts'
import { judgeCluster } from './judge.ts'
import type { ClusterAvailabilityPorts } from './ports.ts'
import { notAcceptedWhy, showRegistration } from './registration.ts'

const STATUS = { Available: 'True', Offline: 'False', Unknown: 'Unknown' } as const

/** Writes the availability of a Cluster, its registration and the counts of its Bundles into its status. */
export function clusterAvailabilityReconciler(ports: ClusterAvailabilityPorts): Reconciler<Cluster> {
  // The time of the first unwritten change of counts by cluster; deleted when the change is written or undone.
  const noticed = new Map<string, number>()

  return {
    name: 'cluster-availability',
    async reconcile(draft: Draft<Cluster>, context: Context): Promise<Result> {
      const cluster = draft.next
      const { name } = cluster.metadata
      const accepted = cluster.spec.accepted && !cluster.spec.refused
      const availability = judgeCluster(draft.seen, ports)
      showRegistration(draft, ports.havingAlias)
      showRefusal(draft, ports.reportOf(draft.seen))
      showClock(draft)
      showSealingKey(draft)
      setHubBehindCondition(draft, ports.assignmentOf(draft.seen))
      showAvailable(draft, availability, accepted)
      showBadges(draft)
      const urgent = !jsonEqual(draft.seen.status, cluster.status)

      const apart = apartMessage(draft.seen)
      const summary = clusterSummary(
        compact({
          accepted,
          availability,
          removing: ports.assignmentOf(draft.seen)?.spec.tombstones?.length ?? 0,
          waits: accepted ? undefined : notAcceptedWhy(draft.seen),
          apart,
        }),
        heldBundles(draft.seen, ports),
      )
      const status = (cluster.status ??= {})
      const { state, waitsFor, message, bundles } = status
      if (jsonEqual(compact({ state, waitsFor, message, bundles }), summary)) noticed.delete(name)
      else if (!urgent && waitMs(noticed, name, ports.settleMs, context) > 0) {
        return { requeueAfterMs: waitMs(noticed, name, ports.settleMs, context) }
      } else {
        noticed.delete(name)
        for (const field of ['state', 'waitsFor'] as const) delete status[field]
        Object.assign(status, { ...summary, bundles: { ...summary.bundles } })
      }
      if (!jsonEqual(draft.seen.status, status))
        noteTimes(cluster, draft.seen, { ...availability, clock: context.clock })
      // One write per pass: the taint follows the condition that is already stored.
      else taintUnreachable(draft, context.clock.now())
      return {}
    },
  }
}

function showAvailable(draft: Draft<Cluster>, availability: Availability, accepted: boolean): void {
  if (accepted) {
    const before = draft.conditions.get('Available')
    // The first reason and message of an unchanged status stay: a new reason alone is not worth a write.
    if (before?.status === STATUS[availability.state]) return
    draft.conditions.set('Available', STATUS[availability.state], availability.reason, availability.message)
  } else {
    draft.conditions.set('Available', 'Unknown', 'NotAccepted', 'A cluster is followed from its acceptance on.')
  }
}

/** The bundles of the cluster's document, and the bundles it is selected for. */
function heldBundles(cluster: Cluster, ports: ClusterAvailabilityPorts): HeldBundle[] {
  const rows = new Map(ports.reportOf(cluster)?.spec.bundles.map((row) => [row.bundle, row]))
  const placed = new Map(ports.placedOn(cluster).map((one) => [one.bundle, one]))
  const held = (ports.assignmentOf(cluster)?.spec.entries ?? []).map((assigned) => {
    const reported = rows.get(assigned.bundle)
    const problem = placed.get(assigned.bundle)?.problem
    placed.delete(assigned.bundle)
    return { assigned, ...compact({ reported, problem }) }
  })
  return [...held, ...[...placed.values()].map(({ problem }) => compact({ problem }))]
}

function waitMs(noticed: Map<string, number>, name: string, settleMs: number, { clock }: Context): number {
  const now = clock.monotonicMs()
  const since = noticed.get(name) ?? now
  noticed.set(name, since)
  return Math.max(0, since + settleMs - now)
}

/** Times are written only together with another change. */
function noteTimes(
  cluster: Cluster,
  seen: Cluster,
  { heardMsAgo, state, clock }: Availability & Pick<Context, 'clock'>,
): void {
  const status = (cluster.status ??= {})
  if (heardMsAgo !== undefined) status.lastSeen = formatTime(clock.now() - heardMsAgo)
  else if (state === 'Available') status.lastSeen ??= formatTime(clock.now())
  if (status.state === seen.status?.state && status.since !== undefined) return
  status.since = (status.state === 'Offline' && status.lastSeen) || formatTime(clock.now())
}

function showBadges({ next: cluster }: Draft<Cluster>): void {
  const badges = badgesOfCluster(cluster).join(',')
  const status = (cluster.status ??= {})
  if (badges !== '') status.badges = badges
  else delete status.badges
}
