// Tested by src/cli/commands/preview/diff.contract.test.ts.
/** A git repository on this disk: its files at a revision, or as they stand in the work tree. */
import { execFile } from 'node:child_process'
import { readWholeNumber } from '../../core/read-number.ts'
import { resolveLinks } from '../../source/tree-entries.ts'
import type { TreeEntry } from '../../source/tree-entries.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'
import { readFilesOf, withRepositoryErrors } from './repository-files.ts'

/** Files by their path from the top. */
export type Files = ReadonlyMap<string, Uint8Array>

/** A clone of a git repository. */
export interface GitRepository {
  readonly root: string
  /** The addresses of its remotes. */
  readonly remotes: () => Promise<readonly string[]>
  /** The commit of a revision. Undefined if the clone does not have the revision. */
  readonly commitOf: (revision: string) => Promise<string | undefined>
  readonly filesAt: (commit: string) => Promise<Files>
  /** Tracked files, and new files that are not ignored. */
  readonly workFiles: () => Promise<Files>
}

const MAX_OUTPUT = 512 * 1024 * 1024

/** The files of a revision; refused with the command that fetches it. */
export async function filesAt(repository: GitRepository, revision: string): Promise<Files> {
  const commit = await repository.commitOf(revision)
  if (commit !== undefined) return await repository.filesAt(commit)
  throw new CliError(EXIT.notFound, {
    where: repository.root,
    what: `revision ${JSON.stringify(revision)} not found in this clone`,
    todo: `fetch it with "git fetch origin ${revision}"; in a workflow, check out with fetch-depth: 0`,
  })
}

/** Opens the repository whose work tree is at a directory. */
export function openRepository(root: string): GitRepository {
  const git = (args: readonly string[], input = ''): Promise<Buffer> =>
    new Promise((done, fail) => {
      const child = execFile(
        'git',
        ['-C', root, '--no-optional-locks', ...args],
        { encoding: 'buffer', maxBuffer: MAX_OUTPUT },
        (error, stdout, stderr) => {
          if (error) fail(new Error(`git ${args[0]}: ${stderr.toString().trim() || error.message}`, { cause: error }))
          else done(stdout)
        },
      )
      child.stdin?.on('error', () => {}) // git ended early; its exit code has the cause
      child.stdin?.end(input)
    })

  async function contentsOf(oids: readonly string[]): Promise<Map<string, Uint8Array>> {
    const distinct = [...new Set(oids)]
    const output = await git(['cat-file', '--batch'], distinct.map((oid) => `${oid}\n`).join(''))
    const contents = new Map<string, Uint8Array>()
    let at = 0
    for (const oid of distinct) {
      const end = output.indexOf(10, at)
      const line = output.subarray(at, end).toString()
      const size = readWholeNumber(line.split(' ')[2] ?? '')
      if (size === undefined) throw new Error(`unexpected output of git cat-file: ${JSON.stringify(line)}`)
      contents.set(oid, output.subarray(end + 1, end + 1 + size))
      at = end + 1 + size + 1
    }
    return contents
  }

  return {
    root,
    async remotes() {
      const text = await git(['config', '--get-regexp', String.raw`^remote\..*\.url$`]).catch(() => Buffer.alloc(0))
      return text
        .toString()
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [line.slice(line.indexOf(' ') + 1)]))
    },
    async commitOf(revision) {
      if (revision.startsWith('-')) {
        throw new CliError(EXIT.usage, { what: `invalid revision ${JSON.stringify(revision)}` })
      }
      const text = await git(['rev-parse', '--verify', '--quiet', `${revision}^{commit}`]).catch(() => undefined)
      return text?.toString().trim()
    },
    async filesAt(commit) {
      const listed = (await git(['ls-tree', '-r', '-z', '--full-tree', commit])).toString('utf8')
      const entries: TreeEntry[] = listed.split('\0').flatMap((line) => {
        const match = /^(\d+) (?:blob|commit) ([0-9a-f]+)\t([^]*)$/.exec(line)
        return match ? [{ mode: match[1]!, oid: match[2]!, path: match[3]! }] : []
      })
      // A submodule is not part of this repository.
      const blobs = entries.filter(({ mode }) => mode !== '160000')
      const contents = await contentsOf(blobs.map(({ oid }) => oid))
      const textOf = ({ oid }: TreeEntry) => Buffer.from(contents.get(oid)!).toString('utf8')
      const files = withRepositoryErrors(root, () => resolveLinks(blobs, blobs, textOf))
      return new Map(files.map(({ path, oid }) => [path, contents.get(oid)!]))
    },
    async workFiles() {
      const listed = await git(['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
      const paths = new Set(
        listed
          .toString('utf8')
          .split('\0')
          .filter((path) => path !== ''),
      )
      return readFilesOf(root, [...paths].sort())
    },
  }
}
