/**
 * Receipts of removals, and removals that are under way: stored in the cluster, so that they survive a restart, and
 * reported.
 */
import { jsonEqual } from '../../../core/json.ts'
import type { ClusterDocument } from '../../../wire/document/cluster-document.ts'
import type { RemovalRow } from '../../../wire/link/frames.ts'
import { LIMITS } from '../../../wire/limits.ts'
import type { ClusterState } from '../../cluster/cluster-state.ts'

/** Creates the receipts; nothing is read before `load`. */
export function createReceipts(
  state: Pick<ClusterState, 'readReceipts' | 'writeReceipts'>,
  ports: { readonly onChange: () => void },
) {
  /** By bundle, newest last. */
  let rows: Map<string, RemovalRow> | undefined
  let isWritten = true
  let isInDoubt = false

  async function save(next?: RemovalRow): Promise<void> {
    if (isWritten || !rows) return
    // The response to the last write may have been lost. Without a new read, every write would meet a Conflict.
    if (isInDoubt) await state.readReceipts()
    isInDoubt = true
    const others = [...rows.values()].filter(({ bundle }) => bundle !== next?.bundle)
    await state.writeReceipts(next ? [...others, next] : others)
    isInDoubt = false
    isWritten = true
  }

  async function load(signal: AbortSignal): Promise<Map<string, RemovalRow>> {
    return (rows ??= new Map((await state.readReceipts(signal)).map((row) => [row.bundle, row])))
  }

  return {
    rows: (): readonly RemovalRow[] => [...(rows?.values() ?? [])],
    of: (bundle: string): RemovalRow | undefined => rows?.get(bundle),
    /** Reads the receipts from the cluster, once. */
    load,
    /** Drops receipts of bundles that the document wants again, before the first apply, and the oldest receipts. */
    async align(document: ClusterDocument, signal: AbortSignal): Promise<void> {
      const known = await load(signal)
      const wanted = new Set(document.content.entries.map(({ bundle }) => bundle))
      const tombstoned = new Set(document.content.tombstones.map(({ bundle }) => bundle))
      const gone = [...known.values()].filter(
        ({ bundle, state: reached }) =>
          wanted.has(bundle) || (!tombstoned.has(bundle) && (reached === 'Removing' || reached === 'Failed')),
      )
      const others = [...known.keys()].filter((bundle) => !tombstoned.has(bundle) && !wanted.has(bundle))
      const old = others.slice(0, Math.max(0, others.length - LIMITS.receipts))
      for (const bundle of [...gone.map((row) => row.bundle), ...old]) {
        known.delete(bundle)
        isWritten = false
      }
      if (isWritten) return
      await save()
      ports.onChange()
    },
    /** Records the state of a removal. With `keep` it is reported only after it is written to the cluster. */
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
    /** The cluster was restored: the receipts are read again. */
    forget(): void {
      rows = undefined
      isWritten = true
      isInDoubt = false
    },
  }
}

/** Receipts of removals. */
export type Receipts = ReturnType<typeof createReceipts>
