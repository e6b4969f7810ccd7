/**
 * What an informer knows, and the rule that it never goes back.
 *
 * There are three writers: a list, the events of a watch, and the caller's own writes, which arrive before the watch
 * shows them. Each object's resourceVersion decides: an older one never replaces a newer one, and a list at r removes
 * only what it could have known, objects last changed at or before r. `seen` is how far list and watch have come; a
 * write at or below it is old news, also when the watch has since shown the object's deletion.
 */
import { keyOf } from '../kinds/meta.ts'
import type { KubeObject } from '../kinds/meta.ts'
import type { ListPage, WatchEvent } from './client.ts'
import { createIndexedObjects } from './lister.ts'
import type { Indexer, Lister } from './lister.ts'
import { compareResourceVersions, newerResourceVersion } from './resource-versions.ts'

/** A change of a cache: added (no `before`), changed, or removed (no `after`). */
export interface Change<T> {
  readonly key: string
  readonly before: T | undefined
  readonly after: T | undefined
}

/** A cache of a kind's objects. */
export interface Cache<T extends KubeObject> {
  readonly lister: Lister<T>
  addIndex(name: string, indexer: Indexer<T>): void
  /** How far list and watch have come; a watch resumes here. */
  seen(): string
  replace(page: Pick<ListPage<T>, 'items' | 'resourceVersion'>): void
  event(event: WatchEvent<T>): void
  noteWrite(object: T): void
}

/** Makes a cache; `changed` hears of every change, after it is readable. */
export function createCache<T extends KubeObject>(changed: (change: Change<T>) => void): Cache<T> {
  const objects = createIndexedObjects<T>()
  let seen = ''

  function put(object: T): void {
    const key = keyOf(object)
    const before = objects.get(key)
    if (before && compareResourceVersions(versionOf(object), versionOf(before)) <= 0) return
    const after = deepFreeze(object)
    objects.set(key, after)
    changed({ key, before, after })
  }

  function remove(key: string, version: string): void {
    const before = objects.get(key)
    if (!before || compareResourceVersions(versionOf(before), version) > 0) return
    objects.delete(key)
    changed({ key, before, after: undefined })
  }

  return {
    lister: objects,
    addIndex: objects.addIndex,
    seen: () => seen,
    replace: ({ items, resourceVersion }) => {
      seen = newerResourceVersion(seen, resourceVersion)
      const listed = new Set(items.map(keyOf))
      for (const item of items) put(item)
      for (const key of objects.keys()) if (!listed.has(key)) remove(key, resourceVersion)
    },
    event: (event) => {
      if (event.type === 'BOOKMARK') {
        seen = newerResourceVersion(seen, event.resourceVersion)
        return
      }
      seen = newerResourceVersion(seen, versionOf(event.object))
      if (event.type === 'DELETED') remove(keyOf(event.object), versionOf(event.object))
      else put(event.object)
    },
    noteWrite: (object) => {
      if (compareResourceVersions(versionOf(object), seen) > 0) put(object)
    },
  }
}

function versionOf(object: KubeObject): string {
  return object.metadata.resourceVersion ?? ''
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) deepFreeze(inner)
  return value
}
