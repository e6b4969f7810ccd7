import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { isPlainJson } from './respond.ts'
import type { ResponseBody } from './respond.ts'
import type { RequestContext } from '../server/context.ts'
import { parseStored, typeMetaJson } from '../storage/stored-object.ts'
import { badRequest } from './api-errors.ts'
import { isCustom } from '../server/registry.ts'
import { partialObjectMetadata, toTable } from './table.ts'
import type { IncludeObject } from './table.ts'

/** Objects in the form the client asked for: themselves, a Table or their metadata. */

/** An object and its stored text, which is the answer itself for most clients and then not written a second time. */
export function presentStored(context: RequestContext, object: UnknownObject, text: string | undefined): ResponseBody {
  return text !== undefined && isPlainJson(context.accept) ? { text } : { object: present(context, object) }
}

/** An object as the answer of get, create, update, patch, delete. */
export function present(context: RequestContext, object: UnknownObject): unknown {
  const { accept, kind } = context
  if (accept.as === undefined) return object
  if (accept.as !== 'Table') return partialObjectMetadata(object, accept.version!)
  return toTable(kind, [object], {
    version: accept.version!,
    include: includeOf(context),
    nowMs: context.parts.clock.now(),
    metadata: object.metadata.resourceVersion ? { resourceVersion: object.metadata.resourceVersion } : {},
  })
}

/** What a list says about itself. */
export interface ListHead {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: object
}

/** The beginning of a list whose stored texts follow, with commas between them and `LIST_END` after them. */
export function listBegin(head: ListHead): string {
  return `${JSON.stringify(head).slice(0, -1)},"items":[`
}

/** What ends a list that was begun with `listBegin`. */
export const LIST_END = ']}'

/**
 * What makes items of stored texts. Items of built-in kinds do not say what they are, which their list does: the
 * beginning of the text is cut off, and only a text that begins otherwise is read.
 */
export function itemTexts(kind: Kind): (text: string) => string {
  if (isCustom(kind)) return (text) => text
  const type = typeMetaJson(apiVersionOf(kind), kind.kind)
  return (text) =>
    text.startsWith(type) ? `{${text.slice(type.length)}` : JSON.stringify(withoutType(parseStored(text)))
}

function withoutType({ apiVersion: _apiVersion, kind: _kind, ...item }: UnknownObject): object {
  return item
}

/** A list in the form the client asked for. */
export function presentList(context: RequestContext, items: readonly UnknownObject[], head: ListHead): unknown {
  const { accept, kind } = context
  if (accept.as === undefined) return { ...head, items: isCustom(kind) ? items : items.map(withoutType) }
  const version = accept.version!
  if (accept.as !== 'Table') {
    return {
      kind: 'PartialObjectMetadataList',
      apiVersion: `meta.k8s.io/${version}`,
      metadata: head.metadata,
      items: items.map((item) => partialObjectMetadata(item, version)),
    }
  }
  return toTable(kind, items, {
    version,
    include: includeOf(context),
    nowMs: context.parts.clock.now(),
    metadata: head.metadata,
  })
}

/** The `includeObject` parameter of Tables. */
export function includeOf({ query }: Pick<RequestContext, 'query'>): IncludeObject {
  const include = query.get('includeObject') || 'Metadata'
  if (include === 'None' || include === 'Metadata' || include === 'Object') return include
  throw badRequest(
    `includeObject: Invalid value: ${JSON.stringify(include)}: must be 'Metadata', 'Object', 'None', or empty`,
  )
}
