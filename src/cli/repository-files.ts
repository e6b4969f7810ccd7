/** The files of a repository on this disk, as the hub's artifact of it would have them. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { CliError, EXIT } from './exit.ts'

const MAX_FILES = 50_000
const MAX_BYTES = 256 * 1024 * 1024
// What belongs to git or to a package manager is no content.
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/** The files below a directory by their path in it. */
export function readRepository(root: string): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  let bytes = 0
  const walk = (folder: string): void => {
    for (const entry of readdirSync(join(root, folder)).sort()) {
      if (SKIPPED.has(entry)) continue
      const path = folder === '' ? entry : `${folder}/${entry}`
      const found = statSync(join(root, path), { throwIfNoEntry: false })
      if (found?.isDirectory()) walk(path)
      else if (found?.isFile()) {
        bytes += found.size
        if (files.size >= MAX_FILES || bytes > MAX_BYTES) {
          throw new CliError(EXIT.usage, {
            what: `${root} is larger than a repository may be`,
            todo: 'give --root DIR',
          })
        }
        files.set(path, readFileSync(join(root, path)))
      }
    }
  }
  walk('')
  return files
}

/** The nearest directory above (or the one itself) that is a git work tree; the directory itself when there is none. */
export function repositoryOf(directory: string): string {
  let at = resolve(directory)
  for (;;) {
    if (existsSync(join(at, '.git'))) return at
    const up = dirname(at)
    if (up === at) return resolve(directory)
    at = up
  }
}
