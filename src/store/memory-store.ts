import { invariant } from '../core/errors.ts'
import { AUDIT_GENESIS, nextAuditRecord } from './audit-chain.ts'
import type { AuditRecord } from './audit-chain.ts'
import { createWatches, historyExpiredError } from './event-log.ts'
import type { CommitResult, Store, StoreEntry, StoreEvent, StoreList, StoreRange, StoreWrite } from './store.ts'

/** A key at one revision; `value` undefined says that it was deleted then. */
interface Version {
  readonly revision: number
  readonly createRevision: number
  readonly value: string | undefined
}

/** How a store in memory begins. */
export interface MemoryStoreOptions {
  /**
   * The revision of the empty store, 0 unless told: two stores that begin far apart never mistake each other's
   * revisions.
   */
  readonly first?: number
  /** Number of newest revisions that can be read and watched from. Defaults to all, until `compact` is called. */
  readonly history?: number
  /** Whether the audit chain is kept; it is unless told. */
  readonly audit?: boolean
}

/** A store that forgets everything with its process: for embedded spokes, tests and the simulator. */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  const versions = new Map<string, Version[]>()
  const sortedKeys: string[] = []
  const audit: AuditRecord[] = []
  let log: StoreEvent[] = []
  let revision = options.first ?? 0
  let compacted = revision
  let closed = false

  const watches = createWatches({
    revision: () => revision,
    compacted: () => compacted,
    // Revisions have no gaps, so the event of revision r is at r - compacted - 1.
    read: (prefix, after, upTo) =>
      log.slice(after - compacted, upTo - compacted).filter((event) => event.key.startsWith(prefix)),
  })

  function entryAt(key: string, at: number): StoreEntry | undefined {
    const version = versions.get(key)?.findLast((candidate) => candidate.revision <= at)
    if (version?.value === undefined) return undefined
    return { key, value: version.value, createRevision: version.createRevision, modRevision: version.revision }
  }

  function list(range: StoreRange): StoreList {
    const at = range.revision ?? revision
    if (at < compacted) throw historyExpiredError(at, compacted)
    const after = range.after !== undefined && range.after >= range.prefix ? range.after : undefined
    const entries: StoreEntry[] = []
    let remaining = 0
    for (let index = lowerBound(sortedKeys, after ?? range.prefix); index < sortedKeys.length; index += 1) {
      const key = sortedKeys[index]!
      if (!key.startsWith(range.prefix)) break
      const entry = key === after ? undefined : entryAt(key, at)
      if (!entry) continue
      const isOver = range.limit !== undefined && entries.length >= range.limit
      if (isOver && range.isCounted === false) return { entries, revision: at, more: true, remaining: 0 }
      if (isOver) remaining += 1
      else entries.push(entry)
    }
    return { entries, revision: at, more: remaining > 0, remaining }
  }

  function commit(write: StoreWrite): CommitResult {
    invariant(!closed, 'the store is closed')
    const current = entryAt(write.key, revision)
    if ((current?.modRevision ?? 0) !== write.expect) return { ok: false, current }
    if (!current && !write.value) return { ok: true, revision }
    const next = revision + 1
    const value = write.value?.(next)
    const history = versions.get(write.key)
    const version: Version = { revision: next, createRevision: current?.createRevision ?? next, value }
    if (history) history.push(version)
    else {
      versions.set(write.key, [version])
      sortedKeys.splice(lowerBound(sortedKeys, write.key), 0, write.key)
    }
    log.push({ key: write.key, revision: next, value, previous: current?.value })
    if (write.audit !== undefined && options.audit !== false) {
      audit.push(nextAuditRecord(audit.at(-1) ?? { sequence: 0, hash: AUDIT_GENESIS }, next, write.audit))
    }
    revision = next
    watches.wake([write.key], next - 1)
    // Half of it at a time, so that most writes have nothing to forget.
    if (options.history !== undefined && log.length > 2 * options.history) compact(next - options.history)
    return { ok: true, revision: next }
  }

  function compact(upTo: number): void {
    invariant(upTo <= revision, `compaction at ${upTo} is ahead of revision ${revision}`)
    if (upTo <= compacted) return
    for (const event of log.slice(0, upTo - compacted)) dropHistory(event.key, upTo)
    log = log.slice(upTo - compacted)
    compacted = upTo
  }

  // Keeps what the key was at the compacted revision, because later events still show it as their previous value.
  function dropHistory(key: string, upTo: number): void {
    const history = versions.get(key)
    if (!history) return
    const last = history.findLastIndex((version) => version.revision <= upTo)
    if (last < 0) return
    const kept = history.slice(history[last]!.value === undefined ? last + 1 : last)
    if (kept.length > 0) {
      versions.set(key, kept)
      return
    }
    versions.delete(key)
    sortedKeys.splice(lowerBound(sortedKeys, key), 1)
  }

  return {
    get: async (key, at = revision) => {
      if (at < compacted) throw historyExpiredError(at, compacted)
      return entryAt(key, at)
    },
    list: async (range) => list(range),
    commit: async (write) => commit(write),
    revision: () => revision,
    watch: watches.watch,
    compact: async (upTo) => compact(upTo),
    audit: async (after, limit) => audit.slice(after, after + limit),
    auditHead: async () => audit.at(-1) ?? { sequence: 0, hash: AUDIT_GENESIS },
    note: async (line) => {
      invariant(!closed, 'the store is closed')
      if (options.audit === false) return
      audit.push(nextAuditRecord(audit.at(-1) ?? { sequence: 0, hash: AUDIT_GENESIS }, revision, line))
    },
    async close() {
      closed = true
      watches.close()
    },
  }
}

/** The index of the first key that is not before `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (keys[middle]! < key) low = middle + 1
    else high = middle
  }
  return low
}
