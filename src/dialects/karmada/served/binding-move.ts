// Tested by src/dialects/karmada/served/karmada.sim.test.ts
/** Moves of a binding as its policy asks for them, from what the hub sees of its clusters. */
import { isObject } from '../../../core/json.ts'
import { parseDuration } from '../../../core/time/duration.ts'
import { formatTime } from '../../../core/time/time.ts'
import { deliveredTo, deliveryEntryId } from '../../../kinds/native/delivery.ts'
import type { Delivery } from '../../../kinds/native/delivery.ts'
import { decideFailover } from '../failover/decide-failover.ts'
import type { Move, MoveFacts, Placed } from '../failover/decide-failover.ts'
import type { BindingPorts } from './binding.ts'
import { FAIL_BACK, LEFT_CLUSTERS } from './decide-claim.ts'
import type { ServedBinding } from './kinds.ts'
import { scheduleGuarded } from './guard-drops.ts'
import type { GuardFacts } from './guard-drops.ts'

/** What a move is decided from, besides the binding. */
export interface MoveInput {
  readonly guard: GuardFacts
  readonly ports: Pick<BindingPorts, 'reachOf' | 'heldMoves' | 'failoverPace' | 'reportOf' | 'isUnreachable'>
  readonly delivery: Delivery | undefined
  readonly now: number
}

/** The next step; undefined for a binding that never moves. */
export function decideMove(binding: ServedBinding, { guard, ports, delivery, now }: MoveInput): Move | undefined {
  const { placement, failover, gracefulEvictionTasks = [] } = binding.spec
  if (!placement || (!failover?.cluster && gracefulEvictionTasks.length === 0)) return undefined
  return decideFailover({
    placed: placedOf(binding),
    purgeMode: failover?.cluster && (failover.cluster.purgeMode ?? 'Gracefully'),
    tolerations: placement.clusterTolerations ?? [],
    failBackMs: parseDuration(binding.metadata.annotations?.[FAIL_BACK] ?? ''),
    reachOf: (name) => ports.reachOf(name),
    isHealthy: healthOf(ports, delivery),
    held: ports.heldMoves(),
    paceMs: ports.failoverPace.waitMs('all'),
    now,
    schedule: (placed, isFresh) => {
      const decided = scheduleGuarded(asPlaced(binding, placed, isFresh ? now : undefined), { ...guard, isMove: true })
      return decided.scheduled.status === 'True' ? decided.clusters : undefined
    },
  })
}

/** A copy is healthy when a cluster in reach reports the content Ready that the binding gives it now. */
function healthOf(
  { reportOf, isUnreachable }: MoveInput['ports'],
  delivery: Delivery | undefined,
): MoveFacts['isHealthy'] {
  const { metadata, status } = delivery ?? {}
  const isObserved = status?.observedGeneration !== undefined && status.observedGeneration === metadata?.generation
  return (cluster) => {
    if (!delivery || !isObserved || isUnreachable(cluster)) return false
    const wanted = deliveredTo(delivery, cluster)
    const row = reportOf(cluster)?.spec.bundles.find(({ bundle }) => bundle === deliveryEntryId(delivery))
    return row?.state === 'Ready' && row.set === wanted?.set && row.generation === wanted.generation
  }
}

export function placedOf({ metadata, spec }: ServedBinding): Placed {
  return {
    clusters: spec.clusters ?? [],
    tasks: spec.gracefulEvictionTasks ?? [],
    left: readLeft(metadata.annotations?.[LEFT_CLUSTERS]),
  }
}

function readLeft(text: string | undefined): Readonly<Record<string, string>> {
  if (text === undefined) return {}
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? (value as Record<string, string>) : {}
  } catch {
    // A user has changed the annotation: nothing is moved back.
    return {}
  }
}

/** The binding as the scheduler would see it after a move; `freshAt` asks for a division from zero. */
export function asPlaced(
  binding: ServedBinding,
  { clusters, tasks }: Placed,
  freshAt: number | undefined,
): ServedBinding {
  const spec = { ...binding.spec, clusters: clusters.map((one) => ({ ...one })), gracefulEvictionTasks: [...tasks] }
  if (freshAt === undefined) return { ...binding, spec }
  return {
    ...binding,
    spec: { ...spec, rescheduleTriggeredAt: formatTime(freshAt) },
    status: { ...binding.status, lastScheduledTime: formatTime(0) },
  }
}

/** Writes the state after a move. */
export function writePlaced(binding: ServedBinding, { clusters, tasks, left }: Placed): void {
  const { gracefulEvictionTasks: _tasks, ...spec } = binding.spec
  binding.spec = {
    ...spec,
    clusters: clusters.map((one) => ({ ...one })),
    ...(tasks.length > 0 ? { gracefulEvictionTasks: tasks.map((one) => ({ ...one })) } : {}),
  }
  const { [LEFT_CLUSTERS]: _left, ...annotations } = binding.metadata.annotations ?? {}
  binding.metadata.annotations =
    Object.keys(left).length > 0 ? { ...annotations, [LEFT_CLUSTERS]: JSON.stringify(left) } : annotations
}
