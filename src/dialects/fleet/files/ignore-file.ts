/** `.fleetignore`: patterns for names in its directory and below; `name/*` means directories of that name. */
import { fileGlob } from '../../file-glob.ts'

/** Patterns of one file. */
export interface IgnoreFile {
  /** The directory it is in, relative to the bundle; empty for its root. */
  readonly directory: string
  readonly patterns: readonly { readonly glob: RegExp; readonly directoriesOnly: boolean }[]
}

const MAX_PATTERNS = 256

/** Reads the patterns; comments and blank lines do not count. */
export function readIgnoreFile(directory: string, text: string): IgnoreFile {
  const lines = text.split(/\r?\n/, MAX_PATTERNS * 4).map((line) => line.trimEnd())
  const patterns = lines
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .slice(0, MAX_PATTERNS)
    .flatMap((line) => {
      const directoriesOnly = line.endsWith('/*')
      const glob = fileGlob(directoriesOnly ? line.slice(0, -2) : line)
      return glob ? [{ glob, directoriesOnly }] : []
    })
  return { directory, patterns }
}

/** Whether a path, relative to the bundle, is left out: it or a directory it is in fits a pattern from above. */
export function isIgnored(path: string, files: readonly IgnoreFile[]): boolean {
  const parts = path.split('/')
  return parts.some((name, at) => {
    const directory = parts.slice(0, at).join('/')
    const isDirectory = at < parts.length - 1
    return files.some(
      (file) =>
        (file.directory === '' || directory === file.directory || directory.startsWith(`${file.directory}/`)) &&
        file.patterns.some(({ glob, directoriesOnly }) => (isDirectory || !directoriesOnly) && glob.test(name)),
    )
  })
}
