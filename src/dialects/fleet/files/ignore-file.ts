/** `.fleetignore`: patterns for names in its directory and below; `name/*` means directories of that name. */
import { fileGlob } from '../../file-glob.ts'
import type { FileGlob } from '../../file-glob.ts'

/** The patterns of one file. */
export interface IgnoreFile {
  /** The directory of the file, relative to the bundle; empty for the bundle's root. */
  readonly directory: string
  readonly patterns: readonly { readonly glob: FileGlob; readonly directoriesOnly: boolean }[]
}

const MAX_PATTERNS = 256

/** Reads the patterns, without comments and blank lines. */
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

/**
 * Whether a path, relative to the bundle, is ignored: a pattern of a directory above matches it or one of its
 * directories.
 */
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
