import { jsonClone } from '../core/json.ts'
import { apiVersionOf } from '../kinds/meta.ts'
import type { KubeObject, ResourceType } from '../kinds/meta.ts'
import type { Client, WriteOptions } from './client.ts'
import { createInformer } from './informer.ts'
import type { Informer, InformerOptions } from './informer.ts'

/** An informer per kind, shared by the whole process, and a client whose writes they know at once. */
export interface Informers {
  /**
   * The informer of a kind, or of the objects of a kind that match a label selector; made at the first call, which must
   * come before `run`. The cache of a label selector hears of a write through `client` only from the server.
   */
  of<T extends KubeObject>(type: ResourceType<T>, labelSelector?: string): Informer<T>
  /** Writes through this client are in the caches when they resolve. */
  readonly client: Client
  whenSynced(signal: AbortSignal): Promise<void>
  /** Runs every informer until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>
}

/** What all informers of a process have in common. */
export type InformersOptions = Pick<
  InformerOptions<KubeObject>,
  'clock' | 'ids' | 'log' | 'watchSeconds' | 'pageSize'
> & {
  readonly client: Client
}

/** Makes the informers of a process. */
export function createInformers(options: InformersOptions): Informers {
  const informers = new Map<string, Informer<KubeObject>>()
  let running = false

  function of<T extends KubeObject>(type: ResourceType<T>, labelSelector?: string): Informer<T> {
    const name = [`${apiVersionOf(type)}/${type.plural}`, ...(labelSelector === undefined ? [] : [labelSelector])].join(
      '?',
    )
    const known = informers.get(name)
    if (known) return known as unknown as Informer<T>
    if (running) throw new Error(`the informer of ${type.plural} was asked for after the informers started`)
    const made = createInformer<T>({
      ...options,
      type,
      ...(labelSelector === undefined ? {} : { select: { labelSelector } }),
    })
    informers.set(name, made)
    return made
  }

  function note<T extends KubeObject>(type: ResourceType<T>, written: T, write: WriteOptions | undefined): T {
    if (write?.dryRun || write?.subresource === 'scale') return written
    informers.get(`${apiVersionOf(type)}/${type.plural}`)?.noteWrite(jsonClone(written))
    return written
  }

  const { client } = options
  return {
    of,
    client: {
      ...client,
      create: async (type, object, write) => note(type, await client.create(type, object, write), write),
      update: async (type, object, write) => note(type, await client.update(type, object, write), write),
      patch: async (type, key, patch, write) => note(type, await client.patch(type, key, patch, write), write),
      apply: async (type, object, write) => note(type, await client.apply(type, object, write), write),
    },
    whenSynced: async (signal) => {
      await Promise.all([...informers.values()].map((informer) => informer.whenSynced(signal)))
    },
    run: async (signal) => {
      running = true
      await Promise.all([...informers.values()].map((informer) => informer.run(signal)))
    },
  }
}
