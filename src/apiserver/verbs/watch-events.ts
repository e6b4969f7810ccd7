import { utf8 } from '../../core/bytes.ts'
import { BoundedCache } from '../../core/collections/bounded-cache.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { StoreEvent } from '../../store/store.ts'
import { parseStored } from '../storage/stored-object.ts'
import type { Selection } from './selection.ts'

/** What an event of the store is to watches, worked out once for all that are handed it. */

/** What happened to an object. */
export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** The objects of an event. */
export interface ParsedEvent {
  readonly before: UnknownObject | undefined
  readonly now: UnknownObject | undefined
}

interface Prepared {
  parsed: ParsedEvent | undefined
  /** The same object to users that select by the same words. */
  readonly types: Map<string, EventType | undefined>
  readonly lines: Map<EventType, Uint8Array>
}

// All watches are handed the same event objects, most of them at once. Who comes later than this works it out again.
const prepared = new BoundedCache<StoreEvent, Prepared>({ most: 256, weight: 4 * 1024 * 1024 })

function prepare(event: StoreEvent): Prepared {
  const known = prepared.get(event)
  if (known) return known
  const weight = (event.value?.length ?? 0) + (event.previous?.length ?? 0)
  return prepared.set(event, { parsed: undefined, types: new Map(), lines: new Map() }, weight)
}

/** The objects of an event. They are shared between watches and must not be changed. */
export function parseEvent(event: StoreEvent): ParsedEvent {
  return (prepare(event).parsed ??= {
    before: event.previous === undefined ? undefined : parseStored(event.previous),
    now: event.value === undefined ? undefined : parseStored(event.value),
  })
}

/** What an event is to a selection: an object that stops matching is DELETED, one that starts is ADDED. */
export function eventType(event: StoreEvent, selection: Selection): EventType | undefined {
  if (selection.all) return typeOf(event.previous !== undefined, event.value !== undefined)
  const { types } = prepare(event)
  const known = types.get(selection.words)
  if (known !== undefined || types.has(selection.words)) return known
  const { before, now } = parseEvent(event)
  const type = typeOf(before !== undefined && selection.matches(before), now !== undefined && selection.matches(now))
  types.set(selection.words, type)
  return type
}

function typeOf(matched: boolean, matches: boolean): EventType | undefined {
  if (matches) return matched ? 'MODIFIED' : 'ADDED'
  return matched ? 'DELETED' : undefined
}

/** The line of an event for watches that want objects as they are: the same bytes for all of them. */
export function watchLineBytes(type: EventType, event: StoreEvent): Uint8Array {
  const { lines } = prepare(event)
  const known = lines.get(type)
  if (known) return known
  const written = utf8(type === 'DELETED' ? watchLine(type, lastState(event)) : watchLineFromText(type, event.value!))
  lines.set(type, written)
  return written
}

/** A deleted object as it was, with the revision at which it went. */
export function lastState(event: StoreEvent): UnknownObject {
  const before = parseEvent(event).before!
  return { ...before, metadata: { ...before.metadata, resourceVersion: String(event.revision) } }
}

/** The line of an object whose text is at hand. */
export function watchLineFromText(type: EventType, text: string): string {
  return `{"type":"${type}","object":${text}}\n`
}

/** The line of an event without a stored text. */
export function watchLine(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`
}
