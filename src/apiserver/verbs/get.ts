import { compact } from '../../core/compact.ts'
import { isPlainJson } from '../http/respond.ts'
import type { VerbResponse } from '../http/respond.ts'
import type { RequestContext } from '../server/context.ts'
import { parseStored, storeKey } from '../storage/stored-object.ts'
import { present } from '../http/present.ts'
import { notFound } from '../http/api-errors.ts'
import { checkNotFuture } from '../storage/resource-version.ts'

/** GET of an object. */
export async function get(context: RequestContext): Promise<VerbResponse> {
  const { kind, request, parts, query } = context
  checkNotFuture(parts.store, query.get('resourceVersion') ?? '')
  const name = request.name!
  const key = storeKey(kind, compact({ name, namespace: request.namespace || undefined }))
  const entry = await parts.store.get(key)
  if (!entry) throw notFound(kind, name)
  if (isPlainJson(context.accept)) return { status: 200, text: entry.value }
  return { status: 200, object: present(context, parseStored(entry.value)) }
}
