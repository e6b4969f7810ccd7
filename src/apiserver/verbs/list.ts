import { compact } from '../../core/compact.ts'
import { ApiError, isApiError } from '../../core/errors.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import { forbidden, invalidObject, notSupported } from '../../kinds/validation/field-error.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'
import type { StoreList } from '../../store/store.ts'
import { isPlainJson, toStatus } from '../http/respond.ts'
import type { VerbResponse } from '../http/respond.ts'
import type { RequestContext } from '../server/context.ts'
import { isProjected } from '../server/projections.ts'
import { parseStored, storePrefix } from '../storage/stored-object.ts'
import { itemTexts, LIST_END, listBegin, presentList } from '../http/present.ts'
import type { ListHead } from '../http/present.ts'
import { badRequest } from '../http/api-errors.ts'
import { checkNotFuture, formatContinue, parseContinue } from '../storage/resource-version.ts'
import type { Continue } from '../storage/resource-version.ts'
import { parseSelection, singleKey } from './selection.ts'
import type { Selection } from './selection.ts'

const TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
  'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
  'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
  'deleted between the time the first chunk was returned and now may show up in the list.'

/** How many objects are read at once: few, so that what is between store and socket is small and soon gone. */
const READ = 100

/** GET of many objects, consistent at one revision over all pages. */
export async function list(context: RequestContext): Promise<VerbResponse> {
  const { kind, query, request } = context
  const prefix = storePrefix(kind, request.namespace)
  const selection = parseSelection(kind, query)
  const limit = parseLimit(query.get('limit'))
  const from = query.get('continue') ? parseContinue(query.get('continue')!, prefix) : undefined
  const revision = from ? from.revision : exactRevision(context)
  const isPlain = isPlainJson(context.accept)
  try {
    const wanted = { prefix, selection, limit, from, revision }
    // Entries that are computed are computed together: what many of them need is read once.
    const isComputed = kind.verbs !== undefined || isProjected(context.parts.store)
    if (isPlain && limit === undefined && selection.name === undefined && !isComputed) {
      return { status: 200, text: await readInPieces(context, wanted) }
    }
    const page = await collectPage(context, wanted)
    const head = headOf(
      kind,
      compact({
        continue: page.next === undefined ? undefined : formatContinue({ revision: page.revision, after: page.next }),
        remainingItemCount: page.remaining > 0 && selection.all ? page.remaining : undefined,
        resourceVersion: String(page.revision),
      }),
    )
    if (isPlain) return { status: 200, text: `${listBegin(head)}${page.items.map(itemTexts(kind)).join()}${LIST_END}` }
    return { status: 200, object: presentList(context, page.items.map(parseStored), head) }
  } catch (error) {
    if (!isApiError(error, 'Expired')) throw error
    if (!from) throw new ApiError('Expired', 'The resourceVersion for the provided list is too old.')
    const status = toStatus(new ApiError('Expired', TOO_OLD))
    return { status: error.code, object: { ...status, metadata: { continue: formatContinue({ after: from.after }) } } }
  }
}

function headOf(kind: Kind, metadata: object): ListHead {
  return { apiVersion: apiVersionOf(kind), kind: kind.listKind, metadata }
}

/**
 * A list without a limit, read at one revision while it is sent: it is never whole in memory, and others are served in
 * between. Only who takes longer than history is kept is cut off; the beginning was read before the answer begins.
 */
async function readInPieces({ parts, kind }: RequestContext, wanted: PageRequest): Promise<AsyncIterable<string>> {
  const { prefix, selection, from } = wanted
  const { where } = selection
  const read = (revision: number | undefined, after: string | undefined): Promise<StoreList> =>
    parts.store.list(
      compact({
        prefix,
        limit: READ,
        isCounted: false,
        after,
        revision,
        ...compact({ where: where.size === 0 ? undefined : where }),
      }),
    )
  const itemOf = itemTexts(kind)
  const first = await read(wanted.revision, from?.after)
  return (async function* () {
    yield listBegin(headOf(kind, { resourceVersion: String(first.revision) }))
    let comma = ''
    for (let page = first; ; page = await read(first.revision, page.entries.at(-1)!.key)) {
      const texts = page.entries.map(({ value }) => value)
      const chosen = selection.all ? texts : texts.filter((text) => selection.matches(parseStored(text)))
      if (chosen.length > 0) yield `${comma}${chosen.map(itemOf).join()}`
      if (chosen.length > 0) comma = ','
      if (!page.more) break
    }
    yield LIST_END
  })()
}

interface PageRequest {
  readonly prefix: string
  readonly selection: Selection
  readonly limit: number | undefined
  readonly from: Continue | undefined
  readonly revision: number | undefined
}

interface Page {
  /** As they are stored: what most clients want is written once and never read here. */
  readonly items: readonly string[]
  readonly revision: number
  /** The key after which the next page begins. */
  readonly next?: string
  readonly remaining: number
}

/** Reads until the page is full; with a selector that may take several reads of the store. */
async function collectPage(context: RequestContext, wanted: PageRequest): Promise<Page> {
  const { store } = context.parts
  const { prefix, selection, limit, from } = wanted
  const single = singleKey(context, selection)
  if (single && !from && wanted.revision === undefined) {
    const revision = store.revision()
    const entry = await store.get(single)
    const isSelected = entry !== undefined && selection.matches(parseStored(entry.value))
    return { items: isSelected ? [entry.value] : [], revision, remaining: 0 }
  }
  const items: string[] = []
  let after = from?.after
  let revision = wanted.revision
  for (;;) {
    const chunk: StoreList = await store.list(
      compact({
        prefix,
        ...compact({
          limit: limit === undefined ? undefined : selection.all ? limit - items.length : Math.max(limit, READ),
        }),
        after,
        revision,
        ...compact({ where: selection.where.size === 0 ? undefined : selection.where }),
      }),
    )
    revision = chunk.revision
    for (const [index, entry] of chunk.entries.entries()) {
      after = entry.key
      if (!selection.all && !selection.matches(parseStored(entry.value))) continue
      items.push(entry.value)
      if (limit !== undefined && items.length >= limit) {
        const rest = chunk.entries.length - index - 1 + chunk.remaining
        const isOver = rest === 0 && !chunk.more
        return isOver ? { items, revision, remaining: 0 } : { items, revision, next: after, remaining: rest }
      }
    }
    if (!chunk.more) return { items, revision, remaining: 0 }
  }
}

/** More objects than a store has. */
const MAX_LIMIT = 2 ** 31 - 1

function parseLimit(text: string | null): number | undefined {
  if (text === null || text === '') return undefined
  // As in Kubernetes, the number has 64 bits.
  if (!/^-?\d{1,18}$/.test(text)) throw badRequest(`limit: Invalid value: ${JSON.stringify(text)}: must be a number`)
  const limit = Number(text)
  return limit > 0 ? Math.min(limit, MAX_LIMIT) : undefined
}

/** The revision to read at: only `Exact` asks for an old one, the rest is answered from the newest state. */
function exactRevision({ parts, query }: RequestContext): number | undefined {
  const text = query.get('resourceVersion') ?? ''
  const match = query.get('resourceVersionMatch')
  const errors: FieldError[] = []
  if (match !== null && match !== '') {
    if (text === '') {
      errors.push(
        forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden unless resourceVersion is provided'),
      )
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']))
    }
    if (match === 'Exact' && text === '0') {
      errors.push(
        forbidden('resourceVersionMatch', 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'),
      )
    }
  }
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors)
  const revision = checkNotFuture(parts.store, text)
  return match === 'Exact' ? revision : undefined
}
