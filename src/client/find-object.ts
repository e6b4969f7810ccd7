import type { Client, Reader } from './client.ts'
import { compact } from '../core/compact.ts'
import { isApiError } from '../core/errors.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../kinds/meta.ts'

/** An object, or undefined when there is none. */
export async function findObject<T extends KubeObject>(
  client: Pick<Reader, 'get'>,
  type: ResourceType<T>,
  key: ObjectKey,
  signal?: AbortSignal,
): Promise<T | undefined> {
  try {
    return await client.get(type, key, signal)
  } catch (caught) {
    if (isApiError(caught, 'NotFound')) return undefined
    throw caught
  }
}

/** Deletes exactly this object. Does nothing when it is gone, or when another object has its name by now. */
export async function deleteSame<T extends KubeObject>(
  client: Pick<Client, 'delete'>,
  type: ResourceType<T>,
  { metadata: { namespace, name, uid } }: Pick<KubeObject, 'metadata'>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.delete(
      type,
      compact({ name, namespace: namespace || undefined }),
      compact({ uid: uid || undefined, signal }),
    )
  } catch (caught) {
    if (!isApiError(caught, 'NotFound', 'Conflict')) throw caught
  }
}
