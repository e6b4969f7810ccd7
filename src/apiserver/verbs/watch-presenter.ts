import { utf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { StoreEvent } from '../../store/store.ts'
import type { RequestContext } from '../server/context.ts'
import { parseStored } from '../storage/stored-object.ts'
import { includeOf } from '../http/present.ts'
import { partialObjectMetadata, toTable } from '../http/table.ts'
import { lastState, watchLine, parseEvent, watchLineBytes, watchLineFromText } from './watch-events.ts'
import type { EventType } from './watch-events.ts'

/** Events of a watch as lines, in the form the client asked for. */

/** Writes the lines of a watch. */
export interface WatchPresenter {
  /** The line of a change that was stored. */
  change(type: EventType, event: StoreEvent): Uint8Array
  /** The line of an object that was there before. */
  present(text: string): string
  bookmark(revision: number, initialEventsEnd: boolean): string
}

/** The presenter for a request. */
export function watchPresenter(context: RequestContext): WatchPresenter {
  const { accept, kind, parts } = context
  const version = accept.version ?? 'v1'
  const include = accept.as === 'Table' ? includeOf(context) : 'None'
  // The columns of a Table come with the first event only.
  let withColumns = true

  function shown(object: UnknownObject, included = include): unknown {
    if (accept.as === undefined) return object
    if (accept.as !== 'Table') return partialObjectMetadata(object, version)
    const table = toTable(kind, [object], {
      version,
      include: included,
      nowMs: parts.clock.now(),
      metadata: object.metadata.resourceVersion ? { resourceVersion: object.metadata.resourceVersion } : {},
      withColumns,
    })
    withColumns = false
    return table
  }

  return {
    change(type, event) {
      if (accept.as === undefined) return watchLineBytes(type, event)
      return utf8(watchLine(type, shown(type === 'DELETED' ? lastState(event) : parseEvent(event).now!)))
    },
    present: (text) =>
      accept.as === undefined ? watchLineFromText('ADDED', text) : watchLine('ADDED', shown(parseStored(text))),
    bookmark(revision, initialEventsEnd) {
      const metadata = compact({
        resourceVersion: String(revision),
        annotations: initialEventsEnd ? { 'k8s.io/initial-events-end': 'true' } : undefined,
      })
      // To a Table it is an object like any other, of which nothing is known. Who wants no objects still learns of the
      // end.
      const object = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata } as UnknownObject
      return watchLine('BOOKMARK', shown(object, initialEventsEnd && include === 'None' ? 'Metadata' : include))
    },
  }
}
