/** Globs of names and paths with the rules of Go's filepath.Match, compiled once and limited in cost. */
import { BadPattern, compilePattern } from '../render/helm/chart/file-pattern.ts'

/** The most stars in one part; more would make matching slow. */
const MAX_STARS = 6

/** Compiles a glob; undefined when it is not valid. `**` equals `*`, as in Go. */
export function fileGlob(pattern: string): RegExp | undefined {
  const plain = pattern.replaceAll(/\*+/g, '*')
  if (plain.split('/').some((part) => part.split('*').length - 1 > MAX_STARS)) return undefined
  try {
    return compilePattern(plain)
  } catch (caught) {
    if (caught instanceof BadPattern || caught instanceof SyntaxError) return undefined
    throw caught
  }
}
