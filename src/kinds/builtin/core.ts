import { isObject } from '../../core/json.ts'
import { ageOf } from '../columns.ts'
import { AGE } from '../define-kind.ts'
import type { Column, ObjOf } from '../define-kind.ts'
import type { UnknownObject } from '../meta.ts'
import { atomic, BOOL, defineBuiltin, fields, INT32, keyed, mapOf, opt, TEXT, TIME } from './vocabulary.ts'

const v1 = { group: '', version: 'v1' } as const

function sizeOf(value: unknown): number {
  return isObject(value) ? Object.keys(value).length : 0
}

/** A namespace. */
export const Namespace = defineBuiltin({
  ...v1,
  kind: 'Namespace',
  plural: 'namespaces',
  scope: 'Cluster',
  shortNames: ['ns'],
  nameFormat: 'label',
  description: 'A scope for names.',
  subresources: { status: true },
  fields: fields({
    spec: opt(fields({ finalizers: opt(atomic(TEXT)) })),
    status: opt(
      fields({
        phase: opt(TEXT),
        conditions: opt(
          keyed(
            ['type'],
            fields({
              type: TEXT,
              status: TEXT,
              lastTransitionTime: opt(TIME),
              reason: opt(TEXT),
              message: opt(TEXT),
            }),
          ),
        ),
      }),
    ),
  }),
  columns: [{ name: 'Status', type: 'string', jsonPath: '.status.phase' }, AGE],
})
export type Namespace = ObjOf<typeof Namespace>

/** Configuration as keys and texts. */
export const ConfigMap = defineBuiltin({
  ...v1,
  kind: 'ConfigMap',
  plural: 'configmaps',
  scope: 'Namespaced',
  shortNames: ['cm'],
  description: 'Configuration data for pods to consume.',
  fields: fields({ data: opt(mapOf(TEXT)), binaryData: opt(mapOf(TEXT)), immutable: opt(BOOL) }),
  columns: [
    {
      name: 'Data',
      type: 'string',
      jsonPath: '.data',
      cell: (object) => sizeOf(object['data']) + sizeOf(object['binaryData']),
    },
    AGE,
  ],
})
export type ConfigMap = ObjOf<typeof ConfigMap>

/** Secret data. */
export const Secret = defineBuiltin({
  ...v1,
  kind: 'Secret',
  plural: 'secrets',
  scope: 'Namespaced',
  description: 'Secret data; values are base64.',
  fields: fields({
    data: opt(mapOf(TEXT)),
    stringData: opt(mapOf(TEXT)),
    type: opt(TEXT),
    immutable: opt(BOOL),
  }),
  columns: [
    { name: 'Type', type: 'string', jsonPath: '.type' },
    { name: 'Data', type: 'string', jsonPath: '.data', cell: (object) => sizeOf(object['data']) },
    AGE,
  ],
})
export type Secret = ObjOf<typeof Secret>

/** A reference to an object, as events have it. */
export const ObjectReference = fields(
  {
    apiVersion: opt(TEXT),
    kind: opt(TEXT),
    namespace: opt(TEXT),
    name: opt(TEXT),
    uid: opt(TEXT),
    resourceVersion: opt(TEXT),
    fieldPath: opt(TEXT),
  },
  { 'x-kubernetes-map-type': 'atomic' },
)

/** An identity for processes in pods. */
export const ServiceAccount = defineBuiltin({
  ...v1,
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  scope: 'Namespaced',
  shortNames: ['sa'],
  description: 'An identity for processes in pods.',
  fields: fields({
    secrets: opt(keyed(['name'], ObjectReference)),
    imagePullSecrets: opt(keyed(['name'], fields({ name: TEXT }, { 'x-kubernetes-map-type': 'atomic' }))),
    automountServiceAccountToken: opt(BOOL),
  }),
})
export type ServiceAccount = ObjOf<typeof ServiceAccount>

const eventColumn = (name: string, cell: Column['cell'] & {}, priority = 0): Column => ({
  name,
  type: 'string',
  jsonPath: '',
  cell,
  priority,
})

function textAt(value: unknown, ...path: readonly string[]): string {
  let at = value
  for (const field of path) at = isObject(at) ? at[field] : undefined
  return typeof at === 'string' ? at : ''
}

function firstSeen(event: UnknownObject): string {
  return textAt(event, 'firstTimestamp') || textAt(event, 'eventTime')
}

function lastSeen(event: UnknownObject): string {
  return textAt(event, 'series', 'lastObservedTime') || textAt(event, 'lastTimestamp') || firstSeen(event)
}

function timesSeen(event: UnknownObject): number {
  const series = isObject(event['series']) ? event['series']['count'] : undefined
  return Number(series ?? event['count'] ?? 0) || 1
}

function targetOf(event: UnknownObject): string {
  const kind = textAt(event, 'involvedObject', 'kind').toLowerCase()
  const name = textAt(event, 'involvedObject', 'name')
  return name === '' ? kind : `${kind}/${name}`
}

function sourceOf(event: UnknownObject): string {
  const component = textAt(event, 'source', 'component') || textAt(event, 'reportingComponent')
  const host = textAt(event, 'source', 'host') || textAt(event, 'reportingInstance')
  return host === '' ? component : `${component}, ${host}`
}

/** A report of something that happened. */
export const Event = defineBuiltin({
  ...v1,
  kind: 'Event',
  plural: 'events',
  scope: 'Namespaced',
  shortNames: ['ev'],
  description: 'A report of something that happened to an object.',
  fields: fields({
    involvedObject: ObjectReference,
    reason: opt(TEXT),
    message: opt(TEXT),
    source: opt(fields({ component: opt(TEXT), host: opt(TEXT) })),
    firstTimestamp: opt(TIME),
    lastTimestamp: opt(TIME),
    count: opt(INT32),
    type: opt(TEXT),
    eventTime: opt(TIME),
    series: opt(fields({ count: opt(INT32), lastObservedTime: opt(TIME) })),
    action: opt(TEXT),
    related: opt(ObjectReference),
    reportingComponent: opt(TEXT),
    reportingInstance: opt(TEXT),
  }),
  columns: [
    eventColumn('Last Seen', (event, now) => ageOf(lastSeen(event) || undefined, now)),
    { name: 'Type', type: 'string', jsonPath: '.type' },
    { name: 'Reason', type: 'string', jsonPath: '.reason' },
    eventColumn('Object', targetOf),
    { name: 'Subobject', type: 'string', jsonPath: '.involvedObject.fieldPath', priority: 1 },
    eventColumn('Source', sourceOf, 1),
    eventColumn('Message', (event) => textAt(event, 'message').trim()),
    eventColumn('First Seen', (event, now) => ageOf(firstSeen(event) || undefined, now), 1),
    eventColumn('Count', timesSeen, 1),
    { name: 'Name', type: 'string', format: 'name', jsonPath: '.metadata.name', priority: 1 },
  ],
})
export type Event = ObjOf<typeof Event>
