import { concatBytes, utf8 } from '../../core/bytes.ts'
import { ApiError, isApiError } from '../../core/errors.ts'
import type { HttpResponse } from '../../core/http.ts'
import { forbidden, invalidObject } from '../../kinds/walk/field-error.ts'
import type { StoreEvent } from '../../store/store.ts'
import { headersOf, statusOf } from '../answer.ts'
import type { Context } from '../context.ts'
import { parseStored, prefixOf } from '../objects.ts'
import { badRequest, unknownPath } from '../refusals.ts'
import { isTrue } from '../request-info.ts'
import { parseRevision } from '../revisions.ts'
import { parseSelection, singleKey } from '../selection.ts'
import type { Selection } from '../selection.ts'
import { parseEvent, watchPresenter } from '../watch-presenter.ts'
import type { EventType, WatchPresenter } from '../watch-presenter.ts'

/** How often a quiet watch says how far it has seen. */
const BOOKMARK_MS = 60_000
/** Without timeoutSeconds a watch ends between one and two of these, so that not all reconnect at once. */
const DEFAULT_TIMEOUT_MS = 1_800_000
const PAGE = 500
/** Lines collected into one piece of the body. */
const MAX_CHUNK = 64 * 1024

interface WatchOptions {
  readonly prefix: string
  /** The key of the one object that is followed, when it is one. */
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
export async function watch(context: Context): Promise<HttpResponse> {
  if (context.request.subresource !== undefined) throw unknownPath()
  if (context.accept.mediaType !== 'application/json') {
    throw new ApiError('NotAcceptable', 'a watch is served as application/json only')
  }
  const options = watchOptions(context)
  const presenter = watchPresenter(context)
  return { status: 200, headers: headersOf('application/json'), body: stream(context, options, presenter) }
}

function watchOptions(context: Context): WatchOptions {
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
  if (!/^\d*$/.test(timeout)) throw badRequest(`timeoutSeconds: Invalid value: ${JSON.stringify(timeout)}`)
  const selection = parseSelection(kind, query)
  const named = request.name === undefined ? selection : onlyName(selection, request.name)
  return {
    prefix: prefixOf(kind, request.namespace),
    single: singleKey(context, named),
    selection: named,
    after: wantsState ? undefined : revision || parts.store.revision(),
    bookmarks: isTrue(query.get('allowWatchBookmarks')),
    initialEvents,
    timeoutMs: Number(timeout) > 0 ? Number(timeout) * 1000 : DEFAULT_TIMEOUT_MS * (1 + parts.ids.fraction()),
  }
}

function onlyName(selection: Selection, name: string): Selection {
  return {
    all: false,
    where: new Map([['metadata.name', name]]),
    name,
    matches: (object) => object.metadata.name === name && selection.matches(object),
  }
}

async function* stream(context: Context, options: WatchOptions, presenter: WatchPresenter): AsyncGenerator<Uint8Array> {
  const { parts, signal } = context
  const ended = new AbortController()
  const until = AbortSignal.any([signal, ended.signal])
  const timeout = parts.clock.sleep(options.timeoutMs, until).then(
    () => ended.abort(),
    () => {},
  )
  try {
    let { after } = options
    if (after === undefined) {
      after = yield* initialState(context, options, presenter)
      if (options.initialEvents && options.bookmarks) yield utf8(presenter.bookmark(after, true))
    }
    yield* changes(context, { ...options, after }, presenter, until)
  } catch (error) {
    if (!isApiError(error)) throw error
    // The answer has begun with 200, so a refusal can only come as an event.
    yield utf8(`${JSON.stringify({ type: 'ERROR', object: statusOf(error) })}\n`)
  } finally {
    ended.abort()
    await timeout
  }
}

/** What is there now, as ADDED events; returns the revision at which that was the whole truth. */
async function* initialState(
  { parts, signal }: Context,
  { prefix, single, selection }: WatchOptions,
  presenter: WatchPresenter,
): AsyncGenerator<Uint8Array, number> {
  if (single !== undefined) {
    const before = parts.store.revision()
    const entry = await parts.store.get(single)
    if (entry && selection.matches(parseStored(entry.value))) yield utf8(presenter.present(entry.value))
    // What is newer than the first look is the newest of this one object, and nothing else is followed.
    return Math.max(before, entry?.modRevision ?? 0)
  }
  let after: string | undefined
  let revision: number | undefined
  for (;;) {
    const page = await parts.store.list({
      prefix,
      limit: PAGE,
      isCounted: false,
      ...(after === undefined ? {} : { after }),
      ...(revision === undefined ? {} : { revision }),
      ...(selection.where.size === 0 ? {} : { where: selection.where }),
    })
    revision = page.revision
    let text = ''
    for (const entry of page.entries) {
      after = entry.key
      if (selection.all || selection.matches(parseStored(entry.value))) text += presenter.present(entry.value)
    }
    if (text !== '') yield utf8(text)
    if (!page.more || signal.aborted) return revision
  }
}

async function* changes(
  { parts }: Context,
  options: WatchOptions & { readonly after: number },
  presenter: WatchPresenter,
  until: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { store, clock } = parts
  if (options.after > store.revision()) {
    // A store that was restored from a backup: waiting would miss what happens until then.
    throw new ApiError(
      'Expired',
      `resource version ${options.after} is not known here; the newest is ${store.revision()}`,
    )
  }
  const storeWatch = store.watch(options.prefix, options.after, until, options.selection.where)
  const events = storeWatch[Symbol.asyncIterator]()
  const tick = () =>
    clock.sleep(BOOKMARK_MS, until).then(
      () => 'tick' as const,
      () => 'ended' as const,
    )
  let ticking = options.bookmarks ? tick() : undefined
  let next = events.next()
  for (;;) {
    const won = await (ticking ? Promise.race([next, ticking]) : next)
    if (won === 'ended') {
      await next
      return
    }
    if (won === 'tick') {
      yield utf8(presenter.bookmark(storeWatch.progress(), false))
      ticking = tick()
      continue
    }
    if (won.done) return
    const lines: Uint8Array[] = []
    const take = (event: StoreEvent): number => {
      const line = lineOf(event, options.selection, presenter)
      if (line) lines.push(line)
      return line?.byteLength ?? 0
    }
    let size = take(won.value)
    next = events.next()
    // What is ready anyway goes out together: one piece for a burst instead of one per event.
    for (let more = await ready(next); more && !more.done && size < MAX_CHUNK; more = await ready(next)) {
      size += take(more.value)
      next = events.next()
    }
    // A line that goes alone is the same bytes for all watches.
    if (lines.length > 0) yield lines.length === 1 ? lines[0]! : concatBytes(lines)
  }
}

/** The result of a promise that is settled already, or undefined. */
async function ready<T>(promise: Promise<T>): Promise<T | undefined> {
  return Promise.race([
    promise,
    Promise.resolve()
      .then(() => undefined)
      .then(() => undefined),
  ])
}

/** The line of an event for this selection: an object that stops matching is DELETED, one that starts is ADDED. */
function lineOf(event: StoreEvent, selection: Selection, presenter: WatchPresenter): Uint8Array | undefined {
  const type = selection.all
    ? typeOf(event.previous !== undefined, event.value !== undefined)
    : typeFor(event, selection)
  return type && presenter.change(type, event)
}

function typeFor(event: StoreEvent, selection: Selection): EventType | undefined {
  const { before, now } = parseEvent(event)
  return typeOf(before !== undefined && selection.matches(before), now !== undefined && selection.matches(now))
}

function typeOf(matched: boolean, matches: boolean): EventType | undefined {
  if (matches) return matched ? 'MODIFIED' : 'ADDED'
  return matched ? 'DELETED' : undefined
}
