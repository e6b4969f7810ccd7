// Tested by src/dialects/karmada/failover/decide-failover.test.ts
/**
 * Moves the replicas of a binding away from a cluster that is out of reach, and back. Pure.
 *
 *   out of reach for longer than tolerated ──▶ its replicas on other clusters, its copy kept (a task)
 *   the new copies are healthy             ──▶ the old copy goes
 *   it returns before that                 ──▶ the move is undone
 *   it returns later, and stays            ──▶ moved back, if the policy says when
 *
 * A copy goes only while another one is healthy: `health` of the targets, from reports of reachable clusters.
 */
import { compact } from '../../../core/compact.ts'
import { formatTime, parseTime } from '../../../core/time/time.ts'
import { tolerates } from '../../../plan/placement/taints.ts'
import type { ClusterToleration, TargetCluster } from '../types.ts'

/** A task as a binding has it. */
export interface MoveTask {
  readonly fromCluster: string
  readonly purgeMode?: string
  readonly replicas?: number
  readonly reason?: string
  readonly producer?: string
  readonly creationTimestamp?: string
}

/** The targets of a binding, and the copies that it still keeps. */
export interface Placed {
  readonly clusters: readonly TargetCluster[]
  readonly tasks: readonly MoveTask[]
  /** Clusters that were left, with the time. */
  readonly left: Readonly<Record<string, string>>
}

/** What the decision reads. */
export interface MoveFacts {
  readonly placed: Placed
  /** Undefined: the policy does not ask for moves. */
  readonly purgeMode: string | undefined
  readonly tolerations: readonly ClusterToleration[]
  /** Milliseconds for which a cluster must be back before its replicas return; undefined: never by themselves. */
  readonly failBackMs: number | undefined
  /** Whether the agent of a cluster is in reach, and since when. Undefined for a cluster that is not in the fleet. */
  readonly reachOf: (cluster: string) => { readonly isReachable: boolean; readonly since: number } | undefined
  readonly isHealthy: (cluster: string) => boolean
  /** Why no cluster is left now: too many clusters are out of reach at once. */
  readonly held: string | undefined
  /** Milliseconds until the next move is allowed. */
  readonly paceMs: number
  readonly now: number
  /** The targets without clusters that have a task, or undefined where replicas would be lost. */
  readonly schedule: (placed: Placed, isFresh: boolean) => readonly TargetCluster[] | undefined
}

/** The next state, or when to look again. */
export interface Move {
  readonly placed?: Placed
  /** What was decided, for people. */
  readonly message?: string
  readonly retryAfterMs?: number
}

/** A copy whose replacements never become healthy goes after this time, if one of them is. */
const GRACE_MS = 600_000
const TOLERATED_MS = 300_000
const UNREACHABLE = { key: 'cluster.karmada.io/unreachable', effect: 'NoExecute' } as const

/** Decides one step. */
export function decideFailover(facts: MoveFacts): Move {
  const settled = settleTask(facts)
  if (settled) return settled
  const moves =
    facts.purgeMode === undefined ? [] : [leave(facts), facts.placed.tasks.length === 0 ? goBack(facts) : {}]
  const done = moves.find(({ placed }) => placed)
  if (done) return done
  const waits = [...moves, { retryAfterMs: graceLeft(facts) }].flatMap(({ retryAfterMs }) => retryAfterMs ?? [])
  const message = moves.find((move) => move.message !== undefined)?.message
  return compact({ message, retryAfterMs: waits.length > 0 ? Math.max(1000, Math.min(...waits)) : undefined })
}

/** Ends the first task that can end: the move is undone, or the old copy goes. */
function settleTask(facts: MoveFacts): Move | undefined {
  const { placed, reachOf, isHealthy, now } = facts
  for (const task of placed.tasks) {
    const { fromCluster } = task
    const tasks = placed.tasks.filter((one) => one !== task)
    const reach = reachOf(fromCluster)
    const healthy = placed.clusters.filter(({ name }) => isHealthy(name)).length
    const isWhole = healthy > 0 && healthy === placed.clusters.length
    const isDirect = task.purgeMode === 'Directly' && healthy > 0
    const isOver = now - (parseTime(task.creationTimestamp ?? '') ?? now) >= GRACE_MS && healthy > 0
    if (!reach || isWhole || isDirect || isOver)
      return { placed: { ...placed, tasks }, message: `${fromCluster} is left.` }
    if (reach.isReachable && task.reason === LEFT) {
      const undone = moved(facts, fromCluster, { ...placed, tasks, left: without(placed.left, fromCluster) })
      if (undone) return { placed: undone, message: `${fromCluster} is back before its replacements are healthy.` }
    }
  }
  return undefined
}

/** Leaves the first target that is out of reach for longer than it tolerates. */
function leave(facts: MoveFacts): Move {
  const { placed, reachOf, held, paceMs, now, purgeMode, schedule } = facts
  const toleratedMs = toleratedFor(facts.tolerations)
  if (toleratedMs === undefined) return {}
  const waits: number[] = []
  for (const target of placed.clusters) {
    const reach = reachOf(target.name)
    if (!reach || reach.isReachable) continue
    const leftMs = reach.since + toleratedMs - now
    if (leftMs > 0) {
      waits.push(leftMs)
      continue
    }
    const task = compact({
      fromCluster: target.name,
      purgeMode,
      replicas: (target.replicas ?? 0) > 0 ? target.replicas : undefined,
      reason: LEFT,
      producer: 'FailoverController',
      creationTimestamp: formatTime(now),
    })
    const next: Placed = {
      clusters: placed.clusters.filter((one) => one !== target),
      tasks: [...placed.tasks.filter(({ fromCluster }) => fromCluster !== target.name), task],
      left: { ...placed.left, [target.name]: formatTime(now) },
    }
    const clusters = schedule(next, false)
    if (!clusters || !receives(clusters, placed.clusters, target)) continue
    if (held !== undefined) return { message: held, retryAfterMs: LOOK_MS }
    if (paceMs > 0) return { retryAfterMs: paceMs }
    // The division can leave out a cluster in reach, too, for example by another term of the placement.
    const tasks = [...next.tasks, ...droppedTasks(next.clusters, clusters, now)]
    return { placed: { ...next, clusters, tasks }, message: `${target.name} is out of reach; its replicas are moved.` }
  }
  return waits.length > 0 ? { retryAfterMs: Math.min(...waits) } : {}
}

const LEFT = 'ClusterUnreachable'
const DROPPED = 'TargetsChanged'
const LOOK_MS = 60_000

/** Whether other clusters receive what the target had. */
function receives(
  after: readonly TargetCluster[],
  before: readonly TargetCluster[],
  { name, replicas = 0 }: TargetCluster,
): boolean {
  if (replicas === 0) return after.some((one) => before.every((other) => other.name !== one.name))
  const sum = (targets: readonly TargetCluster[]) => targets.reduce((total, one) => total + (one.replicas ?? 0), 0)
  return after.every((one) => one.name !== name) && sum(after) >= sum(before)
}

/** Moves back to a cluster that has been in reach again for long enough. */
function goBack(facts: MoveFacts): Move {
  const { placed, failBackMs, reachOf, paceMs, now } = facts
  if (failBackMs === undefined) return {}
  const waits: number[] = []
  for (const name of Object.keys(placed.left).toSorted()) {
    const reach = reachOf(name)
    if (!reach?.isReachable) continue
    const leftMs = reach.since + failBackMs - now
    if (leftMs > 0) waits.push(leftMs)
    else if (paceMs > 0) return { retryAfterMs: paceMs }
    else {
      const next = moved(facts, name, { ...placed, left: without(placed.left, name) })
      if (next) return { placed: next, message: `${name} is back; the replicas are divided anew.` }
    }
  }
  return waits.length > 0 ? { retryAfterMs: Math.min(...waits) } : {}
}

/**
 * A fresh division that has the cluster; the copies of clusters that lose theirs stay until the others are healthy.
 * Undefined while the scheduler leaves the cluster out, for example because it has not seen the return yet.
 */
function moved({ schedule, placed: before, now }: MoveFacts, to: string, placed: Placed): Placed | undefined {
  const clusters = schedule(placed, true)
  if (!clusters?.some(({ name }) => name === to)) return undefined
  const tasks = droppedTasks(before.clusters, clusters, now)
  return { ...placed, clusters, tasks: [...placed.tasks, ...tasks] }
}

/** Tasks for the targets that a decision no longer has: their copies stay until the others are healthy. */
export function droppedTasks(
  before: readonly TargetCluster[],
  after: readonly TargetCluster[],
  now: number,
): readonly MoveTask[] {
  return before
    .filter(({ name }) => after.every((one) => one.name !== name))
    .map(({ name, replicas = 0 }) =>
      compact({
        fromCluster: name,
        purgeMode: 'Gracefully',
        replicas: replicas > 0 ? replicas : undefined,
        reason: DROPPED,
        producer: 'FailoverController',
        creationTimestamp: formatTime(now),
      }),
    )
}

/** Milliseconds for which a target may be out of reach; undefined: forever. */
function toleratedFor(tolerations: readonly ClusterToleration[]): number | undefined {
  const toleration = tolerations.find((one) => tolerates(UNREACHABLE, one))
  if (!toleration) return TOLERATED_MS
  return toleration.tolerationSeconds === undefined ? undefined : Math.max(0, toleration.tolerationSeconds) * 1000
}

function graceLeft({ placed, now }: MoveFacts): number | undefined {
  const left = placed.tasks.map(({ creationTimestamp }) => (parseTime(creationTimestamp ?? '') ?? now) + GRACE_MS - now)
  return left.some((ms) => ms > 0) ? Math.min(...left.filter((ms) => ms > 0)) : undefined
}

function without(map: Readonly<Record<string, string>>, key: string): Readonly<Record<string, string>> {
  const { [key]: _gone, ...rest } = map
  return rest
}
