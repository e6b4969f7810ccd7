import { isApiError } from '../../core/errors.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { ConfigMap, Secret } from '../../kinds/builtin/core.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import { Source } from '../../kinds/source.ts'
import { readMirrors } from '../../source/mirrors.ts'
import type { ControllerParts } from '../parts.ts'
import { createFetchJobs } from './jobs.ts'
import type { FetchSourcePort } from './ports.ts'
import { sourceFetchReconciler } from './reconcile.ts'

/** Where the hub's rewrite rules are: key `mirrors.yaml` of this ConfigMap. */
export const MIRRORS = { namespace: 'flotilla-system', name: 'source-mirrors', key: 'mirrors.yaml' } as const

/** Source → artifact. */
export function createSourceFetch(parts: ControllerParts & { readonly fetchSource: FetchSourcePort }): Controller {
  const { caches, client, clock } = parts
  const jobs = createFetchJobs(clock, (key) => controller.enqueue(key))
  const find = async <T extends KubeObject>(
    type: ResourceType<T>,
    key: { readonly namespace: string; readonly name: string },
    signal: AbortSignal,
  ): Promise<T | undefined> => {
    try {
      return await client.get(type, key, signal)
    } catch (caught) {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    }
  }
  const reconciler = sourceFetchReconciler({
    fetch: parts.fetchSource,
    jobs,
    secret: (namespace, name, signal) => find(Secret, { namespace, name }, signal),
    mirrors: async (signal) => {
      const text = (await find(ConfigMap, MIRRORS, signal))?.data?.[MIRRORS.key]
      return text === undefined ? [] : readMirrors(text)
    },
  })
  const controller = createController({ ...parts, type: Source, informer: caches.sources, reconciler })
  return {
    ...controller,
    run: async (signal) => {
      try {
        await controller.run(signal)
      } finally {
        await jobs.close()
      }
    },
  }
}
