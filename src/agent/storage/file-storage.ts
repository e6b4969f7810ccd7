import { chmod, mkdir, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { isObject } from '../../core/json.ts'
import type { AgentStorage } from './storage.ts'

/** Storage in a folder of mode 0700, with files of mode 0600. A write creates a file, syncs it and renames it. */
export async function createFileStorage(folder: string): Promise<AgentStorage> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  return {
    async read(name) {
      try {
        return new Uint8Array(await readFile(join(folder, name)))
      } catch (caught) {
        if (isObject(caught) && caught['code'] === 'ENOENT') return undefined
        throw caught
      }
    },
    async write(name, bytes) {
      const path = join(folder, name)
      const fresh = `${path}.new`
      const file = await open(fresh, 'w', 0o600)
      try {
        await file.chmod(0o600)
        await file.writeFile(bytes)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(fresh, path)
      await syncFolder(folder)
    },
  }
}

// The rename is durable only after the folder is synced.
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
