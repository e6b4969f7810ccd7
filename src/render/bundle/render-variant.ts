/**
 * A bundle for a cluster: layers, templates, style, finish. Pure: the same files and inputs give the same objects.
 */
import { utf8 } from '../../core/bytes.ts'
import type { ClusterInputs, Reads } from '../../core/cluster-inputs.ts'
import { isObject } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { isSecret } from '../../kinds/redact-secret.ts'
import { readYamlDocument } from '../../yaml/read/read-yaml.ts'
import { writeYaml } from '../../yaml/write/write-yaml.ts'
import { YamlError } from '../../yaml/yaml.ts'
import type { FrozenRecord } from '../helm/frozen-random.ts'
import { HelmError } from '../helm/helm-error.ts'
import { LimitError } from '../helm/render-limits.ts'
import { buildKustomization, buildObjects } from '../kustomize/build.ts'
import { KustomizeError } from '../kustomize/kustomize-error.ts'
import { createFileTree } from '../kustomize/loader.ts'
import type { FileTree } from '../kustomize/loader.ts'
import { checkObjects, renderRaw } from '../raw.ts'
import type { RenderProblem, RenderResult } from '../render-result.ts'
import { builderOf } from './builder.ts'
import { chartAt, chartOfTemplates, chartText } from './chart/chart-text.ts'
import { detectStyle, insidePath, kustomizationIn } from './detect-style.ts'
import type { Style } from './detect-style.ts'
import { createExpander } from './expander.ts'
import type { Expander } from './expander.ts'
import { finishObjects } from './finish-objects.ts'
import { layersFor, mergeLayers, originsOf } from './layers.ts'
import { findPlaintextSecrets, refuseSecrets } from './plaintext-secrets.ts'
import { prepareContent } from './prepare-content.ts'
import { prepareEncrypted } from './encrypted-content.ts'
import type { PreparedContent } from './prepare-content.ts'
import { rawDirectory, decodeManifestText } from './raw-directory.ts'
import type { BuilderCall, BundleRecipe, LayerOptions } from './recipe.ts'
import { RenderFailure } from './render-failure.ts'
import { expandedTree, expandOptions, templateData } from './render-context.ts'
import type { ArtifactFiles, RenderContext, RenderDependencies } from './render-context.ts'
import { trackReads } from './track-reads.ts'

export type { ArtifactFiles, RenderDependencies as VariantParts } from './render-context.ts'

/**
 * The result for a cluster: objects, problems, content that the agent renders, or the layer that excludes the
 * cluster.
 */
export type VariantResult =
  | RenderResult
  | ({ readonly ok: 'prepared' } & PreparedContent)
  | { readonly ok: 'skip'; readonly by: string }

/** The result for a cluster, with its inputs and outputs for later renders. */
export interface Variant {
  readonly result: VariantResult
  /** The cluster fields that were read. */
  readonly reads: Reads
  /** Random values that were drawn, in this render and before. */
  readonly frozen: FrozenRecord
  /** The layer that each Helm value comes from. */
  readonly origins: ReadonlyMap<string, string>
  /** The names of the bundle's variants that match the cluster. */
  readonly variants: readonly string[]
  readonly style?: Style['kind'] | 'Inline' | 'Builder'
  /** Notes for the user that are not errors. */
  readonly notes?: readonly string[]
}

/** Renders a bundle for a cluster. Errors in the content are part of the result and are never thrown. */
export function renderVariant(recipe: BundleRecipe, cluster: ClusterInputs, parts: RenderDependencies): Variant {
  const watched = trackReads(cluster)
  const name = (): string => watched.map.get('Name') as string
  const { layers, skip, variants } = layersFor(recipe, watched, name)
  const origins = originsOf(layers)
  const base = { origins, variants, frozen: parts.frozen }
  if (skip !== undefined) return { ...base, result: { ok: 'skip', by: skip }, reads: watched.reads() }
  try {
    const made = renderLayers(recipe, mergeLayers(layers), { ...parts, watched })
    return { ...base, ...made, reads: watched.reads() }
  } catch (caught) {
    return { ...base, result: { ok: false, problems: [problemOf(caught)] }, reads: watched.reads() }
  }
}

function problemOf(caught: unknown): RenderProblem {
  if (caught instanceof RenderFailure) return caught.problem()
  if (caught instanceof HelmError || caught instanceof KustomizeError || caught instanceof LimitError) {
    return { message: caught.message }
  }
  if (caught instanceof YamlError) return { message: caught.message }
  throw caught
}

type Made = Pick<Variant, 'result' | 'frozen' | 'style' | 'notes'>

function renderLayers(recipe: BundleRecipe, merged: LayerOptions, scene: RenderContext): Made {
  const expander = recipe.templating ? createExpander(templateData(recipe, scene), scene.watch) : undefined
  const options = expander ? expandOptions(merged, expander) : merged
  if (recipe.builder && recipe.manifests !== undefined) {
    const files: ArtifactFiles = new Map([['manifests', utf8(recipe.manifests)]])
    return builtObjects(recipe, recipe.builder, options, { ...scene, files })
  }
  if (recipe.manifests !== undefined || recipe.manifestParts) {
    const read = inlineObjects(recipe, expander)
    const result = read.ok ? finished(read.objects, options) : read
    return { result, frozen: scene.frozen, notes: inlineNotes(recipe), style: 'Inline' }
  }
  if (recipe.builder) return builtObjects(recipe, recipe.builder, options, scene)
  const has = (path: string): boolean => scene.files.has(path)
  const style = detectStyle(recipe, options, has)
  if (!scene.cluster) {
    if (recipe.at !== 'Agent') refuseClusterValues(options)
    else {
      if (style.kind === 'Helm' && style.kustomize !== undefined && !recipe.allowSecrets)
        refuseSecrets(writtenAround('', style.kustomize, scene.files))
      const prepared = prepareContent(style, recipe, options, { ...scene, expander })
      if (prepared) return { result: { ok: 'prepared', ...prepared }, frozen: scene.frozen, style: style.kind }
    }
  }
  switch (style.kind) {
    case 'Raw': {
      let frozen = scene.frozen
      const templates = (own: ReadonlyMap<string, Uint8Array>): string => {
        const made = chartText(chartOfTemplates(own, recipe), recipe, options, { ...scene, expander })
        frozen = made.frozen
        return made.text
      }
      const result = rawDirectory(style.directory, recipe, options, { ...scene, expander, templates })
      if (!result.ok) return { result, frozen, style: 'Raw' }
      if (!recipe.allowSecrets) {
        const unexpanded = () => {
          const written = rawDirectory(style.directory, recipe, options, {
            ...scene,
            expander: undefined,
            // Secrets that templates render are allowed, as for charts.
            templates: () => '',
          })
          return written.ok ? written.objects : result.objects
        }
        const isWhole = expander === undefined && recipe.raw?.templates !== 'Render'
        refuseSecrets(isWhole ? result.objects : writtenOr(result.objects, unexpanded))
      }
      return { result: finished(result.objects, options), frozen, style: 'Raw' }
    }
    case 'Kustomize': {
      const objects = kustomized(style.directory, expandedTree(scene.files, expander))
      const unexpanded = () => kustomized(style.directory, expandedTree(scene.files, undefined))
      if (!recipe.allowSecrets) refuseSecrets(expander ? writtenOr(objects, unexpanded) : objects)
      return { result: finished(objects, options), frozen: scene.frozen, style: 'Kustomize' }
    }
    case 'Helm': {
      const chart = chartAt(style.chart, recipe, scene.files)
      const { text, frozen, notes } = chartText(chart, recipe, options, { ...scene, expander })
      if (style.kustomize !== undefined) {
        if (!recipe.allowSecrets) refuseSecrets(writtenAround(text, style.kustomize, scene.files))
        const tree = withChartOutput(style.kustomize, text, { files: scene.files, expander })
        return { result: finished(kustomized(style.kustomize, tree), options), frozen, notes, style: 'Helm' }
      }
      const read = renderRaw(text)
      return { result: read.ok ? finished(read.objects, options) : read, frozen, notes, style: 'Helm' }
    }
  }
}

function builtObjects(recipe: BundleRecipe, call: BuilderCall, options: LayerOptions, scene: RenderContext): Made {
  const build = builderOf(call, scene.builders ?? {})
  const inputs = templateData(recipe, scene).get('Inputs') as ReadonlyMap<string, unknown>
  const { files, watched, frozen, openedMessages } = scene
  const { sops, decryptInCluster } = recipe
  const path = insidePath('', recipe.path ?? '', 'spec.source.path')
  const about = { files, path, options: call.options ?? {}, inputs, cluster: watched, charts: scene }
  const built = build({ ...about, sops, encrypted: decryptInCluster, openedMessages })
  const { objects, written, notes, encrypted, frozen: drawn } = built
  if (!recipe.allowSecrets) refuseSecrets(written)
  const result = finished(objects, options)
  const isLeft = result.ok && decryptInCluster !== undefined && encrypted !== undefined
  return {
    result: isLeft
      ? { ok: 'prepared', ...prepareEncrypted(recipe, decryptInCluster, result.objects, encrypted) }
      : result,
    frozen: { ...frozen, ...drawn },
    notes,
    style: 'Builder',
  }
}

function refuseClusterValues({ helm }: LayerOptions): void {
  if (!helm?.valuesFrom || helm.valuesFrom.length === 0) return
  throw new RenderFailure('helm.valuesFrom is read in the cluster, by its agent; set spec.render.at to Agent')
}

function inlineObjects({ manifests, manifestParts = [] }: BundleRecipe, expander: Expander | undefined): RenderResult {
  const expand = (text: string, where: string): string => (expander ? expander.expand(text, where) : text)
  if (manifests !== undefined) return renderRaw(expand(manifests, 'spec.manifests'))
  const read = manifestParts.map(({ file, text }) => ({ file, result: renderRaw(expand(text, file)) }))
  const problems = read.flatMap(({ file, result }) =>
    result.ok ? [] : result.problems.map((problem) => ({ ...problem, file })),
  )
  if (problems.length > 0) return { ok: false, problems }
  return { ok: true, objects: read.flatMap(({ result }) => (result.ok ? result.objects : [])) }
}

/** A user with read access to the Bundle or its ConfigMaps can read Secrets in them. */
function inlineNotes(recipe: BundleRecipe): string[] {
  if (recipe.allowSecrets) return []
  const written = inlineObjects(recipe, undefined)
  const where = recipe.manifests === undefined ? 'the ConfigMaps of spec.manifestsFrom' : 'spec.manifests'
  return (written.ok ? findPlaintextSecrets(written.objects) : []).map(
    ({ name, keys }) =>
      `Secret ${name} has its content (${keys.join(', ')}) in ${where}, where every user with read access can read it; pass it from a Secret of the hub (spec.inputs), or set spec.secrets to Allow`,
  )
}

function finished(objects: readonly UnknownObject[], options: LayerOptions): RenderResult {
  return checkObjects(finishObjects(objects, options))
}

function kustomized(directory: string, tree: FileTree): UnknownObject[] {
  const { resources } = buildKustomization(tree, `/${directory}`)
  return buildObjects(resources) as unknown as UnknownObject[]
}

/** Returns the content before templates are expanded; the expanded content if the unexpanded files cannot be parsed. */
function writtenOr(
  expanded: readonly UnknownObject[],
  unexpanded: () => readonly UnknownObject[],
): readonly UnknownObject[] {
  try {
    return unexpanded()
  } catch {
    return expanded
  }
}

/**
 * The objects of a kustomization around the output of a chart, without the values of the chart's own Secrets; none if
 * the kustomization needs these values.
 */
function writtenAround(text: string, directory: string, files: ArtifactFiles): readonly UnknownObject[] {
  try {
    const read = renderRaw(text)
    const objects = (read.ok ? read.objects : []).map((object) => {
      if (!isSecret(object)) return object
      const { data: _data, stringData: _stringData, ...rest } = object
      return rest
    })
    const output = objects.map((object) => JSON.stringify(object)).join('\n---\n')
    return kustomized(directory, withChartOutput(directory, output, { files, expander: undefined }))
  } catch {
    return []
  }
}

const CHART_OUTPUT = 'flotilla-manifests.yaml'

/** Adds the chart's output as the first resource of the kustomization. */
function withChartOutput(
  directory: string,
  text: string,
  { files, expander }: { readonly files: ArtifactFiles; readonly expander: Expander | undefined },
): FileTree {
  const file = kustomizationIn(directory, (path) => files.has(path))
  const base = expandedTree(files, expander)
  const { value } = readYamlDocument(decodeManifestText(base.read(`/${file}`), file), { file, resolver: '1.2' })
  const own = isObject(value) ? value : {}
  const resources = Array.isArray(own['resources']) ? own['resources'] : []
  const output = directory === '' ? CHART_OUTPUT : `${directory}/${CHART_OUTPUT}`
  const added = new Map<string, Uint8Array>([
    [`/${output}`, utf8(text)],
    [`/${file}`, utf8(writeYaml({ ...own, resources: [CHART_OUTPUT, ...resources] }))],
  ])
  const extra = createFileTree(added)
  return {
    stat: (path) => extra.stat(path) ?? base.stat(path),
    list: (path) => [...new Set([...base.list(path), ...extra.list(path)])].sort(),
    read: (path) => (added.has(path) ? extra.read(path) : base.read(path)),
  }
}
