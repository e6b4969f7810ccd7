import type { UnknownObject } from '../../meta.ts'

/** Events of events.k8s.io/v1 are the events of the core group under other names. */

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
