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
  event(type: EventType, object: UnknownObject): string
  /** An event whose object is the stored text as it is: nothing need be parsed for most watches. */
  raw(type: EventType, event: StoreEvent): string
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
    event: (type, object) => line(type, shown(object)),
    raw(type, event) {
      if (accept.as !== undefined) return line(type, shown(parseStored(event.value!)))
      return `{"type":"${type}","object":${event.value}}\n`
    },
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
