/**
 * The store of a projected kind: stored objects and rows in one list and one watch, with one resource version. Stored
 * objects come first, in the order of their keys. Where both have a name, the stored object counts.
 */
import type { ProjectedStore } from '../../apiserver/server/projections.ts'
import { parseStored } from '../../apiserver/storage/stored-object.ts'
import { compact } from '../../core/compact.ts'
import type { Store, StoreEntry, StoreEvent } from '../../store/store.ts'
import { isRowPosition } from './projected-rows.ts'
import type { ProjectedRows } from './projected-rows.ts'
import { createViewStore } from './view-store.ts'
import type { ViewStoreOptions } from './view-store.ts'

export interface ProjectedStoreOptions extends ViewStoreOptions {
  source(store: Store): ProjectedRows
  /** Whether objects of the kind are stored, too. */
  readonly isStoredToo: boolean
}

/** The revisions of the store are twice the revisions of its base, as in a view. */
export function createProjectedStore({ isStoredToo, ...options }: ProjectedStoreOptions): ProjectedStore {
  const { base, prefix, source } = options
  const nameOf = (key: string): [string, string] => key.slice(prefix.length).split('/') as [string, string]
  const makerOf = async (key: string) =>
    isStoredToo && (await base.get(key)) ? undefined : await source(base).makerOf(...nameOf(key))
  if (!isStoredToo) return { ...createViewStore(options), makerOf }

  const rows = createViewStore({
    ...options,
    source: (store) => withShadows(source(store), (namespace, name) => store.get(`${prefix}${namespace}/${name}`)),
    stored: { prefix, show: storedEvent },
  })

  async function get(key: string, at?: number): Promise<StoreEntry | undefined> {
    const stored = await base.get(key, at === undefined ? undefined : Math.floor(at / 2))
    return stored ? storedEntry(stored) : await rows.get(key, at)
  }

  return {
    ...rows,
    makerOf,
    get,
    async list(range) {
      const { revision = rows.revision(), after, limit } = range
      const isInRows = after !== undefined && isRowPosition(after.slice(prefix.length).split('/'))
      const stored = isInRows
        ? { entries: [], more: false }
        : await base.list({ ...range, isCounted: false, revision: Math.floor(revision / 2) })
      const entries = stored.entries.map(storedEntry)
      if (stored.more) return { entries, revision, more: true, remaining: 0 }
      const { after: _after, ...fromStart } = range
      const computed = await rows.list({
        ...(isInRows ? range : fromStart),
        revision,
        ...compact({ limit: limit === undefined ? undefined : limit - entries.length }),
      })
      return { ...computed, entries: [...entries, ...computed.entries] }
    },
    async commit(write) {
      const { key, expect, value } = write
      if (expect === 0 && value) {
        const taken = await rows.get(key)
        if (taken) return { ok: false, current: taken }
      }
      const result = await base.commit({
        ...write,
        expect: Math.ceil(expect / 2),
        value: value && ((revision) => withVersion(value(revision * 2), revision)),
      })
      if (result.ok) return { ok: true, revision: result.revision * 2 }
      return { ok: false, current: result.current && storedEntry(result.current) }
    },
    objectRevision: (revision) => Math.ceil(revision / 2) * 2,
    compact: (revision) => base.compact(Math.floor(revision / 2)),
  }
}

function storedEntry(entry: StoreEntry): StoreEntry {
  const modRevision = entry.modRevision * 2
  return {
    ...entry,
    value: withVersion(entry.value, modRevision),
    createRevision: entry.createRevision * 2,
    modRevision,
  }
}

function storedEvent(event: StoreEvent, revision: number): StoreEvent {
  const { value, previous } = event
  return {
    key: event.key,
    revision,
    value: value === undefined ? undefined : withVersion(value, revision),
    previous: previous === undefined ? undefined : withVersion(previous, revision),
  }
}

function withVersion(text: string, revision: number): string {
  const object = parseStored(text)
  object.metadata.resourceVersion = String(revision)
  return JSON.stringify(object)
}

/** Rows that are marked where a stored object has their name. */
function withShadows(
  rows: ProjectedRows,
  stored: (namespace: string, name: string) => Promise<unknown>,
): ProjectedRows {
  return {
    ...rows,
    async *rows(range) {
      for await (const row of rows.rows(range)) {
        const { namespace = '', name } = row.object.metadata
        yield (await stored(namespace, name)) ? { ...row, isShadowed: true } : row
      }
    },
  }
}
