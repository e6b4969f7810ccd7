/** Globs of names and paths with the rules of Go's filepath.Match, compiled once; matching takes linear time. */
import { BadPattern, compilePattern } from '../render/helm/chart/file-pattern.ts'
import type { FilePattern } from '../render/helm/chart/file-pattern.ts'

export type FileGlob = FilePattern

/** Compiles a glob; undefined when it is not valid. `**` equals `*`, as in Go. */
export function fileGlob(pattern: string): FileGlob | undefined {
  try {
    return compilePattern(pattern.replaceAll(/\*+/g, '*'))
  } catch (caught) {
    if (caught instanceof BadPattern) return undefined
    throw caught
  }
}
