import { DatabaseSync } from 'node:sqlite'
import { ApiError, toError } from '../core/errors.ts'
import { AUDIT_GENESIS, nextAuditRecord } from './audit-chain.ts'
import type { AuditRecord } from './audit-chain.ts'
import { createWatches, EventTail, historyExpiredError } from './event-log.ts'
import { RowCache } from './row-cache.ts'
import { limitSize, migrate, prepareStatements } from './sqlite-schema.ts'
import type { LogRow, Statements } from './sqlite-schema.ts'
import type { CommitResult, Store, StoreEntry, StoreEvent, StoreList, StoreRange, StoreWrite } from './store.ts'

/** Where the database is, and how it behaves. */
export interface SqliteStoreOptions {
  /** The database file; its folder must exist. */
  readonly path: string
  /**
   * Runs a function soon; the writes that were asked for until then share one transaction and one fsync. A composition
   * root passes `setImmediate`, so that all requests of the same turn of the event loop are together.
   */
  readonly defer?: (run: () => void) => void
  /** The file never grows over this; writes are refused as on a full disk. */
  readonly maxBytes?: number
  /** The caps of the newest events kept in memory. */
  readonly tail?: { readonly maxEvents: number; readonly maxBytes: number }
}

/** A write, or a line of the audit chain that belongs to no write. */
interface Pending {
  readonly write?: StoreWrite
  readonly note?: string
  resolve(result: CommitResult): void
  reject(error: Error): void
}

type AuditHead = Pick<AuditRecord, 'sequence' | 'hash'>

/** How many superseded revisions one transaction of a compaction sweeps. */
const SWEEP = 2000
const MAX_GROUP = 1000
/** Of rows kept in memory; rows of the newest events share their text with the tail. */
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

  /** Waits for the next group: a write, or a line of the audit chain that belongs to no write. */
  function enqueue(what: Pick<Pending, 'write' | 'note'>): Promise<CommitResult> {
    if (closed) return Promise.reject(unavailable(new Error('the store is closed')))
    return new Promise((resolve, reject) => {
      pending.push({ ...what, resolve, reject })
      if (pending.length === 1) defer(flush)
    })
  }

  const commit = (write: StoreWrite): Promise<CommitResult> => enqueue({ write })

  function flush(): void {
    while (pending.length > 0) {
      const group = pending.slice(0, MAX_GROUP)
      pending = pending.slice(MAX_GROUP)
      commitGroup(group)
    }
  }

  function commitGroup(group: readonly Pending[]): void {
    let written: WrittenGroup
    try {
      sql.begin()
      written = writeGroup(sql, group, { revision, auditHead, rowOf })
      sql.commit()
    } catch (error) {
      rollBack(db)
      for (const { reject } of group) reject(unavailable(toError(error)))
      return
    }
    const { events, rows, settle } = written
    auditHead = written.auditHead
    const before = revision
    revision += events.length
    for (const event of events) tail.push(event)
    for (const [key, row] of rows) {
      if (row) recent.set(row)
      else recent.delete(key)
    }
    watches.wake(new Set(events.map((event) => event.key)), before)
    for (const done of settle) done()
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
    auditHead: async () => auditHead,
    note: async (line) => void (await enqueue({ note: line })),
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

/** The state that a group of writes starts from. */
interface GroupStart {
  readonly revision: number
  readonly auditHead: AuditHead
  rowOf(key: string): LogRow | undefined
}

interface WrittenGroup {
  readonly events: readonly StoreEvent[]
  /** The newest row of each written key; only this group sees them before they are on disk. */
  readonly rows: ReadonlyMap<string, LogRow | undefined>
  /** Resolves or rejects each write, once the group is on disk. */
  readonly settle: readonly (() => void)[]
  readonly auditHead: AuditHead
}

/** Writes a group inside an open transaction. A write that is refused or throws does not stop the rest of its group. */
function writeGroup(sql: Statements, group: readonly Pending[], start: GroupStart): WrittenGroup {
  const events: StoreEvent[] = []
  const rows = new Map<string, LogRow | undefined>()
  const settle: (() => void)[] = []
  let { auditHead } = start
  for (const { write, note, resolve, reject } of group) {
    if (!write) {
      const revision = start.revision + events.length
      const record = nextAuditRecord(auditHead, revision, note ?? '')
      sql.appendAudit(record)
      auditHead = record
      settle.push(() => resolve({ ok: true, revision }))
      continue
    }
    let outcome: Outcome
    try {
      const current = rows.has(write.key) ? rows.get(write.key) : start.rowOf(write.key)
      outcome = prepareWrite(write, current, start.revision + events.length + 1)
    } catch (error) {
      settle.push(() => reject(toError(error)))
      continue
    }
    if (outcome.event) {
      sql.append(outcome.event, outcome.current)
      events.push(outcome.event)
      rows.set(write.key, rowAfter(outcome.event, outcome.current))
      if (write.audit !== undefined) {
        const record = nextAuditRecord(auditHead, outcome.event.revision, write.audit)
        sql.appendAudit(record)
        auditHead = record
      }
    }
    const { result } = outcome
    settle.push(() => resolve(result))
  }
  if (events.length > 0) sql.setRevision(start.revision + events.length)
  return { events, rows, settle, auditHead }
}

/** Often SQLite has rolled back already. If the disk refuses the rollback, the next write fails and says so. */
function rollBack(db: DatabaseSync): void {
  try {
    if (db.isTransaction) db.exec('ROLLBACK')
  } catch {
    // the transaction stays open and the next BEGIN says so
  }
}

/** Checks the expected revision and computes the new value. Errors of the value function are thrown. */
function prepareWrite(write: StoreWrite, current: LogRow | undefined, next: number): Outcome {
  if ((current?.modRevision ?? 0) !== write.expect) return { result: { ok: false, current: entryOf(current) } }
  if (!current && !write.value) return { result: { ok: true, revision: next - 1 } }
  const event = { key: write.key, revision: next, value: write.value?.(next), previous: current?.value }
  return { result: { ok: true, revision: next }, event, current }
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
