import { ApiError } from '../core/errors.ts'
import { formatTime } from '../core/time.ts'
import type { ObjectMeta, UnknownObject } from '../kinds/meta.ts'
import type { Context, Parts } from './context.ts'
import { readObject, storeKeyOf, textAt } from './objects.ts'
import { forbidden, notFound } from './refusals.ts'
import { strategyOf } from './strategies.ts'

/** Namespaces: the ones that always exist, and the rule that a namespaced object needs its own. */

/** Namespaces that exist from the start and cannot be deleted. */
export const SYSTEM_NAMESPACES = ['default', 'kube-system', 'kube-public', 'flotilla-system'] as const

/** 404 when the namespace of a new object does not exist, 403 while it is being deleted. */
export async function requireNamespace({ parts, kind }: Context, metadata: ObjectMeta): Promise<void> {
  const namespaces = parts.registry.find('', 'v1', 'namespaces')
  const name = metadata.namespace
  if (!namespaces || kind.scope !== 'Namespaced' || !name) return
  const found = await readObject(parts.store, namespaces, { name })
  if (!found) throw notFound(namespaces, name)
  if (!found.object.metadata.deletionTimestamp) return
  const object = metadata.name || metadata.generateName || ''
  const why = `unable to create new content in namespace ${name} because it is being terminated`
  const refusal = forbidden(kind, object, why)
  throw new ApiError('Forbidden', refusal.message, {
    ...refusal.details,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${name} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  })
}

/** Makes the namespaces that always exist. */
export async function ensureSystemNamespaces({ store, registry, ids, clock }: Parts): Promise<void> {
  const kind = registry.find('', 'v1', 'namespaces')
  if (!kind) return
  for (const name of SYSTEM_NAMESPACES) {
    const key = storeKeyOf(kind, { name })
    if (await store.get(key)) continue
    const object: UnknownObject = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, uid: ids.uid(), creationTimestamp: formatTime(clock.now()) },
    }
    strategyOf(kind).prepare?.(object, undefined)
    await store.commit({ key, expect: 0, value: textAt(object) })
  }
}
