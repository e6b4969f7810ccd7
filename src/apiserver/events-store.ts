import { Event } from '../kinds/builtin/core.ts'
import { eventFromCore, EventsEvent, eventToCore } from '../kinds/builtin/events.ts'
import type { Store, StoreEntry, StoreEvent, StoreWatch } from '../store/store.ts'
import { parseStored, prefixOf } from './objects.ts'

const VIEW = prefixOf(EventsEvent)
const CORE = prefixOf(Event)

/** The store as requests for events.k8s.io see it: the core group's events under their own keys and names. */
export function createEventsStore(store: Store): Store {
  const inside = (key: string) => (key.startsWith(VIEW) ? CORE + key.slice(VIEW.length) : key)
  const outside = (key: string) => (key.startsWith(CORE) ? VIEW + key.slice(CORE.length) : key)
  const shown = (key: string, text: string) =>
    key.startsWith(CORE) ? JSON.stringify(eventFromCore(parseStored(text))) : text
  const kept = (key: string, text: string) =>
    key.startsWith(VIEW) ? JSON.stringify(eventToCore(parseStored(text))) : text
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
  return {
    ...store,
    async get(key) {
      const entry = await store.get(inside(key))
      return entry && entryOf(entry)
    },
    async list(range) {
      const { after, prefix } = range
      const list = await store.list({
        ...range,
        prefix: inside(prefix),
        ...(after === undefined ? {} : { after: inside(after) }),
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
      const watch = store.watch(inside(prefix), after, signal)
      return {
        progress: () => watch.progress(),
        async *[Symbol.asyncIterator]() {
          for await (const event of watch) yield eventOf(event)
        },
      }
    },
  }
}
