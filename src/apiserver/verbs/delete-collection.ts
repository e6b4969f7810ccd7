import { compact } from '../../core/compact.ts'
import { isApiError } from '../../core/errors.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { VerbResponse } from '../http/respond.ts'
import type { RequestContext } from '../server/context.ts'
import { computedObject, isProjected } from '../server/projections.ts'
import { parseStored, storeKey, storePrefix } from '../storage/stored-object.ts'
import { deleteOptions } from '../http/request-options.ts'
import { presentList } from '../http/present.ts'
import { parseSelection } from './selection.ts'
import type { Selection } from './selection.ts'
import { deleteObject, warningsOf } from './delete.ts'

const PAGE = 500

/** DELETE of many objects: all objects of a list with the same selectors. */
export async function deleteCollection(context: RequestContext): Promise<VerbResponse> {
  const { kind, query, request, parts, http } = context
  const options = deleteOptions(http, query)
  const selection = parseSelection(kind, query)
  const prefix = storePrefix(kind, request.namespace)
  await refuseComputed(context, selection, prefix)
  const items: UnknownObject[] = []
  let after: string | undefined
  let more = true
  while (more) {
    const page = await parts.store.list(
      compact({
        prefix,
        limit: PAGE,
        isCounted: false,
        after,
      }),
    )
    for (const entry of page.entries) {
      after = entry.key
      const object = parseStored(entry.value)
      if (!selection.matches(object)) continue
      try {
        const { uid: _uid, ...rest } = options
        await deleteObject(context, object.metadata, {
          ...rest,
          ...compact({ uid: object.metadata.uid || undefined }),
        })
        // As they were: what became of each is not said.
        items.push(object)
      } catch (error) {
        // Another caller deleted (and perhaps recreated) the object meanwhile: the selected object is gone.
        if (!isApiError(error, 'NotFound', 'Conflict')) throw error
      }
    }
    more = page.more
  }
  const head = {
    apiVersion: apiVersionOf(kind),
    kind: kind.listKind,
    metadata: { resourceVersion: String(parts.store.revision()) },
  }
  return { status: 200, object: presentList(context, items, head), warnings: warningsOf(kind, options) }
}

/** Refuses a collection with a computed object before anything is deleted. */
async function refuseComputed({ parts, kind }: RequestContext, selection: Selection, prefix: string): Promise<void> {
  const { store } = parts
  if (!isProjected(store)) return
  const { entries } = await store.list({ prefix, isCounted: false })
  for (const { value } of entries) {
    const object = parseStored(value)
    const { metadata } = object
    const maker = selection.matches(object) ? await store.makerOf(storeKey(kind, metadata)) : undefined
    if (maker) throw computedObject(kind, metadata.name, maker)
  }
}
