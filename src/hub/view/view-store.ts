/** A store that only reads: its entries are rows, worked out when they are asked for, in the order of their keys. */
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Store, StoreEntry } from '../../store/store.ts'
import { serializeRow } from './row-source.ts'
import type { PositionedRow, RowSource } from './row-source.ts'
import { watchRows } from './watch-rows.ts'
import type { StoredEvents } from './watch-rows.ts'

/** What a view is made of. */
export interface ViewStoreOptions {
  readonly base: Store
  /** The one of the kind. */
  readonly prefix: string
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>
  /** The rows over a store. */
  source(store: Store): RowSource
  /** Stored objects of the kind, whose events stand in the watches of rows. */
  readonly stored?: StoredEvents
}

/** For how many batches of events it is known where they begin. */
const BATCHES = 1_000
/** From how many revisions batches with the same end may begin; beyond that, a client lists again. */
const MAX_BEGINS = 8

/**
 * The store over a source. Its revisions are twice the revisions of what the rows are made from: a list is the whole
 * truth at an even one. A change may alter many rows, and all events of such a batch but the last carry the odd
 * revision before its end: who comes back with it has seen only a part, and gets the batch whole.
 */
export function createViewStore({ base, prefix, clock, source, stored }: ViewStoreOptions): Store {
  const batches = new Map<number, ReadonlySet<number>>()
  const partsOf = (key: string): string[] => key.slice(prefix.length).split('/')
  const newest = (): number => base.revision() * 2
  const sourceAt = (revision: number): RowSource => source(storeAt(base, Math.floor(revision / 2)))
  const entryOf = ({ at, object }: PositionedRow, revision: number): StoreEntry => ({
    key: `${prefix}${at.join('/')}`,
    value: serializeRow(object, revision),
    createRevision: revision,
    modRevision: revision,
  })
  return {
    ...base,
    revision: newest,
    async get(key, revision = newest()) {
      const [namespace = '', name = ''] = partsOf(key)
      const object = await sourceAt(revision).get(namespace, name)
      return object && entryOf({ at: [namespace, name], object }, revision)
    },
    async list({ prefix: below, limit, after, revision = newest(), where = new Map() }) {
      const entries: StoreEntry[] = []
      let more = false
      const range = {
        ...inNamespace(partsOf(below)[0]),
        ...compact({ after: after === undefined ? undefined : partsOf(after) }),
        where,
      }
      for await (const row of sourceAt(revision).rows(range)) {
        if (row.isShadowed) continue
        more = limit !== undefined && entries.length >= limit
        if (more) break
        entries.push(entryOf(row, revision))
      }
      // Counting what follows would cost as much as showing it.
      return { entries, revision, more, remaining: 0 }
    },
    watch(below, after, signal, where = new Map()) {
      const [namespace = ''] = partsOf(below)
      const name = namespace === '' ? undefined : where.get('metadata.name')
      return watchRows(
        {
          base,
          prefix,
          clock,
          isOne: name !== undefined,
          ...compact({ stored: stored ? { ...stored, prefix: below } : undefined }),
          async *rowsAt(revision, among) {
            const rows = sourceAt(revision)
            if (name === undefined) {
              yield* rows.rows({ ...inNamespace(namespace), where, ...compact({ among }) })
              return
            }
            const key = `${prefix}${namespace}/${name}`
            const object = await rows.get(namespace, name)
            const isShadowed = stored !== undefined && (await base.get(key, Math.floor(revision / 2))) !== undefined
            if (object) yield { at: [namespace, name], object, isShadowed }
          },
          noteBatch(begins, end) {
            batches.set(end, new Set([...(batches.get(end) ?? []), ...begins]))
            for (const oldest of batches.keys()) if (batches.size > BATCHES) batches.delete(oldest)
          },
          beginsOf(end) {
            const begins = [...(batches.get(end) ?? [])]
            return begins.length > MAX_BEGINS ? [] : begins
          },
        },
        after,
        signal,
      )
    },
  }
}

function inNamespace(namespace: string | undefined): { readonly namespace?: string } {
  return namespace ? { namespace } : {}
}

/** A store as it was. */
function storeAt(store: Store, revision: number): Store {
  return {
    ...store,
    revision: () => revision,
    get: (key) => store.get(key, revision),
    list: (range) => store.list({ ...range, revision }),
  }
}
