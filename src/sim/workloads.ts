/**
 * Workloads that live: what a kubelet and the deployment controller would do, in as much as a status shows it.
 *
 *     new generation ──▶ Progressing ──after progressMs──▶ Available
 *                             └── its image cannot be pulled ──after failMs──▶ ProgressDeadlineExceeded
 *
 * A Deployment recovers when its spec changes, or when `isBroken` no longer says so.
 */
import type { Client } from '../client/client.ts'
import { createInformer } from '../client/informer.ts'
import type { Clock } from '../core/clock.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'
import { formatTime } from '../core/time.ts'
import { createController } from '../engine/controller.ts'
import type { Reconciler } from '../engine/reconciler.ts'
import { keyOf } from '../kinds/meta.ts'
import type { Condition, KubeObject, ResourceType } from '../kinds/meta.ts'

/** How workloads behave. */
export interface WorkloadBehaviour {
  /** From a new generation to available. */
  readonly progressMs: number
  /** From a new generation to giving up. */
  readonly failMs: number
  /** Whether an image cannot be pulled; images with `broken` in their name, unless told. */
  readonly isBroken: (image: string) => boolean
}

/** What the simulator is made of. */
export interface WorkloadsOptions {
  readonly client: Client
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly behaviour?: Partial<WorkloadBehaviour>
}

/** A running simulator of workloads. */
export interface Workloads {
  /** Works until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>
}

/** As much of a Deployment as the simulator looks at. */
export interface Deployment extends KubeObject {
  spec?: {
    replicas?: number
    template?: { spec?: { containers?: { image?: string }[] } }
  }
  status?: {
    observedGeneration?: number
    replicas?: number
    updatedReplicas?: number
    readyReplicas?: number
    availableReplicas?: number
    unavailableReplicas?: number
    conditions?: (Condition & { lastUpdateTime?: string })[]
  }
}

const DEPLOYMENT: ResourceType<Deployment> = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  scope: 'Namespaced',
}

/** How workloads behave when nothing else is said. */
export const DEFAULT_BEHAVIOUR: WorkloadBehaviour = {
  progressMs: 400,
  failMs: 1_500,
  isBroken: (image) => image.includes('broken'),
}

/** Makes the simulator of one cluster; nothing moves before `run`. */
export function createWorkloads(options: WorkloadsOptions): Workloads {
  const { client, clock, ids, log } = options
  const behaviour = { ...DEFAULT_BEHAVIOUR, ...options.behaviour }
  const informer = createInformer({ client, type: DEPLOYMENT, clock, ids, log })
  const controller = createController({
    name: 'workload-simulator',
    type: DEPLOYMENT,
    informer,
    reconciler: deploymentReconciler(behaviour),
    client,
    clock,
    ids,
    log,
    failureCondition: false,
  })
  return {
    run: async (signal) => {
      await Promise.all([informer.run(signal), controller.run(signal)])
    },
  }
}

/** Moves one Deployment's status along. */
export function deploymentReconciler(behaviour: WorkloadBehaviour): Reconciler<Deployment> {
  /** When the present generation of a Deployment was first seen. */
  const begun = new Map<string, { readonly uid: string; readonly generation: number; readonly atMs: number }>()

  return {
    name: 'workload-simulator',
    reconcile: async (draft, { clock }) => {
      const deployment = draft.next
      const { uid = '', generation = 1, deletionTimestamp } = deployment.metadata
      if (deletionTimestamp !== undefined) return {}
      const key = keyOf(deployment)
      const known = begun.get(key)
      const isKnown = known !== undefined && known.uid === uid && known.generation === generation
      const start = isKnown ? known : { uid, generation, atMs: clock.monotonicMs() }
      // Found as it is after a restart of the simulation: it went through this already.
      if (!isKnown && deployment.status?.observedGeneration === generation && isAvailable(deployment)) return {}
      begun.set(key, start)
      const elapsed = clock.monotonicMs() - start.atMs
      const broken = brokenImage(deployment, behaviour)
      const dueMs = broken === undefined ? behaviour.progressMs : behaviour.failMs
      const phase = elapsed < dueMs ? 'Progressing' : broken === undefined ? 'Available' : 'Failed'
      deployment.status = statusOf(deployment, { phase, broken, nowMs: clock.now() })
      return phase === 'Progressing' ? { requeueAfterMs: dueMs - elapsed } : {}
    },
  }
}

function brokenImage(deployment: Deployment, behaviour: WorkloadBehaviour): string | undefined {
  const containers = deployment.spec?.template?.spec?.containers ?? []
  return containers.map(({ image }) => image ?? '').find((image) => behaviour.isBroken(image))
}

function isAvailable({ status }: Deployment): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True') ?? false
}

interface Moment {
  readonly phase: 'Progressing' | 'Available' | 'Failed'
  readonly broken: string | undefined
  readonly nowMs: number
}

function statusOf(deployment: Deployment, { phase, broken, nowMs }: Moment): NonNullable<Deployment['status']> {
  const wanted = deployment.spec?.replicas ?? 1
  const before = deployment.status ?? {}
  // As in a rolling update: what was available stays so while the new replicas come, or fail to.
  const available = phase === 'Available' ? wanted : Math.min(before.availableReplicas ?? 0, wanted)
  const condition = (type: string, isTrue: boolean, reason: string, message: string) =>
    conditionOf(before.conditions, { type, status: isTrue ? 'True' : 'False', reason, message }, nowMs)
  const name = deployment.metadata.name
  return {
    observedGeneration: deployment.metadata.generation ?? 1,
    replicas: wanted,
    updatedReplicas: phase === 'Available' ? wanted : Math.min(1, wanted),
    ...(available > 0 && { readyReplicas: available, availableReplicas: available }),
    ...(wanted > available && { unavailableReplicas: wanted - available }),
    conditions: [
      available >= wanted
        ? condition('Available', true, 'MinimumReplicasAvailable', 'Deployment has minimum availability.')
        : condition('Available', false, 'MinimumReplicasUnavailable', 'Deployment does not have minimum availability.'),
      phase === 'Failed'
        ? condition(
            'Progressing',
            false,
            'ProgressDeadlineExceeded',
            `ReplicaSet "${name}" has timed out progressing: ImagePullBackOff: back-off pulling image "${broken}".`,
          )
        : phase === 'Available'
          ? condition(
              'Progressing',
              true,
              'NewReplicaSetAvailable',
              `ReplicaSet "${name}" has successfully progressed.`,
            )
          : condition('Progressing', true, 'ReplicaSetUpdated', `ReplicaSet "${name}" is progressing.`),
    ],
  }
}

type DeploymentCondition = NonNullable<NonNullable<Deployment['status']>['conditions']>[number]

function conditionOf(
  before: readonly DeploymentCondition[] | undefined,
  now: Pick<DeploymentCondition, 'type' | 'status' | 'reason' | 'message'>,
  nowMs: number,
): DeploymentCondition {
  const known = before?.find(({ type }) => type === now.type)
  if (known && known.status === now.status && known.reason === now.reason && known.message === now.message) return known
  const time = formatTime(nowMs)
  return {
    ...now,
    lastUpdateTime: time,
    lastTransitionTime: known?.status === now.status ? known.lastTransitionTime : time,
  }
}
