// Tested by src/dialects/karmada/recorded.contract.test.ts: recorded answers of Karmada.
/** Evictions by taints with the effect NoExecute, and taints that conditions of a cluster set and remove. */
import { isObject } from '../../../core/json.ts'
import { formatTime, parseTime } from '../../../core/time/time.ts'
import { affinityPredicate } from '../schedule/cluster-affinity.ts'
import { snapshotOf } from '../schedule/cluster-snapshot.ts'
import { tolerates } from '../../../plan/placement/taints.ts'
import type { ClusterAffinity, ClusterToleration, KarmadaCluster, KarmadaTaint } from '../types.ts'
import { evictCluster } from './eviction-tasks.ts'
import type { EvictableBinding, Evictions } from './eviction-tasks.ts'

/** Flags of Karmada's controller manager. */
export interface TaintEvictionOptions {
  readonly enableNoExecuteTaintEviction?: boolean
  /** Gracefully or Directly. Defaults to Gracefully. */
  readonly noExecuteTaintEvictionPurgeMode?: string
}

/** The binding after the decision, and when to look again. */
export interface TaintEvictionResult extends Evictions {
  readonly retryAfterSeconds: number
}

const APPLIED_PLACEMENT = 'policy.karmada.io/applied-placement'

/** Evicts the workload from the cluster when a NoExecute taint is not tolerated, or no longer. */
export function evictByTaints(
  binding: EvictableBinding,
  cluster: KarmadaCluster,
  now: number,
  options: TaintEvictionOptions,
): TaintEvictionResult {
  const { clusters = [], gracefulEvictionTasks = [], failover } = binding.spec
  const unchanged = { clusters, gracefulEvictionTasks }
  const { name } = cluster.metadata
  const isTarget = clusters.some((target) => target.name === name)
  if (binding.metadata.deletionTimestamp !== undefined || !isTarget) return { ...unchanged, retryAfterSeconds: 0 }
  const tolerations = appliedTolerations(binding)
  const taints = (cluster.spec?.taints ?? []).filter(({ effect }) => effect === 'NoExecute')
  if (!options.enableNoExecuteTaintEviction || taints.length === 0) return { ...unchanged, retryAfterSeconds: 0 }
  const left = secondsLeft(taints, tolerations, now)
  if (left > 0) return { ...unchanged, retryAfterSeconds: Number.isFinite(left) ? left : 0 }
  const byOption = options.noExecuteTaintEvictionPurgeMode === 'Directly' ? 'Directly' : 'Gracefully'
  const purgeMode = failover?.cluster ? failover.cluster.purgeMode || 'Gracefully' : byOption
  const task = { purgeMode, reason: 'TaintUntolerated', producer: 'TaintManager' }
  return { ...evictCluster(unchanged, name, task), retryAfterSeconds: 0 }
}

function appliedTolerations({ metadata }: EvictableBinding): readonly ClusterToleration[] {
  const text = metadata.annotations?.[APPLIED_PLACEMENT] ?? ''
  if (text === '') throw new Error(`the annotation ${APPLIED_PLACEMENT} of the binding is empty`)
  const placement: unknown = JSON.parse(text)
  if (!isObject(placement)) throw new Error(`the annotation ${APPLIED_PLACEMENT} of the binding is not an object`)
  const tolerations = placement['clusterTolerations']
  return Array.isArray(tolerations) ? (tolerations as readonly ClusterToleration[]) : []
}

/** Seconds until the first toleration in use ends: 0 when a taint is not tolerated, infinite when none ends. */
function secondsLeft(taints: readonly KarmadaTaint[], tolerations: readonly ClusterToleration[], now: number): number {
  const used: ClusterToleration[] = []
  for (const taint of taints) {
    // The first toleration that covers a taint counts, also when a later one lasts longer.
    const toleration = tolerations.find((one) => tolerates(taint, one))
    if (!toleration) return 0
    used.push(toleration)
  }
  const ends = used.flatMap((toleration) =>
    taints
      .filter((taint) => toleration.tolerationSeconds !== undefined && tolerates(taint, toleration))
      .map(({ timeAdded }) => parseTime(timeAdded ?? ''))
      .filter((added) => added !== undefined)
      .map((added) => added + toleration.tolerationSeconds! * 1000),
  )
  return Math.max(0, (Math.min(Number.POSITIVE_INFINITY, ...ends) - now) / 1000)
}

/** `policy.karmada.io/v1alpha1 ClusterTaintPolicy`. */
export interface ClusterTaintPolicy {
  readonly metadata: { readonly name: string; readonly creationTimestamp?: string }
  readonly spec: {
    readonly targetClusters?: ClusterAffinity
    readonly taints?: readonly KarmadaTaint[]
    readonly addOnConditions?: readonly ConditionMatch[]
    readonly removeOnConditions?: readonly ConditionMatch[]
  }
}

interface ConditionMatch {
  readonly conditionType: string
  readonly operator: string
  readonly statusValues?: readonly string[]
}

/** The taints of a cluster after the policies, the oldest policy first. */
export function taintsByPolicies(
  cluster: KarmadaCluster,
  policies: readonly ClusterTaintPolicy[],
  now: number,
): readonly KarmadaTaint[] {
  const isSame = (a: KarmadaTaint, b: KarmadaTaint): boolean => a.key === b.key && a.effect === b.effect
  const createdAt = ({ metadata }: ClusterTaintPolicy): number => parseTime(metadata.creationTimestamp ?? '') ?? 0
  const snapshot = snapshotOf(cluster)
  let taints: readonly KarmadaTaint[] = cluster.spec?.taints ?? []
  for (const { spec } of [...policies].sort((a, b) => createdAt(a) - createdAt(b))) {
    if (spec.targetClusters && !affinityPredicate(spec.targetClusters)(snapshot)) continue
    const own = spec.taints ?? []
    if (conditionsMatch(cluster, spec.addOnConditions ?? [])) {
      for (const taint of own) {
        if (!taints.some((one) => isSame(one, taint))) taints = [...taints, { ...taint, timeAdded: formatTime(now) }]
      }
    }
    if (conditionsMatch(cluster, spec.removeOnConditions ?? [])) {
      taints = taints.filter((one) => !own.some((taint) => isSame(one, taint)))
    }
  }
  return taints
}

/** All conditions must match; a condition that the cluster does not have matches nothing, NotIn included. */
function conditionsMatch({ status }: KarmadaCluster, wanted: readonly ConditionMatch[]): boolean {
  return (
    wanted.length > 0 &&
    wanted.every(({ conditionType, operator, statusValues = [] }) => {
      const condition = (status?.conditions ?? []).findLast(({ type }) => type === conditionType)
      if (!condition || (operator !== 'In' && operator !== 'NotIn')) return false
      return statusValues.includes(condition.status) === (operator === 'In')
    })
  )
}
