/** Renders the chart of a bundle for a cluster: the values it gets, and the resulting text. */
import { utf8 } from '../../../core/bytes.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import type { Chart } from '../../helm/chart/chart.ts'
import { checkRequirements } from '../../helm/chart/check-chart.ts'
import type { FrozenRecord } from '../../helm/frozen-random.ts'
import { loadChart, loadChartArchive } from '../../helm/chart/load-chart.ts'
import { profileOf } from '../../helm/profile.ts'
import type { HelmProfile } from '../../helm/profile.ts'
import { renderChart } from '../../helm/render-chart.ts'
import type { RenderedChart } from '../../helm/render-chart.ts'
import { userValues } from '../../helm/values/user-values.ts'
import { chartFiles } from './chart-files.ts'
import { releaseNamespace } from './cluster-keys.ts'
import { withClusterValues } from './cluster-values.ts'
import { insidePath } from '../detect-style.ts'
import type { Expander } from '../expander.ts'
import { decodeManifestText } from '../raw-directory.ts'
import type { BundleRecipe, LayerOptions } from '../recipe.ts'
import { RenderFailure } from '../render-failure.ts'
import { memoize } from '../render-context.ts'
import type { ArtifactFiles, RenderContext } from '../render-context.ts'
import { expandValues } from './value-templates.ts'

/** The render context of a chart. */
export interface ChartRenderContext extends RenderContext {
  readonly expander: Expander | undefined
}

// Variants of the same artifact read the same charts. A chart is loaded once while the files of the artifact are in
// memory.
const charts = new WeakMap<ArtifactFiles, Map<string, Chart>>()

/** The Helm version whose rules the charts follow. */
export function profileFor(recipe: BundleRecipe): HelmProfile {
  return profileOf(recipe.helmVersion ?? 'helm4')
}

/** Loads a chart from the files of the artifact. */
export function chartAt(path: string, recipe: BundleRecipe, files: ArtifactFiles): Chart {
  const loaded = memoize(charts, files, () => new Map<string, Chart>())
  const profile = profileFor(recipe)
  const { base, ignored } = chartLocation(recipe)
  const key = JSON.stringify([profile.name, path, base, ignored])
  const chart =
    loaded.get(key) ??
    (path.endsWith('.tgz')
      ? loadChartArchive(files.get(path)!, { profile })
      : loadChart(chartFiles(path, { files, base, ignored }), { profile }))
  loaded.set(key, chart)
  return chart
}

/** The directory below which the charts of a recipe are found, and the files that are ignored. */
export function chartLocation(recipe: BundleRecipe): { readonly base: string; readonly ignored: readonly string[] } {
  const base = insidePath('', recipe.path ?? '', 'spec.source.path')
  return { base, ignored: (recipe.ignore ?? []).map((one) => insidePath(base, one, 'spec.source.ignore')) }
}

/** The values as files, the weakest first: the named files, then the values of the layers. */
export function valueFiles(
  recipe: BundleRecipe,
  options: LayerOptions,
  { files, expander, watched, watch }: ChartRenderContext,
): { readonly name: string; readonly data: Uint8Array }[] {
  const own = expandValues(options.helm, { watched, bundle: recipe.bundle, watch })
  const expand = (text: string, file: string): string => (expander ? expander.expand(text, file) : text)
  const named = (options.helm?.valuesFiles ?? []).map((name) => {
    const file = insidePath(recipe.path ?? '', name, 'helm.valuesFiles')
    const bytes = files.get(file)
    if (!bytes) throw new RenderFailure(`helm.valuesFiles names ${JSON.stringify(name)}, and there is no such file`)
    return { name: file, data: utf8(expand(decodeManifestText(bytes, file), file)) }
  })
  return [...named, { name: 'helm.values', data: utf8(expand(writeYaml(own), 'helm.values')) }]
}

/** Renders a chart to text. Hooks are part of the text, with their annotations. */
export function chartText(
  chart: Chart,
  recipe: BundleRecipe,
  options: LayerOptions,
  scene: ChartRenderContext,
): { readonly text: string; readonly frozen: FrozenRecord; readonly notes: readonly string[] } {
  const { watched, entropy, frozen, watch, limits, cluster } = scene
  const profile = profileFor(recipe)
  const files = valueFiles(recipe, options, scene)
  checkRequirements(chart, profile)
  const values = userValues({ files }, profile)
  const given = cluster ? withClusterValues(values, options.helm?.valuesFrom, cluster, profile) : values
  const name = recipe.bundle.slice(recipe.bundle.indexOf('/') + 1)
  const { version } = watched
  const { kubeVersion, apiVersions = [], skipCrds, skipSchemaValidation } = options.helm ?? {}
  const seen = kubeVersion ?? version.value
  // A version that the Bundle names makes the render the same for all clusters.
  const note = kubeVersion === undefined ? version.note : (): void => {}
  if (chart.metadata.kubeVersion) note()
  const rendered = renderNoting(note, () =>
    renderChart({
      chart,
      values: given,
      profile,
      release: {
        name: options.helm?.releaseName ?? name,
        namespace: releaseNamespace(options),
      },
      cluster: {
        ...cluster?.facts,
        ...((cluster === undefined || kubeVersion !== undefined) && seen !== undefined && { kubeVersion: seen }),
        apiVersions,
      },
      entropy,
      frozen,
      ...(skipSchemaValidation && { skipSchemaValidation }),
      ...(watch && { watch }),
      ...(limits && { limits }),
      ...(cluster && { lookUp: cluster.lookUp }),
    }),
  )
  const documents = [
    ...(skipCrds ? [] : rendered.crds.map(({ content }) => content)),
    ...rendered.manifests.map(({ content }) => content),
    // Hooks keep their annotations: the step that builds the set recognises hooks by them.
    ...rendered.hooks.map(({ content }) => content),
  ]
  return { text: documents.join('\n---\n'), frozen: { ...frozen, ...rendered.frozen }, notes: notesOf(rendered) }
}

/** Helm tests need a person who waits for the result, so a fleet does not render them. */
function notesOf({ hooks }: RenderedChart): string[] {
  const tests = hooks.filter(({ events }) => events.every((event) => event === 'test'))
  if (tests.length === 0) return []
  const names = tests.slice(0, 3).map(({ kind, name }) => `${kind} ${name}`)
  const more = tests.length > 3 ? ` and ${tests.length - 3} more` : ''
  return [`tests of the chart are not run: ${names.join(', ')}${more}`]
}

/**
 * A failed render may depend on the Kubernetes version it saw. A successful render records whether it read the version.
 */
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

/** Templates without a Chart.yaml get a minimal chart. */
export function chartOfTemplates(templates: ReadonlyMap<string, Uint8Array>, recipe: BundleRecipe): Chart {
  const name = recipe.bundle.slice(recipe.bundle.indexOf('/') + 1)
  const about = utf8(writeYaml({ apiVersion: 'v2', name, version: '0.0.0' }))
  return loadChart(new Map([['Chart.yaml', about], ...templates]), { profile: profileFor(recipe) })
}
