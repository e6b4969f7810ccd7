/** A directory of plain manifests as Argo CD reads it: its own files, and those below only when it is told to. */
import { fileGlob } from '../file-glob.ts'
import type { ArgoSource, Remarks } from './application.ts'

/** The directory, and its files where they are known. */
export interface DirectoryPlace {
  readonly path: string
  readonly paths: readonly string[] | undefined
}

const MOST = 256

/** What of it does not count, as `source.ignore` says it: files and directories by name. */
export function ignoredFiles(
  { recurse = false, exclude = '' }: NonNullable<ArgoSource['directory']>,
  { path, paths }: DirectoryPlace,
  { note, wrong }: Remarks,
): string[] {
  const patterns = (exclude.startsWith('{') && exclude.endsWith('}') ? exclude.slice(1, -1).split(',') : [exclude])
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '')
  if (!paths) {
    if (!recurse) {
      note(
        `Argo CD takes only the manifests of ${path || 'the repository'} itself, a Bundle also those in directories below; --root DIR leaves those out that are there now`,
      )
    }
    const unclear = patterns.find((pattern) => /[*?[{]/.test(pattern))
    if (unclear !== undefined)
      wrong(`directory.exclude ${unclear} is a pattern; which files it means is known with --root DIR`)
    return patterns
  }
  const prefix = path === '' ? '' : `${path}/`
  const own = paths.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length))
  const globs = patterns.map((pattern) => {
    const glob = fileGlob(pattern)
    if (!glob) wrong(`directory.exclude ${pattern} is no pattern`)
    return glob
  })
  const ignored = new Set<string>()
  for (const one of own) {
    const slash = one.indexOf('/')
    if (slash > 0 && !recurse) ignored.add(one.slice(0, slash))
    else if (globs.some((glob) => glob?.test(one))) ignored.add(one)
  }
  if (ignored.size > MOST) wrong(`${ignored.size} files of ${path} do not count, and ${MOST} can be said`)
  return [...ignored].sort()
}
