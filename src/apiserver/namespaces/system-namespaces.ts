import { ApiError } from '../../core/errors.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { ObjectMeta, UnknownObject } from '../../kinds/meta.ts'
import type { RequestContext, ServerParts } from '../server/context.ts'
import { bootstrapObjects, isSystemClass } from '../server/bootstrap-objects.ts'
import { readObject, storeKey, serializeObject } from '../storage/stored-object.ts'
import { forbidden, notFound } from '../http/api-errors.ts'
import { strategyOf } from '../strategies/strategy.ts'

/** System namespaces, and the rule that a namespaced object needs an existing namespace. */

/** Namespaces that exist from the start and cannot be deleted. */
const SYSTEM_NAMESPACES = ['default', 'kube-system', 'kube-public', 'flotilla-system'] as const

/** 404 when the namespace of a new object does not exist, 403 while it is being deleted. */
export async function requireNamespace({ parts, kind }: RequestContext, metadata: ObjectMeta): Promise<void> {
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

/** The namespace in which nodes say that they are alive. */
const NODE_LEASES = 'kube-node-lease'

/** The reason why a system object cannot be deleted. Undefined for all other objects. */
export function undeletableReason({ group, kind }: Pick<Kind, 'group' | 'kind'>, name: string): string | undefined {
  if (group === '' && kind === 'Namespace' && SYSTEM_NAMESPACES.some((known) => known === name)) {
    return 'this namespace may not be deleted'
  }
  if (kind === 'PriorityClass' && isSystemClass(name)) {
    return 'this is a system priority class and cannot be deleted'
  }
  return undefined
}

/** Makes the namespaces that always exist and, where their kinds are served, what a kube-apiserver makes besides. */
export async function ensureSystemNamespaces(parts: ServerParts): Promise<void> {
  const kind = parts.registry.find('', 'v1', 'namespaces')
  if (!kind) return
  for (const name of SYSTEM_NAMESPACES) await ensureObject(parts, kind, { metadata: { name } })
  if (parts.registry.find('', 'v1', 'nodes')) await ensureObject(parts, kind, { metadata: { name: NODE_LEASES } })
  for (const { group, plural, object } of bootstrapObjects(parts.clock.now())) {
    const served = parts.registry.find(group, 'v1', plural)
    if (served) await ensureObject(parts, served, object)
  }
}

/** Creates an object if it does not exist. */
export async function ensureObject(
  { store, ids, clock }: ServerParts,
  kind: Kind,
  wanted: Pick<UnknownObject, 'metadata'>,
): Promise<void> {
  const key = storeKey(kind, wanted.metadata)
  if (await store.get(key)) return
  const metadata = { ...wanted.metadata, uid: ids.uid(), creationTimestamp: formatTime(clock.now()) }
  const object: UnknownObject = { ...wanted, apiVersion: apiVersionOf(kind), kind: kind.kind, metadata }
  if (kind.kind === 'Namespace') {
    const { prepare, complete } = strategyOf(kind)
    prepare?.(object, undefined)
    complete?.(object, undefined, { user: 'system:apiserver', groups: ['system:masters'] })
  }
  await store.commit({ key, expect: 0, value: serializeObject(object) })
}
