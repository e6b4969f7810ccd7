import { compact } from '../../core/compact.ts'
import { findCondition } from '../../core/conditions.ts'
import { parseDuration } from '../../core/time/duration.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import type { Assignment } from '../../kinds/native/assignment.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { planDecommission } from '../../plan/fleet/decommission.ts'
import type { DecommissionFacts } from '../../plan/fleet/decommission.ts'

/** The ports of cluster-decommission. */
export interface ClusterDecommissionPorts {
  assignmentOf(cluster: Cluster): Assignment | undefined
  reportOf(cluster: Cluster): ClusterReport | undefined
  /** Deletes the Cluster, if its uid is still the same. */
  forget(cluster: Cluster, signal: AbortSignal): Promise<void>
}

/** The longest delay of a work queue. */
const LOOK_MS = 24 * 3_600_000

/** Takes a cluster out of the fleet; plan/fleet/decommission.ts decides the next step. */
export function clusterDecommissionReconciler(ports: ClusterDecommissionPorts): Reconciler<Cluster> {
  return {
    name: 'cluster-decommission',
    async reconcile(draft: Draft<Cluster>, { clock, log, signal }: Context): Promise<Result> {
      const cluster = draft.next
      if (cluster.metadata.deletionTimestamp) return {}
      const step = planDecommission(factsOf(cluster, ports, clock.now()))
      switch (step.kind) {
        case 'Nothing':
          if (cluster.status?.decommission) delete cluster.status.decommission
          draft.conditions.remove('Decommissioned')
          return {}
        case 'Show': {
          const { phase, left, message, againMs } = step
          const at = cluster.spec.decommission!.at
          cluster.status = { ...cluster.status, decommission: { at, phase, left: [...left] } }
          draft.conditions.set('Decommissioned', phase === 'Revoked' ? 'True' : 'False', phase, message)
          return againMs === undefined ? {} : { requeueAfterMs: Math.min(Math.max(1000, againMs), LOOK_MS) }
        }
        case 'Forget':
          log.info({ cluster: cluster.metadata.name }, 'decommissioned cluster forgotten; its name is free')
          await ports.forget(draft.seen, signal)
          return {}
        case 'Revoke': {
          const { reason } = cluster.spec.decommission!
          const why = reason === undefined ? 'decommissioned' : `decommissioned: ${reason}`
          cluster.spec.accepted = false
          cluster.spec.refused = { verdict: 'Revoked', at: formatTime(clock.now()), reason: why }
          log.info({ cluster: cluster.metadata.name }, 'cluster decommissioned; its access is revoked')
          return {}
        }
      }
    },
  }
}

function factsOf(cluster: Cluster, ports: ClusterDecommissionPorts, nowMs: number): DecommissionFacts {
  const { decommission: asked, refused } = cluster.spec
  const recorded = cluster.status?.decommission
  const document = ports.assignmentOf(cluster)?.spec
  const report = ports.reportOf(cluster)?.spec
  const available = findCondition(cluster.status?.conditions, 'Available')
  return {
    asked: asked && {
      policy: asked.policy,
      forceUnreachable: asked.forceUnreachable ?? false,
      ...forgetTime(cluster),
    },
    isRevoked: refused !== undefined,
    nowMs,
    isOffline: available?.status === 'False',
    readRevision: Math.max(report?.revision ?? 0, report?.refusal?.revision ?? 0),
    removals: report?.removals ?? [],
    ...compact({
      document: document ? documentOf(document) : undefined,
      // A record of an earlier decommission that was cancelled does not count.
      recorded:
        recorded && recorded.at === asked?.at ? { phase: recorded.phase, left: recorded.left ?? [] } : undefined,
    }),
  }
}

function forgetTime({ spec }: Cluster): { readonly forgetAtMs?: number } {
  const after = spec.decommission?.forgetAfter
  const from = spec.refused && parseTime(spec.refused.at)
  const afterMs = after === undefined ? undefined : parseDuration(after)
  return from === undefined || afterMs === undefined ? {} : { forgetAtMs: from + afterMs }
}

function documentOf({ revision, terminal = false, entries, tombstones = [] }: Assignment['spec']) {
  return { revision, isTerminal: terminal, entries, tombstones }
}
