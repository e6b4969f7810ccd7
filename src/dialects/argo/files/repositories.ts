/** Local clones by the addresses that Applications use. */
import { fromUtf8 } from '../../../core/bytes.ts'
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'

/** A local clone; without an address it stands for each repository. */
export interface Clone {
  readonly url?: string
  readonly files: Pick<ReadonlyMap<string, Uint8Array>, 'get' | 'keys'>
}

/** The files of a clone. */
export interface RepositoryFiles {
  readonly paths: readonly string[]
  /** The commit of the files, when it is known. */
  readonly revision?: string
  /** The text of a file; undefined when the file does not exist. */
  text(path: string): string | undefined
}

/** The clones by address, and problems with the command-line options. */
export interface Repositories {
  /** The files at an address; a local clone has one revision. */
  of(url: string, revision?: string): RepositoryFiles | undefined
  readonly problems: readonly string[]
}

/** Matches clones with the addresses in these specs. */
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
    } else if (meant !== undefined) known.set(sameAddress(meant), repositoryFiles(files))
  }
  return { of: (url) => known.get(sameAddress(url)), problems }
}

/** Files as texts; a file that is not UTF-8 has none. */
export function repositoryFiles(files: Clone['files'], revision?: string): RepositoryFiles {
  return {
    ...compact({ revision }),
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

/** The normal form of an address: different spellings of the same address are equal. */
function sameAddress(url: string): string {
  return url
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .toLowerCase()
}

/** All addresses of git repositories in a spec. */
function gitAddresses(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(gitAddresses)
  if (!isObject(value)) return []
  const { repoURL, chart } = value
  const own =
    typeof repoURL === 'string' && !chart && !repoURL.startsWith('oci://') && !repoURL.includes('{{') ? [repoURL] : []
  return [...own, ...Object.values(value).flatMap(gitAddresses)]
}
