/** Charts without a fixed version. */
import { isObject } from '../../core/json.ts'
import type { Source } from '../../kinds/native/source.ts'
import { finding } from './finding.ts'
import type { Finding } from './finding.ts'
import { unpinned } from './lint-images.ts'

const EXACT = /^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/

/** A Source of a chart or an artifact that follows a range. */
export function lintSource({ metadata, spec }: Pick<Source, 'metadata' | 'spec'>): Finding[] {
  const who = `Source ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`
  const found = (message: string, place: readonly string[]) => [
    finding('unpinned-chart', `${who}: ${message}`, { place, todo: 'name one version' }),
  ]
  const { helm, oci } = spec
  // An archive at an address is one version; other content there is held.
  if (helm?.chart !== undefined) {
    if (helm.version === undefined)
      return found(`chart ${helm.chart} has no version: the newest is taken`, ['spec', 'helm'])
    if (!EXACT.test(helm.version)) {
      return found(`the version ${helm.version} of chart ${helm.chart} is a range`, ['spec', 'helm', 'version'])
    }
  }
  if (oci && oci.digest === undefined) {
    if (oci.semver !== undefined) return found(`${oci.semver} is a range of tags`, ['spec', 'oci', 'semver'])
    if (oci.tag === undefined) return found('it names neither tag nor digest', ['spec', 'oci'])
    if (unpinned(`x:${oci.tag}`) !== undefined) return found(`the tag ${oci.tag} moves`, ['spec', 'oci', 'tag'])
  }
  return []
}

/** Dependencies in a Chart.yaml, when no Chart.lock says what they are. */
export function lintChart(name: string, chart: unknown): Finding[] {
  return itemsOf(chart, 'dependencies').flatMap(({ item, index }) => {
    const { name: dependency, version, repository } = item
    // A chart in this repository is what the repository says.
    if (typeof repository === 'string' && repository.startsWith('file:')) return []
    if (typeof version === 'string' && EXACT.test(version)) return []
    const how = version === undefined ? 'has no version' : `has the range ${textOf(version)}`
    const message = `chart ${name}: its dependency ${textOf(dependency)} ${how}, and there is no Chart.lock`
    return [
      finding('unpinned-chart', message, {
        place: ['dependencies', index, 'version'],
        todo: 'run helm dependency update and keep Chart.lock, or name one version',
      }),
    ]
  })
}

/** Charts that a kustomization names without a version. */
export function lintKustomization(directory: string, kustomization: unknown): Finding[] {
  return itemsOf(kustomization, 'helmCharts').flatMap(({ item, index }) => {
    const { name, version } = item
    if (item['repo'] === undefined || (typeof version === 'string' && EXACT.test(version))) return []
    const message = `kustomization ${directory || '.'}: chart ${textOf(name)} has ${version === undefined ? 'no version' : `the range ${textOf(version)}`}`
    return [finding('unpinned-chart', message, { place: ['helmCharts', index], todo: 'name one version' })]
  })
}

function itemsOf(value: unknown, field: string) {
  const list = isObject(value) && Array.isArray(value[field]) ? (value[field] as unknown[]) : []
  return list.flatMap((item, index) => (isObject(item) ? [{ item, index }] : []))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
