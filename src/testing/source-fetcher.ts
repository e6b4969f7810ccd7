/** A fetcher on real git with everything else in memory, and a clock that is real. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createMemoryBlobs } from '../blobs/memory-blobs.ts'
import type { CollectableBlobs } from '../blobs/blobs.ts'
import { fromUtf8 } from '../core/bytes.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { systemClock } from '../core/time/system-clock.ts'
import { systemIds } from '../core/system-ids.ts'
import { formatTime } from '../core/time/time.ts'
import type { Source } from '../kinds/native/source.ts'
import { readFiles, readTree } from '../source/artifact.ts'
import { identityOf, selectionOf } from '../source/fetch-request.ts'
import { fetchSource } from '../source/fetch-source.ts'
import type { FetchOutcome, FetchParts, FetchRequest } from '../source/fetch-request.ts'
import { createRefPolls } from '../source/git/ls-remote-cache.ts'
import { prepareGitHome } from '../source/git/run-git.ts'
import { httpGet } from '../source/http-get.ts'

/** A fetcher that remembers the last good artifact as the controller would. */
export interface TestFetcher {
  readonly blobs: CollectableBlobs
  readonly parts: FetchParts
  /** Fetches; an artifact that comes of it is the previous one of the next fetch. */
  fetch(spec: Source['spec'], more?: Partial<FetchRequest>): Promise<FetchOutcome>
  /** Path → text of the artifact. */
  files(digest: Digest): Promise<Record<string, string>>
  forget(): void
  close(): void
}

/** Makes a fetcher; its caches are in a temporary directory. */
export async function createTestFetcher(overrides: Partial<FetchParts> = {}): Promise<TestFetcher> {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-source-'))
  const home = join(folder, 'home')
  await prepareGitHome(home)
  const blobs = createMemoryBlobs()
  const parts: FetchParts = {
    blobs,
    clock: systemClock,
    ids: systemIds,
    git: { path: process.env['PATH'] ?? '', home },
    folder,
    localPaths: ['/'],
    polls: createRefPolls(systemClock),
    http: httpGet,
    ...overrides,
  }
  let previous: FetchRequest['previous']
  return {
    blobs,
    parts,
    fetch: async (spec, more = {}) => {
      const request = { spec, mirrors: [], isHinted: true, ...(previous ? { previous } : {}), ...more }
      // Hints are answered by what was heard within a second; every fetch of a test asks anew.
      const fresh = { ...parts, polls: overrides.polls ?? createRefPolls(systemClock) }
      const outcome = await fetchSource(request, fresh, new AbortController().signal)
      if (outcome.kind === 'New') {
        const identity = identityOf(spec)
        const fetchedAt = formatTime(systemClock.now())
        previous = { ...outcome.artifact, fetchMs: 0, fetchedAt, identity, selection: selectionOf(spec) }
      }
      return outcome
    },
    files: async (digest) => {
      const tree = await readTree(digest, blobs)
      const files = await readFiles(tree!, '', blobs)
      return Object.fromEntries([...files].map(([path, bytes]) => [path, fromUtf8(bytes)]))
    },
    forget: () => (previous = undefined),
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}
