/** Files of the data directory that must be whole or absent: keys, trust bundles, kubeconfigs. */
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Ids } from '../../core/ids.ts'

/** Reads a file, or undefined when there is none. */
export async function readFileIfExists(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (caught) {
    if (caught instanceof Error && 'code' in caught && caught.code === 'ENOENT') return undefined
    throw caught
  }
}

/** Replaces a private file (0600) durably: readers see the old or the new text, never a part. */
export async function replaceFileAtomically(path: string, text: string, ids: Pick<Ids, 'suffix'>): Promise<void> {
  const temporary = `${path}.${ids.suffix(8)}`
  try {
    await writeSynced(temporary, text)
    await rename(temporary, path)
  } catch (caught) {
    await rm(temporary, { force: true })
    throw caught
  }
  await syncFolder(dirname(path))
}

/** Makes a private folder (0700) with its files, all of them or none. */
export async function ensureDirectory(
  path: string,
  files: Readonly<Record<string, string>>,
  ids: Pick<Ids, 'suffix'>,
): Promise<void> {
  const temporary = `${path}.${ids.suffix(8)}`
  try {
    await mkdir(temporary, { mode: 0o700 })
    for (const [name, text] of Object.entries(files)) await writeSynced(join(temporary, name), text)
    await syncFolder(temporary)
    await rename(temporary, path)
  } catch (caught) {
    await rm(temporary, { recursive: true, force: true })
    throw caught
  }
  await syncFolder(dirname(path))
}

async function writeSynced(path: string, text: string): Promise<void> {
  const handle = await open(path, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
