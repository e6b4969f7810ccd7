/**
 * Workloads that live: what a kubelet and Kubernetes' controllers would do, in as much as a status shows it.
 *
 *     new content ──▶ Progressing ──after progressMs──▶ done (available, running, bound, complete)
 *                          └── an image cannot be pulled ──after failMs──▶ failed, in the words of its kind
 *
 * A workload recovers when its spec changes, or when `isBroken` no longer says so. Without `parts`, pods of workloads
 * are not made: their status tells what they would be. With it, ReplicaSets, pods and revisions are there as their
 * controllers would keep them.
 */
import { compact } from '../../core/compact.ts'
import type { Client } from '../../client/client.ts'
import { createInformer } from '../../client/informer.ts'
import type { Informer } from '../../client/informer.ts'
import { createInformers } from '../../client/informers.ts'
import type { Clock } from '../../core/time/clock.ts'
import { isApiError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import { createController } from '../../engine/controller.ts'
import type { Reconciler } from '../../engine/reconciler.ts'
import type { Trigger } from '../../engine/trigger.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { ResourceType, UnknownObject } from '../../kinds/meta.ts'
import { CronJob } from './cron-job.ts'
import { watchChildren } from './reconcile-children.ts'
import { REPLICATED_RULES } from './replicated.ts'
import { ruleReconciler } from './rule.ts'
import type { RulePorts, WorkloadBehaviour, WorkloadRule } from './rule.ts'
import { SINGLE_RULES } from './standalone-rules.ts'

export type { WorkloadBehaviour } from './rule.ts'

/** What the simulator is made of. */
export interface WorkloadsOptions {
  readonly client: Client
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  /** Looked at anew each time, so that it may have getters. */
  readonly behaviour?: Partial<WorkloadBehaviour>
  /** Also creates ReplicaSets, pods and revisions, for demos that show a cluster's objects. Fleets do without. */
  readonly parts?: boolean
  /** Resolves once there may be objects of a kind, so that unused kinds cost nothing. Defaults to resolving at once. */
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

/** What a controller sees of a cluster. */
interface Seen {
  readonly client: Client
  readonly informer: Informer<UnknownObject>
  readonly triggers?: readonly Trigger[]
}

const RULES: readonly WorkloadRule[] = [...REPLICATED_RULES, ...SINGLE_RULES]

/** Makes the simulator of a cluster; nothing moves before `run`. */
export function createWorkloads(options: WorkloadsOptions): Workloads {
  const { clock, ids, log } = options
  const ports: RulePorts = {
    behaviour: () => ({ ...DEFAULT_BEHAVIOUR, ...options.behaviour }),
    release: async (kind, { metadata }) => {
      const { uid } = metadata
      const once = compact({ gracePeriodSeconds: 0, uid })
      await options.client.delete(kind, metadata, once).catch((error: unknown) => {
        if (!isApiError(error, 'NotFound')) throw error
      })
    },
  }
  const controllerOf = (kind: Kind, reconciler: Reconciler<UnknownObject>, from: Seen) =>
    createController({
      name: `workload-simulator-${kind.plural}`,
      type: kind as ResourceType,
      ...from,
      reconciler,
      clock,
      ids,
      log,
      failureCondition: false,
    })
  const simulate = async (rule: WorkloadRule, signal: AbortSignal): Promise<void> => {
    const type = rule.kind as ResourceType
    await options.used?.(type, signal)
    const informer = createInformer({ client: options.client, type, clock, ids, log })
    const controller = controllerOf(rule.kind, ruleReconciler(rule, ports), { client: options.client, informer })
    await Promise.all([informer.run(signal), controller.run(signal)])
  }
  const simulateParts = async (signal: AbortSignal): Promise<void> => {
    const informers = createInformers({ client: options.client, clock, ids, log })
    const parts = watchChildren(informers, ids)
    const seen = (kind: Kind): Seen => ({
      client: informers.client,
      informer: informers.of(kind as ResourceType),
      triggers: parts.triggersFor(kind),
    })
    const controllers = [
      ...RULES.map((rule) =>
        controllerOf(rule.kind, parts.keeping(rule.kind, ruleReconciler(rule, ports)), seen(rule.kind)),
      ),
      controllerOf(CronJob, parts.cronJobs, seen(CronJob)),
    ]
    await Promise.all([informers.run(signal), ...controllers.map((controller) => controller.run(signal))])
  }
  return {
    run: async (signal) => {
      if (options.parts) await simulateParts(signal)
      else await Promise.all(RULES.map((rule) => simulate(rule, signal)))
    },
  }
}
