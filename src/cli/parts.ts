/** The parts that the one-file executable carries, as files: threads, pages and modules are loaded from files. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** What the executable carries; `node:sea` fits. */
export interface Assets {
  getRawAsset(key: string): ArrayBuffer
  getAsset(key: string, encoding: string): string
}

/** The two assets: all parts one behind the other, and where each is. Node looks at every asset at every start, so they are few. */
export const PARTS_ASSET = 'parts'
export const INDEX_ASSET = 'index'

/** What the index says. */
export interface PartsIndex {
  /** Of all names and contents. */
  readonly digest: string
  /** In the order of their contents. */
  readonly files: readonly { readonly name: string; readonly bytes: number }[]
}

/**
 * The folder with the parts, written by the first run that needs one. A folder that somebody else could have written is
 * not used; nor is one that cannot be written: then the parts live as long as this process.
 */
export function partsFolder(assets: Assets, cache: string): string {
  const index = JSON.parse(assets.getAsset(INDEX_ASSET, 'utf8')) as PartsIndex
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

interface Parts {
  readonly index: PartsIndex
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
