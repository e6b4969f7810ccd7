/** Reads files for a kustomization: in its root, outside its root, and remote. */
import { KustomizeError, wrapError } from './kustomize-error.ts'

/** The files of a build. Paths are absolute and clean; the creator of the tree resolves links. */
export interface FileTree {
  /** What is at a path, and its path without links; nothing when nothing is there. */
  stat(path: string): { readonly path: string; readonly kind: 'file' | 'directory' } | undefined
  read(path: string): Uint8Array
  /** The names of what is in a directory. */
  list(path: string): readonly string[]
}

/** A tree of files in memory, by absolute path. */
export function createFileTree(files: ReadonlyMap<string, Uint8Array>): FileTree {
  const directories = new Set<string>(['/'])
  for (const path of files.keys()) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) directories.add(path.slice(0, at))
  }
  return {
    stat(path) {
      if (files.has(path)) return { path, kind: 'file' }
      return directories.has(path) ? { path, kind: 'directory' } : undefined
    },
    read: (path) => files.get(path)!,
    list(path) {
      const prefix = path.endsWith('/') ? path : `${path}/`
      const below = [...files.keys()].filter((file) => file.startsWith(prefix))
      return [...new Set(below.map((file) => file.slice(prefix.length).split('/')[0]!))]
    },
  }
}

/** What a loader may do. */
export interface LoaderOptions {
  readonly tree: FileTree
  /** Files outside the root may be read. */
  readonly allowOutside: boolean
  /** Remote bases and files that were fetched beforehand: address to path in the tree. */
  readonly remotes: ReadonlyMap<string, string>
}

/** Reads files relative to a root. */
export interface Loader {
  readonly root: string
  load(path: string): Uint8Array
  /** A loader for another root; cycles are errors. */
  enter(path: string): Loader
}

/** A loader at the directory where a build starts. */
export function startLoader(directory: string, options: LoaderOptions): Loader {
  return loaderAt(confirmDirectory(directory, options.tree), options, undefined)
}

interface Visited extends Loader {
  readonly referrer: Visited | undefined
}

function loaderAt(root: string, options: LoaderOptions, referrer: Visited | undefined): Loader {
  const loader: Visited = {
    root,
    referrer,
    load(path) {
      if (/^https?:/i.test(path)) return loadRemote(path, options)
      return loadFile(path.startsWith('/') ? cleanPath(path) : joinPath(root, path), root, options)
    },
    enter(path) {
      if (path === '') throw new KustomizeError('new root cannot be empty')
      if (isRepositoryUrl(path)) {
        const fetched = options.remotes.get(path)
        if (fetched === undefined) throw new KustomizeError(remoteRefusal(path))
        return loaderAt(confirmDirectory(fetched, options.tree), options, loader)
      }
      if (path.startsWith('/')) throw new KustomizeError(`new root '${path}' cannot be absolute`)
      const directory = confirmDirectory(joinPath(root, path), options.tree)
      for (let visited: Visited | undefined = loader; visited; visited = visited.referrer) {
        if (isWithin(visited.root, directory)) {
          throw new KustomizeError(
            `cycle detected: candidate root '${directory}' contains visited root '${visited.root}'`,
          )
        }
      }
      return loaderAt(directory, options, loader)
    },
  }
  return loader
}

function remoteRefusal(path: string): string {
  return `'${path}' is remote: it must be fetched and pinned before the build, which reads no network`
}

function loadRemote(path: string, options: LoaderOptions): Uint8Array {
  const fetched = options.remotes.get(path)
  if (fetched === undefined || options.tree.stat(fetched)?.kind !== 'file')
    throw new KustomizeError(remoteRefusal(path))
  return options.tree.read(fetched)
}

function loadFile(path: string, root: string, { tree, allowOutside }: LoaderOptions): Uint8Array {
  if (allowOutside) {
    const found = tree.stat(path)
    if (!found) throw new KustomizeError(`open ${path}: no such file or directory`)
    if (found.kind === 'directory') throw new KustomizeError(`read ${path}: is a directory`)
    return tree.read(found.path)
  }
  const found = resolved(path, tree)
  if (found.kind === 'directory') throw new KustomizeError(`'${path}' must resolve to a file`)
  const directory = found.path.slice(0, found.path.lastIndexOf('/')) || '/'
  if (!isWithin(directory, root)) throw new KustomizeError(`security; file '${path}' is not in or below '${root}'`)
  return tree.read(found.path)
}

function confirmDirectory(path: string, tree: FileTree): string {
  let found: { path: string; kind: string }
  try {
    found = resolved(path, tree)
  } catch (caught) {
    throw wrapError(caught, 'must build at directory: not a valid directory')
  }
  if (found.kind !== 'directory') throw new KustomizeError(`must build at directory: '${path}': file is not directory`)
  return found.path
}

function resolved(path: string, tree: FileTree): { readonly path: string; readonly kind: 'file' | 'directory' } {
  const found = tree.stat(path)
  if (found) return found
  const parts = path.split('/').slice(1)
  let missing = ''
  for (const part of parts) {
    const parent = tree.stat(missing || '/')
    if (parent?.kind === 'file') throw new KustomizeError(`evalsymlink failure on '${path}' : not a directory`)
    missing += `/${part}`
    if (!tree.stat(missing)) break
  }
  throw new KustomizeError(`evalsymlink failure on '${path}' : lstat ${missing}: no such file or directory`)
}

/** Returns true if a directory equals a base or is below it. */
function isWithin(directory: string, root: string): boolean {
  return root === '/' || directory === root || directory.startsWith(`${root}/`)
}

/** Joins and cleans a path. */
export function joinPath(root: string, path: string): string {
  return cleanPath(`${root}/${path}`)
}

/** A path without `.`, `..` and doubled slashes. */
export function cleanPath(path: string): string {
  const isAbsolute = path.startsWith('/')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (part !== '..' || !isAbsolute) parts.push(part)
  }
  return (isAbsolute ? '/' : '') + parts.join('/') || (isAbsolute ? '/' : '.')
}

/** Whether kustomize takes a path for the address of a repository. */
export function isRepositoryUrl(path: string): boolean {
  if (path.startsWith('/')) return false
  const address = path.split('?')[0]!.replace(/^git::/i, '')
  const scheme = /^(?:ssh|https?|file):\/\//i.exec(address)?.[0] ?? ''
  let rest = address.slice(scheme.length)
  const user = /^[a-zA-Z][a-zA-Z0-9-]*@/.exec(rest)?.[0] ?? ''
  rest = rest.slice(user.length)
  const isGithub = /^github\.com[/:]/i.test(rest)
  const scpStyle = scheme === '' && (user !== '' || isGithub)
  if (scheme === '' && !scpStyle) return false
  if (scheme.toLowerCase() === 'file://') return repositoryPath(user + rest, undefined)
  let separator = rest.indexOf('/')
  if (scpStyle) {
    const colon = rest.indexOf(':')
    if (separator === -1 || (colon > 0 && colon < separator)) separator = colon
  }
  const host = separator < 0 ? rest : rest.slice(0, separator + 1)
  return host !== '' && repositoryPath(separator < 0 ? '' : rest.slice(separator + 1), 2)
}

function repositoryPath(path: string, segments: number | undefined): boolean {
  const git = path.indexOf('_git/')
  const double = path.indexOf('//')
  const suffix = path.indexOf('.git')
  let repository: string
  let inside = ''
  if (git >= 0) {
    const [first, ...more] = path.slice(git + 5).split('/')
    repository = path.slice(0, git + 5) + first
    inside = more.join('/')
  } else if (double >= 0) {
    repository = path.slice(0, double)
    inside = path.slice(double + 2)
  } else if (suffix >= 0) {
    repository = path.slice(0, suffix + 4)
    inside = path.slice(suffix + 4)
  } else if (segments === undefined) repository = path
  else {
    const parts = path.split('/')
    if (parts.length < segments) return false
    repository = parts.slice(0, segments).join('/')
    inside = parts.slice(segments).join('/')
  }
  return repository !== '' && cleanPath(inside.replace(/^\//, '')).split('/')[0] !== '..'
}
