/** Repositories that are on this disk, by the addresses that Applications know them under. */
import { fromUtf8 } from '../../../core/bytes.ts'
import { isObject } from '../../../core/json.ts'

/** A clone: all of a repository without an address, or that of one. */
export interface Clone {
  readonly url?: string
  readonly files: Pick<ReadonlyMap<string, Uint8Array>, 'get' | 'keys'>
}

/** What can be asked of one. */
export interface RepositoryFiles {
  readonly paths: readonly string[]
  /** The text of a file; undefined when there is none. */
  text(path: string): string | undefined
}

/** The repositories by address, and what is wrong with how they were given. */
export interface Repositories {
  of(url: string): RepositoryFiles | undefined
  readonly problems: readonly string[]
}

/** Joins clones with the addresses below these specs. */
export function repositoriesOf(clones: readonly Clone[], specs: readonly unknown[]): Repositories {
  const urls = [...new Map(specs.flatMap(gitAddresses).map((url) => [sameAddress(url), url])).values()]
  const known = new Map<string, RepositoryFiles>()
  const problems: string[] = []
  for (const { url, files } of clones) {
    const [only, ...others] = urls
    const meant = url ?? only
    if (url === undefined && others.length > 0) {
      problems.push(
        `--root is one repository, and the files name ${urls.join(' and ')}; say which it is: --root URL=DIR`,
      )
    } else if (meant !== undefined) known.set(sameAddress(meant), filesOf(files))
  }
  return { of: (url) => known.get(sameAddress(url)), problems }
}

function filesOf(files: Clone['files']): RepositoryFiles {
  return {
    paths: [...files.keys()],
    text: (path) => {
      const bytes = files.get(path)
      try {
        return bytes && fromUtf8(bytes)
      } catch {
        return undefined
      }
    },
  }
}

/** What two spellings of one address have in common. */
function sameAddress(url: string): string {
  return url
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .toLowerCase()
}

/** Every address of a git repository below a spec. */
function gitAddresses(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(gitAddresses)
  if (!isObject(value)) return []
  const { repoURL, chart } = value
  const own =
    typeof repoURL === 'string' && !chart && !repoURL.startsWith('oci://') && !repoURL.includes('{{') ? [repoURL] : []
  return [...own, ...Object.values(value).flatMap(gitAddresses)]
}
