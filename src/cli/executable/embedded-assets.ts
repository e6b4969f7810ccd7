/** Extracts the assets of the one-file executable, because threads, pages and modules are loaded from files. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Clock } from '../../core/time/clock.ts'

/** The assets of the executable; `node:sea` implements this interface. */
export interface Assets {
  getRawAsset(key: string): ArrayBuffer
  getAsset(key: string, encoding: string): string
}

/** The two assets: all files concatenated, and their index. Node reads all assets at each start, so there are few. */
export const PARTS_ASSET = 'parts'
export const INDEX_ASSET = 'index'

/** The index of the files. */
export interface AssetIndex {
  /** Digest of all names and contents. */
  readonly digest: string
  /** In the order of their contents. */
  readonly files: readonly { readonly name: string; readonly bytes: number }[]
}

/**
 * Returns the folder with the files, which the first run writes. A folder that another user could have
 * written is not used. If the cache cannot be written, a temporary folder is used and removed at exit.
 */
export function extractAssets(assets: Assets, cache: string): string {
  const index = JSON.parse(assets.getAsset(INDEX_ASSET, 'utf8')) as AssetIndex
  const parts = { index, contents: new Uint8Array(assets.getRawAsset(PARTS_ASSET)) }
  const folder = join(cache, index.digest)
  if (isOwn(folder)) return folder
  try {
    mkdirSync(cache, { recursive: true, mode: 0o700 })
    if (isOwn(cache)) return writtenTo(folder, parts)
  } catch {
    // a disk that is full or read-only, or a home of another user
  }
  const own = mkdtempSync(join(tmpdir(), 'flotilla-parts-'))
  process.on('exit', () => rmSync(own, { recursive: true, force: true }))
  writeAll(own, parts)
  return own
}

/** Files that were not used for 30 days belong to a removed version. */
const KEPT_MS = 30 * 24 * 3_600_000
/** How often a long-running process renews the last-used time. */
const SAID_MS = 24 * 3_600_000

/** Renews the last-used time of a folder until the signal is aborted, and removes unused folders beside it. */
export async function refreshLastUsed(folder: string, clock: Clock, signal: AbortSignal): Promise<void> {
  removeUnused(folder, clock.now())
  while (!signal.aborted) {
    touch(folder, clock.now())
    await clock.sleep(SAID_MS, signal).catch(() => {})
  }
}

function touch(folder: string, nowMs: number): void {
  try {
    utimesSync(folder, nowMs / 1000, nowMs / 1000)
  } catch {
    // a disk that became read-only
  }
}

/** The name of a folder of files: complete, partly written or partly removed. */
const isParts = /^[0-9a-f]{32}(-\w+)?$/

/** Removes unused folders of other versions. Folders that cannot be removed stay. */
function removeUnused(used: string, nowMs: number): void {
  if (!isParts.test(basename(used))) return // a temporary folder of this process
  const cache = dirname(used)
  for (const name of namesIn(cache)) {
    const folder = join(cache, name)
    if (folder === used || !isParts.test(name) || !isUnused(folder, nowMs)) continue
    // Renamed first, so that no process finds an incomplete folder.
    const removed = name.includes('-') ? folder : `${folder}-removed`
    try {
      renameSync(folder, removed)
      rmSync(removed, { recursive: true, force: true })
    } catch {
      // another run was first, or the folder belongs to another user
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function isUnused(folder: string, nowMs: number): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return found?.isDirectory() === true && nowMs - found.mtimeMs > KEPT_MS
}

interface Parts {
  readonly index: AssetIndex
  readonly contents: Uint8Array
}

function isOwn(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false })
  const othersWrite = 0o022
  return found !== undefined && found.uid === process.getuid?.() && (found.mode & othersWrite) === 0
}

/** Writes the folder atomically, because other runs may write it at the same time. */
function writtenTo(folder: string, parts: Parts): string {
  const half = mkdtempSync(`${folder}-`)
  try {
    writeAll(half, parts)
    renameSync(half, folder)
  } catch (error) {
    rmSync(half, { recursive: true, force: true })
    if (!existsSync(folder)) throw error // otherwise another run was first
  }
  return folder
}

function writeAll(folder: string, { index, contents }: Parts): void {
  let at = 0
  for (const { name, bytes } of index.files) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, contents.subarray(at, at + bytes))
    at += bytes
  }
}
