/**
 * Allowed content of a repository: selects the files to read from the entries of a tree. Forbidden entries are refused
 * by name.
 */
import { ARTIFACT_LIMITS } from './artifact.ts'
import { matchesStars } from '../core/text/glob.ts'
import { SourceError } from './source-error.ts'

/** An entry of `git ls-tree`. */
export interface TreeEntry {
  readonly path: string
  /** Git's mode: 100644, 100755, 120000 (link) or 160000 (submodule). */
  readonly mode: string
  readonly oid: string
  /** True if the name is not UTF-8; `path` is then an approximation. */
  readonly isUnreadable?: boolean
}

/** The selected part of a tree. */
export interface Selection {
  /** Files or directories. Defaults to all. */
  readonly paths?: readonly string[] | undefined
  /** Files or directories to exclude; `*` matches a part of a name, `**` any directories. */
  readonly ignore?: readonly string[] | undefined
}

const LINK = '120000'
const SUBMODULE = '160000'
const MAX_LINK_STEPS = 40

/** Refuses a path that is not clean and relative; `where` names its origin. */
export function checkPath(path: string): void {
  const refuse = (why: string): never => {
    throw new SourceError('BadPath', `${shownPath(path)}: ${why}.`)
  }
  if (path === '' || path.startsWith('/')) refuse('the path is absolute or empty')
  const parts = path.split('/')
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    refuse('the path has ".", ".." or nothing between two slashes, and would leave its directory')
  }
  if (path.includes('\u0000')) refuse('the path has a NUL in it')
  if (parts.length > ARTIFACT_LIMITS.depth) {
    refuse(`it is ${parts.length} directories deep, more than the ${ARTIFACT_LIMITS.depth} allowed`)
  }
  if (Buffer.byteLength(path) > ARTIFACT_LIMITS.pathBytes) {
    refuse(`the path is longer than the ${ARTIFACT_LIMITS.pathBytes} bytes allowed`)
  }
}

/** Shortens a path for messages. */
export function shownPath(path: string): string {
  const text = JSON.stringify(path)
  return text.length <= 203 ? text : `${text.slice(0, 120)}…${text.slice(-60)}`
}

/** Creates the filter of a selection. */
export function selects({ paths, ignore }: Selection): (path: string) => boolean {
  const wanted = (paths ?? []).map(cleanDirectory).filter((path) => path !== '')
  const unwanted = (ignore ?? []).map((pattern) => patternOf(cleanDirectory(pattern)))
  const isEverything = (paths ?? []).length === 0 || wanted.length < (paths ?? []).length
  return (path) =>
    (isEverything || wanted.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) &&
    !unwanted.some((isUnwanted) => isUnwanted(path))
}

/** Normalises `./a/` to `a`, and `.` to the whole tree. */
function cleanDirectory(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
}

/** Matches a file or a directory with everything in it. The text is from a user, so no regular expression is built. */
function patternOf(pattern: string): (path: string) => boolean {
  const wanted = pattern.split('/').map((part) => (part === '**' ? undefined : part))
  // `**` at the end names directories only, and paths are files.
  if (wanted.at(-1) === undefined) return () => false
  return (path) => matchesFirst(wanted, path.split('/'))
}

/** Whether names begin as wanted; undefined stands for any directories. The newest one is retried at a time. */
function matchesFirst(wanted: readonly (string | undefined)[], names: readonly string[]): boolean {
  let [at, name, any, resume] = [0, 0, -1, 0]
  while (at < wanted.length) {
    const part = wanted[at]
    if (part === undefined) {
      any = at++
      resume = name
      continue
    }
    if (name >= names.length) return false
    if (matchesStars(part, names[name]!)) {
      at += 1
      name += 1
    } else if (any >= 0) {
      at = any + 1
      name = ++resume
    } else return false
  }
  return true
}

/** Whether an entry is a submodule. */
export function isSubmodule({ mode }: TreeEntry): boolean {
  return mode === SUBMODULE
}

/** What of a tree may be selected. */
export interface SelectOptions {
  /** Keeps submodules, also those with a selected path inside, instead of refusing them. */
  readonly keepsSubmodules?: boolean
  /** The tree is a part of the content, so that a selected path may be in another part. */
  readonly isPart?: boolean
}

/**
 * Returns the selected entries. Refuses submodules, unless they are kept, and too many entries. Links are kept for
 * `resolveLinks`.
 */
export function selectEntries(
  entries: readonly TreeEntry[],
  selection: Selection,
  { keepsSubmodules = false, isPart = false }: SelectOptions = {},
): TreeEntry[] {
  const isWanted = selects(selection)
  const wantedPaths = (selection.paths ?? []).map(cleanDirectory)
  const hasInside = (entry: TreeEntry): boolean =>
    keepsSubmodules && isSubmodule(entry) && wantedPaths.some((path) => path.startsWith(`${entry.path}/`))
  const found = entries.filter((entry) => isWanted(entry.path) || hasInside(entry))
  for (const entry of found) {
    checkPath(entry.path)
    if (entry.isUnreadable) {
      throw new SourceError('BadPath', `${shownPath(entry.path)}: the name of the file is not UTF-8; rename it.`)
    }
    if (isSubmodule(entry) && !keepsSubmodules) {
      throw new SourceError(
        'Submodule',
        `${shownPath(entry.path)} is a submodule, which is another repository; fetch or ignore it with spec.git.submodules, make it a Source of its own, or leave it out with spec.ignore.`,
      )
    }
  }
  checkCount(found.length)
  for (const path of isPart ? [] : wantedPaths) {
    const isThere = (entry: TreeEntry): boolean =>
      entry.path === path || entry.path.startsWith(`${path}/`) || hasInside(entry)
    if (path !== '' && !found.some(isThere)) {
      throw new SourceError('PathNotFound', `spec.paths names ${shownPath(path)}, and nothing is there.`)
    }
  }
  return found
}

/** Refuses more files than an artifact may have. */
export function checkCount(count: number): void {
  if (count <= ARTIFACT_LIMITS.files) return
  throw new SourceError(
    'TooManyFiles',
    `${count} files are more than the ${ARTIFACT_LIMITS.files} one artifact may have; name the directories you need in spec.paths.`,
  )
}

/**
 * Replaces links by their targets: a file, or all files of a directory. A link that leaves the repository, has no
 * target or forms a cycle is refused. `entries` is the whole tree, `targetOf` returns the text of a link.
 */
export function resolveLinks(
  selected: readonly TreeEntry[],
  entries: readonly TreeEntry[],
  targetOf: (link: TreeEntry) => string,
): TreeEntry[] {
  if (!selected.some(({ mode }) => mode === LINK)) return [...selected]
  const byPath = new Map(entries.map((entry) => [entry.path, entry]))
  const filesIn = createFolderIndex(entries)
  const files: TreeEntry[] = []
  const add = (entry: TreeEntry, path: string): void => {
    checkPath(path)
    files.push({ ...entry, path })
    checkCount(files.length)
  }

  /** Resolves the links in the directories of a path. */
  function realPath(path: string, link: TreeEntry, steps: number): string {
    if (steps > MAX_LINK_STEPS) {
      throw new SourceError('BadLink', `${shownPath(link.path)} is a link that goes in a circle.`)
    }
    const parts = path.split('/')
    for (let length = 1; length <= parts.length; length++) {
      const at = byPath.get(parts.slice(0, length).join('/'))
      if (at?.mode !== LINK) continue
      const target = follow(at, targetOf(at))
      return realPath([target, ...parts.slice(length)].filter((part) => part !== '').join('/'), link, steps + 1)
    }
    return path
  }

  for (const entry of selected) {
    if (entry.mode !== LINK) {
      add(entry, entry.path)
      continue
    }
    const target = realPath(follow(entry, targetOf(entry)), entry, 0)
    const file = byPath.get(target)
    if (file && file.mode !== SUBMODULE) {
      add(file, entry.path)
      continue
    }
    const folder = target === '' ? '' : `${target}/`
    if (folder === '' || `${entry.path}/`.startsWith(folder)) {
      throw new SourceError('BadLink', `${shownPath(entry.path)} is a link to a directory that contains it.`)
    }
    const inside = filesIn(folder)
    if (inside.length === 0) {
      throw new SourceError(
        'BadLink',
        `${shownPath(entry.path)} is a link to ${shownPath(target)}, and nothing is there.`,
      )
    }
    for (const one of inside) add(one, `${entry.path}/${one.path.slice(folder.length)}`)
  }
  return files
}

/** Finds the files of a folder without a look at all entries, for a tree with many links. */
function createFolderIndex(entries: readonly TreeEntry[]): (folder: string) => TreeEntry[] {
  const files = entries
    .filter(({ mode }) => mode !== LINK && mode !== SUBMODULE)
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return (folder) => {
    let [low, high] = [0, files.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (files[middle]!.path < folder) low = middle + 1
      else high = middle
    }
    let end = low
    while (end < files.length && files[end]!.path.startsWith(folder)) end += 1
    return files.slice(low, end)
  }
}

function follow(link: TreeEntry, target: string): string {
  const outside = (): never => {
    throw new SourceError(
      'LinkOutside',
      `${shownPath(link.path)} is a link to ${shownPath(target)}, which is outside the repository; remove it, or leave it out with spec.ignore.`,
    )
  }
  if (target.startsWith('/') || target === '' || target.includes('\u0000')) outside()
  const parts = link.path.split('/').slice(0, -1)
  for (const part of target.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.pop() === undefined) outside()
  }
  return parts.join('/')
}
