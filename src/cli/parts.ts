/** The parts that the one-file executable carries, as files: threads, pages and modules are loaded from files. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** What the executable carries; `node:sea` fits. */
export interface Assets {
  getAssetKeys(): readonly string[]
  getRawAsset(key: string): ArrayBuffer
  getAsset(key: string, encoding: string): string
}

/** The asset that names all the others: the digest of their contents. */
export const DIGEST_ASSET = 'digest'

/**
 * The folder with the parts, written by the first run that needs one. A folder that somebody else could have written is
 * not used; nor is one that cannot be written: then the parts live as long as this process.
 */
export function partsFolder(assets: Assets, cache: string): string {
  const folder = join(cache, assets.getAsset(DIGEST_ASSET, 'utf8'))
  if (isOwn(folder)) return folder
  try {
    mkdirSync(cache, { recursive: true, mode: 0o700 })
    if (isOwn(cache)) return writtenTo(folder, assets)
  } catch {
    // a disk that is full or read-only, a home that is another's
  }
  const own = mkdtempSync(join(tmpdir(), 'flotilla-parts-'))
  process.on('exit', () => rmSync(own, { recursive: true, force: true }))
  writeAll(own, assets)
  return own
}

function isOwn(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false })
  const othersWrite = 0o022
  return found !== undefined && found.uid === process.getuid?.() && (found.mode & othersWrite) === 0
}

/** Whole or not at all: other runs may do the same. */
function writtenTo(folder: string, assets: Assets): string {
  const half = mkdtempSync(`${folder}-`)
  try {
    writeAll(half, assets)
    renameSync(half, folder)
  } catch (error) {
    rmSync(half, { recursive: true, force: true })
    if (!existsSync(folder)) throw error // otherwise another run was first
  }
  return folder
}

function writeAll(folder: string, assets: Assets): void {
  for (const key of assets.getAssetKeys()) {
    const file = join(folder, key)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, new Uint8Array(assets.getRawAsset(key)))
  }
}
