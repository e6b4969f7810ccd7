/**
 * A bare repository on the hub with the objects that one reader fetched from one address. It may be deleted at any
 * time. Readers share nothing: knowing a commit is no right to read it.
 */
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { hex, sha256 } from '../../core/bytes.ts'
import { toError } from '../../core/errors.ts'
import { canonicalJson } from '../../core/json.ts'
import { readWholeNumber } from '../../core/read-number.ts'
import { MAX_COMMIT_TEXT } from '../../kinds/fields/origin.ts'
import { ARTIFACT_LIMITS } from '../artifact.ts'
import { SourceError } from '../source-error.ts'
import { shownPath } from '../tree-entries.ts'
import type { TreeEntry } from '../tree-entries.ts'
import { GitError, runGit } from './run-git.ts'
import type { GitProgram, GitRun } from './run-git.ts'

/** The access to the server that all network commands of a fetch share. */
export type GitAccess = Required<Pick<GitRun, 'config' | 'protocols' | 'environment'>> & { readonly url: string }

/** The dependencies of a cache. */
export interface GitCacheOptions {
  readonly program: GitProgram
  /** The directory of all caches; each address has its own subdirectory for each reader. */
  readonly folder: string
  /** The Secret that reads the repository, `namespace/name`; undefined for readers without a credential. */
  readonly reader: string | undefined
  readonly clock: Clock
  readonly access: GitAccess
  readonly maxFetchBytes?: number
  readonly signal: AbortSignal
}

/** Author and subject of a commit. */
export interface CommitTexts {
  readonly author?: string
  readonly subject?: string
}

/** The repository of an address and reader. */
export interface GitCache {
  /** Fetches a commit with its trees and this many ancestors, without file contents. */
  fetchCommit(commit: string, depth: number): Promise<void>
  /** Returns undefined when the local history is too short to decide. */
  isAncestor(older: string, newer: string): Promise<boolean | undefined>
  entriesOf(commit: string): Promise<TreeEntry[]>
  /** A commit or an annotated tag, as git stores it. */
  readObject(type: 'commit' | 'tag', oid: string): Promise<Uint8Array>
  /** Author and subject of a commit; a part that is empty or cannot be read is absent. */
  describeCommit(commit: string): Promise<CommitTexts>
  /** Fetches file contents (`isWhole`: of the whole tree). A file above the size limit is refused with its name. */
  fetchFiles(commit: string, files: readonly TreeEntry[], isWhole: boolean): Promise<void>
  /** Reads the contents in turn, each once. */
  readFiles(files: readonly TreeEntry[], onFile: (oid: string, bytes: Uint8Array) => Promise<void>): Promise<void>
  /** Number of bytes received so far. */
  bytesFetched(): number
}

const MAX_FETCH_BYTES = 512 * 1024 * 1024
const MAX_LISTING = 256 * 1024 * 1024
const MAX_OBJECT = 1024 * 1024
/** A longer subject is unknown instead of read. */
const MAX_COMMIT_OUTPUT = 64 * 1024
const MAX_PACKS = 40
const WATCH_MS = 200
const BATCH = 500
const OID = /^([0-9a-f]{40}|[0-9a-f]{64})$/

/** Git locks the list of shallow commits while it fetches, and does not wait for a lock. */
const LOCKED = /\.lock': File exists/
const LOCKED_MS = 500
const MAX_TRIES = 20
/** The last fetch into each repository. */
const lastFetch = new Map<string, Promise<unknown>>()

/** Fetches into one repository follow each other, whatever became of the one before. */
async function inTurn(repository: string, run: () => Promise<void>): Promise<void> {
  const before = lastFetch.get(repository)
  const mine = before ? before.then(run, run) : run()
  lastFetch.set(repository, mine)
  try {
    await mine
  } finally {
    if (lastFetch.get(repository) === mine) lastFetch.delete(repository)
  }
}

/** Fetches in turn, and again while another thread of the hub fetches into the same repository. */
async function whenUnlocked(
  repository: string,
  run: () => Promise<void>,
  { clock, signal }: Pick<GitCacheOptions, 'clock' | 'signal'>,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await inTurn(repository, run)
    } catch (caught) {
      if (!(caught instanceof GitError) || !LOCKED.test(caught.message) || tries === MAX_TRIES) throw caught
      await clock.sleep(LOCKED_MS, signal)
    }
  }
}

async function openRepository({ folder, access, reader }: GitCacheOptions): Promise<string> {
  const repository = join(folder, nameOf(canonicalJson([access.url, reader ?? null])))
  // Before, one cache served all readers of an address.
  await rm(join(folder, nameOf(access.url)), { recursive: true, force: true })
  await inTurn(repository, () => prepare(repository))
  return repository
}

/** Opens the cache of an address and reader, and creates it if it does not exist. */
export async function openGitCache(options: GitCacheOptions): Promise<GitCache> {
  const { program, access, clock, signal, maxFetchBytes = MAX_FETCH_BYTES } = options
  const repository = await openRepository(options)
  let fetched = 0

  const local = (args: readonly string[], more: Partial<GitRun> = {}): Promise<Uint8Array> =>
    // No transport: git must never fetch a missing object on demand.
    runGit(program, { ...more, args: [`--git-dir=${repository}`, ...args], signal })

  const fetch = (args: readonly string[], config: Record<string, string> = {}): Promise<void> =>
    whenUnlocked(repository, () => fetchOnce(args, config), { clock, signal })

  async function fetchOnce(args: readonly string[], config: Record<string, string>): Promise<void> {
    const before = await sizeOf(repository)
    const watching = new AbortController()
    const both = AbortSignal.any([signal, watching.signal])
    const tooMuch = new SourceError(
      'TooLarge',
      `The repository sends more than the ${maxFetchBytes} bytes one fetch may have; name the directories you need in spec.paths.`,
    )
    const watch = (async () => {
      while (!both.aborted) {
        await clock.sleep(WATCH_MS, both).catch(() => {})
        if (!both.aborted && (await sizeOf(repository)) - before > maxFetchBytes) watching.abort(tooMuch)
      }
    })()
    const flags = ['--no-tags', '--no-write-fetch-head', '--no-auto-maintenance', '--no-recurse-submodules', '--quiet']
    try {
      await runGit(program, {
        ...access,
        args: [`--git-dir=${repository}`, 'fetch', ...flags, ...args],
        config: { 'remote.origin.url': access.url, 'remote.origin.promisor': 'true', ...access.config, ...config },
        signal: both,
      })
    } finally {
      watching.abort(new Error('fetched'))
      await watch
      fetched += Math.max(0, (await sizeOf(repository)) - before)
    }
  }

  return {
    bytesFetched: () => fetched,
    async fetchCommit(commit, depth) {
      if (depth <= 1 && (await hasCommit(local, commit))) return
      await fetch([`--depth=${depth}`, '--filter=blob:none', 'origin', `+${checked(commit)}:refs/flotilla/${commit}`])
    },
    async isAncestor(older, newer) {
      try {
        await local(['merge-base', '--is-ancestor', checked(older), checked(newer)])
        return true
      } catch (caught) {
        if (!(caught instanceof GitError)) throw caught
        if (caught.code === 1 && !(await isShallowBelow(newer))) return false
        if (caught.code === 1 || !(await hasCommit(local, older)))
          return (await isShallowBelow(newer)) ? undefined : false
        throw caught
      }
    },
    async entriesOf(commit) {
      const listing = await local(['ls-tree', '-r', '-z', '--full-tree', checked(commit)], { maxOutput: MAX_LISTING })
      return parseListing(listing)
    },
    readObject: (type, oid) => local(['cat-file', type, checked(oid)], { maxOutput: MAX_OBJECT }),
    async describeCommit(commit) {
      try {
        // A format of git's own: no mailmap of the repository changes the name.
        const args = ['log', '-1', '--no-show-signature', '--no-mailmap', '--format=%an%x00%s', checked(commit)]
        return parseCommitTexts(await local(args, { maxOutput: MAX_COMMIT_OUTPUT }))
      } catch (caught) {
        signal.throwIfAborted()
        if (caught instanceof GitError || caught instanceof RangeError) return {}
        throw caught
      }
    },
    async fetchFiles(commit, files, isWhole) {
      const missing = await missingFiles(local, commit, files)
      if (missing.length === 0) return
      if (isWhole && missing.length > files.length / 2) return await fetchBelowLimit(commit, files)
      const oids = [...new Set(missing.map(({ oid }) => oid))].map(checked)
      try {
        for (let at = 0; at < oids.length; at += BATCH) {
          // Objects of the cache must not be announced: the server would assume that their whole history is here.
          const noHaves = { 'fetch.negotiationAlgorithm': 'noop' }
          await fetch(['--filter=blob:none', 'origin', ...oids.slice(at, at + BATCH)], noHaves)
        }
      } catch (caught) {
        if (!(caught instanceof SourceError) || caught.reason !== 'TooLarge') throw caught
        await fetchBelowLimit(commit, files)
        throw caught
      }
    },
    async readFiles(files, onFile) {
      const paths = new Map(files.map(({ oid, path }) => [oid, path]))
      await readBatch(local, paths, onFile)
    },
  }

  /** Fetches all files of a commit below the size limit. A file that is missing afterwards is above the limit. */
  async function fetchBelowLimit(commit: string, files: readonly TreeEntry[]): Promise<void> {
    const limit = `--filter=blob:limit=${ARTIFACT_LIMITS.fileBytes + 1}`
    await fetch([limit, '--refetch', '--depth=1', 'origin', `+${checked(commit)}:refs/flotilla/${commit}`])
    const [missing] = await missingFiles(local, commit, files)
    if (missing) throw tooLarge(missing.path)
  }

  // Returns true if the local history ends below this commit.
  async function isShallowBelow(commit: string): Promise<boolean> {
    const [cut, walked] = await Promise.all([
      readShallow(repository),
      local(['rev-list', checked(commit)], { maxOutput: MAX_LISTING }),
    ])
    if (cut.size === 0) return false
    return Buffer.from(walked)
      .toString('latin1')
      .split('\n')
      .some((oid) => cut.has(oid))
  }
}

function nameOf(text: string): string {
  return hex(sha256(text)).slice(0, 40)
}

type Local = (args: readonly string[], more?: Partial<GitRun>) => Promise<Uint8Array>

/** The files of a commit whose contents are not in the cache. */
async function missingFiles(local: Local, commit: string, files: readonly TreeEntry[]): Promise<TreeEntry[]> {
  const text = await local(['rev-list', '--objects', '--no-object-names', '--missing=print', '--no-walk', commit], {
    maxOutput: MAX_LISTING,
  })
  const missing = new Set<string>()
  for (const line of Buffer.from(text).toString('latin1').split('\n'))
    if (line.startsWith('?')) missing.add(line.slice(1))
  return files.filter(({ oid }) => missing.has(oid))
}

async function hasCommit(local: Local, commit: string): Promise<boolean> {
  try {
    await local(['cat-file', '-e', `${checked(commit)}^{tree}`])
    return true
  } catch (caught) {
    if (caught instanceof GitError) return false
    throw caught
  }
}

async function readBatch(
  local: Local,
  paths: ReadonlyMap<string, string>,
  onFile: (oid: string, bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  if (paths.size === 0) return
  let rest: Buffer = Buffer.alloc(0)
  let size = 0
  let chunks: Buffer[] = []
  let wanted: { readonly oid: string; readonly size: number } | undefined
  const flush = (): void => {
    if (chunks.length === 0) return
    rest = Buffer.concat([rest, ...chunks])
    chunks = []
    size = 0
  }
  await local(['cat-file', '--batch'], {
    input: [...paths.keys()].map((oid) => `${checked(oid)}\n`).join(''),
    onOutput: async (chunk) => {
      chunks.push(Buffer.from(chunk))
      size += chunk.byteLength
      if (wanted && rest.byteLength + size < wanted.size + 1) return
      flush()
      for (;;) {
        if (!wanted) {
          const end = rest.indexOf(0x0a)
          if (end < 0) return
          const line = rest.subarray(0, end).toString('latin1')
          const [, oid, size] = /^([0-9a-f]+) blob (\d+)$/.exec(line) ?? []
          const bytes = readWholeNumber(size ?? '')
          if (oid === undefined || bytes === undefined)
            throw new Error(`unexpected output of git cat-file: ${JSON.stringify(line)}`)
          wanted = { oid, size: bytes }
          rest = rest.subarray(end + 1)
          if (wanted.size > ARTIFACT_LIMITS.fileBytes) throw tooLarge(paths.get(wanted.oid) ?? wanted.oid)
        }
        if (rest.byteLength < wanted.size + 1) return
        const bytes = new Uint8Array(rest.subarray(0, wanted.size))
        rest = rest.subarray(wanted.size + 1)
        const { oid } = wanted
        wanted = undefined
        await onFile(oid, bytes)
      }
    },
  })
}

function tooLarge(path: string): SourceError {
  return new SourceError(
    'FileTooLarge',
    `${shownPath(path)} is larger than the ${ARTIFACT_LIMITS.fileBytes} bytes a file may have; leave it out with spec.ignore.`,
  )
}

// Only object names may stand where git could read an option or a ref.
function checked(oid: string): string {
  if (!OID.test(oid))
    throw new SourceError('BadCommit', `${JSON.stringify(oid)} is no commit: want 40 or 64 hexadecimal digits.`)
  return oid
}

async function prepare(repository: string): Promise<void> {
  const packs = await readdir(join(repository, 'objects', 'pack')).catch(() => undefined)
  // Many small packs are slow, and repacking costs more than fetching one tree again.
  if (packs && packs.length <= 3 * MAX_PACKS) return
  await rm(repository, { recursive: true, force: true })
  for (const folder of ['objects/pack', 'objects/info', 'refs/heads']) {
    await mkdir(join(repository, folder), { recursive: true, mode: 0o700 })
  }
  await writeFile(join(repository, 'HEAD'), 'ref: refs/heads/none\n')
  await writeFile(
    join(repository, 'config'),
    '[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tpartialClone = origin\n[remote "origin"]\n\tpromisor = true\n',
  )
}

async function sizeOf(repository: string): Promise<number> {
  const folder = join(repository, 'objects', 'pack')
  const names = await readdir(folder).catch(() => [])
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (found) => found.size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function readShallow(repository: string): Promise<Set<string>> {
  try {
    return new Set((await readFile(join(repository, 'shallow'), 'utf8')).split('\n').filter((line) => line !== ''))
  } catch (caught) {
    if ((toError(caught) as { code?: string }).code === 'ENOENT') return new Set()
    throw caught
  }
}

function parseListing(listing: Uint8Array): TreeEntry[] {
  const entries: TreeEntry[] = []
  const decoder = new TextDecoder('utf-8', { fatal: true })
  for (let at = 0; at < listing.length;) {
    const end = listing.indexOf(0, at)
    const record = listing.subarray(at, end)
    at = end + 1
    const tab = record.indexOf(0x09)
    const [mode = '', , oid = ''] = Buffer.from(record.subarray(0, tab)).toString('latin1').split(' ')
    const name = record.subarray(tab + 1)
    try {
      entries.push({ path: decoder.decode(name), mode, oid })
    } catch {
      entries.push({ path: Buffer.from(name).toString('utf8'), mode, oid, isUnreadable: true })
    }
  }
  return entries
}

/** Author and subject on one line each. They are text of strangers: control and formatting characters become spaces. */
function parseCommitTexts(output: Uint8Array): CommitTexts {
  const [author = '', subject = ''] = Buffer.from(output).toString('utf8').split('\0').map(oneLine)
  return compact({ author: author === '' ? undefined : author, subject: subject === '' ? undefined : subject })
}

function oneLine(text: string): string {
  const plain = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  // A character can have two UTF-16 units.
  const cut = (): string =>
    Array.from(plain.slice(0, MAX_COMMIT_TEXT))
      .slice(0, MAX_COMMIT_TEXT / 2 - 1)
      .join('')
  return plain.length <= MAX_COMMIT_TEXT ? plain : `${cut()}…`
}
