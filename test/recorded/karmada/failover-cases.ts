/**
 * Recorded questions about failover: evictions by taints and health, the end of eviction tasks, taints by conditions.
 */
import { parseTime } from '../../../src/core/time/time.ts'
import { failOverApplication } from '../../../src/dialects/karmada/failover/application-failover.ts'
import { judgeEvictionTasks } from '../../../src/dialects/karmada/failover/eviction-tasks.ts'
import type { EvictableBinding } from '../../../src/dialects/karmada/failover/eviction-tasks.ts'
import { evictByTaints, taintsByPolicies } from '../../../src/dialects/karmada/failover/taint-eviction.ts'
import type { ClusterTaintPolicy, TaintEvictionOptions } from '../../../src/dialects/karmada/failover/taint-eviction.ts'
import type { KarmadaCluster } from '../../../src/dialects/karmada/types.ts'
import type { RecordedCase } from '../recorded-case.ts'

interface FailoverCase {
  readonly op: string
  readonly now: string
  readonly binding: EvictableBinding
  readonly cluster: KarmadaCluster
  readonly policies: readonly ClusterTaintPolicy[]
  readonly timeoutSeconds: number
  readonly options: TaintEvictionOptions
  readonly unhealthyForSeconds?: Readonly<Record<string, number>>
  readonly gates?: Readonly<Record<string, boolean>>
}

export function answerFailover(input: RecordedCase): unknown {
  const question = input as unknown as FailoverCase
  try {
    return answer(question, parseTime(question.now)!)
  } catch (error) {
    return { error: (error as Error).message }
  }
}

function answer(question: FailoverCase, now: number): unknown {
  const { binding, cluster, unhealthyForSeconds = {}, gates = {} } = question
  switch (question.op) {
    case 'evictionTasks':
      return judgeEvictionTasks(binding, now, question.timeoutSeconds)
    case 'taintEviction':
      return evictByTaints(binding, cluster, now, question.options)
    case 'applicationFailover':
      return failOverApplication(binding, unhealthyForSeconds, gates['StatefulFailoverInjection'] ?? false)
    case 'clusterTaintPolicy':
      return { taints: taintsByPolicies(cluster, question.policies, now) }
    default:
      throw new Error(`unknown op ${question.op}`)
  }
}
