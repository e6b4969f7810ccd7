/**
 * Reads files of an artifact on demand: a repository may have hundreds of megabytes, and only its settings files are
 * needed.
 */
import type { Blobs } from '../blobs/blobs.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { readTree } from '../source/artifact.ts'

/** Files whose bytes are read on request. */
export interface LazyFiles {
  keys(): MapIterator<string>
  get(path: string): Uint8Array | undefined
  /** Reads the requested files that are missing; returns whether it read any. */
  load(): Promise<boolean>
}

/** The largest file that is read. */
const MAX_BYTES = 4 * 1024 * 1024

/** The files of an artifact; files that fit `askedFirst` are read by the first `load`. */
export async function lazyFiles(artifact: Digest, blobs: Pick<Blobs, 'get'>, askedFirst?: RegExp): Promise<LazyFiles> {
  const tree = await readTree(artifact, blobs)
  if (!tree) throw new Error(`artifact ${artifact} is not stored`)
  const files = new Map(tree.files.map((file) => [file.path, file]))
  const loaded = new Map<string, Uint8Array>()
  const wanted = new Set([...files.keys()].filter((path) => askedFirst?.test(path)))
  return {
    keys: () => files.keys(),
    get: (path) => {
      const found = loaded.get(path)
      if (!found && files.has(path)) wanted.add(path)
      return found
    },
    load: async () => {
      const missing = [...wanted].filter((path) => !loaded.has(path) && (files.get(path)?.size ?? 0) <= MAX_BYTES)
      wanted.clear()
      for (const path of missing) {
        const bytes = await blobs.get(files.get(path)!.digest)
        if (!bytes) throw new Error(`blob ${files.get(path)!.digest} of file ${path} is missing`)
        loaded.set(path, bytes)
      }
      return missing.length > 0
    },
  }
}
