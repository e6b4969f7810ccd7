/** A hand in a store that no honest part of a fleet has. */
import { storePrefix, serializeObject } from '../../apiserver/storage/stored-object.ts'
import type { Kind, ObjectOfKind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Store } from '../../store/store.ts'

/** Changes every object of a kind in a store, past the API; an object that becomes undefined is deleted. */
export async function tamper<K extends Kind>(
  store: Store,
  kind: K,
  change: (object: ObjectOfKind<K>) => ObjectOfKind<K> | undefined,
): Promise<void> {
  const { entries } = await store.list({ prefix: storePrefix(kind) })
  for (const { key, value, modRevision } of entries) {
    const next = change(JSON.parse(value) as ObjectOfKind<K>)
    await store.commit({ key, expect: modRevision, value: next && serializeObject(next as unknown as UnknownObject) })
  }
}
