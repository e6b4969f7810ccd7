/** What a Rollout's status records, read and written: supersession, rollbacks, counts and the states of its rings. */
import { findCondition } from '../../core/conditions.ts'
import { jsonEqual } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { RingState } from './rings.ts'
import type { RolloutDecision } from './types.ts'

type RolloutStatus = NonNullable<Rollout['status']>
type RingStatus = NonNullable<RolloutStatus['rings']>[number]

/** Whether a Rollout has recorded that newer Rollouts carry all its Bundles. */
export function isClosed(rollout: Pick<Rollout, 'status'>): boolean {
  return findCondition(rollout.status?.conditions, 'Superseded')?.status === 'True'
}

/** Whether a Rollout has recorded that a newer Rollout carries this Bundle. */
export function isClosedFor(rollout: Pick<Rollout, 'status'>, bundle: string): boolean {
  return isClosed(rollout) || (rollout.status?.superseded ?? []).some((superseded) => superseded.bundle === bundle)
}

/** The clusters from which a Rollout still has to remove its Bundle. */
export function unsettledClusters({ spec, status }: Pick<Rollout, 'spec' | 'status'>): string[] {
  const settled = new Set(status?.settled)
  return (spec.removal?.clusters ?? []).filter((cluster) => !settled.has(cluster))
}

/** The recorded state of a ring, without the counts that the status has beside it. */
export function ringStateOf(ring: RingStatus): RingState {
  const { members: _m, ready: _r, failed: _f, excused: _e, excusedFor: _x, ...state } = ring
  return state
}

/** The rollback to record when failures stop a Rollout whose plan has `onFailure`; at most one per Rollout. */
export function rollbackOnFailure(
  { spec, status }: Pick<Rollout, 'spec' | 'status'>,
  decision: RolloutDecision,
  now: number,
): RolloutStatus['rollBack'] | undefined {
  const isRequested = spec.onFailure === 'RollBackRing' || spec.onFailure === 'RollBackAll'
  if (!isRequested || decision.kind !== 'Fail' || status?.rollBack) return undefined
  const ring = spec.onFailure === 'RollBackRing' && decision.ring !== undefined ? { ring: decision.ring } : {}
  return { at: formatTime(now), reason: decision.message.slice(0, 4096), ...ring }
}

/** Whether a decision would change only counts and the message about them. */
export function onlyCountsDiffer({ metadata, status }: Rollout, decision: RolloutDecision): boolean {
  return (
    status?.phase === decision.phase &&
    status.observedGeneration === metadata.generation &&
    jsonEqual(status.admissions ?? [], decision.admissions) &&
    jsonEqual(status.superseded ?? [], decision.superseded ?? []) &&
    (!decision.settled || jsonEqual(status.settled ?? [], decision.settled)) &&
    (!decision.kept || jsonEqual(status.kept ?? [], decision.kept)) &&
    (!decision.rings || jsonEqual((status.rings ?? []).map(ringStateOf), decision.rings))
  )
}

/** Writes a decision into the status of a Rollout; conditions are apart. */
export function recordDecision(status: RolloutStatus, decision: RolloutDecision): void {
  status.phase = decision.phase
  status.admissions = decision.admissions.map((admission) => ({ ...admission }))
  if (decision.superseded && decision.superseded.length > 0) {
    status.superseded = decision.superseded.map((superseded) => ({ ...superseded }))
  }
  if (decision.ring !== undefined) status.ring = decision.ring
  if (decision.counts) status.counts = { ...decision.counts }
  if (decision.bundleCounts) {
    if (decision.bundleCounts.size > 1)
      status.bundles = [...decision.bundleCounts].map(([name, counts]) => ({ name, ...counts }))
    else delete status.bundles
  }
  if (decision.rings) {
    status.rings = decision.rings.map((state, i) => {
      // The API server prunes fields that the schema lacks; the next pass would write them again.
      const { tolerated: _t, spared: _s, ...counts } = decision.ringCounts?.[i] ?? {}
      return { ...(structuredClone(state) as RingStatus), ...counts }
    })
  }
  if (decision.unringed && decision.unringed.length > 0) status.unringed = [...new Set(decision.unringed)].slice(0, 10)
  else delete status.unringed
  if (decision.settled && decision.settled.length > 0) status.settled = [...decision.settled]
  if (decision.kept && decision.kept.length > 0) status.kept = [...decision.kept]
}
