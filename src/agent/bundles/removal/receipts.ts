/** What became of bundles that were to be removed: kept in the cluster, so that a restart does not forget it, and reported. */
import { jsonEqual } from '../../../core/json.ts'
import type { ClusterDocument } from '../../../wire/document/cluster-document.ts'
import type { RemovalRow } from '../../../wire/link/frames.ts'
import { LIMITS } from '../../../wire/limits.ts'
import type { ClusterState } from '../../cluster/cluster-state.ts'

/** Makes them; nothing is read before `align`. */
export function createReceipts(
  state: Pick<ClusterState, 'readReceipts' | 'writeReceipts'>,
  ports: { readonly onChange: () => void },
) {
  /** By bundle, newest last. */
  let rows: Map<string, RemovalRow> | undefined
  let isWritten = true
  let isInDoubt = false

  async function save(news?: RemovalRow): Promise<void> {
    if (isWritten || !rows) return
    // The answer to a write may have been lost: what is there is looked at, or the next write meets it for ever.
    if (isInDoubt) await state.readReceipts()
    isInDoubt = true
    const others = [...rows.values()].filter(({ bundle }) => bundle !== news?.bundle)
    await state.writeReceipts(news ? [...others, news] : others)
    isInDoubt = false
    isWritten = true
  }

  async function load(signal: AbortSignal): Promise<Map<string, RemovalRow>> {
    return (rows ??= new Map((await state.readReceipts(signal)).map((row) => [row.bundle, row])))
  }

  return {
    rows: (): readonly RemovalRow[] => [...(rows?.values() ?? [])],
    of: (bundle: string): RemovalRow | undefined => rows?.get(bundle),
    /** Reads them, once. */
    load,
    /** Brings them in line with the document, before anything is applied: what is wanted again is not removed any more. */
    async align(document: ClusterDocument, signal: AbortSignal): Promise<void> {
      const known = await load(signal)
      const wanted = new Set(document.content.entries.map(({ bundle }) => bundle))
      const graves = new Set(document.content.tombstones.map(({ bundle }) => bundle))
      const gone = [...known.values()].filter(
        ({ bundle, state: is }) =>
          wanted.has(bundle) || (!graves.has(bundle) && (is === 'Removing' || is === 'Failed')),
      )
      const others = [...known.keys()].filter((bundle) => !graves.has(bundle) && !wanted.has(bundle))
      const old = others.slice(0, Math.max(0, others.length - LIMITS.receipts))
      for (const bundle of [...gone.map((row) => row.bundle), ...old]) {
        known.delete(bundle)
        isWritten = false
      }
      if (isWritten) return
      await save()
      ports.onChange()
    },
    /** Says how a removal stands. `keep`: also after a restart, so it is said only once it is written. */
    async note(row: RemovalRow, keep: boolean): Promise<void> {
      if (!rows) return
      const isNews = !jsonEqual(rows.get(row.bundle), row)
      if (isNews) isWritten = false
      if (keep) await save(row)
      if (!isNews) return
      rows.delete(row.bundle)
      rows.set(row.bundle, row)
      ports.onChange()
    },
    /** The cluster is another one: they are read again. */
    forget(): void {
      rows = undefined
      isWritten = true
      isInDoubt = false
    },
  }
}

/** What became of removed bundles. */
export type Receipts = ReturnType<typeof createReceipts>
