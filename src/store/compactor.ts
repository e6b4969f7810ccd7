import type { Clock } from '../core/time/clock.ts'
import { toError } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import type { Store } from './store.ts'

/** How long history is kept. */
export interface CompactorOptions {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  /** History older than between one and two of these is forgotten; etcd's five minutes unless said. */
  readonly everyMs?: number
}

const EVERY_MS = 300_000

/** Forgets old history in the background until the signal is aborted; the promise never rejects. */
export async function runCompactor(options: CompactorOptions, signal: AbortSignal): Promise<void> {
  const { store, clock, log, everyMs = EVERY_MS } = options
  let previous = store.revision()
  while (!signal.aborted) {
    await clock.sleep(everyMs, signal).catch(() => {})
    if (signal.aborted) return
    try {
      await store.compact(previous)
      previous = store.revision()
    } catch (error) {
      log.error({ err: toError(error) }, 'history could not be compacted')
    }
  }
}
