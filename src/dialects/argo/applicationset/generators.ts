// Tested by src/dialects/argo/applicationset/generate.test.ts.
/** Runs generators: each becomes parameter sets and a template. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { nearestName } from '../../../core/text/nearest-name.ts'
import { goJson } from '../../../render/helm/functions/json.ts'
import { ApplicationSetError, withContext } from './applicationset-error.ts'
import { GENERATOR, INNER_COMBINATION, WITH_VALUES } from '../types/applicationset-shape.ts'
import { TEMPLATE } from '../types/application-shape.ts'
import { generateFromClusters } from './clusters.ts'
import { generateFromDecisions } from './decisions.ts'
import type { GenerateInputs } from './generate-inputs.ts'
import { generateFromGit } from './git.ts'
import type { GenerateBudget } from './limits.ts'
import { generateFromList } from './list-elements.ts'
import { combineTexts, flatten, mergeInto } from './parameters.ts'
import { generateFromPlugin, generateFromPullRequests, generateFromScm } from './services.ts'
import type { Parameters, TextRenderer } from './render-text.ts'
import { compileSelector } from './selectors.ts'
import type { Selector } from './selectors.ts'
import { decode, fillShape, mergeShapes } from '../types/shape.ts'

/** What generators run with. */
export interface GeneratorScene {
  readonly inputs: GenerateInputs
  readonly renderer: TextRenderer
  readonly budget: GenerateBudget
  /** The project of the set's template, which the git generator looks up. */
  readonly project: string
}

/** The parameter sets of a generator, and the template they fill. */
export interface Generated {
  readonly sets: readonly Parameters[]
  readonly template: JsonObject
}

type RunGenerator = (generator: JsonObject, scene: GeneratorScene, whole: JsonObject) => Parameters[]

// In Go's order of fields, in which they run.
const GENERATORS: Readonly<Record<string, RunGenerator>> = {
  list: generateFromList,
  clusters: generateFromClusters,
  git: generateFromGit,
  scmProvider: generateFromScm,
  clusterDecisionResource: generateFromDecisions,
  pullRequest: generateFromPullRequests,
  matrix: generateMatrix,
  merge: generateMerge,
  plugin: generateFromPlugin,
}

/** The names of generators. */
const GENERATOR_NAMES: readonly string[] = Object.keys(GENERATORS)

/** Runs all generators of an entry; `outer` are the parameters of the first generator of a matrix. */
export function runGenerators(
  entry: JsonObject,
  scene: GeneratorScene,
  { template, outer }: { readonly template: JsonObject; readonly outer?: Parameters },
): Generated[] {
  const selector = entry['selector'] as Selector | undefined
  const matches = withContext('error parsing label selector', () => compileSelector(selector ?? {}, false))
  const out: Generated[] = []
  let failure: ApplicationSetError | undefined
  for (const [name, run] of Object.entries(GENERATORS)) {
    if (!isObject(entry[name])) continue
    try {
      const merged = mergeShapes(entry[name]['template'] ?? {}, template, TEMPLATE) as JsonObject
      const whole = outer && outer.size > 0 ? interpolate(entry, outer, scene.renderer) : entry
      const sets = run(whole[name] as JsonObject, scene, whole)
      scene.budget.sets(sets.length)
      const choose =
        scene.inputs.selectSets ?? ((_selector, all) => all.filter((set) => matches(flatten(set, scene.budget))))
      out.push({ sets: selector ? choose(selector, sets) : sets, template: merged })
    } catch (caught) {
      if (!(caught instanceof ApplicationSetError)) throw caught
      failure ??= caught
    }
  }
  if (failure) throw failure
  return out
}

/** Fills a generator with the parameters of another; of `values` the values whose keys are all there. */
function interpolate(entry: JsonObject, outer: Parameters, renderer: TextRenderer): JsonObject {
  return withContext(
    'failed to replace parameters in generator',
    () =>
      fillShape(entry, GENERATOR, {
        text: (text) => renderer.render(text, outer),
        field: (value, name, shape) => {
          if (name !== 'values' || !WITH_VALUES.has(shape) || !isObject(value)) return undefined
          const filled = Object.entries(value as Record<string, string>).map(([key, text]) => [
            key,
            renderer.renderIfComplete(text, outer) ?? text,
          ])
          return { filled: Object.fromEntries(filled) as JsonObject }
        },
      }) as JsonObject,
  )
}

/** The parameter sets of a generator within a matrix or merge. */
function childSets(child: JsonObject, scene: GeneratorScene, outer?: Parameters): readonly Parameters[] {
  const entry = { ...child }
  for (const name of ['matrix', 'merge']) {
    if (entry[name] !== undefined) entry[name] = decode(entry[name], INNER_COMBINATION, name)
  }
  const found = withContext('child generator returned an error on parameter generation', () =>
    runGenerators(entry, scene, { template: {}, ...(outer && { outer }) }),
  )
  if (found.length === 0) throw new ApplicationSetError('child generator generated no parameters')
  if (found.length > 1) throw new ApplicationSetError('found more than one generator in matrix.Generators')
  return found[0]!.sets
}

function childrenOf(combination: JsonObject): JsonObject[] {
  return (combination['generators'] ?? []) as JsonObject[]
}

function generateMatrix(matrix: JsonObject, scene: GeneratorScene): Parameters[] {
  const children = childrenOf(matrix)
  if (children.length < 2) throw new ApplicationSetError('found less than two generators, Matrix support only two')
  if (children.length > 2) throw new ApplicationSetError('found more than two generators, Matrix support only two')
  const [first, second] = children as [JsonObject, JsonObject]
  const firstSets = withContext('error failed to get params for first generator in matrix generator', () =>
    childSets(first, scene),
  )
  const out: Parameters[] = []
  for (const outer of firstSets) {
    const secondSets = withContext('failed to get params for second generator in the matrix generator', () =>
      childSets(second, scene, outer),
    )
    for (const inner of secondSets) {
      if (scene.renderer.isGo) {
        const both: Parameters = new Map()
        mergeInto(both, inner)
        mergeInto(both, outer)
        out.push(both)
      } else {
        out.push(
          withContext('failed to combine string maps with merging params for the matrix generator', () =>
            combineTexts(outer, inner),
          ),
        )
      }
    }
  }
  return out
}

function generateMerge(merge: JsonObject, scene: GeneratorScene): Parameters[] {
  const children = childrenOf(merge)
  if (children.length < 2) {
    throw new ApplicationSetError('found less than two generators, Merge requires two or more')
  }
  const keys = (merge['mergeKeys'] ?? []) as string[]
  const [base = [], ...overs] = children.map((child, at) =>
    withContext(
      `error getting param sets from generators: error getting params from generator ${at + 1} of ${children.length}`,
      () => childSets(child, scene),
    ),
  )
  const merged = byMergeKey(base, keys)
  for (const over of overs) {
    const others = byMergeKey(over, keys)
    for (const [key, own] of merged) {
      const other = others.get(key)
      if (!other) continue
      if (scene.renderer.isGo) mergeInto(own, other)
      else for (const [name, value] of other) own.set(name, value)
    }
  }
  return [...merged.values()]
}

function byMergeKey(sets: readonly Parameters[], keys: readonly string[]): Map<string, Parameters> {
  return withContext('error getting param sets by merge key', () => {
    if (keys.length === 0) throw new ApplicationSetError('no merge keys were specified, Merge requires at least one')
    const found = new Map<string, Parameters>()
    for (const set of sets) {
      const key = goJson(new Map(keys.map((name) => [name, set.get(name) ?? null])))
      if (found.has(key)) {
        throw new ApplicationSetError(
          `the parameters from a generator were not unique by the given mergeKeys, Merge requires all param sets to be unique. Duplicate key was ${key}`,
        )
      }
      found.set(key, set)
    }
    return found
  })
}

/** Sentences about entries that name no generator, like `cluster`. */
export function unknownGenerators(entries: unknown): string[] {
  if (!Array.isArray(entries)) return []
  return entries.flatMap((entry: unknown) => {
    if (!isObject(entry)) return []
    const inner = ['matrix', 'merge'].flatMap((name) => {
      const combination = entry[name]
      return isObject(combination) ? unknownGenerators(combination['generators']) : []
    })
    const unknown = Object.keys(entry).filter((key) => key !== 'selector' && !GENERATOR_NAMES.includes(key))
    return [...inner, ...unknown.map(unknownGenerator)]
  })
}

function unknownGenerator(name: string): string {
  const meant = nearestName(name, GENERATOR_NAMES)
  return `unknown generator ${JSON.stringify(name)}${meant === undefined ? '' : `: did you mean ${JSON.stringify(meant)}?`}`
}
