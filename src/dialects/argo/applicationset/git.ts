// Tested by src/dialects/argo/applicationset/generate.test.ts.
/** The git generator: directories or files of a repository. */
import type { JsonObject } from '../../../core/json.ts'
import { fileGlob } from '../../file-glob.ts'
import { compareStrings } from '../../../render/gotemplate/go-string.ts'
import { stringSlice } from '../../../render/gotemplate/value.ts'
import { ApplicationSetError, withContext } from './applicationset-error.ts'
import { matchNewGlob, matchPathspec } from './file-patterns.ts'
import type { RevisionFiles } from './generate-inputs.ts'
import type { GeneratorScene } from './generators.ts'
import { normalizeName } from './names.ts'
import { addValues, flatten } from './parameters.ts'
import { readYamlText } from './read-yaml-text.ts'
import type { Parameters } from './render-text.ts'
import { textField } from '../types/shape.ts'

interface Choice {
  readonly path?: string
  readonly exclude?: boolean
}

/** Parameter sets of directories or files. */
export function generateFromGit(git: JsonObject, scene: GeneratorScene): Parameters[] {
  const { project, inputs } = scene
  if (!project.includes('{{') && !inputs.projects.has(project)) {
    throw new ApplicationSetError(
      `error getting project ${project}: appprojects.argoproj.io ${JSON.stringify(project)} not found`,
    )
  }
  const directories = (git['directories'] ?? []) as Choice[]
  const files = (git['files'] ?? []) as Choice[]
  if (directories.length === 0 && files.length === 0) throw new ApplicationSetError('ApplicationSet is empty')
  return withContext('error generating params from git', () => {
    const revision = revisionOf(git, scene)
    return directories.length > 0
      ? fromDirectories(git, chosenDirectories(directories, revision.paths), scene)
      : fromFiles(git, { choices: files, revision }, scene)
  })
}

function revisionOf(git: JsonObject, { inputs }: GeneratorScene): RevisionFiles {
  const url = textField(git, 'repoURL')
  const wanted = textField(git, 'revision')
  const found = inputs.filesAt(url, wanted)
  if (found === 'unknown repository') {
    throw new ApplicationSetError(`the repository ${url} is not known here; give its clone with --root`)
  }
  if (found === 'unknown revision') {
    throw new ApplicationSetError(`unable to resolve git revision: unable to resolve '${wanted}' to a commit SHA`)
  }
  return found
}

/** All directories that are not hidden, in the order of a walk, as far as a pattern fits and no exclude does. */
function chosenDirectories(choices: readonly Choice[], paths: readonly string[]): string[] {
  const all = new Set<string>()
  for (const path of paths) {
    const parts = path.split('/').slice(0, -1)
    const hidden = parts.findIndex((part) => part.startsWith('.'))
    const shown = hidden < 0 ? parts : parts.slice(0, hidden)
    for (let count = shown.length; count > 0; count--) {
      const directory = shown.slice(0, count).join('/')
      if (all.has(directory)) break
      all.add(directory)
    }
  }
  const globs = choices.map(({ path = '', exclude = false }) => ({ glob: fileGlob(path), exclude }))
  return [...all].toSorted(comparePaths).filter((directory) => {
    const fitting = globs.filter(({ glob }) => glob?.test(directory))
    return fitting.length > 0 && !fitting.some(({ exclude }) => exclude)
  })
}

/** The order of a walk: names within a directory by their bytes. */
function comparePaths(a: string, b: string): number {
  const [partsA, partsB] = [a.split('/'), b.split('/')]
  for (let at = 0; at < Math.min(partsA.length, partsB.length); at++) {
    const order = compareStrings(partsA[at]!, partsB[at]!)
    if (order !== 0) return order
  }
  return partsA.length - partsB.length
}

function fromDirectories(git: JsonObject, directories: readonly string[], scene: GeneratorScene): Parameters[] {
  return directories.map((directory) => {
    const set: Parameters = new Map()
    addPath(set, directory, { prefix: textField(git, 'pathParamPrefix'), isGo: scene.renderer.isGo })
    withContext('error generating params from apps: failed to append templated values', () =>
      addValues(git['values'] as Record<string, string> | undefined, set, scene.renderer),
    )
    return set
  })
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function addPath(
  set: Parameters,
  path: string,
  { prefix, isGo, file }: { readonly prefix: string; readonly isGo: boolean; readonly file?: string },
): void {
  const segments = path.split('/')
  const names = {
    basename: baseName(path),
    basenameNormalized: normalizeName(baseName(path)),
    ...(file === undefined ? {} : { filename: file, filenameNormalized: normalizeName(file) }),
  }
  if (isGo) {
    const own = new Map<string, unknown>([
      ['path', path],
      ...Object.entries(names),
      ['segments', stringSlice(segments)],
    ])
    set.set(prefix === '' ? 'path' : prefix, prefix === '' ? own : new Map([['path', own]]))
    return
  }
  const name = prefix === '' ? 'path' : `${prefix}.path`
  set.set(name, path)
  for (const [key, value] of Object.entries(names)) set.set(`${name}.${key}`, value)
  for (const [at, segment] of segments.entries()) if (segment !== '') set.set(`${name}[${at}]`, segment)
}

function fromFiles(
  git: JsonObject,
  { choices, revision }: { readonly choices: readonly Choice[]; readonly revision: RevisionFiles },
  scene: GeneratorScene,
): Parameters[] {
  const match = scene.inputs.newGitFileGlobbing === true ? matchNewGlob : matchPathspec
  const found = new Set<string>()
  for (const { path = '', exclude = false } of choices.toSorted(
    (a, b) => Number(a.exclude ?? false) - Number(b.exclude ?? false),
  )) {
    for (const file of withContext('error retrieving Git files', () => match(path, revision.paths))) {
      if (exclude) found.delete(file)
      else found.add(file)
    }
  }
  const sets: Parameters[] = []
  for (const file of [...found].toSorted(compareStrings)) {
    withContext(`unable to process file '${file}' from repository '${textField(git, 'repoURL')}'`, () => {
      const objects = objectsIn(file, revision, scene)
      scene.budget.fits(sets.length + objects.length)
      for (const object of objects) sets.push(fromObject(git, file, object, scene))
    })
  }
  return sets
}

function objectsIn(file: string, revision: RevisionFiles, scene: GeneratorScene): Parameters[] {
  const content = revision.read(file)
  const { maxFile } = scene.budget.limits
  if (content.length > maxFile) throw new ApplicationSetError(`the file has more than ${maxFile} bytes`)
  return withContext('unable to parse file', () => objectsOf(readYamlText(content)))
}

function fromObject(git: JsonObject, file: string, object: Parameters, scene: GeneratorScene): Parameters {
  const { isGo } = scene.renderer
  const slash = file.lastIndexOf('/')
  const set: Parameters = isGo ? new Map(object) : flatten(object, scene.budget)
  addPath(set, slash < 0 ? '.' : file.slice(0, slash), {
    prefix: textField(git, 'pathParamPrefix'),
    isGo,
    file: baseName(file),
  })
  withContext('failed to append templated values', () =>
    addValues(git['values'] as Record<string, string> | undefined, set, scene.renderer),
  )
  return set
}

/** A map, or a list of maps; an empty file is an empty map. */
function objectsOf(value: unknown): Parameters[] {
  if (value === null || value === undefined) return [new Map()]
  if (value instanceof Map) return [value as Parameters]
  if (Array.isArray(value) && value.every((item) => item === null || item instanceof Map)) {
    return value.map((item) => (item ?? new Map()) as Parameters)
  }
  throw new ApplicationSetError('error unmarshaling JSON: it must be a map or a list of maps')
}
