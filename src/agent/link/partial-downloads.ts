/** What came of a long answer before it broke off, so that the next try asks for the rest only. Survives links, not restarts. */

/** The beginning of an answer, and the tag of the bytes it is the beginning of. */
export interface PartialDownload {
  readonly etag: string
  readonly chunks: Uint8Array[]
  size: number
}

/** Beginnings by path. */
export interface PartialDownloads {
  get(path: string): PartialDownload | undefined
  begin(path: string, etag: string): PartialDownload
  forget(path: string): void
}

// One bundle is fetched at a time; whatever else was broken off is fetched whole.
const MOST = 2

/** Keeps the last few beginnings. */
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
