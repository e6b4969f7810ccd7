/**
 * Workloads that live: what a kubelet and Kubernetes' controllers would do, in as much as a status shows it.
 *
 *     new content ──▶ Progressing ──after progressMs──▶ done (available, running, bound, complete)
 *                          └── an image cannot be pulled ──after failMs──▶ failed, in the words of its kind
 *
 * A workload recovers when its spec changes, or when `isBroken` no longer says so. Pods of workloads are not made: their status
 * tells what they would be.
 */
import type { Client } from '../client/client.ts'
import { createInformer } from '../client/informer.ts'
import type { Clock } from '../core/clock.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'
import { createController } from '../engine/controller.ts'
import type { ResourceType } from '../kinds/meta.ts'
import { REPLICATED_RULES } from './workloads/replicated.ts'
import { ruleReconciler } from './workloads/rule.ts'
import type { WorkloadBehaviour, WorkloadRule } from './workloads/rule.ts'
import { SINGLE_RULES } from './workloads/single.ts'

export type { WorkloadBehaviour } from './workloads/rule.ts'

/** What the simulator is made of. */
export interface WorkloadsOptions {
  readonly client: Client
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  /** Looked at anew each time, so that it may have getters. */
  readonly behaviour?: Partial<WorkloadBehaviour>
  /** Resolves once there may be objects of a kind; what nobody uses costs nothing. All are used without it. */
  readonly used?: (type: ResourceType, signal: AbortSignal) => Promise<void>
}

/** A running simulator of workloads. */
export interface Workloads {
  /** Works until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>
}

/** How workloads behave when nothing else is said. */
export const DEFAULT_BEHAVIOUR: WorkloadBehaviour = {
  progressMs: 400,
  failMs: 1_500,
  isBroken: (image) => image.includes('broken'),
}

const RULES: readonly WorkloadRule[] = [...REPLICATED_RULES, ...SINGLE_RULES]

/** Makes the simulator of one cluster; nothing moves before `run`. */
export function createWorkloads(options: WorkloadsOptions): Workloads {
  const { client, clock, ids, log } = options
  const behaviour = (): WorkloadBehaviour => ({ ...DEFAULT_BEHAVIOUR, ...options.behaviour })
  const simulate = async (rule: WorkloadRule, signal: AbortSignal): Promise<void> => {
    const type = rule.kind as ResourceType
    await options.used?.(type, signal)
    const informer = createInformer({ client, type, clock, ids, log })
    const controller = createController({
      name: `workload-simulator-${rule.kind.plural}`,
      type,
      informer,
      reconciler: ruleReconciler(rule, behaviour),
      client,
      clock,
      ids,
      log,
      failureCondition: false,
    })
    await Promise.all([informer.run(signal), controller.run(signal)])
  }
  return {
    run: async (signal) => {
      await Promise.all(RULES.map((rule) => simulate(rule, signal)))
    },
  }
}
