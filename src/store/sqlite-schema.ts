import type { DatabaseSync } from 'node:sqlite'
import type { AuditRecord } from './audit-chain.ts'
import type { StoreEvent } from './store.ts'

/** The tables of the SQLite store and every statement over them. */

/** A present or past value of a key. */
export interface LogRow {
  readonly key: string
  readonly value: string
  readonly createRevision: number
  readonly modRevision: number
}

/** A range of keys, now or (with `at`) in the past. */
export interface RowRange {
  readonly prefix: string
  readonly after: string
  readonly limit?: number
  readonly at?: number | undefined
}

const SCHEMA_VERSION = 1
const CHECKPOINT_PAGES = 4000

const SCHEMA = `
  CREATE TABLE log (
    revision INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    value TEXT,                -- NULL: deleted at this revision
    create_revision INTEGER NOT NULL,
    previous INTEGER NOT NULL  -- the revision this one supersedes, 0: none
  ) STRICT;
  CREATE INDEX log_key ON log (key, revision);
  CREATE TABLE current (key TEXT PRIMARY KEY, revision INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE audit (sequence INTEGER PRIMARY KEY, revision INTEGER NOT NULL, line TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
  CREATE TABLE state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    revision INTEGER NOT NULL,  -- the newest revision, kept also when its row is swept
    compacted INTEGER NOT NULL, -- history up to here is refused
    swept INTEGER NOT NULL      -- history up to here is deleted
  ) STRICT;
  INSERT INTO state VALUES (1, 0, 0, 0);
`

/** Makes the tables in a new file and checks the version of an old one. */
export function migrate(db: DatabaseSync): void {
  db.exec('PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
  // Hot pages are copied back into the file once for many writes; after a crash this much of the log is read at most.
  db.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  const version = Number(db.prepare('PRAGMA user_version').get()!['user_version'])
  if (version === SCHEMA_VERSION) return
  if (version !== 0) {
    throw new Error(`the database has layout ${version}, this program knows ${SCHEMA_VERSION}: use a newer Flotilla`)
  }
  db.exec(`BEGIN; ${SCHEMA} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`)
}

/** Sets the largest size of the file. */
export function limitSize(db: DatabaseSync, maxBytes: number): void {
  const pageSize = Number(db.prepare('PRAGMA page_size').get()!['page_size'])
  db.exec(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / pageSize))}`)
}

/** The prepared statements of an open database. */
export type Statements = ReturnType<typeof prepareStatements>

/** Prepares all statements of the store. */
export function prepareStatements(db: DatabaseSync) {
  const columns = 'l.key AS key, l.value AS value, l.create_revision AS createRevision, l.revision AS modRevision'
  const get = db.prepare(`SELECT ${columns} FROM current c JOIN log l ON l.revision = c.revision WHERE c.key = ?`)
  const getPast = db.prepare(
    `SELECT key, value, create_revision AS createRevision, revision AS modRevision
     FROM log WHERE key = ? AND revision <= ? ORDER BY revision DESC LIMIT 1`,
  )
  const listNow = db.prepare(
    `SELECT ${columns} FROM current c JOIN log l ON l.revision = c.revision
     WHERE c.key > ? AND c.key < ? ORDER BY c.key LIMIT ?`,
  )
  const countNow = db.prepare('SELECT count(*) AS n FROM current WHERE key > ? AND key < ?')
  // max() picks the row of the newest revision of each key: a documented rule of SQLite for bare columns.
  const past = `SELECT key, value, create_revision AS createRevision, max(revision) AS modRevision
     FROM log WHERE key > ? AND key < ? AND revision <= ? GROUP BY key HAVING value IS NOT NULL`
  const listPast = db.prepare(`${past} ORDER BY key LIMIT ?`)
  const countPast = db.prepare(`SELECT count(*) AS n FROM (${past})`)
  const events = db.prepare(
    `SELECT l.key AS key, l.revision AS revision, l.value AS value, p.value AS previous
     FROM log l LEFT JOIN log p ON p.revision = l.previous
     WHERE l.revision > ? AND l.revision <= ? AND l.key > ? AND l.key < ? ORDER BY l.revision`,
  )
  const appendLog = db.prepare('INSERT INTO log VALUES (?, ?, ?, ?, ?)')
  const point = db.prepare(
    'INSERT INTO current VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET revision = excluded.revision',
  )
  const unpoint = db.prepare('DELETE FROM current WHERE key = ?')
  const setRevision = db.prepare('UPDATE state SET revision = ?')
  const appendAudit = db.prepare('INSERT INTO audit VALUES (?, ?, ?, ?)')
  const auditHead = db.prepare('SELECT sequence, hash FROM audit ORDER BY sequence DESC LIMIT 1')
  const auditAfter = db.prepare('SELECT * FROM audit WHERE sequence > ? ORDER BY sequence LIMIT ?')
  const readState = db.prepare('SELECT revision, compacted, swept FROM state')
  const setCompacted = db.prepare('UPDATE state SET compacted = ?')
  const setSwept = db.prepare('UPDATE state SET swept = ?')
  const sweepSuperseded = db.prepare(
    'DELETE FROM log WHERE revision IN (SELECT previous FROM log WHERE revision > ? AND revision <= ? AND previous > 0)',
  )
  const sweepDeleted = db.prepare('DELETE FROM log WHERE revision > ? AND revision <= ? AND value IS NULL')

  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')

  return {
    begin: () => void begin.run(),
    commit: () => void commit.run(),

    get: (key: string) => get.get(key) as LogRow | undefined,

    getPast(key: string, at: number): LogRow | undefined {
      const row = getPast.get(key, at)
      return row && row['value'] !== null ? (row as unknown as LogRow) : undefined
    },

    list({ prefix, after, limit, at }: RowRange): LogRow[] {
      const max = limit === undefined ? -1 : limit + 1
      const rows =
        at === undefined ? listNow.all(after, endOf(prefix), max) : listPast.all(after, endOf(prefix), at, max)
      return rows as unknown as LogRow[]
    },

    count({ prefix, after, at }: RowRange): number {
      const row = at === undefined ? countNow.get(after, endOf(prefix)) : countPast.get(after, endOf(prefix), at)
      return Number(row!['n'])
    },

    readEvents(prefix: string, after: number, upTo: number): StoreEvent[] {
      const rows = events.all(after, upTo, prefix, endOf(prefix)) as unknown as {
        key: string
        revision: number
        value: string | null
        previous: string | null
      }[]
      return rows.map((row) => ({ ...row, value: row.value ?? undefined, previous: row.previous ?? undefined }))
    },

    append(event: StoreEvent, current: LogRow | undefined): void {
      const created = current?.createRevision ?? event.revision
      appendLog.run(event.revision, event.key, event.value ?? null, created, current?.modRevision ?? 0)
      if (event.value === undefined) unpoint.run(event.key)
      else point.run(event.key, event.revision)
    },

    /** Notes the newest revision; once for all events of a transaction. */
    setRevision: (revision: number) => void setRevision.run(revision),

    appendAudit: ({ sequence, revision, line, hash }: AuditRecord) =>
      void appendAudit.run(sequence, revision, line, hash),
    auditHead: () => auditHead.get() as Pick<AuditRecord, 'sequence' | 'hash'> | undefined,
    auditAfter: (after: number, limit: number) => auditAfter.all(after, limit) as unknown as AuditRecord[],
    readState: () => readState.get() as { revision: number; compacted: number; swept: number },
    setCompacted: (revision: number) => void setCompacted.run(revision),

    /**
     * Deletes one step of the history up to `compacted`; false when nothing is left to do. Only rows superseded within
     * the step are touched, so its cost follows the changes and not the number of keys.
     */
    sweep(compacted: number, step: number): boolean {
      const { swept } = readState.get() as { swept: number }
      if (swept >= compacted) return false
      const upTo = Math.min(compacted, swept + step)
      db.exec('BEGIN IMMEDIATE')
      try {
        sweepSuperseded.run(swept, upTo)
        sweepDeleted.run(swept, upTo)
        setSwept.run(upTo)
        db.exec('COMMIT')
      } catch (error) {
        if (db.isTransaction) db.exec('ROLLBACK')
        throw error
      }
      return true
    },
  }
}

/** The first key after all keys with this prefix: prefixes end in `/`, and `0` follows `/`. */
function endOf(prefix: string): string {
  return `${prefix.slice(0, -1)}0`
}
