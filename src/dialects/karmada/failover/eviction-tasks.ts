// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Graceful eviction: which clusters a workload leaves, and when its old copies may go. */
import { compact } from '../../../core/compact.ts'
import { formatTime, parseTime } from '../../../core/time/time.ts'
import type { TargetCluster } from '../types.ts'

/** A task of `spec.gracefulEvictionTasks`. */
export interface EvictionTask {
  readonly fromCluster: string
  readonly purgeMode?: string
  readonly replicas?: number
  readonly reason?: string
  readonly producer?: string
  readonly gracePeriodSeconds?: number
  readonly suppressDeletion?: boolean
  readonly preservedLabelState?: Readonly<Record<string, string>>
  readonly clustersBeforeFailover?: readonly string[]
  readonly creationTimestamp?: string
}

/** The status of the workload in a cluster. */
export interface AggregatedStatus {
  readonly clusterName: string
  readonly health?: string
  readonly status?: unknown
}

/** A binding as failover reads it. */
export interface EvictableBinding {
  readonly metadata: {
    readonly generation?: number
    readonly annotations?: Readonly<Record<string, string>>
    readonly deletionTimestamp?: string
  }
  readonly spec: {
    readonly resource: { readonly apiVersion: string; readonly kind: string }
    readonly clusters?: readonly TargetCluster[]
    readonly gracefulEvictionTasks?: readonly EvictionTask[]
    readonly propagateDeps?: boolean
    readonly failover?: Failover
  }
  readonly status?: {
    readonly schedulerObservedGeneration?: number
    readonly aggregatedStatus?: readonly AggregatedStatus[]
  }
}

/** Rules by which fields of a status become labels of the new copy. */
export interface StatePreservation {
  readonly rules?: readonly { readonly aliasLabelName: string; readonly jsonPath: string }[]
}

/** `spec.failover` of a policy. */
export interface Failover {
  readonly application?: {
    readonly decisionConditions?: { readonly tolerationSeconds?: number }
    readonly purgeMode?: string
    readonly gracePeriodSeconds?: number
    readonly statePreservation?: StatePreservation
  }
  readonly cluster?: { readonly purgeMode?: string; readonly statePreservation?: StatePreservation }
}

/** The tasks that stay, the clusters whose copies may go, and when to look again. */
export interface EvictionVerdict {
  readonly kept: readonly EvictionTask[]
  readonly evicted: readonly string[]
  readonly retryAfterSeconds: number
}

/**
 * Judges the tasks of a binding. A copy goes when all new copies are healthy, or when the time of the task is over. A
 * task without a time starts now. `timeoutSeconds` counts for tasks without a grace period of their own.
 */
export function judgeEvictionTasks(binding: EvictableBinding, now: number, timeoutSeconds: number): EvictionVerdict {
  const { metadata, spec, status = {} } = binding
  const isScheduled = (status.schedulerObservedGeneration ?? 0) === (metadata.generation ?? 0)
  const areHealthy = isScheduled && allHealthy(spec.clusters ?? [], status.aggregatedStatus ?? [])
  const kept: EvictionTask[] = []
  const evicted: string[] = []
  for (const task of spec.gracefulEvictionTasks ?? []) {
    const created = parseTime(task.creationTimestamp ?? '')
    if (created === undefined) kept.push({ ...task, creationTimestamp: formatTime(now) })
    else if (isOver(task, { created, now, timeoutSeconds, areHealthy })) evicted.push(task.fromCluster)
    else kept.push(task)
  }
  return { kept, evicted, retryAfterSeconds: nextLook(kept, now, timeoutSeconds) }
}

interface TaskTime {
  readonly created: number
  readonly now: number
  readonly timeoutSeconds: number
  readonly areHealthy: boolean
}

function isOver(task: EvictionTask, { created, now, timeoutSeconds, areHealthy }: TaskTime): boolean {
  if (task.suppressDeletion !== undefined) return !task.suppressDeletion
  return now > created + secondsOf(task, timeoutSeconds) * 1000 || areHealthy
}

/** True also without a target: Karmada then lets the last copy go. */
function allHealthy(targets: readonly TargetCluster[], statuses: readonly AggregatedStatus[]): boolean {
  return targets.every(({ name }) => statuses.find(({ clusterName }) => clusterName === name)?.health === 'Healthy')
}

function nextLook(tasks: readonly EvictionTask[], now: number, timeoutSeconds: number): number {
  const times = tasks
    .filter(({ suppressDeletion }) => suppressDeletion === undefined)
    .map((task) => (parseTime(task.creationTimestamp!)! - now) / 1000 + secondsOf(task, timeoutSeconds))
  return times.length === 0 ? 0 : Math.min(...times)
}

function secondsOf({ gracePeriodSeconds }: EvictionTask, timeoutSeconds: number): number {
  return gracePeriodSeconds ?? timeoutSeconds
}

/** The targets and tasks of a binding. */
export interface Evictions {
  readonly clusters: readonly TargetCluster[]
  readonly gracefulEvictionTasks: readonly EvictionTask[]
}

/** Takes a cluster from the targets and adds a task for it, unless there is one already. */
export function evictCluster(
  { clusters, gracefulEvictionTasks }: Evictions,
  name: string,
  task: Omit<EvictionTask, 'fromCluster' | 'replicas'>,
): Evictions {
  const target = clusters.find((one) => one.name === name)
  if (!target) return { clusters, gracefulEvictionTasks }
  const isLeaving = gracefulEvictionTasks.some(({ fromCluster }) => fromCluster === name)
  const replicas = (target.replicas ?? 0) > 0 ? target.replicas : undefined
  return {
    clusters: clusters.filter((one) => one !== target),
    gracefulEvictionTasks: isLeaving
      ? gracefulEvictionTasks
      : [...gracefulEvictionTasks, compact({ ...task, fromCluster: name, replicas })],
  }
}
