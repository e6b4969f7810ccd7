/**
 * Watches whose caller is checked again. A watch is authorized when it begins and may last for an hour; without another
 * check it would deliver objects after the caller lost the right, the token expired or the account was deleted.
 */
import { toError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import { Secret, ServiceAccount } from '../../kinds/builtin/core.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { ServerParts } from '../server/context.ts'
import { storePrefix } from '../storage/stored-object.ts'

export interface OpenWatches {
  /** Registers a watch. The signal is aborted when the check fails; the caller calls `close` when the watch ends. */
  open(watch: WatchAccess): { readonly signal: AbortSignal; close(): void }
  /** Checks all open watches: roles or accounts have changed. */
  reconsider(): void
  /** Resolves when the signal has ended everything. */
  readonly done: Promise<void>
}

export interface WatchAccess {
  /** Whether the caller still has the right. */
  readonly check: () => Promise<boolean>
  /** The end of the caller's token, in milliseconds. */
  readonly expires?: number | undefined
}

/** Tokens are bound to accounts, and may be bound to these kinds. */
const BOUND: readonly Pick<Kind, 'group' | 'plural'>[] = [ServiceAccount, Secret, { group: '', plural: 'pods' }]
const RETRY_MS = 500

export function startOpenWatches(
  parts: Pick<ServerParts, 'store' | 'clock' | 'log'>,
  signal: AbortSignal,
): OpenWatches {
  const { store, clock, log } = parts
  const watches = new Map<AbortController, WatchAccess>()
  let isDue = false
  let work = Promise.resolve()

  async function checkAll(before: Promise<void>): Promise<void> {
    await before
    isDue = false
    for (const [ended, { check }] of watches) {
      const isAllowed = await check().catch((caught: unknown) => {
        log.error({ err: toError(caught) }, 'the right to watch could not be checked')
        return false
      })
      if (!isAllowed) ended.abort()
    }
  }

  function reconsider(): void {
    if (isDue || watches.size === 0) return
    isDue = true
    work = checkAll(work)
  }

  /** Reconsiders after each object that tokens can be bound to is deleted. */
  async function follow(kind: (typeof BOUND)[number]): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const { value } of store.watch(storePrefix(kind), store.revision(), signal)) {
          if (value === undefined || isBeingDeleted(value)) reconsider()
        }
        return // the store was closed
      } catch (caught) {
        if (signal.aborted) return
        log.debug({ err: toError(caught) }, 'watch failed')
        await clock.sleep(RETRY_MS, signal).catch(() => {})
        reconsider()
      }
    }
  }

  const followers = Promise.all(BOUND.map(follow)).then(() => work)
  return {
    open(access) {
      const ended = new AbortController()
      watches.set(ended, access)
      const closed = new AbortController()
      if (access.expires !== undefined) {
        const left = Math.max(0, access.expires - clock.now())
        clock.sleep(left, closed.signal).then(
          () => ended.abort(),
          () => {}, // the watch ended before
        )
      }
      return {
        signal: ended.signal,
        close: () => {
          watches.delete(ended)
          closed.abort()
        },
      }
    },
    reconsider,
    done: followers,
  }
}

function isBeingDeleted(value: string): boolean {
  if (!value.includes('"deletionTimestamp"')) return false
  const { metadata } = JSON.parse(value) as { metadata?: unknown }
  return isObject(metadata) && metadata['deletionTimestamp'] !== undefined
}
