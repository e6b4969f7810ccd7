/** Removes the bundles that have a tombstone in the document. Bundles leave a cluster in no other way. */
import { toError, Waiting } from '../../../core/errors.ts'
import type { WindowDecision, WindowSubject } from '../../../plan/windows/window.ts'
import type { ClusterDocument, Tombstone } from '../../../wire/document/cluster-document.ts'
import type { RemovalRow } from '../../../wire/link/frames.ts'
import { ObjectFailure } from '../../cluster/object-failure.ts'
import { STEP_TIMING } from '../../timing.ts'
import { rowOfFailure } from '../outcome.ts'
import { truncateMessage } from '../report-row.ts'
import { createBundleRemoval, removalProgress } from './bundle-removal.ts'
import type { BundleRemovalPorts } from './bundle-removal.ts'

/** Ports of removals. */
export interface RemovalPorts extends BundleRemovalPorts {
  readonly windowsNow: (subject: WindowSubject) => WindowDecision
}

/** Creates the removal of bundles. */
export function createRemoval(ports: RemovalPorts) {
  const { table, windowsNow, receipts, log } = ports
  const { remove, forget } = createBundleRemoval(ports)
  const warned = new Map<string, string>()

  /** Removes bundles as far as possible now; resolves to the number of removals that are not finished. */
  async function removeBundles(document: ClusterDocument, signal: AbortSignal): Promise<number> {
    let unfinished = await forgetRemoved(signal)
    for (const tombstone of document.content.tombstones) {
      if (hasReceipt(tombstone) || table.tracked.has(tombstone.bundle)) continue
      const windows = windowsNow(tombstone)
      try {
        if (windows.kind === 'Closed') throw new Waiting('WindowClosed', windows.message, STEP_TIMING.removalRetryMs)
        await remove(tombstone, signal)
        warned.delete(tombstone.bundle)
      } catch (caught) {
        if (signal.aborted) throw caught
        unfinished += 1
        // The tombstone stays in the document until the receipt: the next pass tries again, and other bundles continue.
        await noteFailure(tombstone, caught)
      }
    }
    return unfinished
  }

  async function noteFailure(tombstone: Tombstone, caught: unknown): Promise<void> {
    const { bundle } = tombstone
    if (caught instanceof ObjectFailure) warnOnce(bundle, caught.message)
    log.debug({ err: toError(caught), bundle }, 'bundle could not be removed yet')
    const failure = rowOfFailure(caught)
    const message = truncateMessage(failure?.message ?? toError(caught).message)
    const row = newRow(tombstone, failure?.state === 'Failed' ? 'Failed' : 'Removing', message)
    if (!hasReceipt(tombstone)) await receipts.note(row, false)
  }

  /**
   * Deletes the records of bundles that have a receipt and still an inventory, after a crash or a lost response between
   * the two. The hub may have stored the receipt and deleted the tombstone, so that no tombstone is needed here.
   * Resolves to the number of bundles whose records could not be deleted now.
   */
  async function forgetRemoved(signal: AbortSignal): Promise<number> {
    let unfinished = 0
    for (const inventory of table.former().values()) {
      const { bundle } = inventory
      if (table.tracked.has(bundle) || !hasReceipt(inventory)) continue
      await forget(bundle).catch((caught: unknown) => {
        if (signal.aborted) throw caught
        unfinished += 1
        log.debug({ err: toError(caught), bundle }, 'the records of the removed bundle could not be deleted yet')
      })
    }
    return unfinished
  }

  /** Warns when the message is new, not in every pass. */
  function warnOnce(bundle: string, message: string): void {
    if (warned.get(bundle) === message) return
    warned.set(bundle, message)
    log.warn({ bundle }, `bundle cannot be removed: ${message}`)
  }

  function hasReceipt({ bundle, generation }: Pick<Tombstone, 'bundle' | 'generation'>): boolean {
    const row = receipts.of(bundle)
    const isReceipt = row?.state === 'Removed' || row?.state === 'Orphaned'
    return isReceipt && row.generation >= generation
  }

  /** A row with the progress of the removal so far. */
  function newRow({ bundle, generation }: Tombstone, state: RemovalRow['state'], message: string): RemovalRow {
    const { deleted, left, leftTotal } = removalProgress(table.former().get(bundle), generation)
    const counts = deleted + leftTotal > 0 ? { deleted, left, leftTotal } : {}
    return { bundle, generation, state, ...counts, message }
  }

  return { removeBundles, forgetRemoved }
}
