import { aeadOpen, aeadSeal, base64, fromBase64, fromUtf8, utf8 } from '../core/bytes.ts'
import { ApiError } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import type { Secret } from '../core/secret.ts'
import { mapWatch } from './event-log.ts'
import type { CommitResult, Store, StoreEntry, StoreEvent, StoreWatch } from './store.ts'

/** A store whose values under some prefixes are sealed at rest: AES-256-GCM, bound to the key they are stored under. */

/** A key for values at rest. */
export interface SealingKey {
  /** Stands in every envelope, so that older values are opened after a rotation. */
  readonly id: string
  /** 32 bytes in base64. */
  readonly key: Secret<string>
}

/** Which values are sealed, and with what. */
export interface SealedStoreOptions {
  readonly store: Store
  /** Values under these prefixes are sealed. */
  readonly prefixes: readonly string[]
  /** The first one seals, all of them open. */
  readonly keys: readonly [SealingKey, ...SealingKey[]]
  readonly ids: Pick<Ids, 'bytes'>
}

// No JSON text begins like this, so that values from before sealing are told apart.
const MARK = 'sealed:v1:'
const NONCE_BYTES = 12

/** The id of the key a stored text was sealed with; undefined when it is not sealed. */
export function sealedWith(text: string): string | undefined {
  return text.startsWith(MARK) ? text.slice(MARK.length, text.indexOf(':', MARK.length)) : undefined
}

/** Wraps a store; who uses it sees plain values, who reads the file does not. */
export function createSealedStore({ store, prefixes, keys, ids }: SealedStoreOptions): Store {
  const secrets = new Map(keys.map(({ id, key }) => [id, fromBase64(key.reveal())]))
  const [{ id: newest }] = keys

  function seal(key: string, value: string): string {
    if (!prefixes.some((prefix) => key.startsWith(prefix))) return value
    const nonce = ids.bytes(NONCE_BYTES)
    const sealed = aeadSeal(secrets.get(newest)!, nonce, utf8(value), utf8(key))
    return `${MARK}${newest}:${base64(nonce)}:${base64(sealed)}`
  }

  function open(key: string, text: string): string {
    const id = sealedWith(text)
    if (id === undefined) return text
    const secret = secrets.get(id)
    if (!secret) {
      throw new ApiError(
        'InternalError',
        `${key} is sealed with the key ${JSON.stringify(id)}, which is not among this hub's sealing keys: put the key file that has it back`,
      )
    }
    const [nonce, sealed] = text.slice(MARK.length + id.length + 1).split(':')
    try {
      return fromUtf8(aeadOpen(secret, fromBase64(nonce!), fromBase64(sealed!), utf8(key)))
    } catch (cause) {
      const why = `${key} cannot be opened with the key ${JSON.stringify(id)}: its stored value was changed`
      throw new ApiError('InternalError', `${why}; restore it from a backup`, {}, { cause })
    }
  }

  // What is not sealed stays the same object, which all watches share and whose line they write once.
  const openEntry = (entry: StoreEntry): StoreEntry => {
    const value = open(entry.key, entry.value)
    return value === entry.value ? entry : { ...entry, value }
  }
  const openEvent = (event: StoreEvent): StoreEvent => {
    const value = event.value === undefined ? undefined : open(event.key, event.value)
    const previous = event.previous === undefined ? undefined : open(event.key, event.previous)
    return value === event.value && previous === event.previous ? event : { ...event, value, previous }
  }

  return {
    ...store,
    async get(key, at) {
      const entry = await store.get(key, at)
      return entry && openEntry(entry)
    },
    async list(range) {
      const list = await store.list(range)
      return { ...list, entries: list.entries.map(openEntry) }
    },
    async commit(write): Promise<CommitResult> {
      const { value } = write
      const result = await store.commit({
        ...write,
        value: value && ((revision) => seal(write.key, value(revision))),
      })
      return result.ok || !result.current ? result : { ok: false, current: openEntry(result.current) }
    },
    watch(prefix, after, signal, where): StoreWatch {
      const watch = store.watch(prefix, after, signal, where)
      const isSealed = prefixes.some((sealed) => sealed.startsWith(prefix) || prefix.startsWith(sealed))
      return isSealed ? mapWatch(watch, openEvent) : watch
    },
  }
}
