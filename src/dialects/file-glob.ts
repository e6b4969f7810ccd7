/** Globs of names and paths as Go's filepath.Match has them, compiled once and bounded. */
import { BadPattern, compilePattern } from '../render/helm/chart/file-pattern.ts'

/** More stars than this in one part would cost more than any layout is worth. */
const MAX_STARS = 6

/** Compiles a glob; undefined when it is no pattern. `**` is `*`, as in Go. */
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
