/** How many pods a Deployment has of its new and of its older ReplicaSets, as its real controller would keep them. */
import { readPath, numberAt } from '../../kinds/builtin/read-path.ts'

/** Pods of a Deployment in the middle of a rollout. */
export interface RollingPods {
  /** Pods of older content. All are available, because unavailable old pods are deleted first. */
  readonly old: number
  /** Pods of the present content, available or not. */
  readonly updated: number
  /** Pods that serve, of either. */
  readonly available: number
}

/** What a Deployment may have too many and too few of while it is updated. */
export interface RollingLimits {
  readonly surge: number
  readonly unavailable: number
}

/**
 * The limits of a Deployment's strategy in pods: surge is rounded up, unavailable down, and one of them is at least 1.
 */
export function rollingLimits(deployment: unknown, wanted: number): RollingLimits {
  if (readPath(deployment, 'spec.strategy.type') === 'Recreate') return { surge: 0, unavailable: wanted }
  const share = (field: string, round: (value: number) => number): number => {
    const value = readPath(deployment, `spec.strategy.rollingUpdate.${field}`)
    if (typeof value === 'number') return value
    const percent = typeof value === 'string' ? Number.parseInt(value, 10) : 25
    return round((percent * wanted) / 100)
  }
  const surge = share('maxSurge', Math.ceil)
  const unavailable = Math.min(share('maxUnavailable', Math.floor), wanted)
  return surge === 0 && unavailable === 0 ? { surge, unavailable: 1 } : { surge, unavailable }
}

/** How far a rollout gets while no new pod becomes available. Asked again with its own answer it says the same. */
export function rollingPods(
  status: unknown,
  wanted: number,
  { surge, unavailable }: RollingLimits,
  isSameSet: boolean,
): RollingPods {
  const had = { replicas: numberAt(status, 'replicas'), available: numberAt(status, 'availableReplicas') }
  const oldBefore = isSameSet ? had.replicas - numberAt(status, 'updatedReplicas') : had.available
  const serving = Math.max(0, had.available - oldBefore)
  const old = Math.min(oldBefore, Math.max(0, wanted - unavailable - serving))
  const updated = Math.min(wanted, wanted + surge - old)
  return { old, updated, available: old + Math.min(serving, updated) }
}
