import { isApiError, toError } from '../../core/errors.ts'
import { jsonClone, jsonEqual } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { mapAt } from '../../kinds/builtin/read-path.ts'
import type { Store, StoreEvent } from '../../store/store.ts'
import type { ServerParts } from '../server/context.ts'
import type { RunningFollower } from '../storage/follow-kind.ts'
import { parseStored, storePrefix, parseStoreEntry, storeKey, serializeObject } from '../storage/stored-object.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { internalAuditLine } from '../server/internal-audit-line.ts'
import { readAmounts, sameAmounts, writeAmounts } from './amounts.ts'
import type { Amounts } from './amounts.ts'
import { createCountedObjects } from './counted-objects.ts'
import { statusOf, computeUsed } from './evaluate-quotas.ts'
import { createPending } from './pending-charges.ts'
import type { PendingCharges } from './pending-charges.ts'

/**
 * Keeps the status of quotas true as objects come and go. It follows every change in one order while there is any
 * quota, and keeps what each counted object uses; what writes under way have been charged is added until they can be
 * seen.
 */
export interface QuotaStatusController extends RunningFollower {
  readonly pending: PendingCharges
  /** Resolves once all writes up to now are counted, or the controller has stopped. */
  caughtUp(): Promise<void>
}

const CONTROLLER = 'system:serviceaccount:kube-system:resourcequota-controller'
const RETRY_MS = 500
const EVERYTHING = '/'

type QuotaParts = Pick<ServerParts, 'store' | 'clock' | 'log' | 'registry'>

/** Starts keeping the quotas of a kind until the signal is aborted; `done` never rejects. */
export function startQuotaStatusController(parts: QuotaParts, kind: Kind, signal: AbortSignal): QuotaStatusController {
  const { store, clock, log } = parts
  const begun = Promise.withResolvers<void>()
  const prefix = storePrefix(kind)
  const counted = createCountedObjects(parts, kind)
  const dirty = new Set<string>()
  let seen = 0
  let working: Promise<void> | undefined
  const waiters = createRevisionWaiters()
  const pending = createPending(mark)

  function mark(namespace: string): void {
    if (!counted.has(namespace)) return
    dirty.add(namespace)
    working ??= work()
  }

  const markChanged = (namespace: string | undefined) => namespace !== undefined && mark(namespace)

  async function work(): Promise<void> {
    // The caller that marked the namespace finishes first.
    await Promise.resolve()
    for (const namespace of dirty) {
      dirty.delete(namespace)
      try {
        await recount(namespace)
      } catch (error) {
        if (signal.aborted) break
        log.error({ err: toError(error), namespace }, 'quotas could not be counted')
        dirty.add(namespace)
        await clock.sleep(RETRY_MS, signal).catch(() => {})
      }
    }
    working = undefined
    release()
  }

  function release(): void {
    if (signal.aborted) waiters.release(Infinity)
    else if (!working) waiters.release(seen)
  }

  async function recount(namespace: string): Promise<void> {
    const { entries } = await store.list({ prefix: storePrefix(kind, namespace) })
    for (const stored of entries.map(parseStoreEntry)) {
      const usage = counted.get(namespace)
      if (!usage) continue
      const charged = pending.beyond(namespace, stored.object.metadata.name, seen)
      const used = computeUsed(stored.object, usage.types, { objects: usage.objects.values(), charged })
      if (!(await writeStatus({ store, clock, kind }, stored, used))) dirty.add(namespace)
    }
  }

  async function open(namespace: string, revision: number): Promise<void> {
    if (await counted.read(namespace, revision)) mark(namespace)
  }

  /** Follows every change while there are quotas. True when the last quota is gone. */
  async function follow(revision: number): Promise<boolean> {
    let kinds = parts.registry.revision()
    for await (const event of store.watch(EVERYTHING, revision, signal)) {
      const namespace = event.key.startsWith(prefix) ? namespaceOf(event.key, prefix) : undefined
      if (kinds !== parts.registry.revision()) {
        kinds = parts.registry.revision()
        for (const known of counted.namespaces()) await open(known, event.revision)
      }
      if (namespace !== undefined && changesSpec(event)) await open(namespace, event.revision)
      else markChanged(counted.count(event))
      markChanged(namespace)
      seen = event.revision
      release()
      if (counted.namespaces().length === 0) return true
    }
    return false
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        const { entries, revision } = await store.list({ prefix })
        counted.clear()
        for (const namespace of new Set(entries.map(({ key }) => namespaceOf(key, prefix)))) {
          await open(namespace, revision)
        }
        seen = revision
        begun.resolve()
        release()
        // Without an abort the store itself was closed.
        if (
          counted.namespaces().length > 0
            ? !(await follow(revision))
            : !(await hasEvent(store, prefix, revision, signal))
        )
          return
      } catch (error) {
        if (signal.aborted) return
        if (!isApiError(error, 'Expired')) log.error({ err: toError(error) }, 'watch for quotas failed')
        await clock.sleep(RETRY_MS, signal).catch(() => {})
      }
    }
  }

  const done = run().finally(async () => {
    begun.resolve()
    await working
    seen = Infinity
    release()
  })
  return {
    pending,
    ready: begun.promise,
    done,
    caughtUp: () => {
      const waited = waiters.wait(store.revision())
      release()
      return waited
    },
  }
}

/** Callers that wait until a revision is counted. */
function createRevisionWaiters() {
  let waiting: { readonly revision: number; resolve(): void }[] = []
  return {
    wait: (revision: number): Promise<void> => new Promise((resolve) => waiting.push({ revision, resolve })),
    /** Ends the waits for revisions up to this one. */
    release(upTo: number): void {
      const ready = waiting.filter(({ revision }) => revision <= upTo)
      waiting = waiting.filter(({ revision }) => revision > upTo)
      for (const { resolve } of ready) resolve()
    },
  }
}

/** Writes the status of a quota if it differs. False when another write came first. */
async function writeStatus(
  { store, clock, kind }: Pick<QuotaParts, 'store' | 'clock'> & { readonly kind: Kind },
  { object, revision }: StoredObject,
  used: Amounts,
): Promise<boolean> {
  const hard = readAmounts(mapAt(object, 'spec.hard'))
  const recorded = statusOf(object)
  if (sameAmounts(hard, recorded.hard) && sameAmounts(used, recorded.used)) return true
  const next = jsonClone(object)
  next['status'] = { hard: writeAmounts(hard), used: writeAmounts(used) }
  const audit = internalAuditLine({ clock }, CONTROLLER, { kind, object: next, verb: 'update' })
  const key = storeKey(kind, object.metadata)
  return (await store.commit({ key, expect: revision, value: serializeObject(next), audit })).ok
}

function namespaceOf(key: string, prefix: string): string {
  return key.slice(prefix.length).split('/')[0]!
}

/** Waits for the next change below a prefix. False when the signal is aborted or the store is closed. */
async function hasEvent(store: Store, prefix: string, revision: number, signal: AbortSignal): Promise<boolean> {
  for await (const _event of store.watch(prefix, revision, signal)) return true
  return false
}

/** Whether a quota was created, deleted or has another spec; most changes are changes of its status. */
function changesSpec({ value, previous }: StoreEvent): boolean {
  if (value === undefined || previous === undefined) return true
  return !jsonEqual(parseStored(value)['spec'], parseStored(previous)['spec'])
}
