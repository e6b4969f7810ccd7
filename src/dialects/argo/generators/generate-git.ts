/** The git generator: parameters from the present directories and files of a repository. */
import type { JsonObject } from '../../../core/json.ts'
import { fileGlob } from '../../file-glob.ts'
import { hasPlaceholders } from './cluster-placeholders.ts'
import { fillTexts } from './fill-template.ts'
import type { Parameters } from './fill-template.ts'
import type { Generator, GeneratorContext, ParameterSet } from './generate.ts'
import { asValues, flattened, mapsOf, normalized, readText } from './parameters.ts'
import type { RepositoryFiles } from '../files/repositories.ts'

type GitGenerator = NonNullable<Generator['git']>
type Choice = NonNullable<GitGenerator['files']>[number]

/** All parameter sets of a git generator, in the order of the paths. */
export function generateFromGit(git: GitGenerator, scene: GeneratorContext): ParameterSet[] {
  const { repoURL = '', directories = [], files = [] } = git
  const repository = scene.repositoryOf(repoURL)
  if (!repository) {
    scene.wrong(`generators[].git reads ${repoURL}; give its clone with --root DIR`)
    return []
  }
  const found =
    files.length > 0
      ? ofFiles(repository, files, { git, scene })
      : ofDirectories(repository, directories, { git, scene })
  if (found.length === 0) scene.wrong(`generators[].git: nothing of ${repoURL} fits`)
  return found.map((parameters) => ({ parameters: withValues(parameters, git, scene) }))
}

interface GitScene {
  readonly git: GitGenerator
  readonly scene: GeneratorContext
}

function ofDirectories(repository: RepositoryFiles, wanted: readonly Choice[], { git, scene }: GitScene): Parameters[] {
  const all = [...new Set(repository.paths.flatMap(foldersOf))]
  const glob = (pattern: string): RegExp | undefined => fileGlob(pattern.replace(/\/+$/, ''))
  return chosen(all, wanted, glob, scene).map((path) => pathParameters({ path }, git, scene))
}

function ofFiles(repository: RepositoryFiles, wanted: readonly Choice[], { git, scene }: GitScene): Parameters[] {
  return chosen(repository.paths, wanted, deepGlob, scene).flatMap((file) => {
    const text = repository.text(file)
    if (text === undefined) {
      scene.wrong(`generators[].git: ${file} is not UTF-8 text`)
      return []
    }
    const slash = file.lastIndexOf('/')
    const place = { path: slash < 0 ? '.' : file.slice(0, slash), filename: file.slice(slash + 1) }
    const value = readText(text, file, scene.wrong) ?? {}
    return mapsOf(value, file, scene.wrong).map((one) => ({
      ...(scene.isGo ? one : flattened(one)),
      ...pathParameters(place, git, scene),
    }))
  })
}

/** The paths that a pattern includes and no pattern excludes, in order. */
function chosen(
  all: readonly string[],
  wanted: readonly Choice[],
  globOf: (pattern: string) => RegExp | undefined,
  { wrong }: GeneratorContext,
): string[] {
  const compiled = wanted.map(({ path = '', exclude = false }) => {
    const glob = hasPlaceholders(path) ? undefined : globOf(path)
    if (!glob) wrong(`generators[].git: ${JSON.stringify(path)} is no pattern of paths`)
    return { glob, exclude }
  })
  const fits = (isExclude: boolean, path: string): boolean =>
    compiled.some(({ glob, exclude }) => exclude === isExclude && glob?.test(path))
  return all.filter((path) => fits(false, path) && !fits(true, path)).sort()
}

/** A glob in which `**` stands for any number of directories. */
function deepGlob(pattern: string): RegExp | undefined {
  const parts = pattern.replace(/^\/+/, '').split('/')
  const sources = parts.map((part, at) => {
    if (part === '**') return at === parts.length - 1 ? '.+' : '(?:[^/]+/)*'
    const glob = fileGlob(part)
    return glob && `${glob.source.replace(/^\^/, '').replace(/\$$/, '')}${at === parts.length - 1 ? '' : '/'}`
  })
  return sources.includes(undefined) ? undefined : new RegExp(`^${sources.join('')}$`, 's')
}

/** Directories above a file, without hidden directories. */
function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  const hidden = parts.findIndex((part) => part.startsWith('.'))
  const shown = hidden < 0 ? parts : parts.slice(0, hidden)
  return shown.map((_part, at) => shown.slice(0, at + 1).join('/'))
}

interface Place {
  readonly path: string
  readonly filename?: string
}

function pathParameters(
  { path, filename }: Place,
  { pathParamPrefix = '' }: GitGenerator,
  { isGo }: GeneratorContext,
): Parameters {
  const segments = path.split('/')
  const basename = segments.at(-1)!
  const named: JsonObject = {
    basename,
    basenameNormalized: normalized(basename),
    ...(filename === undefined ? {} : { filename, filenameNormalized: normalized(filename) }),
  }
  if (isGo) {
    const own = { path: { path, ...named, segments } }
    return pathParamPrefix === '' ? own : { [pathParamPrefix]: own }
  }
  const name = pathParamPrefix === '' ? 'path' : `${pathParamPrefix}.path`
  return {
    [name]: path,
    ...Object.fromEntries(Object.entries(named).map(([key, value]) => [`${name}.${key}`, value])),
    ...Object.fromEntries(segments.map((segment, at) => [`${name}[${at}]`, segment])),
  }
}

function withValues(parameters: Parameters, { values = {} }: GitGenerator, scene: GeneratorContext): Parameters {
  const known = { ...parameters, ...scene.outer?.parameters }
  const ofCluster = scene.outer?.clusters !== undefined
  const own = fillTexts(values, { ...scene, parameters: known, ofCluster }) as Record<string, string>
  return { ...parameters, ...asValues(own, scene.isGo) }
}
