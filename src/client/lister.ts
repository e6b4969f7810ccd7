import { invariant } from '../core/errors.ts'
import type { KubeObject } from '../kinds/meta.ts'

/** The keys of an index an object is found under. */
export type Indexer<T> = (object: T) => readonly string[]

/** Reads of a cache: at once, without waiting, frozen objects, in no promised order. */
export interface Lister<T> {
  /** By `namespace/name`, or `name` for kinds of the cluster. */
  get(key: string): T | undefined
  list(namespace?: string): readonly T[]
  /** Objects an index has under a key. */
  by(index: string, key: string): readonly T[]
  size(): number
}

/** Objects by key with indexes that follow every change. */
export interface IndexedObjects<T> extends Lister<T> {
  set(key: string, object: T): void
  delete(key: string): void
  keys(): IterableIterator<string>
  addIndex(name: string, indexer: Indexer<T>): void
}

interface Index<T> {
  readonly indexer: Indexer<T>
  readonly keysUnder: Map<string, Set<string>>
}

/** Makes the store behind an informer. */
export function createIndexedObjects<T extends KubeObject>(): IndexedObjects<T> {
  const objects = new Map<string, T>()
  const indexes = new Map<string, Index<T>>()

  function enter(index: Index<T>, key: string, object: T): void {
    for (const under of index.indexer(object)) {
      const keys = index.keysUnder.get(under)
      if (keys) keys.add(key)
      else index.keysUnder.set(under, new Set([key]))
    }
  }

  function leave(index: Index<T>, key: string, object: T): void {
    for (const under of index.indexer(object)) {
      const keys = index.keysUnder.get(under)
      keys?.delete(key)
      if (keys?.size === 0) index.keysUnder.delete(under)
    }
  }

  function remove(key: string): void {
    const previous = objects.get(key)
    if (previous === undefined) return
    for (const index of indexes.values()) leave(index, key, previous)
    objects.delete(key)
  }

  return {
    get: (key) => objects.get(key),
    list: (namespace) => {
      const all = [...objects.values()]
      return namespace === undefined ? all : all.filter((object) => object.metadata.namespace === namespace)
    },
    by: (name, under) => {
      const index = indexes.get(name)
      invariant(index, `no index ${name}`)
      return [...(index.keysUnder.get(under) ?? [])].map((key) => objects.get(key)!)
    },
    size: () => objects.size,
    keys: () => objects.keys(),
    set: (key, object) => {
      const previous = objects.get(key)
      for (const index of indexes.values()) {
        if (previous) leave(index, key, previous)
        enter(index, key, object)
      }
      objects.set(key, object)
    },
    delete: remove,
    addIndex: (name, indexer) => {
      invariant(!indexes.has(name), `index ${name} exists already`)
      const index: Index<T> = { indexer, keysUnder: new Map() }
      for (const [key, object] of objects) enter(index, key, object)
      indexes.set(name, index)
    },
  }
}
