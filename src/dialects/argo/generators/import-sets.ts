// Tested by src/dialects/argo/generators/import-sets.test.ts.
/**
 * The Applications of an ApplicationSet for an import: Argo CD's generators over local clones, with one difference. The
 * clusters are not known, so a clusters generator gives one set for all of them, in which what depends on the cluster
 * stays as a mark.
 */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { meetsRequirement, requirementsOf } from '../../../core/text/label-selector.ts'
import type { LabelRequirement, LabelSelector } from '../../../core/text/label-selector.ts'
import { GoError } from '../../../render/gotemplate/function.ts'
import type { Entropy } from '../../../render/helm/frozen-random.ts'
import { readFields } from '../../read-fields.ts'
import type { Reading } from '../../read-fields.ts'
import { ApplicationSetError } from '../applicationset/applicationset-error.ts'
import type { GenerateInputs } from '../applicationset/generate-inputs.ts'
import { runGenerators } from '../applicationset/generators.ts'
import { GenerateBudget } from '../applicationset/limits.ts'
import { addValues, flatten, stringMap } from '../applicationset/parameters.ts'
import { createTextRenderer } from '../applicationset/render-text.ts'
import type { Parameters, TextRenderer } from '../applicationset/render-text.ts'
import { templateFunctions } from '../applicationset/template-functions.ts'
import { patchApplication } from '../applicationset/template-patch.ts'
import type { Diagnostics } from '../application.ts'
import { APPLICATION_SET as FIELDS } from '../fields.ts'
import type { Repositories } from '../files/repositories.ts'
import { APPLICATION } from '../types/application-shape.ts'
import { APPLICATION_SET } from '../types/applicationset-shape.ts'
import { decode, encode, fillShape } from '../types/shape.ts'
import { hasPlaceholders, placeholderFor } from './cluster-placeholders.ts'

/** What an import runs with. */
export interface ImportContext extends Diagnostics {
  readonly repositoryOf: Repositories['of']
  readonly reading: Reading
}

/** One Application; with `clusters`, one for each of these clusters. */
export interface ImportedSet {
  readonly application: JsonObject
  readonly clusters?: readonly LabelRequirement[]
}

interface SetSpec {
  readonly goTemplate?: boolean
  readonly generators?: readonly JsonObject[]
  readonly template?: JsonObject
  readonly templatePatch?: string
}

// The requirements on clusters of a set, as JSON among its parameters: merged sets keep them.
const CLUSTERS = '\uE002clusters'
const SECRET_TYPE = 'argocd.argoproj.io/secret-type'

/** The Applications of an ApplicationSet, in the order of its generators. */
export function importSets(spec: JsonObject, context: ImportContext): ImportedSet[] {
  const { wrong } = context
  const raw = Array.isArray(spec['generators']) ? spec['generators'].filter(isObject) : []
  if (!raw.every((generator) => isImportable(generator, context))) return []
  const attempt = <T>(run: () => readonly T[]): readonly T[] => {
    try {
      return run()
    } catch (caught) {
      if (!(caught instanceof ApplicationSetError)) throw caught
      wrong(caught.message)
      return []
    }
  }
  const [decoded] = attempt(() => [(decode({ spec }, APPLICATION_SET) as { readonly spec: SetSpec }).spec])
  if (!decoded) return []
  const budget = new GenerateBudget()
  // A key that is missing would stand in the Bundle as text; here it is always an error.
  const options = { isGo: decoded.goTemplate === true, options: ['missingkey=error'] }
  const renderer = markingClusters(createTextRenderer(options, templateFunctions(NO_ENTROPY), budget))
  const scene = { inputs: inputsOf(context, budget), renderer, budget, project: '{{' }
  return (decoded.generators ?? []).flatMap((entry) =>
    attempt(() =>
      runGenerators(entry, scene, { template: decoded.template ?? {} }).flatMap(({ sets, template }) =>
        sets.map((parameters) => importedSet(template, parameters, { spec: decoded, renderer, context })),
      ),
    ),
  )
}

const NO_ENTROPY: Entropy = { randomBytes: () => refuse(), now: () => refuse(), generateKey: () => refuse() }

function refuse(): never {
  throw new GoError('random values and the time are not available here')
}

function inputsOf({ repositoryOf, wrong }: ImportContext, budget: GenerateBudget): GenerateInputs {
  return {
    namespace: '',
    clusters: [],
    projects: new Set(),
    objects: [],
    filesAt: (url) => {
      const repository = repositoryOf(url)
      if (!repository) return 'unknown repository'
      return {
        paths: repository.paths,
        read: (path) => {
          const text = repository.text(path)
          if (text === undefined) throw new ApplicationSetError(`${path} is not UTF-8 text`)
          return text
        },
      }
    },
    clusterSets: (generator, renderer) => {
      const selector = (generator['selector'] ?? {}) as LabelSelector
      // All cluster Secrets have this label; Clusters do not need it.
      const wanted = requirementsOf(selector).filter(({ key }) => key !== SECRET_TYPE)
      const set: Parameters = new Map([[CLUSTERS, JSON.stringify(wanted)]])
      addValues(generator['values'] as Record<string, string> | undefined, set, renderer)
      return [set]
    },
    selectSets: (selector, sets) =>
      sets.flatMap((set) =>
        chosenBy(requirementsOf(selector as LabelSelector), { set, flat: flatten(set, budget) }, wrong),
      ),
    entropy: NO_ENTROPY,
  }
}

function clustersOf(parameters: Parameters): readonly LabelRequirement[] | undefined {
  const text = parameters.get(CLUSTERS)
  return typeof text === 'string' ? (JSON.parse(text) as LabelRequirement[]) : undefined
}

/** The set, if it fits; requirements on the cluster become requirements on its labels. */
function chosenBy(
  requirements: readonly LabelRequirement[],
  { set, flat }: { readonly set: Parameters; readonly flat: ReadonlyMap<string, string> },
  wrong: (message: string) => void,
): Parameters[] {
  const texts = Object.fromEntries(flat)
  const clusters = clustersOf(set)
  const open: LabelRequirement[] = []
  for (const requirement of requirements) {
    const { key } = requirement
    const label = clusters && /^metadata\.labels\.(.+)$/.exec(key)?.[1]
    if (label !== undefined) open.push({ ...requirement, key: label })
    else if (hasPlaceholders(texts[key] ?? '') || (clusters && !flat.has(key))) {
      wrong(
        `generators[].selector: ${key} depends on the cluster, of which only labels can be asked (metadata.labels.KEY)`,
      )
    } else if (!meetsRequirement(texts, requirement)) return []
  }
  if (open.length === 0) return [set]
  return [new Map([...set, [CLUSTERS, JSON.stringify([...(clusters ?? []), ...open])]])]
}

/** Reports what cannot be imported of a generator and its nested generators; false when it should not run. */
function isImportable(generator: JsonObject, { note, wrong, reading }: ImportContext): boolean {
  let isFine = true
  const refuseIt = (message: string): void => {
    wrong(message)
    isFine = false
  }
  const walk = (entry: JsonObject, isInner: boolean): void => {
    if (isInner) readFields(entry, generatorFields(), reading)
    for (const options of Object.values(entry)) {
      if (isInner && isObject(options) && options['template'] !== undefined) {
        note('a template of a generator inside of matrix or merge has no effect, as in Argo CD')
      }
    }
    for (const name of ['matrix', 'merge']) for (const child of childrenOf(entry, name)) walk(child, true)
    if (countClusters(entry, 'matrix') > 1) {
      refuseIt('generators[].matrix: at most one of the two generators can produce clusters')
    }
    if (countClusters(entry, 'merge') > 0) {
      refuseIt(
        'generators[].merge: a generator of clusters cannot be merged, because the clusters are not known at the import; write the clusters as a list, or the differences as variants of the Bundle',
      )
    }
  }
  walk(generator, false)
  return isFine
}

function generatorFields(): typeof FIELDS {
  return (FIELDS['generators']!.shape as { readonly items: typeof FIELDS }).items
}

function childrenOf(entry: JsonObject, name: string): JsonObject[] {
  const combination = entry[name]
  const children = isObject(combination) ? combination['generators'] : undefined
  return Array.isArray(children) ? children.filter(isObject) : []
}

function countClusters(entry: JsonObject, name: string): number {
  return childrenOf(entry, name).reduce(
    (sum, child) =>
      sum + (isObject(child['clusters']) ? 1 : 0) + countClusters(child, 'matrix') + countClusters(child, 'merge'),
    0,
  )
}

function importedSet(
  template: JsonObject,
  parameters: Parameters,
  {
    spec,
    renderer,
    context,
  }: { readonly spec: SetSpec; readonly renderer: TextRenderer; readonly context: ImportContext },
): ImportedSet {
  const clusters = clustersOf(parameters)
  const text = (one: string): string => {
    const filled = renderer.render(one, parameters)
    if (!renderer.isGo) reportLeftTags(filled, parameters, context)
    return filled
  }
  const filled = fillShape(template, APPLICATION, { text }) as JsonObject
  const patched = spec.templatePatch === undefined ? filled : patchApplication(filled, text(spec.templatePatch))
  return { application: encode(patched, APPLICATION) as JsonObject, ...(clusters && { clusters }) }
}

const TAG = /\{\{\s*([^{}]*?)\s*\}\}/g

function reportLeftTags(text: string, parameters: Parameters, { wrong }: ImportContext): void {
  for (const [all, key = ''] of text.matchAll(TAG)) {
    const hint = key.startsWith('.') ? '; words with a dot need goTemplate: true' : ''
    wrong(`${all} is no parameter of its generators; they have ${namesOf(parameters)}${hint}`)
  }
}

function namesOf(parameters: Parameters): string {
  const ofClusters = parameters.has(CLUSTERS)
    ? ['name', 'server', 'metadata.labels.KEY', 'metadata.annotations.KEY']
    : []
  const all = [...ofClusters, ...[...parameters.keys()].filter((key) => key !== CLUSTERS)]
  return all.length === 0 ? 'none' : all.join(', ')
}

const CLUSTER_WORD = /^(?:name(?:Normalized)?|server|project|metadata\.(labels|annotations)\.(.+))$/
const GO_WORD =
  /\{\{-?\s*(?:\.(?<word>name|nameNormalized|server|project)|\.metadata\.(?<map>labels|annotations)\.(?<key>\w+)|index\s+\.metadata\.(?<indexed>labels|annotations)\s+"(?<quoted>[^"]+)"|\.values\.(?<own>\w+))\s*-?\}\}/g

interface GoWord {
  readonly word?: string
  readonly map?: string
  readonly key?: string
  readonly indexed?: string
  readonly quoted?: string
  readonly own?: string
}

function clusterMark(key: string): string | undefined {
  const [found, map, name] = CLUSTER_WORD.exec(key) ?? []
  if (found === undefined) return undefined
  if (map !== undefined) return placeholderFor(`${map}/${name}`)
  return found === 'project' ? '' : placeholderFor(found === 'server' ? 'server' : 'name')
}

/** A renderer that puts marks where a set of clusters names what depends on them. */
function markingClusters(base: TextRenderer): TextRenderer {
  const marking = <T>(text: string, parameters: Parameters, run: (text: string, parameters: Parameters) => T): T => {
    if (!parameters.has(CLUSTERS) || !text.includes('{{')) return run(text, parameters)
    if (!base.isGo) return run(markPlain(text, parameters), parameters)
    try {
      return run(markGo(text, parameters), withoutMarks(parameters))
    } catch (caught) {
      if (!(caught instanceof ApplicationSetError)) throw caught
      throw new ApplicationSetError(
        `${caught.message}; what depends on the cluster may be named ({{.name}}), not worked on`,
      )
    }
  }
  return {
    isGo: base.isGo,
    render: (text, parameters) => marking(text, parameters, (one, known) => base.render(one, known)),
    renderIfComplete: (text, parameters) =>
      marking(text, parameters, (one, known) => base.renderIfComplete(one, known)),
  }
}

function markPlain(text: string, parameters: Parameters): string {
  return text.replaceAll(TAG, (all, key: string) => (parameters.has(key) ? all : (clusterMark(key) ?? all)))
}

function markGo(text: string, parameters: Parameters): string {
  const values = parameters.get('values')
  return text.replaceAll(GO_WORD, (all, ...found: unknown[]) => {
    const { own, word, map, key, indexed, quoted } = found.at(-1) as GoWord
    if (own !== undefined) {
      const value: unknown = values instanceof Map ? values.get(own) : undefined
      return typeof value === 'string' && hasPlaceholders(value) ? value : all
    }
    if (word !== undefined) return parameters.has(word) ? all : (clusterMark(word) ?? all)
    return clusterMark(`metadata.${map ?? indexed}.${key ?? quoted}`) ?? all
  })
}

/** Values of the cluster are not known here: a function gets no mark, but an error. */
function withoutMarks(parameters: Parameters): Parameters {
  const known: Parameters = new Map(parameters)
  known.delete(CLUSTERS)
  const values = known.get('values')
  if (values instanceof Map) {
    const plain = [...(values as Map<string, unknown>)].filter(
      ([, value]) => !(typeof value === 'string' && hasPlaceholders(value)),
    )
    known.set('values', stringMap(Object.fromEntries(plain) as Record<string, string>))
  }
  return known
}
