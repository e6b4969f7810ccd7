import { compact } from '../../core/compact.ts'
import { isApiError, toError } from '../../core/errors.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { StoreEvent } from '../../store/store.ts'
import type { ServerParts } from '../server/context.ts'
import { parseStored } from '../storage/stored-object.ts'
import { collectObject, ownerKeysOf } from './collect-object.ts'
import { FOREGROUND, ORPHAN, isWaitingForDependents } from './finalizers.ts'
import { OwnerGraph } from './owner-graph.ts'

/**
 * The garbage collector: follows every change of every kind in order, maintains the graph of owners, and deletes
 * objects that lost their last owner. It stores nothing: after a restart it reads all objects and continues.
 */

const RETRY_MS = 1000
const AT_ONCE = 32
const PAGE = 1000
const EVERYTHING = '/'

/** Runs until the signal is aborted or the store is closed; the promise never rejects. */
export async function runCollector(parts: ServerParts, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      return await follow(parts, signal)
    } catch (error) {
      if (signal.aborted) return
      if (!isApiError(error, 'Expired')) parts.log.error({ err: toError(error) }, 'garbage collector: watch failed')
      await parts.clock.sleep(RETRY_MS, signal).catch(() => {})
    }
  }
}

async function follow(parts: ServerParts, outer: AbortSignal): Promise<void> {
  const ending = new AbortController()
  const signal = AbortSignal.any([outer, ending.signal])
  const graph = new OwnerGraph()
  const progress = createProgress()
  const queue = createQueue(async (key) => {
    try {
      await collectObject({ parts, graph, signal, seen: progress.reached }, key)
    } catch (error) {
      if (signal.aborted) return
      parts.log.warn({ err: toError(error), key }, 'garbage collector: will try again')
      retry(key)
    }
  })
  const retry = (key: string) =>
    void parts.clock.sleep(RETRY_MS, signal).then(
      () => queue.add(key),
      () => {},
    )

  function saw(key: string, object: UnknownObject | undefined, previous: UnknownObject | undefined): void {
    const ownersChanged = graph.note(key, object)
    const uid = (object ?? previous)?.metadata.uid
    if (!object) {
      if (uid) for (const dependent of graph.dependentsOf(uid)) queue.add(dependent)
    } else if (isWaitingForDependents(object, FOREGROUND)) {
      queue.add(key)
      if (uid) for (const dependent of graph.dependentsOf(uid)) queue.add(dependent)
    } else if (isWaitingForDependents(object, ORPHAN) || ownersChanged) queue.add(key)
    // An owner may wait for this very dependent to go, or to stop blocking.
    if (previous) for (const owner of ownerKeysOf(parts, previous)) queue.add(owner)
  }

  try {
    const revision = parts.store.revision()
    for (let after: string | undefined, more = true; more;) {
      const range = { prefix: EVERYTHING, limit: PAGE, isCounted: false, revision }
      const page = await parts.store.list({ ...range, ...compact({ after: after || undefined }) })
      for (const { key, value } of page.entries) if (concerns(value)) saw(key, parseStored(value), undefined)
      after = page.entries.at(-1)?.key
      more = page.more
      if (signal.aborted) return
    }
    progress.to(revision)
    queue.start()
    for await (const event of parts.store.watch(EVERYTHING, revision, signal)) {
      if (isRelevant(event)) {
        saw(
          event.key,
          event.value === undefined ? undefined : parseStored(event.value),
          event.previous === undefined ? undefined : parseStored(event.previous),
        )
      }
      progress.to(event.revision)
    }
  } finally {
    ending.abort()
    progress.end()
    await queue.end()
  }
}

/** A deletion matters to dependents; an update matters only when the object has owners or is being deleted. */
function isRelevant({ value, previous }: StoreEvent): boolean {
  return value === undefined || concerns(value) || (previous !== undefined && concerns(previous))
}

// Reading the text costs a tenth of parsing it, and most objects have neither.
function concerns(text: string): boolean {
  return text.includes('"ownerReferences":') || text.includes('"deletionTimestamp":')
}

/** The revision that the watch has reached, for decisions that need at least this revision. */
function createProgress() {
  let at = 0
  let ended = false
  let waiting: { readonly revision: number; resolve(): void; reject(error: Error): void }[] = []
  return {
    to(revision: number) {
      at = revision
      const ready = waiting.filter((waiter) => waiter.revision <= at)
      if (ready.length === 0) return
      waiting = waiting.filter((waiter) => waiter.revision > at)
      for (const { resolve } of ready) resolve()
    },
    reached: (revision: number) =>
      new Promise<void>((resolve, reject) => {
        if (revision <= at) resolve()
        else if (ended) reject(new Error('the watch has ended'))
        else waiting.push({ revision, resolve, reject })
      }),
    end() {
      ended = true
      for (const { reject } of waiting) reject(new Error('the watch has ended'))
      waiting = []
    },
  }
}

/** Keys to look at, each once however often it was asked for, and never two looks at one key at the same time. */
function createQueue(work: (key: string) => Promise<void>) {
  const keys = new Set<string>()
  const running = new Map<string, Promise<void>>()
  let state: 'waiting' | 'open' | 'ended' = 'waiting'
  function pump(): void {
    for (const key of keys) {
      if (state !== 'open' || running.size >= AT_ONCE) return
      if (running.has(key)) continue
      keys.delete(key)
      running.set(
        key,
        work(key).finally(() => {
          running.delete(key)
          pump()
        }),
      )
    }
  }
  return {
    add(key: string) {
      keys.add(key)
      pump()
    },
    start() {
      state = 'open'
      pump()
    },
    async end() {
      state = 'ended'
      await Promise.all(running.values())
    },
  }
}
