// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Evictions of workloads that stay unhealthy in a cluster for longer than their policy tolerates. */
import { compact } from '../../../core/compact.ts'
import { readPath } from './read-path.ts'
import { evictCluster } from './eviction-tasks.ts'
import type { EvictableBinding, Evictions, EvictionTask, StatePreservation } from './eviction-tasks.ts'

/** The binding after the decision, when to look again, and since when each cluster is unhealthy. */
export interface ApplicationFailoverResult extends Evictions {
  readonly retryAfterSeconds: number
  readonly unhealthyForSeconds: Readonly<Record<string, number>>
}

/** Kinds whose health Karmada can judge. */
const KINDS_WITH_HEALTH: ReadonlySet<string> = new Set([
  'apps/v1, Deployment',
  'apps/v1, StatefulSet',
  'apps/v1, ReplicaSet',
  'apps/v1, DaemonSet',
  'v1, Service',
  'v1, PersistentVolumeClaim',
  'v1, Pod',
  'networking.k8s.io/v1, Ingress',
  'policy/v1, PodDisruptionBudget',
])
const DEFAULT_TOLERATION_SECONDS = 300
const PRODUCER = 'resource-binding-application-failover-controller'

/**
 * Evicts the workload from clusters in which it was unhealthy for too long. `unhealthyForSeconds` has the clusters
 * whose time runs. A cluster in which the workload is healthy, or whose health is unknown, starts anew.
 */
export function failOverApplication(
  binding: EvictableBinding,
  unhealthyForSeconds: Readonly<Record<string, number>>,
  keepsState: boolean,
): ApplicationFailoverResult {
  const { clusters = [], gracefulEvictionTasks = [], failover, propagateDeps = false, resource } = binding.spec
  const unchanged = { clusters, gracefulEvictionTasks, retryAfterSeconds: 0, unhealthyForSeconds: {} }
  const statuses = binding.status?.aggregatedStatus ?? []
  const behavior = failover?.application
  const hasHealth = KINDS_WITH_HEALTH.has(`${resource.apiVersion}, ${resource.kind}`)
  if (!behavior || statuses.length === 0 || !hasHealth || !propagateDeps) return unchanged
  const tolerated = behavior.decisionConditions?.tolerationSeconds ?? DEFAULT_TOLERATION_SECONDS
  const isLeaving = (name: string): boolean => gracefulEvictionTasks.some(({ fromCluster }) => fromCluster === name)
  const unhealthy = statuses
    .filter(({ clusterName, health }) => health === 'Unhealthy' && !isLeaving(clusterName))
    .map(({ clusterName }) => clusterName)
  const times = new Map(Object.entries(unhealthyForSeconds))
  for (const name of unhealthy) if (!times.has(name)) times.set(name, 0)
  const isNew = (name: string): boolean => !Object.hasOwn(unhealthyForSeconds, name)
  const overdue = unhealthy.filter((name) => !isNew(name) && times.get(name)! > tolerated)
  const waits = unhealthy.filter((name) => !overdue.includes(name)).map((name) => tolerated - times.get(name)!)
  let evictions: Evictions = { clusters, gracefulEvictionTasks }
  for (const name of overdue) evictions = evictCluster(evictions, name, taskFor(binding, name, keepsState))
  const settled = statuses.filter(({ health }) => health === 'Healthy' || health === 'Unknown')
  const kept = [...times].filter(
    ([name]) =>
      clusters.some((target) => target.name === name) &&
      !overdue.includes(name) &&
      !settled.some(({ clusterName }) => clusterName === name),
  )
  return {
    ...evictions,
    retryAfterSeconds: waits.length === 0 ? 0 : Math.min(...waits),
    unhealthyForSeconds: Object.fromEntries(kept),
  }
}

type TaskInput = Omit<EvictionTask, 'fromCluster' | 'replicas'>

function taskFor({ spec, status }: EvictableBinding, cluster: string, keepsState: boolean): TaskInput {
  const { purgeMode, gracePeriodSeconds, statePreservation } = spec.failover!.application!
  const kept = keepsState ? keptState(statePreservation, statusOf(status, cluster), cluster) : undefined
  return compact({
    purgeMode,
    reason: 'ApplicationFailure',
    producer: PRODUCER,
    preservedLabelState: kept,
    clustersBeforeFailover: kept && (spec.clusters ?? []).map(({ name }) => name),
    gracePeriodSeconds: purgeMode === 'Gracefully' ? gracePeriodSeconds : undefined,
    suppressDeletion: purgeMode === 'Never' ? true : undefined,
  })
}

function statusOf(status: EvictableBinding['status'], cluster: string): unknown {
  return status?.aggregatedStatus?.find(({ clusterName }) => clusterName === cluster)?.status
}

function keptState(
  preservation: StatePreservation | undefined,
  status: unknown,
  cluster: string,
): Readonly<Record<string, string>> | undefined {
  const rules = preservation?.rules ?? []
  if (rules.length === 0) return undefined
  if (status === undefined || status === null) {
    throw new Error(`the application status has not yet been collected from Cluster(${cluster})`)
  }
  return Object.fromEntries(rules.map(({ aliasLabelName, jsonPath }) => [aliasLabelName, readPath(status, jsonPath)]))
}
