import type { Client, WriteOptions } from '../../client/client.ts'
import { compact } from '../../core/compact.ts'
import { isApiError, Stalled } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'

interface WithSpec extends KubeObject {
  spec: unknown
}

/**
 * Creates an object that is never changed afterwards. An existing object with the same spec counts as success (a
 * repetition after a crash, or a cache that is behind); with another spec a person has to decide.
 */
export async function createOnce<T extends WithSpec>(
  client: Client,
  type: ResourceType<T>,
  object: T,
  options: WriteOptions,
): Promise<void> {
  try {
    await client.create(type, object, options)
  } catch (caught) {
    if (!isApiError(caught, 'AlreadyExists')) throw caught
    const { name, namespace } = object.metadata
    const present = await client.get(type, compact({ name, namespace: namespace || undefined }), options.signal)
    if (jsonEqual(present.spec, object.spec)) return
    throw new Stalled(
      'NameTaken',
      `${type.kind} ${keyOf(object)} exists with other content; delete it or rename what it would be made from.`,
    )
  }
}
