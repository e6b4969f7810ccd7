import type { FileHandle } from 'node:fs/promises'
import { access, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { digestOf, isDigest } from '../core/crypto/digest.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { invariant } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import type { CollectableBlobs } from './blobs.ts'

/** Where the files are, and where the names of temporary files come from. */
export interface FileBlobsOptions {
  /** Made when missing. */
  readonly folder: string
  readonly ids: Pick<Ids, 'uid'>
}

/**
 * Blobs as files, `<first two digits>/<next two>/<digest>`: written to a temporary file, synced, renamed, and the
 * folder synced, so that a name is there only with all of its bytes. Several threads and processes may use one folder.
 */
export function createFileBlobs({ folder, ids }: FileBlobsOptions): CollectableBlobs {
  /** Folders known to be there, with their entry in the parent synced. */
  const ready = new Set<string>()

  async function makeFolder(path: string, parent: string): Promise<void> {
    if (ready.has(path)) return
    await mkdir(path, { recursive: true, mode: 0o700 })
    await syncFolder(parent)
    ready.add(path)
  }

  async function write(digest: Digest, bytes: Uint8Array): Promise<void> {
    const { first, second, file } = pathsOf(folder, digest)
    await makeFolder(folder, join(folder, '..'))
    await makeFolder(first, folder)
    await makeFolder(second, first)
    const temporary = join(second, `.${ids.uid()}`)
    try {
      const handle = await open(temporary, 'wx', 0o600)
      await writeAndClose(handle, bytes)
      await rename(temporary, file)
    } catch (error) {
      await rm(temporary, { force: true })
      // The next try creates a removed folder again.
      for (const path of [folder, first, second]) ready.delete(path)
      throw error
    }
    await syncFolder(second)
  }

  /** The bytes, only if they are what the name says. */
  async function read(digest: Digest): Promise<Uint8Array | undefined> {
    const bytes = await orMissing(readFile(pathsOf(folder, digest).file))
    if (!bytes) return undefined
    const actual = digestOf(bytes)
    if (actual !== digest) {
      throw new Error(
        `blob ${digest} is damaged: its file has the digest ${actual}; restore ${pathsOf(folder, digest).file} from a backup`,
      )
    }
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Marks a blob as used for the collector; false if the collector has just deleted it. */
  async function touch(digest: Digest, bytes: Uint8Array): Promise<boolean> {
    const { file } = pathsOf(folder, digest)
    const handle = bytes.byteLength > 0 ? await orMissing(open(file, 'r+')) : undefined
    if (!handle) return false
    try {
      // Writing what is there already sets the time by the clock of the disk; a reader cannot see half of a byte.
      await handle.write(bytes, 0, 1, 0)
    } finally {
      await handle.close()
    }
    return (await orMissing(access(file).then(() => true))) ?? false
  }

  return {
    async put(bytes) {
      const digest = digestOf(bytes)
      // What is there and whole is durable already; what is damaged is written anew.
      const present = await read(digest).catch(() => undefined)
      if (!present || !(await touch(digest, present))) await write(digest, bytes)
      return digest
    },
    get: read,
    async has(digest) {
      const there = await orMissing(access(pathsOf(folder, digest).file).then(() => true))
      return there ?? false
    },
    async *list() {
      for (const first of await entriesOf(folder)) {
        for (const second of await entriesOf(join(folder, first))) {
          for (const name of await entriesOf(join(folder, first, second))) {
            const digest = `sha256:${name}`
            if (isDigest(digest)) yield digest
          }
        }
      }
    },
    async delete(digest) {
      await rm(pathsOf(folder, digest).file, { force: true })
    },
    async collect(digest, before) {
      const { second, file } = pathsOf(folder, digest)
      if (!(await isOlder(file, before))) return false
      // Out of the way first, then a second look: a `put` in between either sees that it is gone or has made it
      // younger.
      const aside = join(second, `.${ids.uid()}`)
      if ((await orMissing(rename(file, aside).then(() => true))) === undefined) return false
      if (await isOlder(aside, before)) {
        await rm(aside, { force: true })
        return true
      }
      await rename(aside, file)
      return false
    },
  }
}

// No path is ever made from anything but a well-formed digest.
function pathsOf(folder: string, digest: Digest): { first: string; second: string; file: string } {
  invariant(isDigest(digest), `${JSON.stringify(digest)} is not a digest`)
  const name = digest.slice('sha256:'.length)
  const first = join(folder, name.slice(0, 2))
  const second = join(first, name.slice(2, 4))
  return { first, second, file: join(second, name) }
}

async function writeAndClose(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function isOlder(path: string, before: number): Promise<boolean> {
  const found = await orMissing(stat(path))
  return found !== undefined && found.mtimeMs < before
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function entriesOf(path: string): Promise<string[]> {
  return (await orMissing(readdir(path))) ?? []
}

async function orMissing<T>(promise: Promise<T>): Promise<T | undefined> {
  try {
    return await promise
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}
