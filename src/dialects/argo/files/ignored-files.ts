// Tested by src/dialects/argo/import-applications.test.ts
/** The subdirectories of plain manifests, which Argo CD reads only with `recurse`. */
import type { Diagnostics } from '../application.ts'
import type { DirectoryOptions } from '../build/directory-manifests.ts'
import type { RepositoryFiles } from './repositories.ts'

/** The directory, and the files of its repository if they are known. */
export interface DirectoryPlace {
  readonly path: string
  readonly repository: RepositoryFiles | undefined
}

/** The number of names that `source.ignore` may have. */
export const MAX_IGNORED = 256

/** The directories that Argo CD would skip, for `source.ignore`. */
export function ignoredFiles(
  directory: DirectoryOptions | undefined,
  { path, repository }: DirectoryPlace,
  { note }: Diagnostics,
): string[] {
  if (directory?.recurse) return []
  if (repository) return foldersOf(path, repository.paths)
  note(
    `Argo CD takes only the manifests of ${path || 'the repository'} itself, a Bundle also those in directories below; --root DIR leaves those out that are there now`,
  )
  return []
}

/** The directories right below a path. */
export function foldersOf(path: string, paths: readonly string[]): string[] {
  const prefix = path === '' ? '' : `${path}/`
  const own = paths.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length))
  return [...new Set(own.flatMap((one) => (one.includes('/') ? [one.slice(0, one.indexOf('/'))] : [])))].sort()
}
