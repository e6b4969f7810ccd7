/** A directory of plain manifests as Argo CD reads it: its own files, and subdirectories only with `recurse`. */
import { matchesGlob } from '../../../core/text/glob.ts'
import type { ArgoSource, Diagnostics } from '../application.ts'

/** The directory, and its files if they are known. */
export interface DirectoryPlace {
  readonly path: string
  readonly paths: readonly string[] | undefined
}

const MOST = 256

/** The files and directories that Argo CD would skip, for `source.ignore`. */
export function ignoredFiles(
  { recurse = false, include = '', exclude = '' }: NonNullable<ArgoSource['directory']>,
  { path, paths }: DirectoryPlace,
  { note, wrong }: Diagnostics,
): string[] {
  const [wanted, unwanted] = [patternsOf(include), patternsOf(exclude)]
  if (!paths) {
    if (!recurse) {
      note(
        `Argo CD takes only the manifests of ${path || 'the repository'} itself, a Bundle also those in directories below; --root DIR leaves those out that are there now`,
      )
    }
    const unclear = unwanted.find((pattern) => /[*?[{]/.test(pattern))
    if (unclear !== undefined)
      wrong(`directory.exclude ${unclear} is a pattern; which files it means is known with --root DIR`)
    if (wanted.length > 0) wrong(`directory.include ${include}: which files it leaves out is known with --root DIR`)
    return unwanted
  }
  const odd = [...wanted, ...unwanted].find((pattern) => /[[\]{}!\\]/.test(pattern))
  if (odd !== undefined) wrong(`directory: ${odd} is more than * and ? in a pattern; name the files`)
  const prefix = path === '' ? '' : `${path}/`
  const own = paths.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length))
  const fits = (patterns: readonly string[], one: string): boolean => patterns.some((glob) => matchesGlob(glob, one))
  const ignored = new Set<string>()
  for (const one of own) {
    const slash = one.indexOf('/')
    if (slash > 0 && !recurse) ignored.add(one.slice(0, slash))
    else if (fits(unwanted, one) || (wanted.length > 0 && isManifest(one) && !fits(wanted, one))) ignored.add(one)
  }
  if (ignored.size > MOST) wrong(`${ignored.size} files of ${path} do not count, and ${MOST} can be said`)
  return [...ignored].sort()
}

/** Patterns of a text: `{a,b}` makes two. A star also matches slashes, and two stars match the same as one star. */
function patternsOf(text: string): string[] {
  return (text.startsWith('{') && text.endsWith('}') ? text.slice(1, -1).split(',') : [text])
    .map((pattern) => pattern.trim().replaceAll(/\*+/g, '*'))
    .filter((pattern) => pattern !== '')
}

function isManifest(path: string): boolean {
  return /\.(ya?ml|json)$/.test(path)
}
