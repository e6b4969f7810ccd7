/** Generators of an ApplicationSet: the parameters of each Application, and the clusters that they leave open. */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { requirementsOf } from '../../core/selector.ts'
import type { LabelRequirement, LabelSelector } from '../../core/selector.ts'
import { fileGlob } from '../file-glob.ts'
import { readFields } from '../read-fields.ts'
import type { Reading } from '../read-fields.ts'
import { hasMarks } from './cluster-words.ts'
import { APPLICATION_SET } from './fields.ts'
import { fillTexts } from './fill-template.ts'
import type { Parameters } from './fill-template.ts'

/** The parameters of one Application; with `clusters`, of one for each of these. */
export interface ParameterSet {
  readonly parameters: Parameters
  readonly clusters?: readonly LabelRequirement[]
}

/** One generator as it is read. */
export interface Generator {
  readonly clusters?: { readonly selector?: LabelSelector; readonly values?: Readonly<Record<string, string>> }
  readonly list?: { readonly elements?: readonly JsonObject[] }
  readonly git?: {
    readonly repoURL?: string
    readonly directories?: readonly { readonly path?: string; readonly exclude?: boolean }[]
    readonly values?: Readonly<Record<string, string>>
  }
  readonly matrix?: { readonly generators?: readonly JsonObject[] }
}

/** What generating needs. */
export interface GenerateScene {
  readonly isGo: boolean
  /** The paths of a repository; undefined when it is not on this disk. */
  pathsOf(repoURL: string): readonly string[] | undefined
  readonly reading: Reading
  /** Parameters of the first generator of a matrix, which `values` of the second may name. */
  readonly outer?: ParameterSet
  wrong(message: string): void
}

/** All sets of a generator, in its order. */
export function generate(generator: Generator, scene: GenerateScene): ParameterSet[] {
  const { clusters, list, git, matrix } = generator
  const named = [clusters, list, git, matrix].filter(Boolean).length
  if (named > 1) scene.wrong('generators: one entry has several generators; write an entry for each')
  if (clusters) return [ofClusters(clusters, scene)]
  if (list) return (list.elements ?? []).map((element) => ofElement(element, scene))
  if (git) return ofDirectories(git, scene)
  if (matrix) return ofMatrix(matrix.generators ?? [], scene)
  return []
}

const SECRET_TYPE = 'argocd.argoproj.io/secret-type'

function ofClusters(
  { selector = {}, values = {} }: NonNullable<Generator['clusters']>,
  scene: GenerateScene,
): ParameterSet {
  const parameters = scene.outer?.parameters ?? {}
  const filled = fillTexts(values, { ...scene, parameters, ofCluster: true }) as Record<string, string>
  return {
    parameters: asValues(filled, scene.isGo),
    // Every Secret of a cluster has this label; Clusters have no need of it.
    clusters: requirementsOf(selector).filter(({ key }) => key !== SECRET_TYPE),
  }
}

/** `values` as templates see them. */
function asValues(values: Readonly<Record<string, string>>, isGo: boolean): Parameters {
  if (Object.keys(values).length === 0) return {}
  return isGo ? { values } : Object.fromEntries(Object.entries(values).map(([key, value]) => [`values.${key}`, value]))
}

function ofElement(element: JsonObject, { isGo, wrong }: GenerateScene): ParameterSet {
  if (isGo) return { parameters: element }
  const parameters: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(element)) {
    if (key === 'values' && isObject(value)) {
      Object.assign(parameters, asValues(value as Record<string, string>, false))
    } else if (typeof value === 'string') parameters[key] = value
    else wrong(`generators[].list: ${key} must be text, found ${JSON.stringify(value)}; quote it, or use goTemplate`)
  }
  return { parameters }
}

function ofDirectories(git: NonNullable<Generator['git']>, scene: GenerateScene): ParameterSet[] {
  const { repoURL = '', directories = [], values = {} } = git
  const paths = scene.pathsOf(repoURL)
  if (!paths) {
    scene.wrong(`generators[].git reads directories of ${repoURL}; give its clone with --root DIR`)
    return []
  }
  const all = [...new Set(paths.flatMap(foldersOf))].sort()
  const fits = (isExclude: boolean, path: string): boolean =>
    directories.some((one) => (one.exclude ?? false) === isExclude && matches(one.path ?? '', path, scene))
  const found = all.filter((path) => fits(false, path) && !fits(true, path))
  if (found.length === 0) scene.wrong(`generators[].git: no directory of ${repoURL} fits`)
  return found.map((path) => {
    const parameters = pathParameters(path, scene.isGo)
    const known = { ...parameters, ...scene.outer?.parameters }
    const ofCluster = scene.outer?.clusters !== undefined
    const own = fillTexts(values, { ...scene, parameters: known, ofCluster }) as Record<string, string>
    return { parameters: { ...parameters, ...asValues(own, scene.isGo) } }
  })
}

function matches(pattern: string, path: string, { wrong }: GenerateScene): boolean {
  const glob = hasMarks(pattern) ? undefined : fileGlob(pattern.replace(/\/+$/, ''))
  if (!glob) wrong(`generators[].git: ${JSON.stringify(pattern)} is no pattern of directories`)
  return glob?.test(path) ?? false
}

/** Directories above a file; hidden ones count for nobody. */
function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1)
  const hidden = parts.findIndex((part) => part.startsWith('.'))
  const shown = hidden < 0 ? parts : parts.slice(0, hidden)
  return shown.map((_part, at) => shown.slice(0, at + 1).join('/'))
}

/** A name as Argo CD makes one of anything. */
export function normalized(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^-a-z0-9.]/g, '-')
    .slice(0, 253)
    .replaceAll(/^[-.]+|[-.]+$/g, '')
}

function pathParameters(path: string, isGo: boolean): Parameters {
  const segments = path.split('/')
  const basename = segments.at(-1)!
  const basenameNormalized = normalized(basename)
  if (isGo) return { path: { path, basename, basenameNormalized, segments } }
  return {
    path,
    'path.basename': basename,
    'path.basenameNormalized': basenameNormalized,
    ...Object.fromEntries(segments.map((segment, at) => [`path[${at}]`, segment])),
  }
}

function ofMatrix(generators: readonly JsonObject[], scene: GenerateScene): ParameterSet[] {
  if (generators.length !== 2) {
    scene.wrong(`generators[].matrix has two generators, and here are ${generators.length}`)
    return []
  }
  const { shape } = APPLICATION_SET['generators']!
  const fields = (shape as { items: typeof APPLICATION_SET }).items
  const [first, second] = generators
  const { outer: _outer, ...plain } = scene
  return generate(readFields(first!, fields, scene.reading), plain).flatMap((outer) => {
    const { parameters, clusters } = outer
    const filling = { ...scene, parameters, ofCluster: clusters !== undefined }
    const filled = withoutValues(second!, (one) => fillTexts(one, filling) as JsonObject)
    return generate(readFields(filled, fields, scene.reading), { ...plain, outer }).map((inner): ParameterSet => {
      if (clusters && inner.clusters) scene.wrong('generators[].matrix: two generators of clusters mean clusters twice')
      const either = clusters ?? inner.clusters
      const both = { ...inner.parameters, ...parameters, ...mergedValues(parameters, inner.parameters) }
      return { parameters: both, ...(either ? { clusters: either } : {}) }
    })
  })
}

/** Fills a generator in but for its `values`, which may name its own parameters and are filled when those are known. */
function withoutValues(generator: JsonObject, fill: (bare: JsonObject) => JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(generator).map(([kind, options]) => {
      if (!isObject(options)) return [kind, options]
      const { values, ...bare } = options
      return [kind, { ...fill(bare), ...(values === undefined ? {} : { values }) }]
    }),
  )
}

function mergedValues(outer: Parameters, inner: Parameters): Parameters {
  const [a, b] = [outer['values'], inner['values']]
  return isObject(a) && isObject(b) ? { values: { ...b, ...a } } : {}
}
