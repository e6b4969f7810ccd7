/** A store that only reads: its entries are rows, worked out when they are asked for, in the order of their keys. */
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Store, StoreEntry } from '../../store/store.ts'

/** What works out the rows of one kind. */
export interface RowSource {
  get(namespace: string, name: string): Promise<UnknownObject | undefined>
  /** Rows in order, after a position; `where` are fields the caller selects by, which may save work. */
  rows(range: RowRange): AsyncIterable<PlacedRow>
}

/** Which rows. */
export interface RowRange {
  readonly namespace?: string
  /** The position of the last row that was seen. */
  readonly after?: readonly string[]
  readonly where: ReadonlyMap<string, string>
}

/** A row and its position, which no part of may contain `/`. */
export interface PlacedRow {
  readonly at: readonly string[]
  readonly object: UnknownObject
}

/** The store over a source; `prefix` is the one of the kind. Revisions are those of what the rows are made from. */
export function createViewStore(base: Store, prefix: string, source: RowSource): Store {
  const partsOf = (key: string): string[] => key.slice(prefix.length).split('/')
  const entryOf = ({ at, object }: PlacedRow): StoreEntry => {
    const revision = base.revision()
    const metadata = { ...object.metadata, resourceVersion: String(revision) }
    const value = JSON.stringify({ ...object, metadata })
    return { key: `${prefix}${at.join('/')}`, value, createRevision: revision, modRevision: revision }
  }
  return {
    ...base,
    async get(key) {
      const [namespace = '', name = ''] = partsOf(key)
      const object = await source.get(namespace, name)
      return object && entryOf({ at: [namespace, name], object })
    },
    async list({ prefix: below, limit, after, where = new Map() }) {
      const [namespace] = partsOf(below)
      const entries: StoreEntry[] = []
      let more = false
      const range = {
        ...(namespace ? { namespace } : {}),
        ...(after === undefined ? {} : { after: partsOf(after) }),
        where,
      }
      for await (const row of source.rows(range)) {
        more = limit !== undefined && entries.length >= limit
        if (more) break
        entries.push(entryOf(row))
      }
      // Counting what follows would cost as much as showing it.
      return { entries, revision: base.revision(), more, remaining: 0 }
    },
  }
}
