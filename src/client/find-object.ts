import type { Reader } from './client.ts'
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
