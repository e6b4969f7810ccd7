/**
 * Prepares content for an agent that renders in its cluster. The hub completes the steps that need hub data (layers,
 * `${ }`, the list of files); the agent completes the steps that need the cluster (values in the cluster, `lookup`,
 * version and APIs). The result is a recipe for the same renderer.
 */
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { isObject } from '../../core/json.ts'
import { isSecret } from '../../kinds/redact-secret.ts'
import { readFirstYaml } from '../../yaml/read/read-yaml.ts'
import { YamlError } from '../../yaml/yaml.ts'
import { checkRequirements } from '../helm/chart/check-chart.ts'
import { userValues } from '../helm/values/user-values.ts'
import { extractSecretData } from '../secret-values.ts'
import { chartFiles, pathFrom } from './chart/chart-files.ts'
import { chartAt, chartLocation, profileFor, valueFiles } from './chart/chart-text.ts'
import type { ChartRenderContext } from './chart/chart-text.ts'
import { kustomizationIn, kustomizationNames } from './detect-style.ts'
import type { Style } from './detect-style.ts'
import { rawDirectory } from './raw-directory.ts'
import type { BundleRecipe, LayerOptions } from './recipe.ts'
import { RenderFailure } from './render-failure.ts'
import { expandedTree } from './render-context.ts'
import type { ArtifactFiles } from './render-context.ts'

/** The content that an agent renders: a recipe without layers and templates, and its files. */
export interface PreparedContent {
  readonly recipe: BundleRecipe
  readonly files: ArtifactFiles
}

const OWN_FOLDER = '.flotilla'
const OWN_VALUES = `${OWN_FOLDER}/helm.values.yaml`
const MANIFESTS = 'manifests.yaml'

/** Prepares content. Returns undefined when no part of the content can read the cluster. */
export function prepareContent(
  style: Style,
  recipe: BundleRecipe,
  options: LayerOptions,
  scene: ChartRenderContext,
): PreparedContent | undefined {
  const { bundle, helmVersion } = recipe
  const { helm, kustomize: _kustomize, overlays: _overlays, ...finish } = options
  const values = (): { readonly files: ArtifactFiles; readonly names: readonly string[] } => {
    const found = valueFiles(recipe, options, scene)
    // An unreadable file is reported on the hub, where its author sees the error.
    userValues({ files: found }, profileFor(recipe))
    const named = found.map(({ name, data }) => [name === 'helm.values' ? OWN_VALUES : name, data] as const)
    return { files: new Map(named), names: named.map(([name]) => name) }
  }
  const base = { bundle, helmVersion, ...finish, allowSecrets: true }
  const apiVersions = helm?.apiVersions ?? []
  const own = compact({
    releaseName: helm?.releaseName,
    valuesFrom: helm?.valuesFrom,
    namespace: helm?.namespace,
    skipCrds: helm?.skipCrds,
    skipSchemaValidation: helm?.skipSchemaValidation,
    kubeVersion: helm?.kubeVersion,
    apiVersions: apiVersions.length === 0 ? undefined : apiVersions,
  })
  if (style.kind === 'Helm') {
    checkRequirements(chartAt(style.chart, recipe, scene.files), profileFor(recipe))
    const { files, names } = values()
    return {
      recipe: {
        ...base,
        helm: { ...own, chart: style.chart || '.', valuesFiles: names },
        ...(style.kustomize === undefined ? { style: 'Helm' } : { kustomize: { dir: style.kustomize || '.' } }),
      },
      files: new Map([
        ...(style.kustomize === undefined ? [] : kustomizationFiles(style.kustomize, scene)),
        ...chartFilesOf(style.chart, recipe, scene.files),
        ...files,
      ]),
    }
  }
  if (style.kind !== 'Raw' || recipe.raw?.templates !== 'Render') return undefined
  const charted = new Map<string, Uint8Array>()
  const templates = (found: ArtifactFiles): string => {
    for (const [path, bytes] of found) charted.set(path, bytes)
    return ''
  }
  const plain = rawDirectory(style.directory, recipe, options, { ...scene, templates })
  if (charted.size === 0) return undefined
  if (!plain.ok) throw new RenderFailure(plain.problems[0]!.message, { file: plain.problems[0]!.file })
  const secret = plain.objects.find((object) => isSecret(object) && extractSecretData(object).data)
  if (secret) {
    throw new RenderFailure(
      `Secret ${secret.metadata.name} has its content in the repository, and what a cluster renders travels as it is written; keep it in the cluster and name it in helm.valuesFrom`,
    )
  }
  const { files, names } = values()
  const manifests = plain.objects.map((object) => JSON.stringify(object)).join('\n---\n')
  return {
    recipe: { ...base, style: 'Raw', raw: { templates: 'Render' }, helm: { ...own, valuesFiles: names } },
    files: new Map([...charted, ...(manifests === '' ? [] : [[MANIFESTS, utf8(manifests)] as const]), ...files]),
  }
}

/** The files of a chart and of the charts it depends on, by path. */
function chartFilesOf(path: string, recipe: BundleRecipe, files: ArtifactFiles): [string, Uint8Array][] {
  if (path.endsWith('.tgz')) return [[path, files.get(path)!]]
  const folder = path === '' ? '' : `${path}/`
  return [...chartFiles(path, { files, ...chartLocation(recipe) })].map(([name, bytes]) => [`${folder}${name}`, bytes])
}

/**
 * The files that a kustomization may read, expanded. A kustomization names each file or directory in its own text or in
 * the text of a file that it names. A text that only looks like a path adds an unnecessary file, which does no harm.
 */
function kustomizationFiles(directory: string, { files, expander }: ChartRenderContext): Map<string, Uint8Array> {
  const tree = expandedTree(files, expander)
  const has = (path: string): boolean => files.has(path)
  const found = new Map<string, Uint8Array>()
  const waiting = [kustomizationIn(directory, has)]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue
    const bytes = tree.read(`/${file}`)
    found.set(file, bytes)
    if (!/\.ya?ml$|(^|\/)Kustomization$/.test(file)) continue
    const folder = file.slice(0, Math.max(0, file.lastIndexOf('/')))
    for (const text of textsIn(bytes)) waiting.push(...filesAt(folder, text, files))
  }
  return found
}

function filesAt(folder: string, text: string, files: ArtifactFiles): string[] {
  // `name=file` in generators.
  return [text, text.slice(text.indexOf('=') + 1)].flatMap((name) => {
    const isPath = name !== '' && name.length <= 1024 && !name.startsWith('/') && !/[\n{}]|:\/\//.test(name)
    const path = isPath ? pathFrom(folder, name) : undefined
    if (path === undefined) return []
    if (files.has(path)) return [path]
    const own = kustomizationNames(path).filter((one) => files.has(one))
    // A directory without a kustomization has another purpose, for example charts.
    return own.length > 0 || path === '' ? own : [...files.keys()].filter((one) => one.startsWith(`${path}/`))
  })
}

/**
 * Collects every string of a YAML file. A file that cannot be read has no strings here; the build reports the error.
 */
function textsIn(bytes: Uint8Array): string[] {
  const texts: string[] = []
  const walk = (value: unknown): void => {
    if (typeof value === 'string') texts.push(value)
    else if (Array.isArray(value)) value.forEach(walk)
    else if (isObject(value)) Object.values(value).forEach(walk)
  }
  try {
    walk(readFirstYaml(fromUtf8(bytes), { resolver: '1.2', duplicateKeys: 'last' }).value)
  } catch (caught) {
    if (!(caught instanceof YamlError) && !(caught instanceof TypeError)) throw caught
  }
  return texts
}
