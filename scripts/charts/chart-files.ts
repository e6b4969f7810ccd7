// Tested by scripts/charts/charts.test.ts.
// The charts of the project: their files, their package, and what our own engine renders of them.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { generateTraditionalKey, randomBytes } from '../../src/core/bytes.ts'
import { goBytes } from '../../src/render/gotemplate/go-string.ts'
import { checkRequirements } from '../../src/render/helm/chart/check-chart.ts'
import { loadChart } from '../../src/render/helm/chart/load-chart.ts'
import { profileOf } from '../../src/render/helm/profile.ts'
import type { HelmVersion } from '../../src/render/helm/profile.ts'
import { renderChart } from '../../src/render/helm/render-chart.ts'
import { templateOutput } from '../../src/render/helm/template-output.ts'
import { userValues } from '../../src/render/helm/values/user-values.ts'
import type { ValuesFlags } from '../../src/render/helm/values/user-values.ts'
import { fileOf, writeTree } from '../images/tree.ts'

export const CHARTS = ['flotilla-hub', 'flotilla-agent'] as const
export type ChartName = (typeof CHARTS)[number]

/** Each chart has one namespace: hub and agent keep their state there. */
export const CHART_NAMESPACES: Readonly<Record<ChartName, string>> = {
  'flotilla-hub': 'flotilla-system',
  'flotilla-agent': 'flotilla-agent',
}

export const chartFolder = (name: ChartName): string => join(import.meta.dirname, '../../charts', name)

/** The files of a chart by their paths, sorted. */
function chartFiles(name: ChartName): Map<string, Uint8Array> {
  const folder = chartFolder(name)
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = entries.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort()
  return new Map(paths.map((path) => [path, new Uint8Array(readFileSync(join(folder, path)))]))
}

/**
 * The package of a chart, as `helm install` and `helm push` read it. The same files give the same bytes: zlib compresses
 * to other bytes on other processors, so that the package is not compressed.
 */
export function packageChart(name: ChartName): { readonly file: string; readonly bytes: Uint8Array } {
  const files = chartFiles(name)
  const version = /^version: (.+)$/m.exec(Buffer.from(files.get('Chart.yaml')!).toString('utf8'))?.[1]
  const tree = new Map([...files].map(([path, bytes]) => [`${name}/${path}`, fileOf(bytes)]))
  const bytes = gzipSync(writeTree(tree), { level: 0 })
  // The byte of the operating system that compressed.
  bytes[9] = 255
  return { file: `${name}-${version}.tgz`, bytes }
}

export interface ChartRendering {
  /** Defaults to the namespace of the chart. */
  readonly namespace?: string
  readonly version?: HelmVersion
}

/** What `helm template flotilla --namespace NAMESPACE` prints for a chart. */
export function renderOwnChart(
  name: ChartName,
  flags: ValuesFlags,
  { namespace = CHART_NAMESPACES[name], version = 'helm4' }: ChartRendering = {},
): string {
  const profile = profileOf(version)
  const chart = loadChart(chartFiles(name), { profile })
  checkRequirements(chart, profile)
  const rendered = renderChart({
    chart,
    values: userValues(flags, profile),
    profile,
    release: { name: 'flotilla', namespace },
    entropy: { randomBytes, now: () => Date.now(), generateKey: generateTraditionalKey },
  })
  return Buffer.from(goBytes(templateOutput(rendered))).toString('utf8')
}

/** Values of the plain manifests: what a reader replaces is in the domain example.com. */
const PLAIN_VALUES: Readonly<Record<ChartName, readonly string[]>> = {
  'flotilla-hub': [
    'image.registry=registry.example.com/platform',
    'gateway.url=https://hub.example.com:7444',
    'blobs.s3.url=s3://flotilla/hub',
    'blobs.s3.endpoint=https://s3.example.com',
    'blobs.s3.credentialsSecret=flotilla-s3',
  ],
  'flotilla-agent': ['image.registry=registry.example.com/platform', 'join.existingSecret=flotilla-join'],
}

const PLAIN_HEAD: Readonly<Record<ChartName, readonly string[]>> = {
  'flotilla-hub': [
    'A hub with three pods, made from the chart flotilla-hub. Replace all names of example.com and s3://flotilla/hub.',
    'Before the pods start, create the Secrets flotilla-hub-keys ("flotilla trust secret") and flotilla-s3 (keys',
    'access-key-id and secret-access-key) in namespace flotilla-system.',
  ],
  'flotilla-agent': [
    'An agent, made from the chart flotilla-agent. Replace registry.example.com/platform. Before the pod starts, create',
    'Secret flotilla-join in namespace flotilla-agent with the join code of "flotilla cluster add" in the key code.',
  ],
}

/** A chart as one file for `kubectl apply -f`. */
export function plainManifest(name: ChartName): string {
  const rendered = renderOwnChart(name, { set: PLAIN_VALUES[name] })
  const objects = rendered
    .split(/^---\n/m)
    .map((text) =>
      text.replaceAll(/^(# Source: .*| *helm\.sh\/chart: .*| *app\.kubernetes\.io\/managed-by: Helm)\n/gm, ''),
    )
    .filter((text) => text.trim() !== '')
  const head = PLAIN_HEAD[name].map((line) => `# ${line}\n`).join('')
  const labels = `{ app.kubernetes.io/name: ${name} }`
  const namespace = `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${CHART_NAMESPACES[name]}\n  labels: ${labels}\n`
  return [head + namespace, ...objects].join('---\n')
}

/** Writes packages and plain manifests of all charts into a folder; returns the paths. */
export function writeCharts(folder: string): string[] {
  const files = CHARTS.flatMap((name) => {
    const { file, bytes } = packageChart(name)
    return [
      { path: join(folder, 'charts', file), content: bytes },
      { path: join(folder, 'manifests', `${name}.yaml`), content: plainManifest(name) },
    ]
  })
  for (const { path, content } of files) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  return files.map(({ path }) => path)
}
