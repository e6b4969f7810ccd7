/** The `helmCharts` field: charts in the tree, rendered by the caller of the build. */
import { HELM_GENERATED } from './resources/build-annotations.ts'
import { textIfUtf8 } from './resources/generated-data.ts'
import type { HelmChart } from './kustomization.ts'
import { KustomizeError, wrapError } from './kustomize-error.ts'
import type { Loader } from './loader.ts'
import { joinPath } from './loader.ts'
import { mergePatch } from './patch/merge-patch.ts'
import { plainValue } from './nodes/plain-value.ts'
import { readResources } from './resources/read-resources.ts'
import { isRecord } from './is-record.ts'
import { ResourceMap } from './resources/resource-map.ts'
import { valueNode } from './nodes/value-node.ts'
import { readFirstNode } from './nodes/read-node.ts'
import { writeYaml } from '../../yaml/write/write-yaml.ts'

/** A chart with where its folder is looked for. */
export type HelmInflation = HelmChart & { readonly chartHome?: string }

/** What a chart is rendered with. */
export interface HelmRequest {
  /** The folder of the chart, in the tree of the build. */
  readonly chartPath: string
  readonly releaseName: string
  readonly namespace: string
  readonly nameTemplate: string
  /** Values files in their order, as text; later files win. */
  readonly values: readonly string[]
  readonly includeCrds: boolean
  readonly skipTests: boolean
  readonly skipHooks: boolean
  readonly apiVersions: readonly string[]
  readonly kubeVersion: string
}

/** Renders a chart as `helm template` does; throws what Helm says. */
export type RenderHelm = (request: HelmRequest) => string

const MERGES = ['merge', 'override', 'replace']

export function inflateChart(
  chart: HelmInflation,
  loader: Loader,
  render: RenderHelm | undefined,
  isDirectory: (path: string) => boolean,
): ResourceMap {
  if (!render) throw new KustomizeError('must specify --enable-helm')
  const { name = '', version = '', repo = '', chartHome = 'charts', valuesMerge = 'override' } = chart
  if (name === '') throw new KustomizeError('chart name cannot be empty')
  if (!MERGES.includes(valuesMerge)) throw new KustomizeError(`valuesMerge must be one of [${MERGES.join(' ')}]`)
  const home = joinPath(chartHome.startsWith('/') ? '' : loader.root, chartHome)
  const chartPath = joinPath(home, version !== '' && repo !== '' ? `${name}-${version}/${name}` : name)
  if (!isDirectory(chartPath)) {
    throw new KustomizeError(
      repo === ''
        ? `no repo specified for pull, no chart found at '${chartPath}'`
        : `the chart ${name} of ${repo} is remote: put it into '${chartPath}' before the build, which reads no network`,
    )
  }
  const more = (chart.additionalValuesFiles ?? []).map((file) => {
    try {
      return decodeText(loader.load(file))
    } catch (caught) {
      throw wrapError(caught, 'could not load additionalValuesFile')
    }
  })
  const file = chart.valuesFile || joinPath(chartPath, 'values.yaml')
  const text = render({
    chartPath,
    releaseName: chart.releaseName || 'release-name',
    namespace: chart.namespace ?? '',
    nameTemplate: chart.nameTemplate ?? '',
    values: [baseValues(chart, file, loader, valuesMerge), ...more],
    includeCrds: chart.includeCRDs ?? false,
    skipTests: chart.skipTests ?? false,
    skipHooks: chart.skipHooks ?? false,
    apiVersions: chart.apiVersions ?? [],
    kubeVersion: chart.kubeVersion ?? '',
  })
  const map = ResourceMap.of(readResources(text))
  for (const resource of map.resources) resource.annotate(HELM_GENERATED, 'true')
  return map
}

function decodeText(bytes: Uint8Array): string {
  return textIfUtf8(bytes) ?? new TextDecoder().decode(bytes)
}

function baseValues(chart: HelmInflation, file: string, loader: Loader, merge: string): string {
  const inline = chart.valuesInline as unknown
  const entries = inline instanceof Map ? [...inline] : isRecord(inline) ? Object.entries(inline) : []
  if (entries.length === 0) return decodeText(loader.load(file))
  const values = new Map(entries.map(([key, value]) => [String(key), toMaps(value)]))
  if (merge === 'replace') return writeYaml(values)
  const own = readFirstNode(decodeText(loader.load(file)))?.content[0]
  const given = valueNode(values)
  const merged =
    merge === 'override'
      ? mergePatch(given, own, { of: () => undefined }, false)
      : mergePatch(own, given, { of: () => undefined }, false)
  return writeYaml(merged ? plainValue(merged) : null)
}

function toMaps(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toMaps)
  return isRecord(value) && !(value instanceof Map)
    ? new Map(Object.entries(value).map(([key, item]) => [key, toMaps(item)]))
    : value
}
