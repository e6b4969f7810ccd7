// Tested by src/dialects/karmada/served/karmada.sim.test.ts
/** Asks for a new division of the workloads of a WorkloadRebalancer, and says which of them have a binding. */
import { parseTime, formatTime } from '../../../core/time/time.ts'
import type { Reconciler, Result } from '../../../engine/reconciler.ts'
import { bindingName } from '../served/decide-claim.ts'
import type { ServedBinding } from '../served/kinds.ts'
import type { WorkloadRebalancer } from './kinds.ts'

/** Ports of the reconciler. */
export interface RebalancePorts {
  /** The binding of this name; without a namespace, a ClusterResourceBinding. */
  bindingAt(name: string, namespace: string | undefined): ServedBinding | undefined
  updateBinding(binding: ServedBinding, signal: AbortSignal): Promise<void>
  remove(rebalancer: WorkloadRebalancer, signal: AbortSignal): Promise<void>
}

type Workload = WorkloadRebalancer['spec']['workloads'][number]
type Observed = NonNullable<NonNullable<WorkloadRebalancer['status']>['observedWorkloads']>[number]

/** Each workload is asked for once; one without a binding is looked at again when its binding appears. */
export function rebalanceReconciler(ports: RebalancePorts): Reconciler<WorkloadRebalancer> {
  return {
    name: 'karmada-workload-rebalancer',
    async reconcile({ next: rebalancer, seen }, { clock, signal }): Promise<Result> {
      const { metadata, spec, status = {} } = rebalancer
      const known = new Map((status.observedWorkloads ?? []).map((one) => [keyOf(one.workload), one]))
      const observed: Observed[] = []
      for (const workload of spec.workloads) {
        const before = known.get(keyOf(workload))
        observed.push(before?.result === 'Successful' ? before : await ask(workload, clock.now(), signal))
      }
      const generation = metadata.generation ?? 0
      const isDone = observed.every(({ result }) => result === 'Successful')
      const isNew = status.observedGeneration !== generation || !status.finishTime
      rebalancer.status = {
        observedWorkloads: observed,
        observedGeneration: generation,
        ...(isDone ? { finishTime: isNew ? formatTime(clock.now()) : status.finishTime! } : {}),
      }
      const ttl = spec.ttlSecondsAfterFinished
      const finished = parseTime(seen.status?.finishTime ?? '')
      if (ttl === undefined || !isDone) return {}
      const leftMs = (finished ?? clock.now()) + ttl * 1000 - clock.now()
      if (finished === undefined || leftMs > 0) return { requeueAfterMs: Math.max(1, leftMs) }
      await ports.remove(seen, signal)
      return { unchanged: true }
    },
  }

  async function ask(workload: Workload, now: number, signal: AbortSignal): Promise<Observed> {
    const namespace = workload.namespace || undefined
    const binding = ports.bindingAt(bindingName(workload), namespace)
    const { resource } = binding?.spec ?? {}
    if (!binding || resource?.apiVersion !== workload.apiVersion || resource.kind !== workload.kind) {
      return { workload, result: 'Failed', reason: 'ReferencedBindingNotFound' }
    }
    // Later than the last decision, which has whole seconds.
    const last = parseTime(binding.status?.lastScheduledTime ?? '') ?? 0
    const at = formatTime(Math.max(now, last + 1000))
    await ports.updateBinding({ ...binding, spec: { ...binding.spec, rescheduleTriggeredAt: at } }, signal)
    return { workload, result: 'Successful' }
  }
}

/** The key of the binding of a workload, in the namespace or without one. */
export function bindingKeyOf(workload: Workload): string {
  const name = bindingName(workload)
  return workload.namespace ? `${workload.namespace}/${name}` : name
}

function keyOf({ apiVersion, kind, namespace = '', name }: Workload): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`
}
