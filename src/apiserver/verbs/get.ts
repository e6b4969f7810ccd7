import { isPlainJson } from '../answer.ts'
import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { parseStored, storeKeyOf } from '../objects.ts'
import { present } from '../present.ts'
import { notFound } from '../refusals.ts'
import { checkNotFuture } from '../revisions.ts'

/** GET of one object. */
export async function get(context: Context): Promise<Answer> {
  const { kind, request, parts, query } = context
  checkNotFuture(parts.store, query.get('resourceVersion') ?? '')
  const name = request.name!
  const key = storeKeyOf(kind, { name, ...(request.namespace ? { namespace: request.namespace } : {}) })
  const entry = await parts.store.get(key)
  if (!entry) throw notFound(kind, name)
  if (isPlainJson(context.accept)) return { status: 200, text: entry.value }
  return { status: 200, object: present(context, parseStored(entry.value)) }
}
