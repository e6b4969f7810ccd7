import { isApiError, toError } from '../../core/errors.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { ServerParts } from '../server/context.ts'
import { parseStored, storePrefix } from './stored-object.ts'

/** How the server's own parts follow the objects of a kind in the store: all that exist first, then every change. */

const RETRY_MS = 500

/** What is told to who follows. */
export interface KindEventHandler {
  saw(object: UnknownObject): void | Promise<void>
  lost(name: string): void
}

/** A kind being followed. */
export interface RunningFollower {
  /** Resolves once all that exists has been seen. */
  readonly ready: Promise<void>
  /** Resolves when the following has ended; never rejects. */
  readonly done: Promise<void>
}

/** Follows a cluster-scoped kind until the signal is aborted or the store is closed. */
export function followKind(
  parts: Pick<ServerParts, 'store' | 'clock' | 'log'>,
  kind: Kind,
  follower: KindEventHandler,
  signal: AbortSignal,
): RunningFollower {
  const begun = Promise.withResolvers<void>()
  const done = follow(parts, kind, { follower, signal, begun: begun.resolve }).finally(begun.resolve)
  return { ready: begun.promise, done }
}

async function follow(
  { store, clock, log }: Pick<ServerParts, 'store' | 'clock' | 'log'>,
  kind: Kind,
  {
    follower,
    signal,
    begun,
  }: { readonly follower: KindEventHandler; readonly signal: AbortSignal; readonly begun: () => void },
): Promise<void> {
  const prefix = storePrefix(kind)
  const known = new Set<string>()
  while (!signal.aborted) {
    try {
      const present = await store.list({ prefix })
      const names = new Set(present.entries.map(({ key }) => key.slice(prefix.length)))
      for (const entry of present.entries) await follower.saw(parseStored(entry.value))
      for (const name of known) if (!names.has(name)) follower.lost(name)
      for (const name of names) known.add(name)
      begun()
      for await (const event of store.watch(prefix, present.revision, signal)) {
        const name = event.key.slice(prefix.length)
        if (event.value === undefined) {
          known.delete(name)
          follower.lost(name)
        } else {
          known.add(name)
          await follower.saw(parseStored(event.value))
        }
      }
      // Without an abort the store itself was closed.
      return
    } catch (error) {
      if (signal.aborted) return
      if (!isApiError(error, 'Expired')) log.error({ err: toError(error), kind: kind.kind }, 'watch failed')
      await clock.sleep(RETRY_MS, signal).catch(() => {})
    }
  }
}
