import { isApiError } from '../../core/errors.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { triggerOnObject } from '../../engine/trigger.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import type { JoinToken } from '../../kinds/native/join-token.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import type { PushedAgentsPort } from './ports.ts'
import { clusterPushReconciler } from './reconcile.ts'

export type { PushedAgentsPort, PushState, PushTarget } from './ports.ts'

/** Creates the controller that runs the agents of clusters registered by a kubeconfig. */
export function createClusterPush(
  parts: ControllerParts & { readonly pushedAgents?: PushedAgentsPort | undefined },
): Controller {
  const { caches, client, ids, pushedAgents: agents } = parts
  caches.joinTokens.addIndex('take-over', takenOver)
  const reconciler = clusterPushReconciler({
    agents,
    secretOf: async ({ namespace, name }, signal) =>
      await client.get(Secret, { namespace, name }, signal).catch((caught: unknown) => {
        if (isApiError(caught, 'NotFound')) return undefined
        throw caught
      }),
    newClusterId: () => `c-${ids.suffix(12)}`,
    joinedAgent: (name) => {
      const [token] = caches.joinTokens.lister.by('take-over', name)
      return token?.status?.takeOver && { joinToken: token.metadata.name, ...token.status.takeOver }
    },
  })
  const triggers = agents
    ? [
        triggerOnObject(caches.joinTokens, takenOver),
        { subscribe: agents.onChange },
        {
          // A Cluster that is gone has no pass of its own.
          subscribe: () => caches.clusters.onChange(({ key, after }) => after ?? agents.forget(key)),
        },
      ]
    : [triggerOnObject(caches.joinTokens, takenOver)]
  return createController({
    ...parts,
    type: Cluster,
    informer: caches.clusters,
    reconciler,
    triggers,
    failureCondition: false,
    notesGeneration: false,
  })
}

/** The cluster whose agent a token has replaced. */
function takenOver({ spec, status }: JoinToken): string[] {
  return spec.takeOver && spec.clusterName !== undefined && status?.takeOver ? [spec.clusterName] : []
}
