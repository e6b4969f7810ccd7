/**
 * Finds the bundles of a repository. A directory with a fleet.yaml is a bundle. The path itself is a bundle too, when
 * it has manifests that no fleet.yaml below it claims. Hidden directories have no bundles, however deep they are.
 */
import { compact } from '../../../core/compact.ts'
import { fileGlob } from '../../file-glob.ts'
import { isIgnored, readIgnoreFile } from './ignore-file.ts'
import { bundleName, cleanPath } from './names.ts'
import type { Finding } from '../../read-fields.ts'

/** The files of a repository: their paths, and the text of files that are read. */
export interface RepositoryFiles {
  readonly paths: readonly string[]
  /** The text of a file; undefined when the file does not exist or is not text. */
  text(path: string): string | undefined
}

/** The paths of a repository to scan. */
export interface ScanRequest {
  readonly gitRepo: string
  readonly paths?: readonly string[]
  readonly bundles?: readonly { readonly base?: string; readonly options?: string }[]
}

/** A directory that is a bundle. */
export interface ScannedBundle {
  /** The path from the root of the repository; empty for the root. */
  readonly path: string
  readonly name: string
  /** Its fleet.yaml, or the file that replaces it. */
  readonly fleetYaml?: string
  /** Its files, relative to the directory, without hidden files, ignored files and its own fleet.yaml. */
  readonly files: readonly string[]
  /** Existing files and directories, relative to the directory, that are ignored. */
  readonly ignored: readonly string[]
}

const FLEET_YAML = ['fleet.yaml', 'fleet.yml']
const MANIFEST = /\.ya?ml$/

/** Finds the bundles, in the order of their paths. */
export function scanRepository(files: RepositoryFiles, request: ScanRequest, findings: Finding[]): ScannedBundle[] {
  const tree = treeOf(files.paths)
  const found = new Map<string, ScannedBundle>()
  const add = (bundle: ScannedBundle, key: string): void => {
    if (!found.has(key)) found.set(key, bundle)
  }
  if (request.bundles && request.bundles.length > 0) {
    for (const entry of request.bundles) {
      const bundle = drivenBundle(entry, { files, tree, gitRepo: request.gitRepo }, findings)
      if (bundle) add(bundle, `${bundle.path}\n${bundle.fleetYaml}`)
    }
  } else {
    for (const base of basesOf(request.paths ?? [], tree, findings)) {
      for (const path of bundleDirectories(base, tree)) {
        const fleetYaml = FLEET_YAML.map((name) => join(path, name)).find((name) => tree.files.has(name))
        const name = bundleName(request.gitRepo, path || '.')
        add(
          { path, name, ...compact({ fleetYaml: fleetYaml || undefined }), ...contentOf(path, fleetYaml, files) },
          path,
        )
      }
    }
  }
  return [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

interface Tree {
  readonly files: ReadonlySet<string>
  /** All directories, the root as an empty text, with their subdirectories. */
  readonly directories: ReadonlyMap<string, readonly string[]>
  /** Names of files by directory. */
  readonly names: ReadonlyMap<string, readonly string[]>
}

function treeOf(paths: readonly string[]): Tree {
  const directories = new Map<string, Set<string>>([['', new Set()]])
  const names = new Map<string, string[]>()
  for (const path of paths) {
    const slash = path.lastIndexOf('/')
    const own = slash < 0 ? '' : path.slice(0, slash)
    const list = names.get(own)
    if (list) list.push(path.slice(slash + 1))
    else {
      names.set(own, [path.slice(slash + 1)])
      const parts = own === '' ? [] : own.split('/')
      for (let at = 0; at < parts.length; at++) {
        const [parent, child] = [parts.slice(0, at).join('/'), parts.slice(0, at + 1).join('/')]
        directories.get(parent)!.add(child)
        if (!directories.has(child)) directories.set(child, new Set())
      }
    }
  }
  return {
    files: new Set(paths),
    directories: new Map([...directories].map(([path, below]) => [path, [...below].sort()])),
    names,
  }
}

/** The directories that paths and globs match. */
function basesOf(paths: readonly string[], { directories }: Tree, findings: Finding[]): string[] {
  if (paths.length === 0) return ['']
  const bases = paths.flatMap((path) => {
    const clean = cleanPath(path)
    if (clean.split('/').includes('..')) {
      findings.push({ level: 'error', message: `spec.paths: ${JSON.stringify(path)} leaves the repository` })
      return []
    }
    const glob = fileGlob(clean)
    if (!glob) {
      findings.push({ level: 'error', message: `spec.paths: ${JSON.stringify(path)} is not a valid path glob` })
      return []
    }
    const meant =
      clean === '' ? [''] : [...directories.keys()].filter((directory) => directory !== '' && glob.test(directory))
    if (meant.length === 0) {
      findings.push({
        level: 'warning',
        message: `spec.paths: ${JSON.stringify(path)} is not a directory of the repository`,
      })
    }
    return meant
  })
  return [...new Set(bases)].sort()
}

function bundleDirectories(base: string, tree: Tree): string[] {
  const found: string[] = []
  const visit = (directory: string): void => {
    if (isHidden(directory)) return
    if (hasFleetYaml(directory, tree) || (directory === base && holdsManifests(directory, tree))) found.push(directory)
    for (const below of tree.directories.get(directory) ?? []) visit(below)
  }
  visit(base)
  return found
}

function hasFleetYaml(directory: string, { files }: Tree): boolean {
  return FLEET_YAML.some((name) => files.has(join(directory, name)))
}

/** Whether a directory has manifests that no fleet.yaml claims. */
function holdsManifests(directory: string, tree: Tree): boolean {
  if (hasFleetYaml(directory, tree) || isHidden(directory)) return false
  if ((tree.names.get(directory) ?? []).some((name) => MANIFEST.test(name) && !name.startsWith('.'))) return true
  return (tree.directories.get(directory) ?? []).some((below) => holdsManifests(below, tree))
}

interface Driven {
  readonly files: RepositoryFiles
  readonly tree: Tree
  readonly gitRepo: string
}

function drivenBundle(
  { base = '', options }: { readonly base?: string; readonly options?: string },
  { files, tree, gitRepo }: Driven,
  findings: Finding[],
): ScannedBundle | undefined {
  const wrong = (message: string): undefined =>
    void findings.push({ level: 'error', message: `spec.bundles: ${message}` })
  const path = cleanPath(base)
  if (base.startsWith('/') || path.split('/').includes('..')) {
    return wrong(`base ${JSON.stringify(base)} must be a directory inside the repository`)
  }
  if (!tree.directories.has(path)) return wrong(`base ${JSON.stringify(base)} is not a directory of the repository`)
  const fleetYaml =
    options === undefined || options === ''
      ? FLEET_YAML.map((name) => join(path, name)).find((name) => tree.files.has(name))
      : cleanPath(`${path}/${options}`)
  if (fleetYaml !== undefined && !tree.files.has(fleetYaml)) {
    return wrong(`options ${JSON.stringify(options)} of base ${JSON.stringify(base)} is no file of the repository`)
  }
  const name = bundleName(gitRepo, path || '.', options === '' ? undefined : options)
  return { path, name, ...compact({ fleetYaml: fleetYaml || undefined }), ...contentOf(path, fleetYaml, files) }
}

/** The files of a bundle; a nested bundle is among them and is ignored when they are rendered. */
export function contentOf(
  path: string,
  fleetYaml: string | undefined,
  files: RepositoryFiles,
): Pick<ScannedBundle, 'files' | 'ignored'> {
  const folder = path === '' ? '' : `${path}/`
  const own = files.paths.filter((file) => file.startsWith(folder)).map((file) => file.slice(folder.length))
  const ignoreFiles = own
    .filter((file) => /(^|\/)\.fleetignore$/.test(file))
    .map((file) =>
      readIgnoreFile(file.slice(0, Math.max(0, file.lastIndexOf('/'))), files.text(`${folder}${file}`) ?? ''),
    )
  const kept: string[] = []
  const ignored = new Set<string>()
  const nested = own.flatMap((file) => /^(.+)\/fleet\.ya?ml$/.exec(file)?.[1] ?? []).sort()
  for (const file of own) {
    if (isHidden(file)) continue
    if (`${folder}${file}` === fleetYaml) ignored.add(file)
    else if (isIgnored(file, ignoreFiles)) ignored.add(file)
    else kept.push(file)
  }
  const outermost = nested.filter((one) => !nested.some((other) => other !== one && one.startsWith(`${other}/`)))
  const below = (file: string): boolean => outermost.some((one) => file.startsWith(`${one}/`))
  return { files: kept, ignored: [...outermost, ...[...ignored].filter((file) => !below(file))] }
}

function isHidden(path: string): boolean {
  return path.split('/').some((part) => part.startsWith('.'))
}

function join(directory: string, name: string): string {
  return directory === '' ? name : `${directory}/${name}`
}
