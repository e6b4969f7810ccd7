import type { Event } from './core.ts'
import { builtinKind } from './kind-table.ts'
import type { KubeObject } from '../meta.ts'

/** An Event about an object, in the newer group. */
export interface EventsEvent extends KubeObject {
  eventTime?: string | null
  reason?: string
  note?: string
  type?: string
  reportingController?: string
  reportingInstance?: string
  action?: string
  regarding?: Event['involvedObject']
  related?: Event['involvedObject']
}
export const EventsEvent = builtinKind<EventsEvent>('events.k8s.io/v1', 'Event')
