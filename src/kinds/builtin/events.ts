import type { Column, ObjOf } from '../define-kind.ts'
import type { UnknownObject } from '../meta.ts'
import { Event as CoreEvent, ObjectReference } from './core.ts'
import { defineBuiltin, fields, INT32, opt, TEXT, TIME } from './vocabulary.ts'

/** Events of events.k8s.io/v1: the events of the core group under other names, in the same place. */

/** Field names of events.k8s.io/v1 and what the core group calls them. */
const NAMES = [
  ['regarding', 'involvedObject'],
  ['note', 'message'],
  ['reportingController', 'reportingComponent'],
  ['deprecatedSource', 'source'],
  ['deprecatedFirstTimestamp', 'firstTimestamp'],
  ['deprecatedLastTimestamp', 'lastTimestamp'],
  ['deprecatedCount', 'count'],
] as const

const TO_CORE: ReadonlyMap<string, string> = new Map(NAMES)
const FROM_CORE: ReadonlyMap<string, string> = new Map(NAMES.map(([view, core]) => [core, view]))

/** The same event as core/v1 has it. */
export function eventToCore(event: UnknownObject): UnknownObject {
  return { ...renamed(event, TO_CORE), apiVersion: 'v1', kind: 'Event', metadata: event.metadata }
}

/** The same event as events.k8s.io/v1 has it. */
export function eventFromCore(event: UnknownObject): UnknownObject {
  return { ...renamed(event, FROM_CORE), apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: event.metadata }
}

function renamed(event: UnknownObject, names: ReadonlyMap<string, string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(event).map(([field, value]) => [names.get(field) ?? field, value]))
}

function asSeenByCore(column: Column): Column {
  const { cell } = column
  if (!cell) return { ...column, jsonPath: column.jsonPath.replace('.involvedObject.', '.regarding.') }
  return { ...column, cell: (event, now) => cell(eventToCore(event), now) }
}

/** A report of something that happened, in the newer group. */
export const EventsEvent = defineBuiltin({
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  scope: 'Namespaced',
  shortNames: ['ev'],
  description: 'A report of something that happened to an object.',
  fields: fields({
    eventTime: opt(TIME),
    series: opt(fields({ count: opt(INT32), lastObservedTime: opt(TIME) })),
    reportingController: opt(TEXT),
    reportingInstance: opt(TEXT),
    action: opt(TEXT),
    reason: opt(TEXT),
    regarding: opt(ObjectReference),
    related: opt(ObjectReference),
    note: opt(TEXT),
    type: opt(TEXT),
    deprecatedSource: opt(fields({ component: opt(TEXT), host: opt(TEXT) })),
    deprecatedFirstTimestamp: opt(TIME),
    deprecatedLastTimestamp: opt(TIME),
    deprecatedCount: opt(INT32),
  }),
  columns: CoreEvent.columns.map(asSeenByCore),
})
export type EventsEvent = ObjOf<typeof EventsEvent>
