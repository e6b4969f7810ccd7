/**
 * List, then watch from there, forever: a local copy of a kind that follows the server.
 *
 *     list ──────▶ watch from r ──ended──▶ watch from the newest seen
 *      ▲              │  │                        │
 *      │              │  └─broken: wait, resume◀──┘
 *      └──Expired─────┘
 */
import { compact } from '../core/compact.ts'
import { backoffMs } from '../core/time/backoff.ts'
import type { BackoffOptions } from '../core/time/backoff.ts'
import type { Clock } from '../core/time/clock.ts'
import { isApiError, toError } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'
import { keyOf } from '../kinds/meta.ts'
import type { KubeObject, ResourceType } from '../kinds/meta.ts'
import { createCache } from './cache.ts'
import type { Change } from './cache.ts'
import type { ListOptions, ListPage, Reader } from './client.ts'
import { deadline, untilAborted } from '../core/async/deadline.ts'
import type { Indexer, Lister } from './lister.ts'

/** A local copy of one kind that follows the server. */
export interface Informer<T extends KubeObject> {
  readonly type: ResourceType<T>
  readonly lister: Lister<T>
  /** Hears of every change from now on, and of every object already there; returns how to stop. */
  onChange(handler: (change: Change<T>) => void): () => void
  /** Objects by another key than their name; may be added at any time, each name once. */
  addIndex(name: string, indexer: Indexer<T>): void
  /** True once the first list is complete; it never becomes false again. */
  synced(): boolean
  whenSynced(signal: AbortSignal): Promise<void>
  /** Feeds back what a write answered, so that the cache is never behind the caller's own writes. */
  noteWrite(object: T): void
  /** Follows the server until the signal is aborted; then resolves. Call once. */
  run(signal: AbortSignal): Promise<void>
}

/** What an informer is made of. */
export interface InformerOptions<T extends KubeObject> {
  readonly client: Reader
  readonly type: ResourceType<T>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  /** Narrows what is cached. */
  readonly select?: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector'>
  readonly indexes?: Readonly<Record<string, Indexer<T>>>
  /** What is kept of an object; all of it unless told. Name, namespace and resourceVersion must stay. */
  readonly keep?: (object: T) => T
  readonly pageSize?: number
  /** How long one watch lasts before it is renewed; a dead connection is noticed after at most this time. */
  readonly watchSeconds?: number
  readonly backoff?: BackoffOptions
}

const BACKOFF: BackoffOptions = { baseMs: 200, maxMs: 30_000, jitter: 0.5 }
// A watch shorter than this that brought nothing counts as a failure: a server that hangs up at once is not asked in a
// loop.
const SHORT_WATCH_MS = 1_000
const GRACE_SECONDS = 15

/** Makes an informer; nothing happens before `run`. */
export function createInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
  const { client, type, clock, ids, select = {}, pageSize = 500, watchSeconds = 300, backoff = BACKOFF } = options
  const keep = options.keep ?? ((object: T) => object)
  const log = options.log.child({ kind: type.kind })
  const handlers = new Set<(change: Change<T>) => void>()
  const cache = createCache<T>((change) => {
    for (const handler of handlers) handler(change)
  })
  for (const [name, indexer] of Object.entries(options.indexes ?? {})) cache.addIndex(name, indexer)
  const firstList = Promise.withResolvers<void>()
  let synced = false
  let failures = 0
  let isDenied = false

  async function listAll(signal: AbortSignal): Promise<Pick<ListPage<T>, 'items' | 'resourceVersion'>> {
    const items: T[] = []
    let token: string | undefined
    for (;;) {
      const page: ListPage<T> = await client.list(
        type,
        compact({ ...select, limit: pageSize, continue: token }),
        signal,
      )
      items.push(...page.items.map(keep))
      token = page.continue
      if (token === undefined) return { items, resourceVersion: page.resourceVersion }
    }
  }

  async function watchOnce(signal: AbortSignal): Promise<void> {
    const began = clock.monotonicMs()
    const seconds = Math.ceil(watchSeconds * (1 + ids.fraction()))
    let events = 0
    const what = `watch of ${type.plural}`
    await deadline({ clock, ms: (seconds + GRACE_SECONDS) * 1000, signal, what }, async (inner) => {
      const watch = { ...select, resourceVersion: cache.seen(), timeoutSeconds: seconds }
      for await (const event of client.watch(type, watch, inner)) {
        events += 1
        failures = 0
        cache.event(event.type === 'BOOKMARK' ? event : { type: event.type, object: keep(event.object) })
      }
    })
    if (events === 0 && clock.monotonicMs() - began < SHORT_WATCH_MS) throw new Error('the watch ended at once')
  }

  async function follow(signal: AbortSignal): Promise<void> {
    cache.replace(await listAll(signal))
    failures = 0
    isDenied = false
    if (!synced) {
      synced = true
      firstList.resolve()
    }
    while (!signal.aborted) {
      try {
        await watchOnce(signal)
      } catch (caught) {
        if (isApiError(caught, 'Expired')) return log.debug({}, 'watch is too old, listing again')
        await pause(caught, signal)
      }
    }
  }

  async function pause(caught: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const ms = backoffMs(failures, ids.fraction(), backoff)
    failures += 1
    // Parts that need the kind do not start without it, so a missing right is told once.
    if (isApiError(caught, 'Forbidden') && !isDenied) {
      log.warn({ error: toError(caught).message }, 'no right to list or watch a kind; what needs it waits')
    }
    isDenied = isApiError(caught, 'Forbidden')
    log.debug({ err: toError(caught), retryMs: ms }, 'list or watch failed')
    await clock.sleep(ms, signal).catch(() => {}) // aborted: the caller's loop ends
  }

  return {
    type,
    lister: cache.lister,
    addIndex: cache.addIndex,
    noteWrite: (object) => cache.noteWrite(keep(object)),
    synced: () => synced,
    onChange: (handler) => {
      handlers.add(handler)
      for (const object of cache.lister.list()) handler({ key: keyOf(object), before: undefined, after: object })
      return () => handlers.delete(handler)
    },
    whenSynced: (signal) => untilAborted(firstList.promise, signal),
    run: async (signal) => {
      while (!signal.aborted) {
        try {
          await follow(signal)
        } catch (caught) {
          await pause(caught, signal)
        }
      }
    },
  }
}
