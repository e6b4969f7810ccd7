import { compact } from '../../core/compact.ts'
import { ApiError } from '../../core/errors.ts'
import { matchesSelector } from '../../core/text/label-selector.ts'
import { formatTime } from '../../core/time/time.ts'
import { isObject, jsonClone } from '../../core/json.ts'
import { itemsAt, mapAt, numberAt, textAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'

/** What PodDisruptionBudgets say to an eviction. */

const MANY = 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.'
const VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
const RETRY_SECONDS = 10

/**
 * Asks the budgets of a pod's namespace: the one that must count it first, if any. Throws what Kubernetes refuses with.
 */
export function checkDisruptionBudgets(
  pod: UnknownObject,
  budgets: readonly UnknownObject[],
): UnknownObject | undefined {
  if (pod.metadata.deletionTimestamp !== undefined) return undefined
  if (['Succeeded', 'Failed', 'Pending'].includes(textAt(pod, 'status.phase'))) return undefined
  const labels = pod.metadata.labels ?? {}
  const [budget, ...more] = budgets.filter((one) => isObject(one['spec']) && covers(one['spec']['selector'], labels))
  if (!budget) return undefined
  if (more.length > 0) throw new ApiError('InternalError', MANY)
  const healthy = numberAt(budget, 'status.currentHealthy')
  const desired = numberAt(budget, 'status.desiredHealthy')
  const isReady = itemsAt(pod, 'status.conditions').some((it) => it['type'] === 'Ready' && it['status'] === 'True')
  if (!isReady) {
    if (textAt(budget, 'spec.unhealthyPodEvictionPolicy') === 'AlwaysAllow') return undefined
    if (healthy >= desired && desired > 0) return undefined
  }
  const { name, generation = 0 } = budget.metadata
  if (numberAt(budget, 'status.observedGeneration') < generation) {
    throw refusal(`The disruption budget ${name} is still being processed by the server.`)
  }
  if (numberAt(budget, 'status.disruptionsAllowed') <= 0) {
    throw refusal(`The disruption budget ${name} needs ${desired} healthy pods and has ${healthy} currently`)
  }
  return budget
}

/** The budget once it has counted a pod that goes. */
export function recordDisruption(budget: UnknownObject, pod: string, nowMs: number): UnknownObject {
  const next = jsonClone(budget)
  const allowed = numberAt(budget, 'status.disruptionsAllowed') - 1
  const now = formatTime(nowMs)
  const status = mapAt(next, 'status')
  next['status'] = {
    ...status,
    disruptionsAllowed: allowed,
    disruptedPods: { ...mapAt(status, 'disruptedPods'), [pod]: now },
    ...compact({ conditions: allowed > 0 ? undefined : used(budget, now) }),
  }
  return next
}

function used(budget: UnknownObject, now: string): object[] {
  const type = 'DisruptionAllowed'
  const before = itemsAt(budget, 'status.conditions')
  const observedGeneration = numberAt(budget, 'status.observedGeneration')
  const reason = 'InsufficientPods'
  const condition = { type, status: 'False', observedGeneration, lastTransitionTime: now, reason, message: '' }
  return [...before.filter((it) => it['type'] !== type), condition]
}

/** A budget without a selector matches no pod; an empty selector matches all pods. */
function covers(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  return isObject(selector) && matchesSelector(labels, selector)
}

function refusal(message: string): ApiError {
  const causes = [{ reason: 'DisruptionBudget', message }]
  return new ApiError('TooManyRequests', VIOLATES, { causes, retryAfterSeconds: RETRY_SECONDS })
}
