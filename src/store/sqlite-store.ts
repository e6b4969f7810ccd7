import { DatabaseSync } from 'node:sqlite'
import { ApiError, toError } from '../core/errors.ts'
import { AUDIT_GENESIS, nextAuditRecord } from './audit-chain.ts'
import type { AuditRecord } from './audit-chain.ts'
import { createWatches, EventTail, historyExpiredError } from './event-log.ts'
import { RowCache } from './row-cache.ts'
import { limitSize, migrate, prepareStatements } from './sqlite-schema.ts'
import type { LogRow } from './sqlite-schema.ts'
import type { CommitResult, Store, StoreEntry, StoreEvent, StoreList, StoreRange, StoreWrite } from './store.ts'

/** Where the database is, and how it behaves. */
export interface SqliteStoreOptions {
  /** The database file; its folder must exist. */
  readonly path: string
  /**
   * Runs a function soon; the writes that were asked for until then share one transaction and one fsync. A composition
   * root passes `setImmediate`, so that all requests of one turn of the event loop are together.
   */
  readonly defer?: (run: () => void) => void
  /** The file never grows over this; writes are refused as on a full disk. */
  readonly maxBytes?: number
  /** The caps of the newest events kept in memory. */
  readonly tail?: { readonly maxEvents: number; readonly maxBytes: number }
}

interface Pending {
  readonly write: StoreWrite
  resolve(result: CommitResult): void
  reject(error: Error): void
}

type AuditHead = Pick<AuditRecord, 'sequence' | 'hash'>

/** How many superseded revisions one transaction of a compaction sweeps. */
const SWEEP = 2000
const MAX_GROUP = 1000
/** Of rows kept in memory; those of the newest events share their text with the tail. */
const RECENT_BYTES = 4 * 1024 * 1024

/**
 * A store in one SQLite file (WAL, synchronous=FULL). The log holds every value once, `current` only points into it. A
 * commit resolves after the COMMIT of its group is on disk, so an acknowledged write survives `kill -9` and power loss.
 */
export function createSqliteStore(options: SqliteStoreOptions): Store {
  const db = new DatabaseSync(options.path)
  migrate(db)
  if (options.maxBytes !== undefined) limitSize(db, options.maxBytes)
  const sql = prepareStatements(db)
  const defer = options.defer ?? queueMicrotask
  const tail = new EventTail(options.tail ?? { maxEvents: 2_000, maxBytes: 4 * 1024 * 1024 })
  const recent = new RowCache(RECENT_BYTES)
  let { revision, compacted } = sql.readState()
  let auditHead: AuditHead = sql.auditHead() ?? { sequence: 0, hash: AUDIT_GENESIS }
  let pending: Pending[] = []
  let closed = false

  const watches = createWatches({
    revision: () => revision,
    compacted: () => compacted,
    read: (prefix, after, upTo) => tail.read(prefix, after, upTo) ?? sql.readEvents(prefix, after, upTo),
  })

  function commit(write: StoreWrite): Promise<CommitResult> {
    if (closed) return Promise.reject(unavailable(new Error('the store is closed')))
    return new Promise((resolve, reject) => {
      pending.push({ write, resolve, reject })
      if (pending.length === 1) defer(flush)
    })
  }

  function flush(): void {
    while (pending.length > 0) {
      const group = pending.slice(0, MAX_GROUP)
      pending = pending.slice(MAX_GROUP)
      commitGroup(group)
    }
  }

  function commitGroup(group: readonly Pending[]): void {
    const events: StoreEvent[] = []
    // What this group has written so far; readers do not see it before it is on disk.
    const written = new Map<string, LogRow | undefined>()
    const settle: (() => void)[] = []
    let head = auditHead
    try {
      sql.begin()
      for (const { write, resolve, reject } of group) {
        let outcome: Outcome
        try {
          const current = written.has(write.key) ? written.get(write.key) : rowOf(write.key)
          outcome = prepareWrite(write, current, revision + events.length + 1)
        } catch (error) {
          settle.push(() => reject(toError(error)))
          continue
        }
        if (outcome.event) {
          sql.append(outcome.event, outcome.current)
          events.push(outcome.event)
          written.set(write.key, rowAfter(outcome.event, outcome.current))
          if (write.audit !== undefined) {
            const record = nextAuditRecord(head, outcome.event.revision, write.audit)
            sql.appendAudit(record)
            head = record
          }
        }
        const { result } = outcome
        settle.push(() => resolve(result))
      }
      if (events.length > 0) sql.setRevision(revision + events.length)
      sql.commit()
    } catch (error) {
      rollBack()
      for (const { reject } of group) reject(unavailable(toError(error)))
      return
    }
    auditHead = head
    const before = revision
    revision += events.length
    for (const event of events) tail.push(event)
    for (const [key, row] of written) {
      if (row) recent.set(row)
      else recent.delete(key)
    }
    watches.wake(new Set(events.map((event) => event.key)), before)
    for (const done of settle) done()
  }

  /** SQLite has often done it by itself; a disk that refuses this, too, is told by the next write. */
  function rollBack(): void {
    try {
      if (db.isTransaction) db.exec('ROLLBACK')
    } catch {
      // the transaction stays open and the next BEGIN says so
    }
  }

  /** Checks the expectation and makes the new value; throws what the value function throws. */
  function prepareWrite(write: StoreWrite, current: LogRow | undefined, next: number): Outcome {
    if ((current?.modRevision ?? 0) !== write.expect) return { result: { ok: false, current: entryOf(current) } }
    if (!current && !write.value) return { result: { ok: true, revision: next - 1 } }
    const event = { key: write.key, revision: next, value: write.value?.(next), previous: current?.value }
    return { result: { ok: true, revision: next }, event, current }
  }

  function rowOf(key: string): LogRow | undefined {
    const known = recent.get(key)
    if (known) return known
    const row = sql.get(key)
    if (row) recent.set(row)
    return row
  }

  function list(range: StoreRange): StoreList {
    const at = range.revision ?? revision
    if (at < compacted) throw historyExpiredError(at, compacted)
    const after = range.after !== undefined && range.after >= range.prefix ? range.after : range.prefix
    const rows = sql.list({ ...range, after, at: at < revision ? at : undefined })
    const cut = range.limit !== undefined && rows.length > range.limit
    const entries = (cut ? rows.slice(0, range.limit) : rows).map((row) => entryOf(row)!)
    const last = entries.at(-1)?.key ?? after
    const remaining =
      cut && range.isCounted !== false
        ? sql.count({ prefix: range.prefix, after: last, at: at < revision ? at : undefined })
        : 0
    return { entries, revision: at, more: cut, remaining }
  }

  async function compact(upTo: number): Promise<void> {
    if (upTo > revision) throw new RangeError(`compaction at ${upTo} is ahead of revision ${revision}`)
    if (upTo > compacted) {
      sql.setCompacted(upTo)
      compacted = upTo
    }
    // In small transactions, so that writes and reads go on in between; a crash in the middle is resumed by the next
    // one.
    const isOpen = () => !closed
    while (isOpen() && sql.sweep(compacted, SWEEP)) await new Promise<void>((resolve) => defer(resolve))
  }

  return {
    get: async (key, at = revision) => {
      if (at < compacted) throw historyExpiredError(at, compacted)
      return entryOf(at < revision ? sql.getPast(key, at) : rowOf(key))
    },
    list: async (range) => list(range),
    commit,
    revision: () => revision,
    watch: watches.watch,
    compact,
    audit: async (after, limit) => sql.auditAfter(after, limit),
    async close() {
      if (closed) return
      flush()
      closed = true
      watches.close()
      db.close()
    },
  }
}

interface Outcome {
  readonly result: CommitResult
  readonly event?: StoreEvent
  readonly current?: LogRow | undefined
}

function rowAfter({ key, value, revision }: StoreEvent, before: LogRow | undefined): LogRow | undefined {
  if (value === undefined) return undefined
  return { key, value, createRevision: before?.createRevision ?? revision, modRevision: revision }
}

function entryOf(row: LogRow | undefined): StoreEntry | undefined {
  if (!row) return undefined
  return { key: row.key, value: row.value, createRevision: row.createRevision, modRevision: row.modRevision }
}

function unavailable(cause: Error): ApiError {
  return new ApiError(
    'ServiceUnavailable',
    `the store cannot write: ${cause.message}; nothing was changed. Check the disk of the data directory (space, permissions) and try again`,
    { retryAfterSeconds: 1 },
    { cause },
  )
}
