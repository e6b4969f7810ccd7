import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { ConfigMap, Secret } from '../../kinds/builtin/core.ts'
import { Source } from '../../kinds/native/source.ts'
import { readMirrors } from '../../source/mirrors.ts'
import { findObject } from '../../client/find-object.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { sourceRefusal, tenantOf, triggerOnProjects } from '../caches/namespace-projects.ts'
import { keyOf } from '../../kinds/meta.ts'
import { createFetchJobs } from './jobs.ts'
import type { FetchSourcePort } from './ports.ts'
import { sourceFetchReconciler } from './reconcile.ts'

/** The ConfigMap with the hub's rewrite rules, key `mirrors.yaml`. */
const MIRRORS = { namespace: 'flotilla-system', name: 'source-mirrors', key: 'mirrors.yaml' } as const

/** The ConfigMap with the keys of ssh servers, key `known_hosts`, in the format of `ssh-keyscan`. */
const KNOWN_HOSTS = { namespace: 'flotilla-system', name: 'source-known-hosts', key: 'known_hosts' } as const

/** Creates the controller that fetches Sources. */
export function createSourceFetch(parts: ControllerParts & { readonly fetchSource: FetchSourcePort }): Controller {
  const { caches, client, clock } = parts
  const jobs = createFetchJobs(clock, (key) => controller.enqueue(key))
  const reconciler = sourceFetchReconciler({
    fetch: parts.fetchSource,
    jobs,
    tenantOf: (namespace) => tenantOf(caches, namespace),
    refusalOf: (source) => sourceRefusal(caches, source),
    secret: (namespace, name, signal) => findObject(client, Secret, { namespace, name }, signal),
    knownHosts: async (signal) => (await findObject(client, ConfigMap, KNOWN_HOSTS, signal))?.data?.[KNOWN_HOSTS.key],
    mirrors: async (signal) => {
      const text = (await findObject(client, ConfigMap, MIRRORS, signal))?.data?.[MIRRORS.key]
      return text === undefined ? [] : readMirrors(text)
    },
  })
  const triggers = [triggerOnProjects(caches, (namespace) => caches.sources.lister.list(namespace).map(keyOf))]
  const controller = createController({ ...parts, type: Source, informer: caches.sources, reconciler, triggers })
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
