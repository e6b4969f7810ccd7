/** Makes a chart of files in memory, as Helm's loader does from a directory or an archive. */
import { fromGoBytes } from '../../gotemplate/go-string.ts'
import type { Chart, ChartFile } from './chart.ts'
import { setDependencies } from './chart.ts'
import type { Decoded } from './decode-struct.ts'
import type { Dict } from '../values/dict.ts'
import { BadPattern, ignoreRules } from './file-pattern.ts'
import type { IgnoreRules } from './file-pattern.ts'
import { HelmError } from '../helm-error.ts'
import { checkLock, decodeMetadata, validMetadata } from './metadata.ts'
import type { HelmProfile } from '../profile.ts'
import { UnmarshalError } from '../read-yaml.ts'
import { readChartArchive, withoutBom } from './chart-archive.ts'
import { readValues } from '../values/values-file.ts'

/** Files by their path, `/` between the parts. */
export type FileTree = ReadonlyMap<string, Uint8Array>

/** What loading needs beside the files. */
export interface LoadOptions {
  readonly profile: HelmProfile
  readonly warn?: (message: string) => void
}

/** Loads a chart from a directory's files; `.helmignore` is obeyed. */
export function loadChart(tree: FileTree, options: LoadOptions): Chart {
  const ignored = readIgnoreRules(tree.get('.helmignore'))
  const files: ChartFile[] = []
  for (const name of [...tree.keys()].sort(walkOrder)) {
    if (isIgnored(name, ignored)) continue
    files.push({ name, data: withoutBom(tree.get(name)!) })
  }
  return loadFiles(files, options)
}

/** The rules of a `.helmignore`, and Helm's default rules. */
export function readIgnoreRules(text: Uint8Array | undefined): IgnoreRules {
  try {
    return ignoreRules(text ? fromGoBytes(text) : '')
  } catch (error) {
    if (error instanceof BadPattern) throw new HelmError(error.message)
    throw error
  }
}

function isIgnored(name: string, ignored: IgnoreRules): boolean {
  for (let slash = name.indexOf('/'); slash >= 0; slash = name.indexOf('/', slash + 1)) {
    if (ignored(name.slice(0, slash), true)) return true
  }
  return ignored(name, false)
}

/** The order of filepath.Walk: names of a directory sorted, each subdirectory at its place. */
function walkOrder(a: string, b: string): number {
  const [partsA, partsB] = [a.split('/'), b.split('/')]
  for (let at = 0; at < Math.min(partsA.length, partsB.length); at++) {
    if (partsA[at] !== partsB[at]) return partsA[at]! < partsB[at]! ? -1 : 1
  }
  return partsA.length - partsB.length
}

/** Loads a chart from a .tgz; `.helmignore` is not looked at, as Helm does not. */
export function loadChartArchive(archive: Uint8Array, options: LoadOptions): Chart {
  return loadFiles(readChartArchive(archive), options)
}

function loading<T>(what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof UnmarshalError) throw new HelmError(`cannot load ${what}: ${error.message}`)
    throw error
  }
}

/** Loads a chart from its files, in the order they come in. */
export function loadFiles(files: readonly ChartFile[], options: LoadOptions): Chart {
  const { profile } = options
  const head = readHead(files, profile)
  if (!head.metadata) throw new HelmError('Chart.yaml file is missing')
  const metadata = validMetadata(head.metadata, profile)
  const isV1 = metadata.apiVersion === 'v1'
  const chart: Chart = {
    metadata,
    parent: undefined,
    dependencies: [],
    values: head.values,
    valuesText: head.valuesText,
    templates: files.filter(({ name }) => name.startsWith('templates/')),
    files: files.filter(({ name }) => isPlainFile(name, isV1)),
    schema: files.findLast(({ name }) => name === 'values.schema.json')?.data,
  }
  setDependencies(chart, loadSubcharts(chart, files, options))
  return chart
}

interface Head {
  metadata: Decoded | undefined
  values: Dict
  valuesText: Uint8Array | undefined
}

/** Reads the files at the top: Chart.yaml first, then the rest in their given order. */
function readHead(files: readonly ChartFile[], profile: HelmProfile): Head {
  const head: Head = { metadata: undefined, values: new Map<string, unknown>(), valuesText: undefined }
  for (const { name, data } of files) {
    if (name !== 'Chart.yaml') continue
    const decoded = loading(name, () => decodeMetadata(data, profile, head.metadata))
    head.metadata = { ...decoded, apiVersion: decoded['apiVersion'] || 'v1' }
  }
  for (const { name, data } of files) {
    loading(name, () => {
      if (name === 'Chart.lock' || name === 'requirements.lock') checkLock(data, profile)
      if (name === 'requirements.yaml') head.metadata = decodeMetadata(data, profile, head.metadata)
      if (name === 'requirements.lock') head.metadata ??= {}
      if (name === 'values.yaml') {
        head.values = readValues(data, profile, profile.numbersAsText ? 'text' : 'float64')
        head.valuesText = data
      }
    })
  }
  return head
}

function isPlainFile(name: string, isV1: boolean): boolean {
  if (['Chart.yaml', 'Chart.lock', 'values.yaml', 'values.schema.json'].includes(name)) return false
  if (name === 'requirements.yaml' || name === 'requirements.lock') return isV1
  if (name.startsWith('charts/')) return name.endsWith('.prov')
  return !name.startsWith('templates/')
}

function loadSubcharts(chart: Chart, files: readonly ChartFile[], options: LoadOptions): Chart[] {
  const groups = new Map<string, ChartFile[]>()
  for (const { name, data } of files) {
    if (!name.startsWith('charts/') || name.endsWith('.prov')) continue
    const inside = name.slice('charts/'.length)
    const [directory = ''] = inside.split('/')
    const group = groups.get(directory) ?? []
    group.push({ name: inside, data })
    groups.set(directory, group)
  }
  const charts: Chart[] = []
  for (const [directory, group] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (/^[_.]/.test(directory)) continue
    try {
      charts.push(loadSubchart(chart, directory, group, options))
    } catch (error) {
      if (!(error instanceof HelmError)) throw error
      throw new HelmError(`error unpacking subchart ${directory} in ${chart.metadata.name}: ${error.message}`)
    }
  }
  return charts
}

function loadSubchart(chart: Chart, directory: string, files: readonly ChartFile[], options: LoadOptions): Chart {
  if (directory.endsWith('.tgz')) {
    const [file] = files
    if (file!.name !== directory) {
      throw new HelmError(
        `error unpacking subchart tar in ${chart.metadata.name}: expected ${directory}, got ${file!.name}`,
      )
    }
    return loadFiles(readChartArchive(file!.data), options)
  }
  const inside = files
    .filter(({ name }) => name.includes('/'))
    .map(({ name, data }) => ({ name: name.slice(name.indexOf('/') + 1), data }))
  return loadFiles(inside, options)
}
