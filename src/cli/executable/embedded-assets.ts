/** The parts that the one-file executable carries, as files: threads, pages and modules are loaded from files. */
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

/** What the executable carries; `node:sea` fits. */
export interface Assets {
  getRawAsset(key: string): ArrayBuffer
  getAsset(key: string, encoding: string): string
}

/** The two assets: all parts one behind the other, and where each is. Node looks at every asset at every start, so they are few. */
export const PARTS_ASSET = 'parts'
export const INDEX_ASSET = 'index'

/** What the index says. */
export interface AssetIndex {
  /** Of all names and contents. */
  readonly digest: string
  /** In the order of their contents. */
  readonly files: readonly { readonly name: string; readonly bytes: number }[]
}

/**
 * The folder with the parts, written by the first run that needs one. A folder that somebody else could have written is
 * not used; nor is one that cannot be written: then the parts live as long as this process.
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
    // a disk that is full or read-only, a home that is another's
  }
  const own = mkdtempSync(join(tmpdir(), 'flotilla-parts-'))
  process.on('exit', () => rmSync(own, { recursive: true, force: true }))
  writeAll(own, parts)
  return own
}

/** Parts that nobody used for so long belong to a version that is gone. */
const KEPT_MS = 30 * 24 * 3_600_000
/** How often a process that goes on says that it uses its parts. */
const SAID_MS = 24 * 3_600_000

/** Says that a folder of parts is in use, now and until the signal is aborted, and removes those beside it that are not. */
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
    // a disk that is read-only by now
  }
}

/** The name of a folder of parts, whole, half written or half removed. */
const isParts = /^[0-9a-f]{32}(-\w+)?$/

/** Removes what other versions left beside a folder of parts: nothing else, and what cannot be removed stays. */
function removeUnused(used: string, nowMs: number): void {
  if (!isParts.test(basename(used))) return // it lives as long as this process
  const cache = dirname(used)
  for (const name of namesIn(cache)) {
    const folder = join(cache, name)
    if (folder === used || !isParts.test(name) || !isUnused(folder, nowMs)) continue
    // Whole or not at all: nobody finds half of it.
    const removed = name.includes('-') ? folder : `${folder}-removed`
    try {
      renameSync(folder, removed)
      rmSync(removed, { recursive: true, force: true })
    } catch {
      // another run was first, or it is another's
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

/** Whole or not at all: other runs may do the same. */
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
