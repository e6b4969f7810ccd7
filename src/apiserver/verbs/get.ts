import type { Answer } from '../answer.ts'
import type { Context } from '../context.ts'
import { readObject } from '../objects.ts'
import { present } from '../present.ts'
import { notFound } from '../refusals.ts'
import { checkNotFuture } from '../revisions.ts'

/** GET of one object. */
export async function get(context: Context): Promise<Answer> {
  const { kind, request, parts, query } = context
  checkNotFuture(parts.store, query.get('resourceVersion') ?? '')
  const name = request.name!
  const stored = await readObject(parts.store, kind, {
    name,
    ...(request.namespace ? { namespace: request.namespace } : {}),
  })
  if (!stored) throw notFound(kind, name)
  return { status: 200, object: present(context, stored.object) }
}
