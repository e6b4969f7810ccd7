/** How much room the data directory of a hub has, how large its database is, and when it was backed up last. */
import { readFile, stat, statfs } from 'node:fs/promises'
import { compact } from '../../core/compact.ts'
import { toError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import type { HubStorage } from '../../plan/fleet/hub-health.ts'
import { LAST_BACKUP_FILE } from '../backup/last-backup.ts'
import { DATABASE_FILE } from '../keys/sealing-keys.ts'
import type { DataDirectory } from './data-directory.ts'

const INTERVAL_MS = 60_000

/** The storage of a hub; notices are about changes that a person would see. */
export interface StorageWatch {
  /** Undefined until it was measured, and while it cannot be measured. */
  current(): HubStorage | undefined
  onChange(changed: () => void): void
  /** Measures every minute until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>
}

/** Watches what `measure` says. */
export function createStorageWatch(
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  measure: () => Promise<HubStorage>,
): StorageWatch {
  let storage: HubStorage | undefined
  const listeners: (() => void)[] = []
  return {
    current: () => storage,
    onChange: (changed) => void listeners.push(changed),
    async run(signal) {
      while (!signal.aborted) {
        const next = await measure().catch((caught: unknown) => {
          log.warn({ err: toError(caught) }, 'the disk of the hub could not be measured')
        })
        const isSame = JSON.stringify(next) === JSON.stringify(storage)
        storage = next ?? undefined
        if (!isSame) for (const changed of listeners) changed()
        await clock.sleep(INTERVAL_MS, signal).catch(() => {}) // aborted: the loop ends
      }
    },
  }
}

/** Measures a data directory. Only an embedded hub has a database in it. */
export async function measureStorage(directory: Pick<DataDirectory, 'path' | 'file'>): Promise<HubStorage> {
  const { bavail, bsize } = await statfs(directory.path)
  const files = ['', '-wal'].map((suffix) => directory.file(`${DATABASE_FILE}${suffix}`))
  const [database, log] = await Promise.all(files.map((file) => stat(file).catch(() => undefined)))
  return compact({
    freeBytes: rounded(bavail * bsize),
    databaseBytes: database && rounded(database.size + (log?.size ?? 0)),
    createdAt: database && database.birthtimeMs > 0 ? formatTime(database.birthtimeMs) : undefined,
    lastBackup: await lastBackup(directory.file(LAST_BACKUP_FILE)),
  })
}

async function lastBackup(file: string): Promise<string | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    const at = isObject(value) ? value['at'] : undefined
    return typeof at === 'string' && parseTime(at) !== undefined ? at : undefined
  } catch {
    return undefined // none was taken, or the file was cut
  }
}

/** Two digits: the hub writes to its API only when the number that a person sees changes. */
function rounded(bytes: number): number {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, bytes))) - 1)
  return Math.round(bytes / unit) * unit
}
