/** A chart of a bundle for one cluster: which values it gets, and the text that comes out. */
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

/** What a chart's render works with. */
export interface ChartRenderContext extends RenderContext {
  readonly expander: Expander | undefined
}

// Variants of one artifact read the same charts: these are looked at once while its files are kept.
const charts = new WeakMap<ArtifactFiles, Map<string, Chart>>()

/** Whose rules its charts follow. */
export function profileFor(recipe: BundleRecipe): HelmProfile {
  return profileOf(recipe.helmVersion ?? 'helm4')
}

/** A chart of the files. */
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

/** Where the charts of a recipe are looked for, and which files do not count. */
export function chartLocation(recipe: BundleRecipe): { readonly base: string; readonly ignored: readonly string[] } {
  const base = insidePath('', recipe.path ?? '', 'spec.source.path')
  return { base, ignored: (recipe.ignore ?? []).map((one) => insidePath(base, one, 'spec.source.ignore')) }
}

/** The values as files, the weakest first: named ones, then those of the layers. */
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

/** What comes out of a chart, as text; hooks are in it with their annotations. */
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
  if (chart.metadata.kubeVersion) version.note()
  const rendered = renderNoting(version.note, () =>
    renderChart({
      chart,
      values: given,
      profile,
      release: {
        name: options.helm?.releaseName ?? name,
        namespace: releaseNamespace(options),
      },
      cluster: cluster?.facts ?? (version.value === undefined ? {} : { kubeVersion: version.value }),
      entropy,
      frozen,
      ...(watch && { watch }),
      ...(limits && { limits }),
      ...(cluster && { lookUp: cluster.lookUp }),
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
export function chartOfTemplates(templates: ReadonlyMap<string, Uint8Array>, recipe: BundleRecipe): Chart {
  const name = recipe.bundle.slice(recipe.bundle.indexOf('/') + 1)
  const about = utf8(writeYaml({ apiVersion: 'v2', name, version: '0.0.0' }))
  return loadChart(new Map([['Chart.yaml', about], ...templates]), { profile: profileFor(recipe) })
}
