// Tested by src/source/git/fetch-git.contract.test.ts.
/** Reads the selected files of a commit into blobs. */
import type { Digest } from '../../core/crypto/digest.ts'
import { ARTIFACT_LIMITS, readTree } from '../artifact.ts'
import type { ArtifactFile } from '../artifact.ts'
import type { FetchContext } from '../fetch-request.ts'
import { SourceError } from '../source-error.ts'
import { checkCount, isSubmodule, resolveLinks, selectEntries, shownPath } from '../tree-entries.ts'
import type { TreeEntry } from '../tree-entries.ts'
import type { GitCache } from './git-cache.ts'

/** What the commits of one fetch share: stored files by git object name, and the numbers of what they have so far. */
export interface Reading {
  readonly known: Map<string, { readonly digest: Digest; readonly size: number }>
  bytes: number
  files: number
  submodules: number
}

/** A commit to read. */
export interface CommitToRead {
  readonly commit: string
  readonly cache: GitCache
  /** The directory of the commit in the artifact, with a slash at its end; empty for the repository itself. */
  readonly prefix: string
  readonly reading: Reading
}

/** The files of a commit, and its selected submodules. */
export interface ReadCommit {
  readonly files: readonly ArtifactFile[]
  readonly submodules: readonly TreeEntry[]
  /** All entries, with the prefix. */
  readonly entries: readonly TreeEntry[]
}

/** Stores the selected files as blobs. Submodules are refused, or left to the caller. */
export async function readCommit(
  { commit, cache, prefix, reading }: CommitToRead,
  { spec, blobs }: Pick<FetchContext, 'spec' | 'blobs'>,
): Promise<ReadCommit> {
  const keepsSubmodules = (spec.git?.submodules ?? 'Refuse') !== 'Refuse'
  const entries = (await cache.entriesOf(commit)).map((entry) => ({ ...entry, path: `${prefix}${entry.path}` }))
  const found = selectEntries(entries, spec, { keepsSubmodules, isPart: prefix !== '' })
  const selected = found.filter((entry) => !isSubmodule(entry))
  const isWhole = (spec.paths ?? []).length === 0
  const { known } = reading
  await cache.fetchFiles(
    commit,
    selected.filter(({ oid }) => !known.has(oid)),
    isWhole,
  )
  const files = resolveLinks(selected, entries, await linkTargets(selected, entries, { commit, cache }))
  const unknown = files.filter(({ oid }) => !known.has(oid))
  await cache.fetchFiles(commit, unknown, false)
  await cache.readFiles(unknown, async (oid, content) => {
    known.set(oid, { digest: await blobs.put(content), size: content.byteLength })
    reading.bytes += content.byteLength
    if (reading.bytes > ARTIFACT_LIMITS.bytes) throw tooMuch()
  })
  reading.files += files.length
  checkCount(reading.files)
  const whole = files.map(({ path, oid }): ArtifactFile => ({ path, oid, ...known.get(oid)! }))
  return { files: whole, submodules: found.filter(isSubmodule), entries }
}

/** The files of an artifact are too large together. */
export function tooMuch(): SourceError {
  return new SourceError(
    'TooLarge',
    `The files are together larger than the ${ARTIFACT_LIMITS.bytes} bytes one artifact may have; name the directories you need in spec.paths.`,
  )
}

/** Files of the previous artifact by git object name: their bytes are already stored. */
export async function knownFiles({
  previous,
  blobs,
}: Pick<FetchContext, 'previous' | 'blobs'>): Promise<Reading['known']> {
  const tree = previous ? await readTree(previous.digest, blobs).catch(() => undefined) : undefined
  const known: Reading['known'] = new Map()
  for (const { oid, digest, size } of tree?.files ?? []) {
    if (oid !== undefined && (await blobs.has(digest))) known.set(oid, { digest, size })
  }
  return known
}

async function linkTargets(
  selected: readonly TreeEntry[],
  entries: readonly TreeEntry[],
  { commit, cache }: { readonly commit: string; readonly cache: GitCache },
): Promise<(link: TreeEntry) => string> {
  if (!selected.some(({ mode }) => mode === '120000')) return () => ''
  // A link may lead through a link outside the selected part.
  const links = entries.filter(({ mode }) => mode === '120000')
  await cache.fetchFiles(commit, links, false)
  const targets = new Map<string, string>()
  await cache.readFiles(links, async (oid, bytes) => void targets.set(oid, Buffer.from(bytes).toString('utf8')))
  return (link) => {
    const target = targets.get(link.oid)
    if (target === undefined)
      throw new SourceError('BadLink', `The target of the link ${shownPath(link.path)} cannot be read.`)
    return target
  }
}
