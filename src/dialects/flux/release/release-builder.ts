/** The builder of HelmReleases: what helm-controller would apply to a cluster, made by the renderer of Bundles. */
import { base64, fromBase64, fromUtf8, utf8 } from '../../../core/bytes.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import type { Builder, BuilderRequest } from '../../../render/bundle/builder.ts'
import { chartFiles } from '../../../render/bundle/chart/chart-files.ts'
import type { ArtifactFiles } from '../../../render/bundle/render-variant.ts'
import { RenderFailure } from '../../../render/bundle/render-failure.ts'
import type { Chart } from '../../../render/helm/chart/chart.ts'
import { checkRequirements } from '../../../render/helm/chart/check-chart.ts'
import { loadChart } from '../../../render/helm/chart/load-chart.ts'
import { toYaml } from '../../../render/helm/functions/yaml.ts'
import { HELM_4 } from '../../../render/helm/profile.ts'
import { UnmarshalError } from '../../../render/helm/read-yaml.ts'
import { renderChart } from '../../../render/helm/render-chart.ts'
import type { RenderedChart } from '../../../render/helm/render-chart.ts'
import { tableFromJson } from '../../../render/helm/values/dict.ts'
import type { Dict } from '../../../render/helm/values/dict.ts'
import { mergeMaps, readValues } from '../../../render/helm/values/values-file.ts'
import { renderRaw } from '../../../render/raw.ts'
import { sourceFilter } from '../sources/ignore-files.ts'
import { objectData, releaseValues, ValuesError } from '../values/release-values.ts'
import type { ValuesReference } from '../values/release-values.ts'
import { postRender } from './post-render.ts'
import { HELM_GROUP } from './release-kind.ts'

/** What a HelmRelease asks of the builder; the options of `spec.builder`. */
export interface ReleaseBuilderOptions {
  /** The object of Flux. */
  readonly owner: { readonly name: string; readonly namespace: string }
  /** Name and namespace of the release. */
  readonly release: { readonly name: string; readonly namespace: string }
  /** The directory of the chart; empty for the root of the source. */
  readonly chart: string
  /** The version with the commit or generation, where Flux adds them. */
  readonly version?: string
  /** `spec.ignore` of the source. */
  readonly ignore?: string
  /** Files whose values replace those of the chart. */
  readonly valuesFiles?: readonly string[]
  readonly ignoreMissing?: boolean
  readonly values?: JsonObject
  readonly valuesFrom?: readonly ValuesReference[]
  /** The data of the ConfigMaps of `valuesFrom`, by name. */
  readonly configMaps?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The inputs with the Secrets of `valuesFrom`, by the name of the Secret. */
  readonly secrets?: Readonly<Record<string, string>>
  /** Handling of the directory `crds/`. Defaults to CreateOnce. */
  readonly crds?: 'Skip' | 'CreateOnce' | 'Replace'
  readonly skipSchema?: boolean
  /** Tests to run. If omitted, none. */
  readonly tests?: { readonly filters: readonly { readonly name: string; readonly exclude: boolean }[] }
  readonly postRenderers?: readonly JsonObject[]
  /** Whether post renderers change hooks, too. */
  readonly rendersHooks?: boolean
  readonly commonMetadata?: JsonObject
}

/** Renders a HelmRelease for a cluster. */
export const buildRelease: Builder = (request) => {
  const options = readOptions(request.options)
  const chart = chartOf(request.files, options)
  const values = valuesOf(request, options)
  const rendered = renderOn(request, chart, values, options)
  const change = {
    renderers: options.postRenderers ?? [],
    commonMetadata: options.commonMetadata ?? {},
    owner: options.owner,
  }
  const manifests = objectsOf(rendered.manifests.map(({ content }) => content))
  const hooks = hooksOf(rendered.hooks, options)
  const objects = options.rendersHooks
    ? postRender([...manifests, ...hooks], change)
    : [...postRender(manifests, change), ...hooks]
  return {
    objects: [...crdsOf(rendered, options), ...objects].map(withDriftSetting),
    // Charts render Secrets from values, as for Bundles of style Helm.
    written: [],
    notes: [],
    frozen: rendered.frozen,
  }
}

/** The options, which every author of a Bundle can write. */
function readOptions(options: JsonObject): ReleaseBuilderOptions {
  const {
    owner,
    release,
    chart,
    valuesFiles = [],
    values = {},
    valuesFrom = [],
    configMaps = {},
    secrets = {},
  } = options
  const { postRenderers = [], commonMetadata = {}, tests = { filters: [] }, ignore = '', version = '' } = options
  const isNamed = (value: unknown): boolean =>
    isObject(value) && typeof value['name'] === 'string' && typeof value['namespace'] === 'string'
  const isTexts = (value: unknown): boolean =>
    isObject(value) && Object.values(value).every((item) => typeof item === 'string')
  const isListOf = (value: unknown, is: (item: unknown) => boolean): boolean => Array.isArray(value) && value.every(is)
  const isReference = (value: unknown): boolean =>
    isObject(value) && typeof value['kind'] === 'string' && typeof value['name'] === 'string'
  const isRight =
    isNamed(owner) &&
    isNamed(release) &&
    [chart, ignore, version].every((text) => typeof text === 'string') &&
    isListOf(valuesFiles, (item) => typeof item === 'string') &&
    isObject(values) &&
    isListOf(valuesFrom, isReference) &&
    isObject(configMaps) &&
    Object.values(configMaps).every(isTexts) &&
    isTexts(secrets) &&
    isListOf(postRenderers, isObject) &&
    isObject(commonMetadata) &&
    ['labels', 'annotations'].every((field) => commonMetadata[field] === undefined || isTexts(commonMetadata[field])) &&
    isObject(tests) &&
    isListOf(tests['filters'], (item) => isObject(item) && typeof item['name'] === 'string')
  if (isRight) return options as unknown as ReleaseBuilderOptions
  throw new RenderFailure('spec.builder.options is not what a HelmRelease is compiled to')
}

const charts = new WeakMap<ArtifactFiles, Map<string, Chart>>()

/** The chart. Releases of the same artifact share it. */
function chartOf(files: ArtifactFiles, options: ReleaseBuilderOptions): Chart {
  const { chart: path, version, ignore = '', valuesFiles = [], ignoreMissing = false } = options
  const known = charts.get(files) ?? new Map<string, Chart>()
  charts.set(files, known)
  const key = JSON.stringify([path, version, ignore, valuesFiles, ignoreMissing])
  const made = known.get(key) ?? load(files, options)
  known.set(key, made)
  checkRequirements(made, HELM_4)
  return made
}

function load(all: ArtifactFiles, options: ReleaseBuilderOptions): Chart {
  const { ignore = '', version, valuesFiles = [] } = options
  const names = [...all.keys()]
  const isIgnored =
    ignore === '' ? () => false : sourceFilter({ files: names, read: (path) => fromUtf8(all.get(path)!), ignore })
  const files = new Map([...all].filter(([path]) => !isIgnored(path)))
  const directory = directoryOf(files, options.chart)
  const own = chartFiles(directory, { files, base: '', ignored: [] })
  if (!own.has('Chart.yaml')) {
    throw new RenderFailure(`there is no Chart.yaml in ${JSON.stringify(options.chart || '.')} of the source`)
  }
  if (valuesFiles.length > 0) own.set('values.yaml', mergedFiles(files, directory, options))
  const chart = loadChart(own, { profile: HELM_4 })
  return version === undefined ? chart : { ...chart, metadata: { ...chart.metadata, version } }
}

/** An artifact of a registry can have the chart in one directory. */
function directoryOf(files: ArtifactFiles, path: string): string {
  if (path !== '' || files.has('Chart.yaml')) return path
  const found = [...files.keys()].filter((file) => /^[^/]+\/Chart\.yaml$/.test(file))
  return found.length === 1 ? found[0]!.split('/')[0]! : path
}

/** The values of files in their order, which replace those of the chart. */
function mergedFiles(
  files: ArtifactFiles,
  directory: string,
  { valuesFiles = [], ignoreMissing = false }: ReleaseBuilderOptions,
): Uint8Array {
  let merged: Dict = new Map()
  for (const name of valuesFiles) {
    const clean = name.replace(/^(\.?\/)+/, '')
    // Relative to the source; a chart of a HelmRepository is its own source.
    const bytes = files.get(clean) ?? (directory === '' ? undefined : files.get(`${directory}/${clean}`))
    if (!bytes && ignoreMissing) continue
    if (!bytes) throw new RenderFailure(`values file ${JSON.stringify(name)} is not in the source`)
    try {
      merged = mergeMaps(merged, readValues(bytes, HELM_4))
    } catch (caught) {
      if (!(caught instanceof UnmarshalError)) throw caught
      throw new RenderFailure(`values file ${JSON.stringify(name)}: ${caught.message}`)
    }
  }
  return utf8(`${toYaml(merged)}\n`)
}

function valuesOf({ inputs }: BuilderRequest, options: ReleaseBuilderOptions): Dict {
  const { owner, values, valuesFrom = [], configMaps = {}, secrets = {} } = options
  const read = (kind: string, name: string): ReadonlyMap<string, string> | undefined => {
    if (kind === 'ConfigMap') {
      return Object.hasOwn(configMaps, name) ? new Map(Object.entries(configMaps[name]!)) : undefined
    }
    const texts = Object.hasOwn(secrets, name) ? inputs.get(secrets[name]!) : undefined
    if (!(texts instanceof Map)) return undefined
    const data = [...(texts as Map<string, unknown>)].map(([key, value]) => [key, base64(utf8(String(value)))])
    return objectData({ kind, data: Object.fromEntries(data) as JsonObject }, (text) => fromUtf8(fromBase64(text)))
  }
  try {
    const merged = releaseValues({ namespace: owner.namespace, valuesFrom, read, ...(values && { values }) })
    return tableFromJson(merged.values) as Dict
  } catch (caught) {
    if (!(caught instanceof ValuesError)) throw caught
    throw new RenderFailure(caught.message, { cause: caught })
  }
}

function renderOn(
  { cluster, charts: { entropy, frozen, limits, watch } }: BuilderRequest,
  chart: Chart,
  values: Dict,
  { release, skipSchema = false }: ReleaseBuilderOptions,
): RenderedChart {
  const { version } = cluster
  if (chart.metadata.kubeVersion) version.note()
  try {
    const rendered = renderChart({
      chart,
      values,
      profile: HELM_4,
      release,
      cluster: version.value === undefined ? {} : { kubeVersion: version.value },
      entropy,
      frozen,
      skipSchemaValidation: skipSchema,
      ...(limits && { limits }),
      ...(watch && { watch }),
    })
    if (rendered.read.kubeVersion || rendered.read.apiVersions.length > 0) version.note()
    return rendered
  } catch (caught) {
    // A render that fails may depend on the version that it saw.
    version.note()
    throw caught
  }
}

function objectsOf(texts: readonly string[]): readonly UnknownObject[] {
  const read = renderRaw(texts.join('\n---\n'))
  if (read.ok) return read.objects
  throw new RenderFailure(read.problems[0]!.message)
}

/** The hooks; a test runs after an install or upgrade, if tests are wanted. */
function hooksOf(hooks: RenderedChart['hooks'], { tests }: ReleaseBuilderOptions): readonly UnknownObject[] {
  return hooks.flatMap((hook) => {
    const isTest = hook.events.every((event) => event === 'test')
    if (!isTest) return objectsOf([hook.content])
    if (!tests || !isWanted(hook.name, tests.filters)) return []
    return objectsOf([hook.content]).map((object) => ({
      ...object,
      metadata: {
        ...object.metadata,
        annotations: {
          ...object.metadata.annotations,
          'helm.sh/hook': 'post-install,post-upgrade',
          // After all other hooks.
          'helm.sh/hook-weight': String(TESTS_FROM + hook.weight),
        },
      },
    }))
  })
}

const TESTS_FROM = 100_000

function isWanted(name: string, filters: NonNullable<ReleaseBuilderOptions['tests']>['filters']): boolean {
  if (filters.some((filter) => filter.exclude && filter.name === name)) return false
  const included = filters.filter(({ exclude }) => !exclude)
  return included.length === 0 || included.some((filter) => filter.name === name)
}

/** The objects of the directory `crds/`, as the object wants them. */
function crdsOf({ crds }: RenderedChart, { crds: policy = 'CreateOnce' }: ReleaseBuilderOptions): UnknownObject[] {
  if (policy === 'Skip') return []
  return objectsOf(crds.map(({ content }) => content)).map((object) => {
    if (policy === 'Replace') return object
    const annotations = { 'flotilla.dev/apply': 'CreateOnly', ...object.metadata.annotations }
    return { ...object, metadata: { ...object.metadata, annotations } }
  })
}

const DRIFT = `${HELM_GROUP}/driftDetection`

/** An object whose drift Flux does not look at. */
function withDriftSetting(object: UnknownObject): UnknownObject {
  const { labels = {}, annotations = {} } = object.metadata
  if (![labels[DRIFT], annotations[DRIFT]].some((value) => value?.toLowerCase() === 'disabled')) return object
  return {
    ...object,
    metadata: { ...object.metadata, annotations: { 'flotilla.dev/drift': 'Ignore', ...annotations } },
  }
}
