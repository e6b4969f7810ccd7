/** What rows are made from, copied from a home elsewhere into a store in memory that follows it. */
import { storeKey } from '../../apiserver/storage/stored-object.ts'
import type { Client } from '../../client/client.ts'
import { createInformers } from '../../client/informers.ts'
import { compact } from '../../core/compact.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import { runCompactor } from '../../store/compactor.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import type { Store } from '../../store/store.ts'
import type { HubPorts } from '../ports.ts'
import { ROW_INPUTS } from './affected-rows.ts'

/**
 * Revisions begin with the time: revisions of an earlier life, or of another hub, are too old or unknown, never another
 * state.
 */
const REVISIONS_PER_MS = 1_000

/** Copies until the signal is aborted; resolves when everything is there for the first time. */
export async function openMirrorStore(
  ports: HubPorts & { readonly client: Client },
  signal: AbortSignal,
): Promise<Store> {
  const { clock, log } = ports
  const store = createMemoryStore({ first: clock.now() * REVISIONS_PER_MS })
  const informers = createInformers(ports)
  for (const kind of ROW_INPUTS as readonly ResourceType<KubeObject>[]) {
    const revisions = new Map<string, number>()
    informers.of(kind).onChange(({ before, after }) => {
      const { metadata } = (after ?? before)!
      const { namespace, name } = metadata
      const key = storeKey(kind, compact({ name, namespace }))
      const text = after && textOf(after)
      // The store in memory commits before it returns, so that changes keep their order.
      void store.commit({ key, expect: revisions.get(key) ?? 0, value: text === undefined ? undefined : () => text })
      if (after) revisions.set(key, store.revision())
      else revisions.delete(key)
    })
  }
  const running = [informers.run(signal), runCompactor({ store, clock, log }, signal)]
  void Promise.all(running).finally(() => store.close())
  await informers.whenSynced(signal)
  return store
}

function textOf({ metadata, ...rest }: KubeObject): string {
  const { managedFields: _owners, ...shown } = metadata
  return JSON.stringify({ ...rest, metadata: shown })
}
