/**
 * The received part of interrupted downloads, so that the next try asks only for the rest. Survives a new connection,
 * but not a restart of the agent.
 */

/** The received part of a download, and the ETag of the whole. */
export interface PartialDownload {
  readonly etag: string
  readonly chunks: Uint8Array[]
  size: number
}

/** Partial downloads by path. */
export interface PartialDownloads {
  get(path: string): PartialDownload | undefined
  begin(path: string, etag: string): PartialDownload
  forget(path: string): void
}

// The agent fetches one bundle at a time; older partial downloads start again.
const MOST = 2

/** Keeps the newest partial downloads. */
export function createPartialDownloads(): PartialDownloads {
  const kept = new Map<string, PartialDownload>()
  return {
    get: (path) => kept.get(path),
    begin(path, etag) {
      const fresh = { etag, chunks: [], size: 0 }
      kept.delete(path)
      kept.set(path, fresh)
      const oldest = kept.keys().next()
      if (kept.size > MOST && !oldest.done) kept.delete(oldest.value)
      return fresh
    },
    forget: (path) => void kept.delete(path),
  }
}
