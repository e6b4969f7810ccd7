import { isApiError, toError } from '../../core/errors.ts'
import { jsonClone, jsonEqual } from '../../core/json.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { mapAt } from '../../kinds/builtin/read-path.ts'
import type { StoreEvent } from '../../store/store.ts'
import type { ServerParts } from '../server/context.ts'
import type { RunningFollower } from '../storage/follow-kind.ts'
import { parseStored, storePrefix, parseStoreEntry, storeKey, serializeObject } from '../storage/stored-object.ts'
import type { StoredObject } from '../storage/stored-object.ts'
import { internalAuditLine } from '../server/internal-audit-line.ts'
import { readAmounts, sameAmounts, writeAmounts } from './amounts.ts'
import { statusOf, computeUsed } from './evaluate-quotas.ts'
import { createPending } from './pending-charges.ts'
import type { PendingCharges } from './pending-charges.ts'
import { measureUsage, resourceNamesForType } from './usage.ts'
import type { CountedType, ObjectUsage } from './usage.ts'

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

/** The objects of a namespace with quotas that its quotas are about. */
interface Book {
  readonly types: readonly CountedType[]
  readonly objects: Map<string, ObjectUsage>
}

const RETRY_MS = 500
const EVERYTHING = '/'

type KeeperParts = Pick<ServerParts, 'store' | 'clock' | 'log' | 'registry'>

/** Starts keeping the quotas of a kind until the signal is aborted; `done` never rejects. */
export function startQuotaStatusController(parts: KeeperParts, kind: Kind, signal: AbortSignal): QuotaStatusController {
  const { store, clock, log } = parts
  const begun = Promise.withResolvers<void>()
  const prefix = storePrefix(kind)
  const books = new Map<string, Book>()
  const dirty = new Set<string>()
  let seen = 0
  let working: Promise<void> | undefined
  let waiting: { readonly revision: number; resolve(): void }[] = []
  const pending = createPending(mark)

  function mark(namespace: string): void {
    if (!books.has(namespace)) return
    dirty.add(namespace)
    working ??= work()
  }

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
    if (working && !signal.aborted) return
    const ready = waiting.filter(({ revision }) => revision <= seen || signal.aborted)
    waiting = waiting.filter((waiter) => !ready.includes(waiter))
    for (const { resolve } of ready) resolve()
  }

  async function recount(namespace: string): Promise<void> {
    const { entries } = await store.list({ prefix: storePrefix(kind, namespace) })
    for (const stored of entries.map(parseStoreEntry)) {
      const book = books.get(namespace)
      if (book && !(await writeStatus(stored, book))) dirty.add(namespace)
    }
  }

  /** False when another write came first. */
  async function writeStatus({ object, revision }: StoredObject, book: Book): Promise<boolean> {
    const { name, namespace = '' } = object.metadata
    const charged = pending.beyond(namespace, name, seen)
    const used = computeUsed(object, book.types, { objects: book.objects.values(), charged })
    const hard = readAmounts(mapAt(object, 'spec.hard'))
    const said = statusOf(object)
    if (sameAmounts(hard, said.hard) && sameAmounts(used, said.used)) return true
    const next = jsonClone(object)
    next['status'] = { hard: writeAmounts(hard), used: writeAmounts(used) }
    const by = 'system:serviceaccount:kube-system:resourcequota-controller'
    const audit = internalAuditLine({ clock }, by, { kind, object: next, verb: 'update' })
    const key = storeKey(kind, object.metadata)
    return (await store.commit({ key, expect: revision, value: serializeObject(next), audit })).ok
  }

  /** Reads what the quotas of a namespace are about, as of a revision. */
  async function open(namespace: string, revision: number): Promise<void> {
    const { entries } = await store.list({ prefix: storePrefix(kind, namespace), revision })
    if (entries.length === 0) return void books.delete(namespace)
    const names = new Set(entries.flatMap(({ value }) => Object.keys(mapAt(parseStored(value), 'spec.hard'))))
    const counted = parts.registry.all().filter(({ scope }) => scope === 'Namespaced')
    const types = new Map(
      counted.filter((type) => resourceNamesForType(type, names).length > 0).map((type) => [storePrefix(type), type]),
    )
    const objects = new Map<string, ObjectUsage>()
    for (const type of types.values()) {
      const found = await store.list({ prefix: storePrefix(type, namespace), revision })
      for (const { key, value } of found.entries) objects.set(key, measureUsage(type, parseStored(value), clock.now()))
    }
    books.set(namespace, { types: [...types.values()], objects })
    mark(namespace)
  }

  function count({ key, value }: StoreEvent): void {
    const [, group, plural, namespace, name] = key.split('/')
    const book = name === undefined ? undefined : books.get(namespace!)
    const type = book?.types.find((one) => one.plural === plural && (one.group || '_') === group)
    if (!book || !type) return
    const before = book.objects.get(key)
    if (value === undefined) book.objects.delete(key)
    else {
      const now = measureUsage(type, parseStored(value), clock.now())
      book.objects.set(key, now)
      if (before && isSame(before, now)) return
    }
    mark(namespace!)
  }

  /** Follows everything while there are quotas; true when there are none left. */
  async function follow(revision: number): Promise<boolean> {
    let kinds = parts.registry.revision()
    for await (const event of store.watch(EVERYTHING, revision, signal)) {
      const namespace = event.key.startsWith(prefix) ? namespaceOf(event.key) : undefined
      if (kinds !== parts.registry.revision()) {
        kinds = parts.registry.revision()
        for (const known of books.keys()) await open(known, event.revision)
      }
      if (namespace !== undefined && changesMeaning(event)) await open(namespace, event.revision)
      else count(event)
      if (namespace !== undefined) mark(namespace)
      seen = event.revision
      release()
      if (books.size === 0) return true
    }
    return false
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        const { entries, revision } = await store.list({ prefix })
        books.clear()
        for (const namespace of new Set(entries.map(({ key }) => namespaceOf(key)))) {
          await open(namespace, revision)
        }
        seen = revision
        begun.resolve()
        release()
        // Without an abort the store itself was closed.
        if (books.size > 0 ? !(await follow(revision)) : !(await hasEvent(revision))) return
      } catch (error) {
        if (signal.aborted) return
        if (!isApiError(error, 'Expired')) log.error({ err: toError(error) }, 'watch for quotas failed')
        await clock.sleep(RETRY_MS, signal).catch(() => {})
      }
    }
  }

  function namespaceOf(key: string): string {
    return key.slice(prefix.length).split('/')[0]!
  }

  async function hasEvent(revision: number): Promise<boolean> {
    for await (const _event of store.watch(prefix, revision, signal)) return true
    return false
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
    caughtUp: () =>
      new Promise((resolve) => {
        waiting.push({ revision: store.revision(), resolve })
        release()
      }),
  }
}

/** Whether a quota came, went or is about something else now; most changes are of its status. */
function changesMeaning({ value, previous }: StoreEvent): boolean {
  if (value === undefined || previous === undefined) return true
  return !jsonEqual(parseStored(value)['spec'], parseStored(previous)['spec'])
}

function isSame(a: ObjectUsage, b: ObjectUsage): boolean {
  if (!sameAmounts(a.usage, b.usage) || a.traits.size !== b.traits.size) return false
  return [...a.traits].every(([scope, has]) => b.traits.get(scope)?.join() === has.join())
}
