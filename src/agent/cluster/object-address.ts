/** Identity and address of objects of any kind. */
import { compact } from '../../core/compact.ts'
import type { ResourceType, UnknownObject } from '../../kinds/meta.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'

/** Kind and name of an object, as inventories record it. */
export function objectIdOf({ apiVersion, kind, metadata }: UnknownObject): ObjectId {
  const { name, namespace } = metadata
  return { apiVersion, kind, name, ...compact({ namespace }) }
}

/** The path parameters of an object; a namespaced object without a namespace is in `default`. */
export function objectAddress(type: ResourceType, { namespace = 'default', name }: ObjectId) {
  return type.scope === 'Namespaced' ? { namespace, name } : { name }
}
