/** Generators of an ApplicationSet: the parameters of each Application, and the clusters that they leave open. */
import { canonicalJson, isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { meetsRequirement, requirementsOf } from '../../../core/text/label-selector.ts'
import type { LabelRequirement, LabelSelector } from '../../../core/text/label-selector.ts'
import { readFields } from '../../read-fields.ts'
import type { Reading } from '../../read-fields.ts'
import type { Diagnostics } from '../application.ts'
import { hasPlaceholders } from './cluster-placeholders.ts'
import { APPLICATION_SET } from '../fields.ts'
import { fillTexts } from './fill-template.ts'
import type { Parameters } from './fill-template.ts'
import { generateFromGit } from './generate-git.ts'
import { asValues, flattened, joined, mapsOf, readText } from './parameters.ts'
import type { Repositories } from '../files/repositories.ts'

/** The parameters of one Application; with `clusters`, of one Application for each of these clusters. */
export interface ParameterSet {
  readonly parameters: Parameters
  readonly clusters?: readonly LabelRequirement[]
  /** The template of the generator, which goes over the template of the ApplicationSet. */
  readonly template?: JsonObject
}

interface Choice {
  readonly path?: string
  readonly exclude?: boolean
}

interface Templated {
  readonly template?: JsonObject
}

/** A generator. */
export interface Generator {
  readonly clusters?: Templated & {
    readonly selector?: LabelSelector
    readonly values?: Readonly<Record<string, string>>
  }
  readonly list?: Templated & { readonly elements?: readonly JsonObject[]; readonly elementsYaml?: string }
  readonly git?: Templated & {
    readonly repoURL?: string
    readonly directories?: readonly Choice[]
    readonly files?: readonly Choice[]
    readonly pathParamPrefix?: string
    readonly values?: Readonly<Record<string, string>>
  }
  readonly matrix?: Templated & { readonly generators?: readonly JsonObject[] }
  readonly merge?: Templated & {
    readonly generators?: readonly JsonObject[]
    readonly mergeKeys?: readonly string[]
  }
  readonly selector?: LabelSelector
}

/** The inputs of generating. */
export interface GeneratorContext extends Diagnostics {
  readonly isGo: boolean
  /** The files of a repository; undefined when there is no local clone. */
  readonly repositoryOf: Repositories['of']
  readonly reading: Reading
  /** Parameters of the first generator of a matrix, for the `values` of the second. */
  readonly outer?: ParameterSet
}

/** All parameter sets of a generator, in order. */
export function generate(generator: Generator, scene: GeneratorContext): ParameterSet[] {
  const { clusters, list, git, matrix, merge, selector } = generator
  const named = [clusters, list, git, matrix, merge].filter((one) => one !== undefined)
  if (named.length > 1) scene.wrong('generators: one entry has several generators; write an entry for each')
  const template = named[0]?.template
  const sets = setsOf(generator, scene)
  const wanted = selector ? sets.flatMap((one) => chosenBy(requirementsOf(selector), one, scene)) : sets
  return template ? wanted.map((one) => ({ ...one, template })) : wanted
}

function setsOf({ clusters, list, git, matrix, merge }: Generator, scene: GeneratorContext): ParameterSet[] {
  if (clusters) return [ofClusters(clusters, scene)]
  if (list) return ofList(list, scene)
  if (git) return generateFromGit(git, scene)
  if (matrix) return ofMatrix(matrix.generators ?? [], scene)
  return merge ? ofMerge(merge, scene) : []
}

/** The parameter set, if it matches the selector; requirements on the cluster become requirements on its labels. */
function chosenBy(
  requirements: readonly LabelRequirement[],
  set: ParameterSet,
  { wrong }: GeneratorContext,
): ParameterSet[] {
  const labels = flattened(set.parameters)
  const open: LabelRequirement[] = []
  for (const requirement of requirements) {
    const { key } = requirement
    const label = set.clusters && /^metadata\.labels\.(.+)$/.exec(key)?.[1]
    if (label !== undefined) open.push({ ...requirement, key: label })
    else if (hasPlaceholders(labels[key] ?? '') || (set.clusters && !(key in labels))) {
      wrong(
        `generators[].selector: ${key} depends on the cluster, of which only labels can be asked (metadata.labels.KEY)`,
      )
    } else if (!meetsRequirement(labels, requirement)) return []
  }
  return [open.length === 0 ? set : { ...set, clusters: [...(set.clusters ?? []), ...open] }]
}

const SECRET_TYPE = 'argocd.argoproj.io/secret-type'

function ofClusters(
  { selector = {}, values = {} }: NonNullable<Generator['clusters']>,
  scene: GeneratorContext,
): ParameterSet {
  const parameters = scene.outer?.parameters ?? {}
  const filled = fillTexts(values, { ...scene, parameters, ofCluster: true }) as Record<string, string>
  return {
    parameters: asValues(filled, scene.isGo),
    // All cluster Secrets have this label; Clusters do not need it.
    clusters: requirementsOf(selector).filter(({ key }) => key !== SECRET_TYPE),
  }
}

function ofList(
  { elements = [], elementsYaml = '' }: NonNullable<Generator['list']>,
  scene: GeneratorContext,
): ParameterSet[] {
  const value = readText(elementsYaml, 'generators[].list.elementsYaml', scene.wrong)
  const more = mapsOf(value, 'generators[].list.elementsYaml', scene.wrong)
  return [...elements, ...more].map((element) => ofElement(element, scene))
}

function ofElement(element: JsonObject, { isGo, wrong }: GeneratorContext): ParameterSet {
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

function ofMatrix(generators: readonly JsonObject[], scene: GeneratorContext): ParameterSet[] {
  if (generators.length !== 2) {
    scene.wrong(`generators[].matrix has two generators, and here are ${generators.length}`)
    return []
  }
  const [first, second] = generators
  const { outer: _outer, ...plain } = scene
  return nested(first!, plain).flatMap((outer) => {
    const { parameters, clusters } = outer
    const filling = { ...scene, parameters, ofCluster: clusters !== undefined }
    const filled = withoutValues(second!, (one) => fillTexts(one, filling) as JsonObject)
    return nested(filled, { ...plain, outer }).map((inner): ParameterSet => {
      if (clusters && inner.clusters) scene.wrong('generators[].matrix: two generators of clusters mean clusters twice')
      const either = clusters ?? inner.clusters
      return { parameters: joined(inner.parameters, parameters), ...(either ? { clusters: either } : {}) }
    })
  })
}

/** The parameter sets of a nested generator. */
function nested(generator: JsonObject, scene: GeneratorContext): ParameterSet[] {
  const { shape } = APPLICATION_SET['generators']!
  const fields = (shape as { items: typeof APPLICATION_SET }).items
  return generate(readFields(generator, fields, scene.reading), scene).map(({ template, ...one }) => {
    if (template) scene.note('a template of a generator inside of matrix or merge has no effect, as in Argo CD')
    return one
  })
}

/**
 * The parameter sets of the first generator, each merged with the sets of the other generators that have the same keys.
 */
function ofMerge(
  { generators = [], mergeKeys = [] }: NonNullable<Generator['merge']>,
  scene: GeneratorContext,
): ParameterSet[] {
  if (generators.length < 2 || mergeKeys.length === 0) {
    scene.wrong('generators[].merge has two generators or more, and mergeKeys')
    return []
  }
  const { outer: _outer, ...plain } = scene
  const [base = [], ...overs] = generators.map((one) => nested(one, plain))
  if ([base, ...overs].flat().some(({ clusters }) => clusters)) {
    scene.wrong(
      'generators[].merge: what is said of single clusters is not known before they are; write the clusters as a list, or what differs as variants of the Bundle',
    )
    return []
  }
  const byKey = (sets: readonly ParameterSet[]): Map<string, Parameters> => {
    const found = new Map<string, Parameters>()
    for (const { parameters } of sets) {
      const key = canonicalJson(mergeKeys.map((name) => parameters[name] ?? null))
      if (found.has(key)) scene.wrong(`generators[].merge: ${key} of ${mergeKeys.join(', ')} is there twice`)
      found.set(key, parameters)
    }
    return found
  }
  const merged = byKey(base)
  for (const over of overs) {
    for (const [key, parameters] of byKey(over)) {
      const own = merged.get(key)
      if (own) merged.set(key, scene.isGo ? joined(own, parameters) : { ...own, ...parameters })
    }
  }
  return [...merged.values()].map((parameters) => ({ parameters }))
}

/** Fills a generator except `values` and `template`: they use the generator's own parameters and are filled later. */
function withoutValues(generator: JsonObject, fill: (bare: JsonObject) => JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(generator).map(([kind, options]) => {
      if (!isObject(options)) return [kind, options]
      const { values, template, ...bare } = options
      const later = { ...(values === undefined ? {} : { values }), ...(template === undefined ? {} : { template }) }
      return [kind, { ...fill(bare), ...later }]
    }),
  )
}
