/** The data directory of a hub: private to its owner, ignored by git, used by one hub at a time. */
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Clock } from '../../core/time/clock.ts'
import { Stalled } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'

/** A directory that belongs to this process until it is released. */
export interface DataDirectory {
  readonly path: string
  /** The absolute path of a file in the directory. */
  file(...parts: readonly string[]): string
  release(): void
}

/** The process that uses a directory. */
interface Holder {
  readonly pid: number
  readonly host: string
  readonly since: string
}

/** Creates the directory if it is missing, and locks it. If another hub uses it, the error names that process. */
export async function openDataDirectory(given: string, clock: Clock): Promise<DataDirectory> {
  // Programs that the hub runs, like git, have other working directories.
  const path = resolve(given)
  // SQLite and programs that the hub runs choose no mode for their files.
  process.umask(0o077)
  const isNew = (await mkdir(path, { recursive: true, mode: 0o700 })) !== undefined
  if (!isNew) for (const name of ['', ...OPEN_BEFORE]) await closeToOthers(join(path, name))
  const lock = await takeLock(path)
  // The directory holds private keys: a clone around it must not commit them.
  await writeFile(join(path, '.gitignore'), '*\n', { mode: 0o600 })
  const holder: Holder = { pid: process.pid, host: hostname(), since: formatTime(clock.now()) }
  await writeFile(holderFile(path), `${JSON.stringify(holder)}\n`, { mode: 0o600 })
  return { path, file: (...parts) => join(path, ...parts), release: () => lock.close() }
}

/** Files that hubs of version 0.1 made readable for others, inside of a directory that is not. */
const OPEN_BEFORE = ['hub.db', 'hub.db-wal', 'hub.db-shm', 'lock']

async function closeToOthers(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (found && (found.mode & 0o077) !== 0) await chmod(path, found.mode & 0o700)
}

// An exclusive SQLite transaction is a lock of the operating system: it ends with the process, also after a crash.
async function takeLock(path: string): Promise<DatabaseSync> {
  const database = new DatabaseSync(join(path, 'lock'), { timeout: 0 })
  try {
    database.exec('PRAGMA journal_mode = MEMORY')
    database.exec('BEGIN EXCLUSIVE')
    return database
  } catch (cause) {
    database.close()
    const { errcode } = cause as { errcode?: number }
    if (errcode !== SQLITE_BUSY) throw cause
    throw await inUse(path, cause)
  }
}

const SQLITE_BUSY = 5

async function inUse(path: string, cause: unknown): Promise<Stalled> {
  const holder = await readHolder(path)
  const who = holder ? `by process ${holder.pid} on ${holder.host} since ${holder.since}` : 'by another process'
  return new Stalled('DataDirectoryInUse', `the directory is in use ${who}`, {
    cause,
    where: path,
    todo: 'stop that hub first, or give this hub its own directory with --data DIR',
  })
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const holder: unknown = JSON.parse(await readFile(holderFile(path), 'utf8'))
    return isObject(holder) ? (holder as unknown as Holder) : undefined
  } catch {
    return undefined
  }
}

function holderFile(path: string): string {
  return join(path, 'holder.json')
}
