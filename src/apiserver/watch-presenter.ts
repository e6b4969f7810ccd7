import { utf8 } from '../core/bytes.ts'
import { apiVersionOf } from '../kinds/meta.ts'
import type { UnknownObject } from '../kinds/meta.ts'
import type { StoreEvent } from '../store/store.ts'
import type { Context } from './context.ts'
import { parseStored } from './objects.ts'
import { includeOf } from './present.ts'
import { partialOf, tableOf } from './table.ts'

/** Events of a watch as lines, in the form the client asked for. */

/** What happened to an object. */
export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** Writes the lines of one watch. */
export interface WatchPresenter {
  /** The line of a change that was stored. */
  change(type: EventType, event: StoreEvent): Uint8Array
  /** The line of an object that was there before. */
  present(text: string): string
  bookmark(revision: number, initialEventsEnd: boolean): string
}

/** The presenter for a request. */
export function watchPresenter(context: Context): WatchPresenter {
  const { accept, kind, parts } = context
  const version = accept.version ?? 'v1'
  const include = accept.as === 'Table' ? includeOf(context) : 'None'
  // The columns of a Table come with the first event only.
  let withColumns = true

  function shown(object: UnknownObject): unknown {
    if (accept.as === undefined) return object
    if (accept.as !== 'Table') return partialOf(object, version)
    const table = tableOf(kind, [object], {
      version,
      include,
      nowMs: parts.clock.now(),
      metadata: object.metadata.resourceVersion ? { resourceVersion: object.metadata.resourceVersion } : {},
      withColumns,
    })
    withColumns = false
    return table
  }

  return {
    change(type, event) {
      if (accept.as === undefined) return plainLine(type, event)
      return utf8(line(type, shown(type === 'DELETED' ? lastOf(event) : parseEvent(event).now!)))
    },
    present: (text) => (accept.as === undefined ? textLine('ADDED', text) : line('ADDED', shown(parseStored(text)))),
    bookmark(revision, initialEventsEnd) {
      const metadata = {
        name: '',
        resourceVersion: String(revision),
        ...(initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}),
      }
      const object: UnknownObject = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata }
      if (accept.as !== 'Table') return line('BOOKMARK', withoutName(accept.as ? partial(object, version) : object))
      const table = { kind: 'Table', apiVersion: `meta.k8s.io/${version}`, metadata: {}, columnDefinitions: [] }
      return line('BOOKMARK', { ...table, rows: [{ cells: [], object: withoutName(partial(object, version)) }] })
    },
  }
}

/** All watches are handed the same event objects, so that each is parsed and written once for all of them. */
const lines = new WeakMap<StoreEvent, Map<EventType, Uint8Array>>()
const parsedEvents = new WeakMap<StoreEvent, ParsedEvent>()

/** The objects of an event. */
export interface ParsedEvent {
  readonly before: UnknownObject | undefined
  readonly now: UnknownObject | undefined
}

/** The objects of an event; nobody may change them. */
export function parseEvent(event: StoreEvent): ParsedEvent {
  const known = parsedEvents.get(event)
  if (known) return known
  const parsed = {
    before: event.previous === undefined ? undefined : parseStored(event.previous),
    now: event.value === undefined ? undefined : parseStored(event.value),
  }
  parsedEvents.set(event, parsed)
  return parsed
}

/** The line of an event for watches that want objects as they are. */
function plainLine(type: EventType, event: StoreEvent): Uint8Array {
  const known = lines.get(event) ?? new Map<EventType, Uint8Array>()
  lines.set(event, known)
  const written = known.get(type) ?? utf8(type === 'DELETED' ? line(type, lastOf(event)) : textLine(type, event.value!))
  known.set(type, written)
  return written
}

/** A deleted object as it was, with the revision at which it went. */
function lastOf(event: StoreEvent): UnknownObject {
  const before = parseEvent(event).before!
  return { ...before, metadata: { ...before.metadata, resourceVersion: String(event.revision) } }
}

function textLine(type: EventType, text: string): string {
  return `{"type":"${type}","object":${text}}\n`
}

function line(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`
}

function partial(object: UnknownObject, version: string): UnknownObject {
  return partialOf(object, version) as UnknownObject
}

function withoutName(object: UnknownObject): object {
  const { name: _name, ...metadata } = object.metadata
  return { ...object, metadata }
}
