// Tested by src/cli/commands/preview/diff.contract.test.ts.
/** The files of a local clone, as the artifact of the hub would have them. */
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { SourceError } from '../../source/source-error.ts'
import { resolveLinks } from '../../source/tree-entries.ts'
import type { TreeEntry } from '../../source/tree-entries.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'

const MAX_FILES = 50_000
const MAX_BYTES = 256 * 1024 * 1024
// Files of git and of package managers are not content.
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

/** Reads files of a directory. Links inside the directory are followed; links out of it are refused, as on the hub. */
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

/** Reports repository content that the hub would refuse as an error of the command. */
export function withRepositoryErrors<T>(root: string, work: () => T): T {
  try {
    return work()
  } catch (caught) {
    if (!(caught instanceof SourceError)) throw caught
    throw new CliError(
      EXIT.failed,
      { where: root, what: 'the hub would refuse the repository', why: caught.message },
      { cause: caught },
    )
  }
}

function tooLarge(root: string): CliError {
  return new CliError(EXIT.usage, {
    where: root,
    what: 'too many files for a repository',
    todo: 'give the repository with --root DIR',
  })
}

/** The git work tree of a directory. Defaults to the directory itself. */
export function findRepositoryRoot(directory: string): string {
  let at = resolve(directory)
  for (;;) {
    if (existsSync(join(at, '.git'))) return at
    const up = dirname(at)
    if (up === at) return resolve(directory)
    at = up
  }
}
