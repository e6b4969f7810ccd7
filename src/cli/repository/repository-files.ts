/** The files of a repository on this disk, as the hub's artifact of it would have them. */
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { SourceError } from '../../source/source-error.ts'
import { resolveLinks } from '../../source/tree-entries.ts'
import type { TreeEntry } from '../../source/tree-entries.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'

const MAX_FILES = 50_000
const MAX_BYTES = 256 * 1024 * 1024
// What belongs to git or to a package manager is no content.
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/** The files below a directory by their path in it. */
export function readRepository(root: string): Map<string, Uint8Array> {
  const paths: string[] = []
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      if (SKIPPED.has(entry.name)) continue
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) walk(path)
      else paths.push(path)
      if (paths.length > MAX_FILES) throw tooLarge(root)
    }
  }
  walk('')
  return readFilesOf(root, paths.sort())
}

/** These files of a directory. Links are followed inside of it; one that leaves it is refused, as the hub does. */
export function readFilesOf(root: string, paths: readonly string[]): Map<string, Uint8Array> {
  const entries: TreeEntry[] = []
  let bytes = 0
  for (const path of paths) {
    const found = lstatSync(join(root, path), { throwIfNoEntry: false })
    if (found?.isSymbolicLink()) entries.push({ path, mode: '120000', oid: path })
    else if (found?.isFile()) {
      bytes += found.size
      entries.push({ path, mode: '100644', oid: path })
    }
    if (bytes > MAX_BYTES) throw tooLarge(root)
  }
  const read = new Map<string, Uint8Array>()
  const contentOf = (path: string): Uint8Array => {
    const known = read.get(path) ?? readFileSync(join(root, path))
    read.set(path, known)
    return known
  }
  const files = withRepositoryErrors(root, () =>
    resolveLinks(entries, entries, ({ oid }) => readlinkSync(join(root, oid))),
  )
  return new Map(files.map(({ path, oid }) => [path, contentOf(oid)]))
}

/** Does something that the hub refuses for what is in a repository, and tells so. */
export function withRepositoryErrors<T>(root: string, work: () => T): T {
  try {
    return work()
  } catch (caught) {
    if (!(caught instanceof SourceError)) throw caught
    throw new CliError(
      EXIT.failed,
      { what: 'the hub would refuse the repository', where: root, why: caught.message },
      { cause: caught },
    )
  }
}

function tooLarge(root: string): CliError {
  return new CliError(EXIT.usage, { what: `${root} is larger than a repository may be`, todo: 'give --root DIR' })
}

/** The nearest directory above (or the one itself) that is a git work tree; the directory itself when there is none. */
export function findRepositoryRoot(directory: string): string {
  let at = resolve(directory)
  for (;;) {
    if (existsSync(join(at, '.git'))) return at
    const up = dirname(at)
    if (up === at) return resolve(directory)
    at = up
  }
}
