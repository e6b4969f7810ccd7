import type { Clock } from '../core/time/clock.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { toError } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import type { CollectableBlobs } from './blobs.ts'
import { reachableDigests } from './reachable-digests.ts'

/** What the collector of blobs needs. */
export interface BlobCollectorOptions {
  readonly blobs: CollectableBlobs
  /** Every digest that any object names now; it throws when it cannot tell all of them. */
  readonly roots: (signal: AbortSignal) => Promise<Iterable<Digest>>
  /** Further blobs to keep, without the blobs that they name; it throws when it cannot tell all of them. */
  readonly leaves?: (signal: AbortSignal) => Promise<Iterable<Digest>>
  readonly clock: Clock
  readonly log: Logger
  /** How long what nothing names is kept; it covers the time between storing a blob and naming it. */
  readonly graceMs?: number
  readonly everyMs?: number
}

const HOUR_MS = 3_600_000

/** Deletes unused blobs that were not stored again within the grace period; returns the number of deleted blobs. */
export async function collectBlobs(options: BlobCollectorOptions, signal: AbortSignal): Promise<number> {
  const { blobs, roots, leaves, clock, graceMs = 24 * HOUR_MS } = options
  // Taken before the roots are read: what is stored while they are read is younger.
  const before = clock.now() - graceMs
  const kept = await reachableDigests(await roots(signal), blobs)
  for (const digest of (await leaves?.(signal)) ?? []) kept.add(digest)
  let count = 0
  try {
    for await (const digest of blobs.list()) {
      if (signal.aborted) break
      if (!kept.has(digest) && (await blobs.collect(digest, before))) count += 1
    }
  } finally {
    await blobs.endCollecting?.()
  }
  return count
}

/** Collects now and then until the signal is aborted; the promise never rejects. A pass that fails deletes nothing. */
export async function runBlobCollector(options: BlobCollectorOptions, signal: AbortSignal): Promise<void> {
  const { clock, log, everyMs = HOUR_MS } = options
  while (!signal.aborted) {
    await clock.sleep(everyMs, signal).catch(() => {})
    if (signal.aborted) return
    try {
      const count = await collectBlobs(options, signal)
      if (count > 0) log.info({ count }, 'blobs that nothing names were deleted')
    } catch (error) {
      if (!signal.aborted) log.error({ err: toError(error) }, 'blobs could not be collected; none was deleted')
    }
  }
}
