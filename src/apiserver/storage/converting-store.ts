import { compact } from '../../core/compact.ts'
import { isObject, jsonClone } from '../../core/json.ts'
import { BoundedCache } from '../../core/collections/bounded-cache.ts'
import { autoscalerFromV2, autoscalerToV2 } from '../../kinds/builtin/versions/autoscaler-versions.ts'
import { Event } from '../../kinds/builtin/core.ts'
import { eventFromCore, eventToCore } from '../../kinds/builtin/versions/event-versions.ts'
import { EventsEvent } from '../../kinds/builtin/events.ts'
import { builtinKind } from '../../kinds/builtin/kind-table.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { defaultObject, pruneObject } from '../../kinds/validation/validate-object.ts'
import { mapWatch } from '../../store/event-log.ts'
import type { Store, StoreEntry, StoreEvent, StoreWatch } from '../../store/store.ts'
import type { Versions } from '../apply/field-manager.ts'
import { parseStored, storePrefix } from './stored-object.ts'
import type { Registry } from '../server/registry.ts'

/** Kinds that are another kind's objects in other words: one is stored, the other is a view of it. */

interface View {
  readonly shown: Kind
  readonly stored: Kind
  show(object: UnknownObject): UnknownObject
  keep(object: UnknownObject): UnknownObject
}

const VIEWS: readonly View[] = [
  { shown: EventsEvent, stored: Event, show: eventFromCore, keep: eventToCore },
  {
    shown: builtinKind('autoscaling/v1', 'HorizontalPodAutoscaler'),
    stored: builtinKind('autoscaling/v2', 'HorizontalPodAutoscaler'),
    show: autoscalerFromV2,
    keep: autoscalerToV2,
  },
]

/** The other versions of a kind, to compare fields that managers recorded in these versions. */
export function versionConverter(registry: Pick<Registry, 'find'>, kind: Kind): Versions {
  return (apiVersion) => {
    const [group, version] = apiVersion.includes('/') ? (apiVersion.split('/') as [string, string]) : ['', apiVersion]
    // An Event has two groups and one set of owned fields.
    if (group !== kind.group && VIEWS.some(({ shown }) => shown === kind)) return { kind, convert: (object) => object }
    const other = group === kind.group ? registry.find(group, version, kind.plural) : undefined
    return other && { kind: other, convert: (object) => inVersionOf(other, object) }
  }
}

/** A converted object has all the fields that Go always writes. */
function withBlank(kind: Kind, object: UnknownObject): UnknownObject {
  const converted = jsonClone(object)
  kind.dropEmpty?.(converted)
  return filled(converted, kind.blank ?? {}) as UnknownObject
}

function filled(value: unknown, blank: unknown): unknown {
  if (value === undefined || value === null) return blank
  if (!isObject(value) || !isObject(blank)) return value
  const result = { ...value }
  for (const [field, empty] of Object.entries(blank)) result[field] = filled(value[field], empty)
  return result
}

function inVersionOf(kind: Kind, object: UnknownObject): UnknownObject {
  const apiVersion = apiVersionOf(kind)
  for (const { shown, stored, show, keep } of VIEWS) {
    if (kind === shown) return withBlank(kind, show(object))
    if (kind === stored && object.apiVersion === apiVersionOf(shown)) return withBlank(kind, keep(object))
  }
  return { ...object, apiVersion }
}

/** The store as requests for a kind see it. */
export function createConvertingStores(store: Store): (kind: Kind) => Store {
  const views = new Map<Kind, Store>(VIEWS.map((view) => [view.shown, viewStore(store, view)]))
  const custom = new WeakMap<Kind, Store>()
  return (kind) => {
    if (!kind.custom) return views.get(kind) ?? store
    const known = custom.get(kind) ?? viewStore(store, customView(kind))
    custom.set(kind, known)
    return known
  }
}

/**
 * A version of a custom kind. Its objects are stored once, in the storage version; with conversion strategy None only
 * their apiVersion differs. What a newer schema of the storage version drops or has a default for is so on every read.
 */
function customView(kind: Kind): View {
  const apiVersion = apiVersionOf(kind)
  const storedAs = kind.custom?.storedAs ?? apiVersion
  const stored = { schema: kind.custom?.storedSchema ?? kind.schema }
  return {
    shown: kind,
    stored: kind,
    show(object) {
      object.apiVersion = apiVersion
      pruneObject(stored, object)
      defaultObject(stored, object)
      return object
    },
    keep: (object) => ({ ...object, apiVersion: storedAs }),
  }
}

function viewStore(store: Store, view: View): Store {
  const outer = storePrefix(view.shown)
  const inner = storePrefix(view.stored)
  const inside = (key: string) => (key.startsWith(outer) ? inner + key.slice(outer.length) : key)
  const outside = (key: string) => (key.startsWith(inner) ? outer + key.slice(inner.length) : key)
  const shown = (key: string, text: string) =>
    key.startsWith(inner) ? JSON.stringify(view.show(parseStored(text))) : text
  const kept = (key: string, text: string) =>
    key.startsWith(outer) ? JSON.stringify(view.keep(parseStored(text))) : text
  const entryOf = (entry: StoreEntry): StoreEntry => ({
    ...entry,
    key: outside(entry.key),
    value: shown(entry.key, entry.value),
  })
  const eventOf = (event: StoreEvent): StoreEvent => ({
    ...event,
    key: outside(event.key),
    value: event.value === undefined ? undefined : shown(event.key, event.value),
    previous: event.previous === undefined ? undefined : shown(event.key, event.previous),
  })
  // All watches are handed the same event objects, so that each is worked out and written once for all of them.
  const events = new BoundedCache<StoreEvent, StoreEvent>({ most: 256, weight: 1024 * 1024 })
  const sharedEventOf = (event: StoreEvent): StoreEvent =>
    events.get(event) ?? events.set(event, eventOf(event), event.value?.length ?? 0)
  return {
    ...store,
    async get(key, at) {
      const entry = await store.get(inside(key), at)
      return entry && entryOf(entry)
    },
    async list(range) {
      const { after, prefix } = range
      const list = await store.list({
        ...range,
        prefix: inside(prefix),
        ...compact({ after: after === undefined ? undefined : inside(after) }),
      })
      return { ...list, entries: list.entries.map(entryOf) }
    },
    async commit(write) {
      const { value, key } = write
      const result = await store.commit({
        ...write,
        key: inside(key),
        value: value && ((revision) => kept(key, value(revision))),
      })
      return result.ok || !result.current ? result : { ok: false, current: entryOf(result.current) }
    },
    watch(prefix, after, signal): StoreWatch {
      return mapWatch(store.watch(inside(prefix), after, signal), sharedEventOf)
    },
  }
}
