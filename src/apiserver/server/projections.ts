import { compact } from '../../core/compact.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import { forbidden, invalidObject } from '../../kinds/validation/field-error.ts'
import type { Store } from '../../store/store.ts'
import { notFound } from '../http/api-errors.ts'
import { storeKey } from '../storage/stored-object.ts'
import type { RequestContext } from './context.ts'
import { verbsOf } from './registry.ts'

/** Kinds whose objects are computed from others: what the server asks of the store that answers for such a kind. */

/** A store with entries that are computed. */
export interface ProjectedStore extends Store {
  /** The object that a computed entry is made from; undefined for an entry that is stored or missing. */
  makerOf(key: string): Promise<KubeObject | undefined>
}

/** Whether entries of a store are computed. */
export function isProjected(store: Store): store is ProjectedStore {
  return 'makerOf' in store
}

const WRITES: ReadonlySet<string> = new Set(['update', 'patch', 'delete'])

/** Whether a request writes one object by name, which a projected kind answers by naming the object to change. */
export function isNamedWrite({ verb, name }: RequestContext['request']): boolean {
  return name !== undefined && WRITES.has(verb)
}

/** Refuses to write a computed object, and names the object to change instead. */
export async function refuseProjectedWrite({ kind, request, parts }: RequestContext): Promise<void> {
  if (!isProjected(parts.store) || !isNamedWrite(request)) return
  const key = compact({ name: request.name!, namespace: request.namespace || undefined })
  const maker = await parts.store.makerOf(storeKey(kind, key))
  if (maker) throw computedObject(kind, key.name, maker)
  // An apply would create an object of a kind that is never stored.
  if (!verbsOf(kind).includes(request.verb)) throw notFound(kind, key.name)
}

/** 422 for a computed object. */
export function computedObject(kind: RequestContext['kind'], name: string, maker: KubeObject): Error {
  const { namespace } = maker.metadata
  const group = maker.apiVersion.includes('/') ? `.${maker.apiVersion.slice(0, maker.apiVersion.indexOf('/'))}` : ''
  const where = namespace === undefined ? '' : ` in namespace ${JSON.stringify(namespace)}`
  const what = `${maker.kind}${group} ${JSON.stringify(maker.metadata.name)}${where}`
  const why = `the object is computed from ${what}; change that object instead`
  return invalidObject(kind, name, [forbidden('metadata.name', why)])
}
