/** All controllers over shared caches; the hub and the simulator run the same controllers. */
import type { Blobs } from '../blobs/blobs.ts'
import type { Client } from '../client/client.ts'
import { createInformers } from '../client/informers.ts'
import type { Informers } from '../client/informers.ts'
import type { Clock } from '../core/time/clock.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'
import type { UnknownObject } from '../kinds/meta.ts'
import type { Metrics } from '../core/metrics.ts'
import type { Controller } from '../engine/controller.ts'
import { createEventRecorder } from '../engine/event-recorder.ts'
import type { SignDocument } from './assignment-assemble/ports.ts'
import { createAssignmentAssemble } from './assignment-assemble/controller.ts'
import { createBundleSecretForget, createBundleSecretInformer } from './bundle-secret-forget/controller.ts'
import { createBundleRemove } from './bundle-remove/controller.ts'
import type { RenderPort } from './bundle-render/ports.ts'
import { storeSet } from './bundle-render/store-set.ts'
import type { StoredSet } from './bundle-render/store-set.ts'
import { createBundleRender } from './bundle-render/controller.ts'
import { takeRendering } from './bundle-render/project-content.ts'
import { createCaches } from './caches/caches.ts'
import { namespaceProjects, tenantOf } from './caches/namespace-projects.ts'
import { createRenderQuota } from '../plan/projects/quotas.ts'
import { createClusterPush } from './cluster-push/controller.ts'
import type { PushedAgentsPort } from './cluster-push/controller.ts'
import { createClusterDecommission } from './cluster-decommission/controller.ts'
import { createClusterAvailability, createLeaseInformer } from './cluster-availability/controller.ts'
import { createDeliveryAdmit } from './delivery-admit/controller.ts'
import { createJoinTokenExpire } from './join-token-expire/controller.ts'
import { createPlacementDecide } from './placement-decide/controller.ts'
import { createProjectStatus } from './project-status/controller.ts'
import { createForgetDeleted, createReleaseForget } from './release-forget/controller.ts'
import { createReleaseGather } from './release-gather/controller.ts'
import type { AskGatePort } from './rollout-advance/gate-checks.ts'
import { createRolloutAdvance } from './rollout-advance/controller.ts'
import { createRolloutCreate } from './rollout-create/controller.ts'
import { createRolloutUndo } from './rollout-undo/controller.ts'
import type { FetchSourcePort } from './source-fetch/ports.ts'
import { createSourceFetch } from './source-fetch/controller.ts'
import { createValuesKeys } from './secrets/values-keys.ts'
import { createWindowCheck } from './window-check/controller.ts'
import type { HttpGet } from '../source/http-get.ts'

export type { SignDocument } from './assignment-assemble/ports.ts'
export type { RenderPort, RenderRequest } from './bundle-render/ports.ts'
export type { AskGatePort, GateQuestion, GateReply } from './rollout-advance/gate-checks.ts'
export type { PushedAgentsPort, PushState, PushTarget } from './cluster-push/controller.ts'
export type { FetchSourcePort } from './source-fetch/ports.ts'

/**
 * Controllers that one process runs together. `renderers` fetch Sources, render Bundles, make Releases and serve
 * dialects, so that tenants share the quotas of their Projects; `controllers` are all others.
 */
export const CONTROLLER_GROUPS = ['controllers', 'renderers'] as const
export type ControllerGroup = (typeof CONTROLLER_GROUPS)[number]

/** The ports of all controllers. */
export interface ControllersOptions {
  readonly client: Client
  /** The groups to run. If omitted, all. */
  readonly groups?: readonly ControllerGroup[]
  readonly blobs: Pick<Blobs, 'put' | 'get'>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
  /** Factories of dialect controllers, which use the same caches. */
  readonly dialects?: readonly DialectControllers[]
  /** Renders a Bundle: `renderVariants` of the render room, in a thread of its own or in place. */
  readonly render: RenderPort
  /** Fetches a Source: `fetchSource` of the source room, in a thread of its own or in place. */
  readonly fetchSource: FetchSourcePort
  /** Asks a metrics server or a webhook for the answer of a ring's gate. */
  readonly askGate: AskGatePort
  /** Asks git services for dialects, under the rules of Sources. If omitted, dialects ask none. */
  readonly httpGet?: HttpGet | undefined
  /** Runs the agents of clusters registered by a kubeconfig. If omitted, the hub runs none. */
  readonly pushedAgents?: PushedAgentsPort | undefined
  /** Signs a cluster's document; the digest of the bytes is recorded in the Assignment. */
  readonly sign: SignDocument
  /** The epoch of the documents of new clusters. */
  epoch(): number
  /** The version of the trust bundle in force. */
  trustVersion(): number
  /** Calls `changed` when the trust bundle changes; returns how to stop that. */
  onTrustChange(changed: () => void): () => void
}

/** Creates the controllers of a dialect. */
export type DialectControllers = (
  parts: Pick<ControllersOptions, 'blobs' | 'clock' | 'ids' | 'log' | 'metrics' | 'render' | 'httpGet'> & {
    readonly informers: Informers
    /** The tenant of a key: tenants take turns in all queues. */
    laneOf(key: string): string
    /** Stores objects as the set of an entry (`namespace/delivery:name`); values of Secrets are encrypted. */
    storeSet(entry: string, objects: readonly UnknownObject[]): Promise<StoredSet>
  },
) => readonly Controller[]

/** All controllers; `run` works until the signal is aborted or `close` is called. */
export interface Controllers {
  /** Call once; resolves when all passes have ended. */
  run(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** Creates the controllers; nothing happens before `run`. */
export function createControllers(options: ControllersOptions): Controllers {
  const informers = createInformers(options)
  const caches = createCaches(informers)
  const events = createEventRecorder(options)
  const valuesKeys = createValuesKeys(informers.client, options.ids)
  const laneOf = (key: string) => tenantOf(caches, key.slice(0, Math.max(0, key.indexOf('/'))))
  const render: RenderPort = (request, signal) =>
    options.render({ ...request, tenant: laneOf(request.recipe.bundle) }, signal)
  const renderQuota = createRenderQuota()
  const parts = { ...options, client: informers.client, caches, events, valuesKeys, laneOf, render, renderQuota }
  // What dialects render counts for the Project, too.
  const renderForDialect: RenderPort = async (request, signal) => {
    takeRendering(request.recipe.bundle, { projectOf: namespaceProjects(caches), renderQuota }, options.clock.now())
    return render(request, signal)
  }
  const storeEntry = (entry: string, objects: readonly UnknownObject[]) =>
    storeSet({ bundle: entry }, objects, {
      putBlob: (bytes) => options.blobs.put(bytes),
      valuesKeyOf: (id) => valuesKeys.make(id),
    })
  const leases = createLeaseInformer(parts)
  const secrets = createBundleSecretInformer(parts)
  const groups = options.groups ?? CONTROLLER_GROUPS

  function createRenderers(): readonly Controller[] {
    const gather = createReleaseGather(parts)
    return [
      createSourceFetch(parts),
      createBundleRender({ ...parts, offers: gather.offers }),
      gather.controller,
      ...(options.dialects ?? []).flatMap((dialect) =>
        dialect({ ...options, informers, storeSet: storeEntry, laneOf, render: renderForDialect }),
      ),
    ]
  }

  const createOthers = (): readonly Controller[] => [
    createReleaseForget(parts),
    createForgetDeleted(parts),
    createPlacementDecide(parts),
    createRolloutCreate(parts),
    createRolloutAdvance(parts),
    createRolloutUndo(parts),
    createBundleRemove(parts),
    createBundleSecretForget({ ...parts, secrets }),
    createClusterDecommission(parts),
    createDeliveryAdmit(parts),
    createClusterPush(parts),
    createAssignmentAssemble(parts),
    createClusterAvailability({ ...parts, leases }),
    createJoinTokenExpire(parts),
    createProjectStatus(parts),
    ...createWindowCheck(parts),
  ]
  const controllers = [
    ...(groups.includes('renderers') ? createRenderers() : []),
    ...(groups.includes('controllers') ? createOthers() : []),
  ]
  const followed = groups.includes('controllers') ? [informers, leases, secrets] : [informers]
  const closing = new AbortController()
  let running: Promise<void> = Promise.resolve()

  async function work(signal: AbortSignal): Promise<void> {
    const following = followed.map((one) => one.run(signal))
    try {
      // All caches must be complete, not only the caches of a controller: an empty cache would look like an empty
      // fleet (I-06).
      await Promise.all(followed.map((one) => one.whenSynced(signal)))
      await Promise.all(controllers.map((controller) => controller.run(signal)))
    } catch (caught) {
      if (!signal.aborted) throw caught
    } finally {
      if (!signal.aborted) closing.abort()
      await Promise.all(following)
    }
  }

  return {
    run: (signal) => (running = work(AbortSignal.any([signal, closing.signal]))),
    close: async () => {
      closing.abort()
      await running
    },
  }
}
