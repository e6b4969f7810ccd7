import { ApiError } from '../../core/errors.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { ObjectKey, UnknownObject } from '../../kinds/meta.ts'
import type { Store, StoreEntry } from '../../store/store.ts'

/**
 * Objects in the store: their keys and their text. The text carries its resourceVersion, so it is what a client reads.
 */

/** An object as it is stored. */
export interface StoredObject {
  readonly object: UnknownObject
  readonly revision: number
  /** What the object was read from. */
  readonly text: string
}

/** An object as a write left it. */
export interface WrittenObject {
  readonly object: UnknownObject
  /** What is stored of it; nothing after a dry run or its last write. */
  readonly text: string | undefined
  readonly warnings: readonly string[]
}

/** The prefix of all objects of a kind, or of its objects in one namespace. */
export function storePrefix(kind: Pick<Kind, 'group' | 'plural'>, namespace?: string): string {
  // The core group has no name; `_` cannot be one.
  const resource = `/${kind.group || '_'}/${kind.plural}/`
  return namespace ? `${resource}${namespace}/` : resource
}

/** The key of an object. */
export function storeKey(kind: Pick<Kind, 'group' | 'plural'>, key: ObjectKey): string {
  return `${storePrefix(kind, key.namespace)}${key.name}`
}

/** The object of a stored text. */
export function parseStored(text: string): UnknownObject {
  return JSON.parse(text) as UnknownObject
}

/** The object of an entry. */
export function parseStoreEntry(entry: StoreEntry): StoredObject {
  return { object: parseStored(entry.value), revision: entry.modRevision, text: entry.value }
}

/** Reads one object. */
export async function readObject(store: Store, kind: Kind, key: ObjectKey): Promise<StoredObject | undefined> {
  const entry = await store.get(storeKey(kind, key))
  return entry && parseStoreEntry(entry)
}

/** Writes an object at the revision it will have, and remembers what it wrote: that is the answer, too. */
export interface ObjectText {
  (revision: number): string
  written(): string | undefined
}

/** How stored texts begin: what an object is comes first, so that a list can leave it out without reading on. */
export function typeMetaJson(apiVersion: string, kind: string): string {
  return `${JSON.stringify({ apiVersion, kind }).slice(0, -1)},`
}

/**
 * How long the text of an object may become: twice what a request may bring, so that an object that came whole has room
 * for its managedFields. Without an end, an object would grow with every patch, and each later patch would cost all
 * that was there before.
 */
export const MAX_OBJECT_LENGTH = 6 * 1024 * 1024

/**
 * The text of an object at the revision it will have; one that is longer than allowed is refused when it is written.
 */
export function serializeObject(object: UnknownObject, most = Infinity): ObjectText {
  let text: string | undefined
  const write = (revision: number) => {
    object.metadata.resourceVersion = String(revision)
    const { apiVersion, kind, ...rest } = object
    const whole = JSON.stringify({ apiVersion, kind, ...rest })
    if (whole.length > most) {
      throw new ApiError('RequestEntityTooLarge', `The object would be too large: limit is ${MAX_OBJECT_LENGTH}`)
    }
    return (text = whole)
  }
  return Object.assign(write, { written: () => text })
}
