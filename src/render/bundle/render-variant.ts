/** One bundle for one cluster: layers, templates, style, finish. Pure: the same files and inputs give the same objects. */
import { utf8 } from '../../core/bytes.ts'
import type { ClusterInputs, Reads } from '../../core/cluster-inputs.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { readYamlDocument } from '../../yaml/read.ts'
import { writeYaml } from '../../yaml/write.ts'
import { YamlError } from '../../yaml/yaml.ts'
import type { Chart } from '../helm/chart.ts'
import { checkRequirements } from '../helm/check-chart.ts'
import type { Entropy, FrozenRecord } from '../helm/frozen.ts'
import { HelmError } from '../helm/helm-error.ts'
import { LimitError } from '../helm/limits.ts'
import type { RenderWatch } from '../helm/limits.ts'
import { loadChart, loadChartArchive } from '../helm/load-chart.ts'
import { profileOf } from '../helm/profile.ts'
import type { HelmProfile } from '../helm/profile.ts'
import { renderChart } from '../helm/render-chart.ts'
import type { RenderedChart } from '../helm/render-chart.ts'
import { userValues } from '../helm/user-values.ts'
import { buildKustomization, buildObjects } from '../kustomize/build.ts'
import { KustomizeError } from '../kustomize/kustomize-error.ts'
import { treeOf } from '../kustomize/loader.ts'
import type { FileTree } from '../kustomize/loader.ts'
import { renderRaw } from '../raw.ts'
import type { RenderProblem, RenderResult } from '../rendered.ts'
import { goValue, watchInputs } from './watch-inputs.ts'
import type { WatchedInputs } from './watch-inputs.ts'
import { detectStyle, insidePath, kustomizationIn } from './detect-style.ts'
import type { Style } from './detect-style.ts'
import { chartFiles } from './chart-files.ts'
import { createExpander } from './expand.ts'
import type { Expander } from './expand.ts'
import { finishObjects, refuseSecrets, writtenSecrets } from './finish.ts'
import { layersFor, mergeLayers, originsOf } from './layers.ts'
import { MANIFEST, rawDirectory, textOf } from './raw-directory.ts'
import type { BundleRecipe, InputSource, LayerOptions } from './recipe.ts'
import { RenderFailure } from './render-failure.ts'
import { expandValues } from './value-templates.ts'

// Variants of one artifact read the same charts and directories: these are looked at once while its files are kept.
const trees = new WeakMap<ArtifactFiles, FileTree>()
const charts = new WeakMap<ArtifactFiles, Map<string, Chart>>()

function remembered<K extends object, V>(known: WeakMap<K, V>, key: K, make: () => V): V {
  const found = known.get(key) ?? make()
  known.set(key, found)
  return found
}

function profileFor(recipe: BundleRecipe): HelmProfile {
  return profileOf(recipe.helmVersion ?? 'helm4')
}

function chartAt(path: string, recipe: BundleRecipe, files: ArtifactFiles): Chart {
  const loaded = remembered(charts, files, () => new Map<string, Chart>())
  const profile = profileFor(recipe)
  const base = insidePath('', recipe.path ?? '', 'spec.source.path')
  const ignored = (recipe.ignore ?? []).map((one) => insidePath(base, one, 'spec.source.ignore'))
  const key = JSON.stringify([profile.name, path, base, ignored])
  const chart =
    loaded.get(key) ??
    (path.endsWith('.tgz')
      ? loadChartArchive(files.get(path)!, { profile })
      : loadChart(chartFiles(path, { files, base, ignored }), { profile }))
  loaded.set(key, chart)
  return chart
}

/** Files of an artifact by path. */
export type ArtifactFiles = ReadonlyMap<string, Uint8Array>

/** What a render works with besides its recipe. */
export interface VariantParts {
  readonly files: ArtifactFiles
  readonly entropy: Entropy
  /** Random values charts drew before. */
  readonly frozen: FrozenRecord
  /** Sees where the render is, and may stop it. */
  readonly watch?: RenderWatch
}

/** One cluster's result. */
export interface Variant {
  readonly result: RenderResult | { readonly ok: 'skip'; readonly by: string }
  /** What of the cluster was read. */
  readonly reads: Reads
  /** Random values that were drawn, old and new. */
  readonly frozen: FrozenRecord
  /** Which layer each Helm value comes from. */
  readonly origins: ReadonlyMap<string, string>
  /** The names of the bundle's variants that count for it. */
  readonly variants: readonly string[]
  readonly style?: Style['kind'] | 'Inline'
  /** What people should know although it is no mistake. */
  readonly notes?: readonly string[]
}

/** Renders a bundle for a cluster; what is wrong with the content is in the result, never thrown. */
export function renderVariant(recipe: BundleRecipe, cluster: ClusterInputs, parts: VariantParts): Variant {
  const watched = watchInputs(cluster)
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

interface Scene extends VariantParts {
  readonly watched: WatchedInputs
}

type Made = Pick<Variant, 'result' | 'frozen' | 'style' | 'notes'>

function renderLayers(recipe: BundleRecipe, merged: LayerOptions, scene: Scene): Made {
  const expander = recipe.templating ? createExpander(templateData(recipe, scene), scene.watch) : undefined
  const options = expander ? expandOptions(merged, expander) : merged
  if (recipe.manifests !== undefined || recipe.manifestParts) {
    const read = inlineObjects(recipe, expander)
    const result = read.ok ? finished(read.objects, options) : read
    return { result, frozen: scene.frozen, notes: inlineNotes(recipe), style: 'Inline' }
  }
  const has = (path: string): boolean => scene.files.has(path)
  const style = detectStyle(recipe, options, has)
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
          const written = rawDirectory(style.directory, recipe, options, { ...scene, expander: undefined, templates })
          return written.ok ? written.objects : result.objects
        }
        refuseSecrets(expander ? writtenOr(result.objects, unexpanded) : result.objects)
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
        const tree = withChartOutput(style.kustomize, text, { files: scene.files, expander })
        return { result: finished(kustomized(style.kustomize, tree), options), frozen, notes, style: 'Helm' }
      }
      const read = renderRaw(text)
      return { result: read.ok ? finished(read.objects, options) : read, frozen, notes, style: 'Helm' }
    }
  }
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

/** Who may read the Bundle or its ConfigMaps reads what is written in them. */
function inlineNotes(recipe: BundleRecipe): string[] {
  if (recipe.allowSecrets) return []
  const written = inlineObjects(recipe, undefined)
  const where = recipe.manifests === undefined ? 'the ConfigMaps of spec.manifestsFrom' : 'spec.manifests'
  return (written.ok ? writtenSecrets(written.objects) : []).map(
    ({ name, keys }) =>
      `Secret ${name} has its content (${keys.join(', ')}) in ${where}, where everybody who may read that reads it; take it from a Secret of the hub (spec.inputs), or set spec.secrets to Allow`,
  )
}

function finished(objects: readonly UnknownObject[], options: LayerOptions): RenderResult {
  const done = finishObjects(objects, options)
  // Namespaces are decided now, so that two objects may have become one.
  const again = renderRaw(done.map((object) => JSON.stringify(object)).join('\n---\n'))
  return again.ok ? { ok: true, objects: done } : again
}

function templateData(recipe: BundleRecipe, { watched, files }: Scene): Map<string, unknown> {
  const inputs = new Map<string, unknown>()
  for (const [name, source] of Object.entries(recipe.inputs ?? {})) {
    inputs.set(name, inputValue(name, source, { watched, files, path: recipe.path ?? '' }))
  }
  return new Map<string, unknown>([
    ['Cluster', watched.map],
    ['Inputs', inputs],
  ])
}

function inputValue(
  name: string,
  source: InputSource,
  from: { readonly watched: WatchedInputs; readonly files: ArtifactFiles; readonly path: string },
): unknown {
  if ('value' in source) return goValue({ value: source.value })['value']
  const file = 'file' in source ? source.file : source.table
  const path = insidePath(from.path, file, `input ${name}`)
  const bytes = from.files.get(path)
  if (!bytes) throw new RenderFailure(`input ${name} names the file ${JSON.stringify(file)}, and there is none`)
  const { value } = readYamlDocument(textOf(bytes, path), { file: path, resolver: '1.1' })
  if ('file' in source) return goValue({ value })['value']
  const key = source.key === 'name' ? (from.watched.map.get('Name') as string) : from.watched.label(source.key)
  if (key === undefined)
    throw new RenderFailure(
      `${path}: input ${name} needs the label ${JSON.stringify(source.key)}, and the cluster has none`,
    )
  const row = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  if (row === undefined) throw new RenderFailure(`${path}: input ${name} has no row ${JSON.stringify(key)}`)
  return goValue({ row })['row']
}

/** Short texts of the options are templates too; values of charts are expanded as text, where they become YAML. */
function expandOptions(options: LayerOptions, expander: Expander): LayerOptions {
  const expand = (text: string | undefined, where: string): string | undefined =>
    text === undefined ? undefined : expander.expand(text, where)
  return {
    ...options,
    helm: { ...options.helm, releaseName: expand(options.helm?.releaseName, 'helm.releaseName') },
    kustomize: { dir: expand(options.kustomize?.dir, 'kustomize.dir') },
    defaultNamespace: expand(options.defaultNamespace, 'defaultNamespace'),
    targetNamespace: expand(options.targetNamespace, 'targetNamespace'),
    labels: Object.fromEntries(
      Object.entries(options.labels ?? {}).map(([key, value]) => [key, expander.expand(value, `labels.${key}`)]),
    ),
    images: (options.images ?? []).map(({ from, to }) => ({ from, to: expander.expand(to, 'images') })),
    patches: (options.patches ?? []).map((patch) => ({
      ...patch,
      patch: expandJson(patch.patch, expander, `patch of ${patch.kind} ${patch.name}`) as JsonObject,
    })),
  }
}

function expandJson(value: unknown, expander: Expander, where: string): unknown {
  if (typeof value === 'string') return expander.expand(value, where)
  if (Array.isArray(value)) return value.map((item) => expandJson(item, expander, where))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expandJson(item, expander, where)]))
}

function expandedTree(files: ArtifactFiles, expander: Expander | undefined): FileTree {
  const tree = remembered(trees, files, () => treeOf(new Map([...files].map(([path, bytes]) => [`/${path}`, bytes]))))
  if (!expander) return tree
  const known = new Map<string, Uint8Array>()
  return {
    stat: (path) => tree.stat(path),
    list: (path) => tree.list(path),
    read: (path) => {
      const before = known.get(path)
      if (before) return before
      const bytes = tree.read(path)
      const isText =
        MANIFEST.test(path) || /\.(env|properties|txt|conf|cfg|ini)$/.test(path) || path.endsWith('/Kustomization')
      const made = isText ? utf8(expander.expand(textOf(bytes, path.slice(1)), path.slice(1))) : bytes
      known.set(path, made)
      return made
    },
  }
}

function kustomized(directory: string, tree: FileTree): UnknownObject[] {
  const { resources } = buildKustomization(tree, `/${directory}`)
  return buildObjects(resources) as unknown as UnknownObject[]
}

/** Content before templates are expanded; where it cannot be read without that, as it is after. */
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

const CHART_OUTPUT = 'flotilla-manifests.yaml'

/** The chart's output is the first resource of the kustomization. */
function withChartOutput(
  directory: string,
  text: string,
  { files, expander }: { readonly files: ArtifactFiles; readonly expander: Expander | undefined },
): FileTree {
  const file = kustomizationIn(directory, (path) => files.has(path))
  const base = expandedTree(files, expander)
  const { value } = readYamlDocument(textOf(base.read(`/${file}`), file), { file, resolver: '1.2' })
  const own = isObject(value) ? value : {}
  const resources = Array.isArray(own['resources']) ? own['resources'] : []
  const output = directory === '' ? CHART_OUTPUT : `${directory}/${CHART_OUTPUT}`
  const added = new Map<string, Uint8Array>([
    [`/${output}`, utf8(text)],
    [`/${file}`, utf8(writeYaml({ ...own, resources: [CHART_OUTPUT, ...resources] }))],
  ])
  const extra = treeOf(added)
  return {
    stat: (path) => extra.stat(path) ?? base.stat(path),
    list: (path) => [...new Set([...base.list(path), ...extra.list(path)])].sort(),
    read: (path) => (added.has(path) ? extra.read(path) : base.read(path)),
  }
}

function chartText(
  chart: Chart,
  recipe: BundleRecipe,
  options: LayerOptions,
  scene: Scene & { readonly expander: Expander | undefined },
): { readonly text: string; readonly frozen: FrozenRecord; readonly notes: readonly string[] } {
  const { files, expander, watched, entropy, frozen, watch } = scene
  const profile = profileFor(recipe)
  const own = expandValues(options.helm, { watched, bundle: recipe.bundle, watch })
  checkRequirements(chart, profile)
  const expand = (text: string, file: string): string => (expander ? expander.expand(text, file) : text)
  const base = recipe.path ?? ''
  const values = userValues(
    {
      files: [
        ...(options.helm?.valuesFiles ?? []).map((name) => {
          const file = insidePath(base, name, 'helm.valuesFiles')
          const bytes = files.get(file)
          if (!bytes)
            throw new RenderFailure(`helm.valuesFiles names ${JSON.stringify(name)}, and there is no such file`)
          return { name: file, data: utf8(expand(textOf(bytes, file), file)) }
        }),
        { name: 'helm.values', data: utf8(expand(writeYaml(own), 'helm.values')) },
      ],
    },
    profile,
  )
  const name = recipe.bundle.slice(recipe.bundle.indexOf('/') + 1)
  const { version } = watched
  if (chart.metadata.kubeVersion) version.note()
  const rendered = renderNoting(version.note, () =>
    renderChart({
      chart,
      values,
      profile,
      release: {
        name: options.helm?.releaseName ?? name,
        namespace: options.targetNamespace ?? options.defaultNamespace ?? 'default',
      },
      cluster: version.value === undefined ? {} : { kubeVersion: version.value },
      entropy,
      frozen,
      ...(watch && { watch }),
    }),
  )
  const documents = [
    ...rendered.crds.map(({ content }) => content),
    ...rendered.manifests.map(({ content }) => content),
    // With their annotations: who makes a set of them tells them from the rest.
    ...rendered.hooks.map(({ content }) => content),
  ]
  return { text: documents.join('\n---\n'), frozen: { ...frozen, ...rendered.frozen }, notes: notesOf(rendered) }
}

/** Tests are for people who wait for their answer; nobody waits in a fleet. */
function notesOf({ hooks }: RenderedChart): string[] {
  const tests = hooks.filter(({ events }) => events.every((event) => event === 'test'))
  if (tests.length === 0) return []
  const names = tests.slice(0, 3).map(({ kind, name }) => `${kind} ${name}`)
  const more = tests.length > 3 ? ` and ${tests.length - 3} more` : ''
  return [`tests of the chart are not run: ${names.join(', ')}${more}`]
}

/** A failure may come from the version it saw; a success says whether it looked. */
function renderNoting(note: () => void, render: () => RenderedChart): RenderedChart {
  try {
    const rendered = render()
    if (rendered.read.kubeVersion || rendered.read.apiVersions.length > 0) note()
    return rendered
  } catch (caught) {
    note()
    throw caught
  }
}

/** Templates without a chart of their own: they get one that says nothing. */
function chartOfTemplates(templates: ReadonlyMap<string, Uint8Array>, recipe: BundleRecipe): Chart {
  const name = recipe.bundle.slice(recipe.bundle.indexOf('/') + 1)
  const about = utf8(writeYaml({ apiVersion: 'v2', name, version: '0.0.0' }))
  return loadChart(new Map([['Chart.yaml', about], ...templates]), { profile: profileFor(recipe) })
}
