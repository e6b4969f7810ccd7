// Tested by src/dialects/karmada/served/compile-binding.test.ts
/** The decision of the scheduler about a binding on live clusters, and what of it is kept back. Pure. */
import { compact } from '../../../core/compact.ts'
import { jsonEqual } from '../../../core/json.ts'
import { awaitedCapacity } from '../capacity/reported-capacity.ts'
import type { AskedCluster } from '../capacity/reported-capacity.ts'
import type { KarmadaCluster, TargetCluster } from '../types.ts'
import { snapshotOf } from '../schedule/cluster-snapshot.ts'
import { spreadByAny } from '../schedule/spread-any.ts'
import { scheduleBinding } from '../schedule/schedule-binding.ts'
import type { ScheduleResult } from '../schedule/schedule-binding.ts'
import { APPLIED_PLACEMENT, RELEASED_DROP } from './decide-claim.ts'
import type { ServedBinding } from './kinds.ts'

/** What a user can do about a lack of free resources. */
const NO_ROOM =
  'Free resources are those that agents report, in steps of a tenth; a cluster that has reported none has no room.'

/** The decision, with the targets that the binding has from now on. */
export interface ServedSchedule {
  readonly clusters: readonly TargetCluster[]
  readonly scheduled: { readonly status: 'True' | 'False'; readonly reason: string; readonly message: string }
  readonly affinity?: string
  /** The annotation with the placement that this decision applied; absent when the decision failed. */
  readonly appliedPlacement?: string
  /** Milliseconds after which the decision is made without the clusters that it waits for. */
  readonly waitMs?: number
  /** The token of the drop of clusters that a person released for this decision. */
  readonly released?: string
}

/**
 * Decides. Unlike Karmada, a decision without any cluster that fits keeps the targets: what runs is removed only when a
 * person changes the placement to name other clusters. `gone` are targets that are not in the fleet any more.
 */
export function scheduleServed(binding: ServedBinding, clusters: readonly KarmadaCluster[]): ServedSchedule {
  const before = binding.spec.clusters ?? []
  const result = scheduleBinding({
    binding,
    clusters: withMissing(binding, clusters).map(snapshotOf),
    // A Deployment of 0 replicas stays where it is.
    options: { keepsEmptyTargets: (binding.spec.replicas ?? 0) === 0, spreadsByAny: spreadByAny },
  })
  const appliedPlacement = JSON.stringify(binding.spec.placement ?? {})
  if (result.action === 'unchanged') {
    return compact({ clusters: before, scheduled: SUCCESS, affinity: result.affinity, appliedPlacement })
  }
  if (result.clusters.length === 0 && result.action === 'scheduled') {
    const scheduled = failureOf({ ...result, ...NOWHERE }, before)
    return compact({ clusters: before, scheduled, affinity: result.affinity })
  }
  if (result.action === 'scheduled') {
    return compact({
      clusters: sorted(result.clusters),
      scheduled: SUCCESS,
      affinity: result.affinity,
      appliedPlacement,
    })
  }
  return compact({ clusters: before, scheduled: failureOf(result, before), affinity: result.affinity })
}

const SUCCESS = { status: 'True', reason: 'Success', message: 'Binding has been scheduled successfully.' } as const

/** Karmada schedules an empty list of affinity terms to no cluster, with success. */
const NOWHERE = { reason: 'NoClusterFit', message: 'The placement names no cluster.' } as const

function failureOf({ reason, message = '' }: ScheduleResult, before: readonly TargetCluster[]) {
  const hint = reason === 'Unschedulable' ? ` ${NO_ROOM}` : ''
  const kept = before.length > 0 ? ' What runs stays.' : ''
  return { status: 'False', reason: reason ?? 'SchedulerError', message: `${message}${hint}${kept}` } as const
}

/** The decision while agents have yet to report free resources: a change waits, and what needs no change stays. */
export function afterCapacity(
  binding: ServedBinding,
  decided: ServedSchedule,
  asked: readonly AskedCluster[],
): ServedSchedule {
  const before = binding.spec.clusters ?? []
  const isSettled = decided.scheduled.status === 'True' && jsonEqual(before, decided.clusters)
  const awaited = isSettled ? undefined : awaitedCapacity(binding.spec.placement ?? {}, asked)
  if (!awaited) return decided
  const { message, waitMs } = awaited
  const kept = before.length > 0 ? ' What runs stays.' : ''
  const scheduled = { status: 'False', reason: 'Unschedulable', message: `${message}${kept}` } as const
  return compact({ clusters: before, scheduled, affinity: decided.affinity, waitMs })
}

/** A target whose Cluster is gone counts as a cluster that is being deleted. */
function withMissing({ spec }: ServedBinding, clusters: readonly KarmadaCluster[]): readonly KarmadaCluster[] {
  const known = new Set(clusters.map(({ metadata }) => metadata.name))
  const missing = (spec.clusters ?? []).filter(({ name }) => !known.has(name))
  return [...clusters, ...missing.map(({ name }) => ({ metadata: { name, deletionTimestamp: GONE } }))]
}

const GONE = '1970-01-01T00:00:00Z'

function sorted(clusters: readonly TargetCluster[]): readonly TargetCluster[] {
  return clusters.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The annotations of a binding after a decision. */
export function scheduledAnnotations(
  { metadata }: ServedBinding,
  { appliedPlacement, released }: ServedSchedule,
): Record<string, string> {
  return {
    ...metadata.annotations,
    ...(appliedPlacement === undefined ? {} : { [APPLIED_PLACEMENT]: appliedPlacement }),
    ...(released === undefined ? {} : { [RELEASED_DROP]: released }),
  }
}
