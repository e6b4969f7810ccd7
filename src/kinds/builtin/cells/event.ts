import { formatAge } from '../../columns.ts'
import type { UnknownObject } from '../../meta.ts'
import { numberAt, textAt } from '../read-path.ts'
import { text } from './cell-makers.ts'
import type { Cells } from './cell-makers.ts'

/** Cells of events. Events of events.k8s.io have the same cells with different field names (see `../events.ts`). */

function firstSeen(event: UnknownObject): string {
  return textAt(event, 'firstTimestamp') || textAt(event, 'eventTime')
}

function lastSeen(event: UnknownObject): string {
  return textAt(event, 'series.lastObservedTime') || textAt(event, 'lastTimestamp') || firstSeen(event)
}

function targetOf(event: UnknownObject): string {
  const kind = textAt(event, 'involvedObject.kind').toLowerCase()
  const name = textAt(event, 'involvedObject.name')
  return name === '' ? kind : `${kind}/${name}`
}

function sourceOf(event: UnknownObject): string {
  const component = textAt(event, 'source.component') || textAt(event, 'reportingComponent')
  const host = textAt(event, 'source.host') || textAt(event, 'reportingInstance')
  return host === '' ? component : `${component}, ${host}`
}

/** The cells of an event in the words of the core group. */
export const EVENT_CELLS: Cells = {
  'Last Seen': (event, now) => formatAge(lastSeen(event) || undefined, now),
  Type: text('type'),
  Reason: text('reason'),
  Object: targetOf,
  Subobject: text('involvedObject.fieldPath'),
  Source: sourceOf,
  Message: (event) => textAt(event, 'message').trim(),
  'First Seen': (event, now) => formatAge(firstSeen(event) || undefined, now),
  Count: (event) => numberAt(event, 'series.count') || numberAt(event, 'count') || 1,
}
