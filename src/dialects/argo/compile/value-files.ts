// Tested by src/dialects/argo/compile/sources.test.ts
/** The files that `helm.valueFiles` and `helm.fileParameters` name: of the source, and of others by `$ref/`. */
import { ApplicationSetError } from '../applicationset/applicationset-error.ts'
import { matchDoublestar } from '../applicationset/file-patterns.ts'
import type { ArgoSource } from '../application.ts'
import type { RepositoryFiles } from '../files/repositories.ts'
import type { Environment } from './build-environment.ts'
import type { ApplicationCompileContext } from './compile-application.ts'

/** What the names of files are relative to. */
export interface ValueFilesScene {
  /** The path of the source in its repository, without dots. */
  readonly path: string
  readonly source: ArgoSource
  readonly given: readonly ArgoSource[]
  readonly scene: ApplicationCompileContext
  readonly environment: Environment
  /** Adds a Source; gives its name. */
  addSource(source: ArgoSource): string | undefined
}

/** The names of values files relative to the Bundle, and the Sources to include for them. */
export interface ValueFiles {
  readonly files: readonly string[]
  readonly include: readonly { readonly source: string; readonly at: string }[]
}

/** A file of a repository that an option names. */
interface NamedFile {
  /** As the Application has it. */
  readonly written: string
  /** The path from the top of its repository. */
  readonly path: string
  /** The source of another repository, and its name. */
  readonly ref?: { readonly name: string; readonly source: ArgoSource }
}

const WILD = /[*?[{]/

/** Finds the files; reports names that cannot be found. */
export function valueFilesOf(value: ValueFilesScene): ValueFiles {
  const { source } = value
  const named = (source.helm?.valueFiles ?? []).flatMap((written) => namedFile(written, 'helm.valueFiles', value) ?? [])
  const key = ({ ref, path }: NamedFile): string => `${ref?.name ?? ''}:${path}`
  // A file that is named keeps its place, also when a pattern before it matches it.
  const explicit = new Set(named.filter(({ path }) => !WILD.test(path)).map(key))
  const seen = new Set<string>()
  const found = named.flatMap((one) => {
    const all = WILD.test(one.path) ? matched(one, value).filter((file) => !explicit.has(key(file))) : [one]
    return all.filter((file) => !seen.has(key(file)) && seen.add(key(file)))
  })
  const include: { source: string; at: string }[] = []
  const files = found.flatMap((one) => {
    if (source.helm?.ignoreMissingValueFiles && isLeftOut(one, value)) return []
    if (one.ref === undefined) return [relative(value.path, one.path)]
    const at = `.refs/${one.ref.name}`
    const name = value.addSource(one.ref.source)
    if (name === undefined) return []
    if (!include.some((known) => known.at === at)) include.push({ source: name, at })
    return [`${at}/${one.path}`]
  })
  return { files, include }
}

/** The texts of `helm.fileParameters` by parameter. */
export function fileParametersOf(value: ValueFilesScene): readonly (readonly [name: string, text: string])[] {
  const { source, scene, environment } = value
  return (source.helm?.fileParameters ?? []).flatMap(({ name = '', path: written = '' }) => {
    const file = namedFile(written, 'helm.fileParameters', value)
    if (file === undefined) return []
    const repository = repositoryOf(file, value)
    const text = repository?.text(file.path)
    if (text !== undefined) return [[environment(name), text] as const]
    scene.wrong(
      repository
        ? `helm.fileParameters: ${name} is the file ${written}, and there is no such text file`
        : `helm.fileParameters: what ${written} contains is known with --root DIR`,
    )
    return []
  })
}

function namedFile(raw: string, option: string, value: ValueFilesScene): NamedFile | undefined {
  const { path, given, scene, environment } = value
  const [, refName, inRef] = /^\$([^/]+)\/(.+)$/.exec(raw) ?? []
  const ref = given.find((one) => one.ref === refName && refName !== undefined)
  if (refName !== undefined && !ref && !/^\{?ARGOCD_/.test(refName)) {
    scene.wrong(`${option}: ${raw} names ref ${refName}, and no source has it`)
    return undefined
  }
  const written = environment(ref ? inRef! : raw)
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(written)) {
    scene.wrong(`${option}: ${written} is an address; name files of the repository`)
    return undefined
  }
  const found = ref || written.startsWith('/') ? insideOf(written) : insideOf(`${path}/${written}`)
  if (found === undefined) {
    scene.wrong(`${option}: ${raw} is outside the repository`)
    return undefined
  }
  if (ref === undefined) return { written: raw, path: found }
  // The files of a pattern are known when the Source was fetched.
  value.addSource(ref)
  return { written: raw, path: found, ref: { name: refName!, source: ref } }
}

function matched(one: NamedFile, value: ValueFilesScene): NamedFile[] {
  const { scene, source } = value
  const repository = repositoryOf(one, value)
  if (!repository) {
    scene.wrong(`helm.valueFiles: ${one.written} is a pattern; which files it means is known with --root DIR`)
    return []
  }
  try {
    const paths = matchDoublestar(one.path, repository.paths).sort()
    if (paths.length === 0 && !source.helm?.ignoreMissingValueFiles)
      scene.wrong(`helm.valueFiles: ${one.written} matches no file; set ignoreMissingValueFiles if that may be`)
    return paths.map((path) => ({ ...one, path }))
  } catch (caught) {
    if (!(caught instanceof ApplicationSetError)) throw caught
    scene.wrong(`helm.valueFiles: ${one.written} is not a valid pattern`)
    return []
  }
}

/** Whether a values file is missing and may be missing. */
function isLeftOut(one: NamedFile, value: ValueFilesScene): boolean {
  const { scene } = value
  const paths = repositoryOf(one, value)?.paths
  if (!paths) {
    scene.note(
      `helm.ignoreMissingValueFiles: ${one.written} must be there, or it is an error here; --root DIR leaves out what is missing now`,
    )
    return false
  }
  if (paths.includes(one.path)) return false
  // A hub compiles each commit again.
  if (!scene.delivery)
    scene.note(`helm.valueFiles: ${one.written} is not there now and left out; add it to helm.valuesFiles when it is`)
  return true
}

function repositoryOf({ ref }: NamedFile, { source, scene }: ValueFilesScene): RepositoryFiles | undefined {
  const { repoURL = '', targetRevision, chart } = ref?.source ?? source
  return chart ? undefined : scene.repositoryOf(repoURL, targetRevision)
}

/** A path of the repository as the Bundle names it. */
function relative(from: string, path: string): string {
  if (from === '') return path
  const [own, wanted] = [from.split('/'), path.split('/')]
  let shared = 0
  while (shared < own.length && shared < wanted.length - 1 && own[shared] === wanted[shared]) shared++
  return [...own.slice(shared).map(() => '..'), ...wanted.slice(shared)].join('/')
}

/** A path without dots; undefined when it leads out of the repository. */
function insideOf(path: string): string | undefined {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return undefined
    } else if (part !== '' && part !== '.') parts.push(part)
  }
  return parts.join('/')
}
