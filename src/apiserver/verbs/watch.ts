import { compact } from '../../core/compact.ts'
import { concatBytes, utf8 } from '../../core/bytes.ts'
import type { Clock } from '../../core/time/clock.ts'
import { abortWith } from '../../core/async/abort-with.ts'
import { ApiError, isApiError } from '../../core/errors.ts'
import type { HttpResponse } from '../../core/http.ts'
import { readWholeNumber } from '../../core/read-number.ts'
import { forbidden, invalidObject } from '../../kinds/validation/field-error.ts'
import type { StoreEvent, StoreWatch } from '../../store/store.ts'
import { responseHeaders, toStatus } from '../http/respond.ts'
import type { RequestContext, ServerParts } from '../server/context.ts'
import { parseStored, storePrefix } from '../storage/stored-object.ts'
import { badRequest, pathNotFound } from '../http/api-errors.ts'
import { isTrue } from '../http/request-info.ts'
import { parseRevision } from '../storage/resource-version.ts'
import { parseSelection, singleKey } from './selection.ts'
import type { Selection } from './selection.ts'
import { eventType } from './watch-events.ts'
import { watchPresenter } from './watch-presenter.ts'
import type { WatchPresenter } from './watch-presenter.ts'

/** How often a quiet watch says how far it has seen. */
const BOOKMARK_MS = 60_000
/** Without timeoutSeconds, a watch ends after 1 to 2 times this duration, so that clients do not reconnect at once. */
const DEFAULT_TIMEOUT_MS = 1_800_000
const PAGE = 500
/** Lines collected into one piece of the body. */
const MAX_CHUNK = 64 * 1024

interface WatchOptions {
  readonly prefix: string
  /** The key of the object, for a watch of a single object. */
  readonly single: string | undefined
  readonly selection: Selection
  /** Events after this revision; undefined: the present state first. */
  readonly after: number | undefined
  readonly bookmarks: boolean
  /** The client wants to know where the initial state ends. */
  readonly initialEvents: boolean
  readonly timeoutMs: number
}

/** GET with watch=true: a stream of events, one JSON object per line. */
export async function watch(context: RequestContext): Promise<HttpResponse> {
  if (context.request.subresource !== undefined) throw pathNotFound()
  if (context.accept.mediaType !== 'application/json') {
    throw new ApiError('NotAcceptable', 'a watch is served as application/json only')
  }
  const options = watchOptions(context)
  const presenter = watchPresenter(context)
  // Not the whole context, which would stay in memory with what came with the request.
  const { parts, signal, endsWith, onEnd = () => {} } = context
  return {
    status: 200,
    headers: responseHeaders('application/json'),
    body: stream({ parts, signal, endsWith, onEnd }, options, presenter),
  }
}

function watchOptions(context: RequestContext): WatchOptions {
  const { kind, request, query, parts } = context
  const sendInitialEvents = query.get('sendInitialEvents')
  const match = query.get('resourceVersionMatch') ?? ''
  const errors = []
  if (sendInitialEvents !== null && match !== 'NotOlderThan') {
    errors.push(
      forbidden('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    )
  }
  if (sendInitialEvents === null && match !== '') {
    errors.push(
      forbidden(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    )
  }
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors)
  const initialEvents = isTrue(sendInitialEvents)
  const revision = parseRevision(query.get('resourceVersion') ?? '')
  const wantsState = sendInitialEvents === null ? !revision : initialEvents
  const timeout = query.get('timeoutSeconds') ?? ''
  const seconds = timeout === '' ? 0 : readWholeNumber(timeout.replace(/^0+(?=\d)/, ''))
  if (seconds === undefined) throw badRequest(`timeoutSeconds: Invalid value: ${JSON.stringify(timeout)}`)
  const selection = parseSelection(kind, query)
  const named = request.name === undefined ? selection : onlyName(selection, request.name)
  return {
    prefix: storePrefix(kind, request.namespace),
    single: singleKey(context, named),
    selection: named,
    after: wantsState ? undefined : revision || parts.store.revision(),
    bookmarks: isTrue(query.get('allowWatchBookmarks')),
    initialEvents,
    timeoutMs: seconds > 0 ? seconds * 1000 : DEFAULT_TIMEOUT_MS * (1 + parts.ids.fraction()),
  }
}

function onlyName(selection: Selection, name: string): Selection {
  return {
    words: JSON.stringify([name, selection.words]),
    all: false,
    where: new Map([['metadata.name', name]]),
    name,
    matches: (object) => object.metadata.name === name && selection.matches(object),
  }
}

async function* stream(
  { parts, signal, endsWith, onEnd }: Pick<RequestContext, 'parts' | 'signal' | 'endsWith'> & { onEnd: () => void },
  options: WatchOptions,
  presenter: WatchPresenter,
): AsyncGenerator<Uint8Array> {
  const ended = new AbortController()
  const end = () => ended.abort()
  const forget = endsWith.map((life) => abortWith(life, ended))
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  parts.clock.sleep(options.timeoutMs, ended.signal).then(end, end)
  try {
    let { after } = options
    if (after === undefined) {
      after = yield* initialState(parts, options, presenter, ended.signal)
      if (options.initialEvents && options.bookmarks) yield utf8(presenter.bookmark(after, true))
    }
    const changes = follow(parts, { ...options, after }, ended.signal)
    const events = changes[Symbol.asyncIterator]()
    const bookmarks = options.bookmarks ? createTicks(parts.clock, ended.signal) : undefined
    let next: ReturnType<typeof events.next> | undefined
    for (;;) {
      next ??= events.next()
      if (bookmarks && (await bookmarks.isFirst(next))) {
        yield utf8(presenter.bookmark(changes.progress(), false))
        continue
      }
      const event = await next
      next = undefined
      if (event.done) return
      const piece = pieceOf(event.value, changes, options, presenter)
      if (piece) yield piece
    }
  } catch (error) {
    if (!isApiError(error)) throw error
    // The answer has begun with 200, so a refusal can only come as an event.
    yield utf8(`${JSON.stringify({ type: 'ERROR', object: toStatus(error) })}\n`)
  } finally {
    end()
    signal.removeEventListener('abort', end)
    for (const leave of forget) leave()
    onEnd()
  }
}

/** What is there now, as ADDED events; returns the revision at which that was the whole truth. */
async function* initialState(
  { store }: ServerParts,
  { prefix, single, selection }: WatchOptions,
  presenter: WatchPresenter,
  until: AbortSignal,
): AsyncGenerator<Uint8Array, number> {
  if (single !== undefined) {
    const before = store.revision()
    const entry = await store.get(single)
    if (entry && selection.matches(parseStored(entry.value))) yield utf8(presenter.present(entry.value))
    // A watch of a single object follows only this object: any newer state is its newest state.
    return Math.max(before, entry?.modRevision ?? 0)
  }
  let after: string | undefined
  let revision: number | undefined
  for (;;) {
    const page = await store.list(
      compact({
        prefix,
        limit: PAGE,
        isCounted: false,
        after,
        revision,
        ...compact({ where: selection.where.size === 0 ? undefined : selection.where }),
      }),
    )
    revision = page.revision
    let text = ''
    for (const entry of page.entries) {
      after = entry.key
      if (selection.all || selection.matches(parseStored(entry.value))) text += presenter.present(entry.value)
    }
    if (text !== '') yield utf8(text)
    if (!page.more || until.aborted) return revision
  }
}

/** The changes after a revision. */
function follow(
  { store }: ServerParts,
  { prefix, selection, after }: WatchOptions & After,
  until: AbortSignal,
): StoreWatch {
  if (after > store.revision()) {
    // A store that was restored from a backup: waiting would miss what happens until then.
    throw new ApiError(
      'Expired',
      `resource version ${after} is newer than the newest resource version ${store.revision()}`,
    )
  }
  return store.watch(prefix, after, until, selection.where)
}

interface After {
  readonly after: number
}

/** When a quiet watch says how far it has seen. */
interface Ticks {
  /** True when the time is over before the next event; the event is awaited again later. */
  isFirst(other: Promise<unknown>): Promise<boolean>
}

function createTicks(clock: Clock, until: AbortSignal): Ticks {
  let isDue = false
  let tick = () => {}
  const run = async () => {
    while (!until.aborted) {
      await clock.sleep(BOOKMARK_MS, until)
      isDue = true
      tick()
    }
  }
  run().catch(() => {}) // aborted: it was the last one
  return {
    async isFirst(other) {
      // A new promise each time: a lasting promise would keep the reactions of every earlier wait.
      if (!isDue) await Promise.race([other, new Promise<void>((resolve) => (tick = resolve))])
      const wasDue = isDue
      isDue = false
      return wasDue
    },
  }
}

/** The lines of an event and of what came with it: one piece for a burst instead of one per event. */
function pieceOf(
  first: StoreEvent,
  changes: StoreWatch,
  { selection, single }: WatchOptions,
  presenter: WatchPresenter,
): Uint8Array | undefined {
  const lines: Uint8Array[] = []
  let size = 0
  for (let event: StoreEvent | undefined = first; event; event = size < MAX_CHUNK ? changes.atHand() : undefined) {
    if (single !== undefined && event.key !== single) continue
    const type = eventType(event, selection)
    if (type === undefined) continue
    const line = presenter.change(type, event)
    lines.push(line)
    size += line.byteLength
  }
  // A line that goes alone is the same bytes for all watches.
  return lines.length > 1 ? concatBytes(lines) : lines[0]
}
